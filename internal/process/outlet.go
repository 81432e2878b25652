package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// An Outlet is stdout with a memory. A result that did not reach its reader is a verb
// that failed, even where nobody looked at each small line. Safe for concurrent use.
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

// Unheard says whether err is that nobody reads stdout any more, as after "| head":
// no error to talk about, and nobody expects one.
func Unheard(err error) bool { return errors.Is(err, syscall.EPIPE) }

// keepWriting lets a broken pipe be an error of a write, and so a file that is
// larger than the system's limit for one (ulimit -f). By default the Go runtime
// ends a process that writes to a closed stderr. A crawl of days would end with
// the "tee" that shows its progress. Of the other it makes a dump. The function
// returned undoes it.
func keepWriting() (undo func()) {
	broken := make(chan os.Signal, 1) // nobody receives: Notify drops what it cannot send
	signal.Notify(broken, syscall.SIGPIPE, syscall.SIGXFSZ)
	return func() { signal.Stop(broken) }
}
