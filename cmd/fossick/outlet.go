package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// An outlet is stdout with a memory: a result that did not reach its reader is a
// verb that failed, also where many small lines of text were printed and nobody
// looked at each. Safe for concurrent use.
type outlet struct {
	w io.Writer

	mu  sync.Mutex // guards err
	err error      // the first
}

func (o *outlet) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if err != nil {
		o.mu.Lock()
		if o.err == nil {
			o.err = err
		}
		o.mu.Unlock()
	}
	return n, err
}

// failed returns the first error as one of the verb, nil when there was none.
func (o *outlet) failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		return nil
	}
	return fmt.Errorf("the result could not be written: %w; make room, or send it elsewhere", o.err)
}

// unheard says whether err is that nobody reads stdout any more, as after "| head":
// no error to talk about, and nobody expects one.
func unheard(err error) bool { return errors.Is(err, syscall.EPIPE) }

// stopSignals are those that end a crawl cleanly. A terminal that is closed, or an
// ssh session that breaks, sends SIGHUP; who started fossick by nohup wants none.
func stopSignals() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}

// keepWriting lets a broken pipe be an error of a write, and so a file that is larger
// than the system's limit for one (ulimit -f). By default the Go runtime ends a process
// that writes to a closed stderr, and a crawl of days would end with the "tee" that
// shows its progress; of the other it makes a dump. The function returned undoes it.
func keepWriting() (undo func()) {
	broken := make(chan os.Signal, 1) // nobody receives: Notify drops what it cannot send
	signal.Notify(broken, syscall.SIGPIPE, syscall.SIGXFSZ)
	return func() { signal.Stop(broken) }
}
