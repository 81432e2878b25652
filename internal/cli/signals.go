package cli

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// Signals end a verb: the first one its context, and the second the process, as does a
// verb that does not end after the first.
type Signals struct {
	first   func() // of a signal
	exit    func() // ends the process
	orderly atomic.Bool
	within  atomic.Int64 // nanoseconds in which an orderly verb has to end; 0: however long it takes
	done    chan struct{}
	undo    func()
}

// deafAfter is how long a verb may take to end after a signal.
const deafAfter = 5 * time.Second

// Heed returns a context that the first signal ends, after a call of stopping, and Stop.
// Where that is not enough it calls exit. A write to a pipe that nobody reads is an error
// meanwhile, and does not end the process.
func Heed(ctx context.Context, stopping, exit func()) (context.Context, *Signals) {
	ctx, cancel := context.WithCancel(ctx)
	s := &Signals{exit: exit, done: make(chan struct{}), first: func() {
		stopping()
		cancel()
	}}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, stopSignals()...)
	undo := keepWriting()
	s.undo = func() {
		signal.Stop(signals)
		undo()
		cancel()
	}
	go s.watch(signals)
	return ctx, s
}

// Stop leaves signals to the system again.
func (s *Signals) Stop() {
	s.undo()
	close(s.done)
}

// InOrder says that the verb ends by itself when its context does, however long that
// takes. Other verbs are ended after a while, such as one that waits for a pipe's writer or
// parses what somebody made for that purpose.
func (s *Signals) InOrder() { s.orderly.Store(true) }

// Within is InOrder for a verb that others must not wait for: it is ended after so long.
func (s *Signals) Within(most time.Duration) {
	s.within.Store(int64(most))
	s.InOrder()
}

func (s *Signals) watch(signals <-chan os.Signal) {
	select {
	case <-signals:
		s.first()
	case <-s.done:
		return
	}
	deaf := time.NewTimer(deafAfter)
	defer deaf.Stop()
	waited := false
	for {
		select {
		case <-deaf.C:
			most := time.Duration(s.within.Load())
			switch left := most - deafAfter; {
			case !s.orderly.Load(), most > 0 && waited:
				s.exit()
			case most > 0:
				waited = true
				deaf.Reset(max(left, 0))
			}
		case again := <-signals:
			if again != syscall.SIGHUP { // shell and kernel both send one when a terminal is closed
				s.exit()
			}
		case <-s.done:
			return
		}
	}
}

// stopSignals are those that end a crawl cleanly. A terminal that is closed, or an
// ssh session that breaks, sends SIGHUP; who started fossick by nohup wants none.
func stopSignals() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}
