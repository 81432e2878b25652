package peers

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"fossick/crawler/cluster"
	"fossick/crawler/cluster/limits"
)

// Peer carries messages between numbered peers: agents from 0, and last the leader, which is
// one of them as well. What one sends to another arrives once and in order, unless
// one of them dies: then what it had not taken is lost, and so is what is sent to it until
// Receive has returned a message of its new life. So who comes back speaks first, and never
// gets an answer to what it said before it died. Safe for concurrent use.
//
// Kept are the frames on their way, of which each other peer has a share of half a mailbox;
// messages that wait to be sent; and those that Receive has not returned.
type Peer struct {
	exchange cluster.Exchange
	head     frame // what all frames say
	ready    chan struct{}
	pause    time.Duration

	mu    sync.Mutex // guards the rest
	links []*link    // by number; nil: this one
	inbox []letter
	err   error // why no more comes
}

type letter struct {
	from  int
	life  uint64 // of the sender
	bytes []byte
}

// ErrFull reports messages to a peer that takes none.
var ErrFull = errors.New("too many messages wait for it")

const (
	pingEvery = 5 * time.Second // something is said to each, so that who is silent is known
	silentFor = 4 * pingEvery   // after which a peer counts as gone; some pings are lost
)

// newPeer is number me of those at the addresses, with their lives.
func newPeer(e cluster.Exchange, session uint64, me int, at []cluster.AgentID, lives []uint64, resend time.Duration) *Peer {
	p := &Peer{exchange: e, ready: make(chan struct{}, 1), pause: resend / 2, links: make([]*link, len(at)),
		head: frame{Version: wireVersion, Session: session, From: uint64(me), Life: lives[me]}}
	window := max(2, limits.MailboxBytes/2/pieceBytes/len(at))
	for i := range at {
		if i != me {
			p.links[i] = &link{to: at[i], life: lives[i], known: lives[i], window: window, heard: time.Now()}
			p.links[i].sent.Resend = resend
		}
	}
	return p
}

// Send hands over a message, which is not changed from then on. It does not wait for it to
// be received.
func (p *Peer) Send(ctx context.Context, to int, message []byte) error {
	if to < 0 || to >= len(p.links) || p.links[to] == nil {
		return fmt.Errorf("peer %d of %d: %w", to, len(p.links), ErrWire)
	}
	return p.say(ctx, to, outgoing{message, kindEnd})
}

func (p *Peer) say(ctx context.Context, to int, m outgoing) error {
	p.mu.Lock()
	l := p.links[to]
	if p.err != nil || len(l.queue) == mostQueued {
		defer p.mu.Unlock()
		return errors.Join(p.err, fmt.Errorf("peer %d: %w", to, ErrFull))
	}
	if l.known != l.life && m.kind != kindBye {
		p.mu.Unlock()
		return nil // it is for one who died
	}
	l.queue, l.left = append(l.queue, m), m.kind == kindBye
	frames := l.fill(time.Now(), p.head)
	if len(frames) > 0 {
		l.spoke = time.Now()
	}
	p.mu.Unlock()
	return p.send(ctx, l.to, frames)
}

// send hands frames to the exchange.
func (p *Peer) send(ctx context.Context, to cluster.AgentID, frames [][]byte) error {
	for _, b := range frames {
		if err := p.exchange.Send(ctx, to, b); err != nil {
			return err
		}
	}
	return nil
}

// Receive returns the next message and who sent it; it waits for one.
func (p *Peer) Receive(ctx context.Context) (from int, message []byte, err error) {
	for {
		p.mu.Lock()
		err := p.err
		if len(p.inbox) > 0 {
			l := p.inbox[0]
			p.inbox = p.inbox[1:]
			p.links[l.from].known = l.life
			p.mu.Unlock()
			return l.from, l.bytes, nil
		}
		p.mu.Unlock()
		if err != nil {
			return 0, nil, err
		}
		select {
		case <-p.ready:
		case <-ctx.Done():
			return 0, nil, context.Cause(ctx)
		}
	}
}

