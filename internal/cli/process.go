package cli

import (
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
	"syscall"
)

// An Outlet is stdout that remembers the first error, because a verb whose result was not written
// has failed. It is safe for concurrent use.
type Outlet struct {
	W io.Writer

	mu  sync.Mutex // guards err
	err error      // first error
}

func (o *Outlet) Write(p []byte) (int, error) {
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
func (o *Outlet) Failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		return nil
	}
	return fmt.Errorf("the result could not be written: %w; make room, or write it elsewhere", o.err)
}

// ClosedPipe reports whether err means that nobody reads stdout any more, as after "| head".
func ClosedPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }

// keepWriting makes a broken pipe, or a file over the system's limit (ulimit -f), an error of the
// write instead of a fatal signal. undo restores the default.
func keepWriting() (undo func()) {
	broken := make(chan os.Signal, 1) // nobody receives: Notify drops signals then
	signal.Notify(broken, syscall.SIGPIPE, syscall.SIGXFSZ)
	return func() { signal.Stop(broken) }
}

// LimitHeap sets a soft limit for the heap in bytes, unless GOMEMLIMIT is set.
func LimitHeap(size int64) (restore func()) {
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

// LogLibraries sends libraries' messages in Go's standard log to to.
func LogLibraries(to *slog.Logger) {
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
