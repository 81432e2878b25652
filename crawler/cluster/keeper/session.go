package keeper

import (
	"context"
	"errors"
	"sync"
	"time"

	"fossick/crawler/cluster"
	"fossick/crawler/cluster/inorder"
	"fossick/internal/wire"
)

// mostSent is how many frames are on their way: at most 2 MiB, which is kept to be sent again.
const mostSent = 20

// errAnew says that the session is over: there is another keeper, or it knows it no more.
var errAnew = errors.New("another session")

// session is frames on their way to one keeper. What is not answered in time is sent again.
// Its owner's goroutine sends and waits; answers come from any.
type session struct {
	id   uint64
	to   cluster.AgentID
	send func(to cluster.AgentID, b []byte)

	mu      sync.Mutex    // guards the rest
	changed chan struct{} // one place: something of the rest did
	sent    inorder.Sent
	newest  uint64    // that the keeper knows of, when it is another one
	run     uint64    // of the keeper that the session began with
	known   bool      // it has answered
	heard   time.Time // the last answer, or the begin
	over    bool
	silent  bool // over for want of answers
}

func newSession(id uint64, to cluster.AgentID, send func(cluster.AgentID, []byte), resend time.Duration) *session {
	return &session{id: id, to: to, send: send, sent: inorder.Sent{Resend: resend}, heard: time.Now(), changed: make(chan struct{}, 1)}
}

// push sends a frame, once there is room for it.
func (x *session) push(ctx context.Context, f frame) error {
	if err := x.await(ctx, func() bool { return x.sent.Len() < mostSent }); err != nil {
		return err
	}
	x.mu.Lock()
	f.Version, f.Session, f.Seq = wireVersion, x.id, x.sent.Next()
	b := wire.Encode(f)
	x.sent.Add(time.Now(), b)
	x.mu.Unlock()
	x.send(x.to, b)
	return nil
}

// await waits until something holds, and sends again what has no answer. What holds asks is
// asked under mu.
func (x *session) await(ctx context.Context, holds func() bool) error {
	for {
		x.mu.Lock()
		over, ok := x.over, holds()
		again, wait := x.sent.Again(time.Now())
		x.mu.Unlock()
		switch {
		case over:
			return errAnew
		case ok:
			return ctx.Err()
		}
		for _, b := range again {
			x.send(x.to, b)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-x.changed:
		case <-time.After(wait):
		}
	}
}

// answered takes in an answer.
func (x *session) answered(a answer) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if a.Session != x.id {
		return
	}
	x.heard = time.Now()
	if !x.known {
		x.known, x.run = true, a.Run
	}
	switch {
	case a.Run != x.run: // it was started anew, and may take a late frame for the begin of this session
		x.over = true
	case a.Newest > x.id: // this machine's clock went back between two processes
		x.newest, x.over = a.Newest, true
	case a.Seq == 0:
		x.over = x.over || x.sent.Acked() > 0
	default:
		x.sent.Ack(time.Now(), a.Seq)
	}
	x.wake()
}

// latest returns the newest session that the keeper told of.
func (x *session) latest() uint64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.newest
}

// end says that there is another keeper.
func (x *session) end() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.over = true
	x.wake()
}

// endSilent ends the session if there was no answer for so long.
func (x *session) endSilent(after time.Duration) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.over && time.Since(x.heard) > after {
		x.over, x.silent = true, true
		x.wake()
	}
}

func (x *session) wasSilent() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.silent
}

// wake has await look again; under mu or not.
func (x *session) wake() {
	select {
	case x.changed <- struct{}{}:
	default:
	}
}
