package workers

import (
	"context"
	"errors"
)

// ErrEnded reports that a crawl cannot take anything in any more.
var ErrEnded = errors.New("the crawl has just ended")

// Inbox is where others than the executor ask the owner to do something. Safe for
// concurrent use.
type Inbox struct {
	requests chan Request
	ended    chan struct{} // closed when the owner answers no more
}

// NewInbox returns an inbox of an owner that is at work.
func NewInbox() *Inbox { return &Inbox{make(chan Request), make(chan struct{})} }

// End refuses what is asked from now on.
func (in *Inbox) End() { close(in.ended) }

// Request is something that the owner is to do in its turn, and where it says how
// that went. do's first error is the asker's, its second ends the crawl.
type Request struct {
	do   func() (error, error)
	done chan error
}

// InTurn has the owner do something, and waits for it.
func (in *Inbox) InTurn(ctx context.Context, do func() (error, error)) error {
	r := Request{do, make(chan error, 1)}
	select {
	case in.requests <- r:
	case <-in.ended:
		return ErrEnded
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return <-r.done // the owner is at it
}

// Answer does what was asked; its error ends the crawl.
func (r Request) Answer() error {
	refused, err := r.do()
	r.done <- errors.Join(refused, err)
	return err
}