// run takes in what others send, and sends again what they do not acknowledge, until ctx ends.
func (p *Peer) run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		for {
			b, err := p.exchange.Receive(ctx)
			if err == nil {
				err = p.hear(ctx, b)
			}
			if err != nil {
				return err
			}
		}
	})
	g.Go(func() error {
		for {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(p.pause):
			}
			for _, l := range p.links {
				if l != nil {
					if err := p.send(ctx, l.to, p.overdue(l)); err != nil {
						return err
					}
				}
			}
		}
	})
	err := g.Wait()
	p.mu.Lock()
	p.err = err
	p.mu.Unlock()
	p.wake()
	return err
}

// greet says to all others that this peer has begun.
func (p *Peer) greet(ctx context.Context) error {
	for _, l := range p.links {
		if l == nil {
			continue
		}
		p.mu.Lock()
		b := l.ack(p.head)
		l.spoke = time.Now()
		p.mu.Unlock()
		if err := p.send(ctx, l.to, [][]byte{b}); err != nil {
			return err
		}
	}
	return nil
}

// overdue returns what is to be sent again, or that the peer is here. To one that is silent only
// the first frame goes.
func (p *Peer) overdue(l *link) [][]byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	frames, _ := l.sent.Again(now)
	if len(frames) > 1 && now.Sub(l.heard) > pingEvery {
		frames = frames[:1]
	}
	if len(frames) == 0 && now.Sub(l.spoke) >= pingEvery {
		frames = [][]byte{l.ack(p.head)}
	}
	if len(frames) > 0 {
		l.spoke = now
	}
	return frames
}

// hear takes a frame in, and answers. What is of another session, of an earlier life or no
// frame at all is as if it was lost.
func (p *Peer) hear(ctx context.Context, b []byte) error {
	f, err := decodeFrame(b)
	if err != nil || f.Session != p.head.Session || f.From >= uint64(len(p.links)) || p.links[f.From] == nil {
		return nil
	}
	l := p.links[f.From]
	frames, err := p.takeIn(l, f)
	if err != nil {
		return fmt.Errorf("peer %d: %w", f.From, err)
	}
	return p.send(ctx, l.to, frames)
}

func (p *Peer) takeIn(l *link, f frame) (answer [][]byte, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	switch {
	case f.Life < l.life:
		return nil, nil
	case f.Life > l.life:
		l.forget(f.Life)
	}
	l.heard = now
	if f.Of != p.head.Life { // it does not know yet that we died; what we send says so
		return [][]byte{l.ack(p.head)}, nil
	}
	l.sent.Ack(now, f.Ack)
	answer = l.fill(now, p.head)
	if f.Seq > 0 {
		messages, err := l.take(f)
		if err != nil {
			return nil, err
		}
		for _, m := range messages {
			p.inbox = append(p.inbox, letter{int(f.From), f.Life, m})
		}
		answer = append(answer, l.ack(p.head))
	}
	if len(answer) > 0 {
		l.spoke = now
	}
	p.wake()
	return answer, nil
}

// wake has Receive and part look again; under mu or not.
func (p *Peer) wake() {
	select {
	case p.ready <- struct{}{}:
	default:
	}
}

// part tells all others that this peer needs no more of them, and waits until they say so and
// all has come. Those that are silent, or died, are not waited for. Nobody receives meanwhile.
func (p *Peer) part(ctx context.Context) {
	for to, l := range p.links {
		if l != nil && p.say(ctx, to, outgoing{nil, kindBye}) != nil {
			return // the exchange is gone, and this peer has what it wanted
		}
	}
	for !p.parted() {
		select {
		case <-p.ready:
		case <-time.After(p.pause):
		case <-ctx.Done():
			return
		}
	}
}

func (p *Peer) parted() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.links {
		if l != nil && !l.parted() && time.Since(l.heard) <= silentFor {
			return false
		}
	}
	return true
}

// silent returns the numbers of peers that have said nothing for so long.
func (p *Peer) silent(long time.Duration) (numbers []int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, l := range p.links {
		if l != nil && time.Since(l.heard) > long {
			numbers = append(numbers, i)
		}
	}
	return numbers
}
