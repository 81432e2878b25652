package cli

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// Signals end a verb: the first ends its context, the second the process. A verb that does not end
// soon after the first is ended too.
type Signals struct {
	first   func() // called on the first signal
	exit    func() // ends the process
	orderly atomic.Bool
	within  atomic.Int64 // nanoseconds an orderly verb has to end; 0 for no limit
	done    chan struct{}
	undo    func()
}

// deafAfter is how long a verb may take to end after a signal.
const deafAfter = 5 * time.Second

// Heed returns a context that the first signal ends, after calling stopping. If that does not
// suffice, it calls exit. Until Stop, writing to a broken pipe is an error and does not end the
// process.
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

// Stop restores the system's handling of signals.
func (s *Signals) Stop() {
	s.undo()
	close(s.done)
}

// InOrder declares that the verb ends by itself once its context does, however long that takes.
// Other verbs are ended after deafAfter, since they may be waiting for a pipe's writer or parsing
// hostile input.
func (s *Signals) InOrder() { s.orderly.Store(true) }

// Within is InOrder with a time limit.
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
			if again != syscall.SIGHUP { // shell and kernel both send one when a terminal closes
				s.exit()
			}
		case <-s.done:
			return
		}
	}
}

// stopSignals returns the signals that end a crawl cleanly. A closed terminal or broken ssh session
// sends SIGHUP, unless nohup ignores it.
func stopSignals() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}
