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

// An Outlet is stdout that remembers the first error, because a verb whose result was not
// written has failed. Safe for concurrent use.
type Outlet struct {
	W io.Writer

	mu  sync.Mutex // guards err
	err error      // the first
}

// Write implements io.Writer.
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

// Failed returns the first error as one of the verb, nil when there was none.
func (o *Outlet) Failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		return nil
	}
	return fmt.Errorf("the result could not be written: %w; make room, or write it elsewhere", o.err)
}

// ClosedPipe says whether err is that nobody reads stdout any more, as after "| head":
// no error to talk about, and nobody expects one.
func ClosedPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }

// keepWriting turns a broken pipe, and a file over the system's limit (ulimit -f), into errors
// of the write, which by default end the process. undo restores the default.
func keepWriting() (undo func()) {
	broken := make(chan os.Signal, 1) // nobody receives: Notify drops what it cannot send
	signal.Notify(broken, syscall.SIGPIPE, syscall.SIGXFSZ)
	return func() { signal.Stop(broken) }
}

// LimitHeap has the garbage collector work harder where the heap would pass a size in
// bytes, unless GOMEMLIMIT says otherwise.
func LimitHeap(size int64) (restore func()) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	before := debug.SetMemoryLimit(size)
	return func() { debug.SetMemoryLimit(before) }
}

// A libraryLog is where libraries' lines in Go's standard log go. net/http
// tells it of servers that break the protocol, which is of no interest to most.
// Badger tells it why it ends the process, which must not happen without a
// word.
type libraryLog struct {
	log   *slog.Logger
	fatal string // what the names of functions begin with whose words are the last
}

// badgerCode is what the names of Badger's functions begin with.
const badgerCode = "github.com/dgraph-io/"

// LogLibraries sends what libraries write to Go's own log to to.
func LogLibraries(to *slog.Logger) {
	log.SetFlags(0)
	log.SetOutput(libraryLog{to, badgerCode})
}

// Write implements io.Writer for one line of the log.
func (l libraryLog) Write(p []byte) (int, error) {
	what := strings.TrimSpace(string(p))
	if l.calledBy(l.fatal) {
		l.log.Error("the store cannot go on; committed data is safe: check the disk, then run fossick repair", "err", what)
	} else {
		l.log.Debug(what)
	}
	return len(p), nil
}

// calledBy says whether a function whose name begins so called the log.
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
