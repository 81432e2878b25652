package crawler

import (
	"context"
	"errors"
)

// ErrEnded reports that a crawl cannot take anything in any more.
var ErrEnded = errors.New("the crawl has just ended")

// inbox is where others than the executor ask the owner to do something. Safe for
// concurrent use.
type inbox struct {
	requests chan request
	ended    chan struct{} // closed when the owner answers no more
}

// newInbox returns an inbox of an owner that is at work.
func newInbox() *inbox { return &inbox{make(chan request), make(chan struct{})} }

// End refuses what is asked from now on.
func (in *inbox) End() { close(in.ended) }

// request is something that the owner is to do in its turn, and where it says how
// that went. do's first error is the asker's, its second ends the crawl.
type request struct {
	do   func() (error, error)
	done chan error
}

// inTurn has the owner do something, and waits for it.
func (in *inbox) inTurn(ctx context.Context, do func() (error, error)) error {
	r := request{do, make(chan error, 1)}
	select {
	case in.requests <- r:
	case <-in.ended:
		return ErrEnded
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return <-r.done // the owner is at it
}

// answer does what was asked; its error ends the crawl.
func (r request) answer() error {
	refused, err := r.do()
	r.done <- errors.Join(refused, err)
	return err
}
