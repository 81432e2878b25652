package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"fossick/internal/cli"
)

// An outlet is stdout that remembers the first error, because a verb whose result was not written
// has failed. It is safe for concurrent use.
type outlet struct {
	W io.Writer

	mu  sync.Mutex // guards err
	err error      // first error
}

func (o *outlet) Write(p []byte) (int, error) {
	n, err := o.W.Write(p)
	if err != nil {
		o.mu.Lock()
		if o.err == nil {
			o.err = err
		}
		o.mu.Unlock()
	}
	return n, err
}

// Failed returns the first error, or nil.
func (o *outlet) Failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		return nil
	}
	return fmt.Errorf("the result could not be written: %w; make room, or write it elsewhere", o.err)
}

// closedPipe reports whether err means that nobody reads stdout any more, as after "| head".
func closedPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }

// keepWriting makes a broken pipe, or a file over the system's limit (ulimit -f), an error of the
// write instead of a fatal signal. undo restores the default.
func keepWriting() (undo func()) {
	broken := make(chan os.Signal, 1) // nobody receives: Notify drops signals then
	signal.Notify(broken, syscall.SIGPIPE, syscall.SIGXFSZ)
	return func() { signal.Stop(broken) }
}

// limitHeap sets a soft limit for the heap in bytes, unless GOMEMLIMIT is set.
func limitHeap(size int64) (restore func()) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	before := debug.SetMemoryLimit(size)
	return func() { debug.SetMemoryLimit(before) }
}

// A libraryLog receives libraries' lines from Go's standard log. net/http reports servers that
// break the protocol, which interests few people. Badger reports why it ends the process, which
// must be shown.
type libraryLog struct {
	log   *slog.Logger
	fatal string // prefix of functions whose messages end the process
}

const badgerCode = "github.com/dgraph-io/"

// logLibraries sends libraries' messages in Go's standard log to to.
func logLibraries(to *slog.Logger) {
	log.SetFlags(0)
	log.SetOutput(libraryLog{to, badgerCode})
}

func (l libraryLog) Write(p []byte) (int, error) {
	what := strings.TrimSpace(string(p))
	if l.calledBy(l.fatal) {
		l.log.Error("the store cannot go on; committed data is safe: check the disk, then run fossick repair", "err", what)
	} else {
		l.log.Debug(what)
	}
	return len(p), nil
}

// calledBy reports whether a function with this name prefix called the log.
func (l libraryLog) calledBy(prefix string) bool {
	var at [32]uintptr
	frames := runtime.CallersFrames(at[:runtime.Callers(2, at[:])])
	for more := true; more; {
		var f runtime.Frame
		if f, more = frames.Next(); strings.HasPrefix(f.Function, prefix) {
			return true
		}
	}
	return false
}

// cpuTime returns the processor time used by this process.
func cpuTime() time.Duration {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u) // it fails only for a bad argument
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// signals end a verb: the first ends its context, the second the process. A verb that does not end
// soon after the first is ended too.
type signals struct {
	first   func() // called on the first signal
	exit    func() // ends the process
	orderly atomic.Bool
	within  atomic.Int64 // nanoseconds an orderly verb has to end; 0 for no limit
	done    chan struct{}
	undo    func()
}

// deafAfter is how long a verb may take to end after a signal.
const deafAfter = 5 * time.Second

// heedSignals returns a context that the first signal ends, after calling stopping. If that does not
// suffice, it calls exit. Until Stop, writing to a broken pipe is an error and does not end the
// process.
func heedSignals(ctx context.Context, stopping, exit func()) (context.Context, *signals) {
	ctx, cancel := context.WithCancel(ctx)
	s := &signals{exit: exit, done: make(chan struct{}), first: func() {
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
	if os.Getenv(cli.WithParent) != "" {
		go func() { // until stdin or the process ends
			_, _ = io.Copy(io.Discard, os.Stdin)
			signals <- syscall.SIGHUP
		}()
	}
	go s.watch(signals)
	return ctx, s
}

// Stop restores the system's handling of signals.
func (s *signals) Stop() {
	s.undo()
	close(s.done)
}

// InOrder declares that the verb ends by itself once its context does, however long that takes.
// Other verbs are ended after deafAfter, since they may be waiting for a pipe's writer or parsing
// hostile input.
func (s *signals) InOrder() { s.orderly.Store(true) }

// Within is InOrder with a time limit.
func (s *signals) Within(most time.Duration) {
	s.within.Store(int64(most))
	s.InOrder()
}

func (s *signals) watch(signals <-chan os.Signal) {
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
