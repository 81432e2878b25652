package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"fossick/internal/wire"
)

// peer carries messages between the numbered agents of a session of a task. A message arrives
// once and in order. An agent that dies and comes back begins another session. Safe for
// concurrent use.
//
// Unacknowledged frames to all peers together take at most half a mailbox.
type peer struct {
	exchange Exchange
	head     peerFrame // fields common to all frames
	ready    chan struct{}
	pause    time.Duration

	mu    sync.Mutex // guards the rest
	links []*link    // by number; nil for this peer
	inbox []peerMessage
	err   error // why no more messages come
}

type peerMessage struct {
	from  int
	bytes []byte
}

type link struct {
	to     AgentID
	window int // most unacknowledged frames

	queue []outgoingPart // waits for room in the window
	sent  sentFrames
	spoke time.Time // when something was last sent

	taken takenFrames[peerFrame]
	part  []byte // start of an incomplete message
	bye   bool   // the other peer needs no more from us
	heard time.Time
}

type outgoingPart struct {
	bytes []byte
	kind  uint64 // kindEnd or kindBye
}

type peerFrame struct {
	_       struct{} `cbor:",toarray"`
	Version uint64
	Session uint64
	From    uint64
	Ack     uint64 // the last frame received in order
	Seq     uint64 // from 1; 0: an acknowledgement only
	Kind    uint64
	Bytes   []byte `most:"65536"`
}

const (
	kindPart = 1 // part of a message, more follows
	kindEnd  = 2 // the last part of a message, or all of it
	kindBye  = 3 // the sender needs no more of the receiver
)

var errPeerFull = errors.New("too many messages wait for it")

const (
	partBytes       = 64 << 10
	mostQueued      = 1 << 10         // messages waiting for one peer; work in rounds never reaches this
	mostWholeBytes  = 4 << 30         // size of a message from another peer
	pingEvery       = 5 * time.Second // to each peer, to detect silent ones
	peerSilentAfter = 4 * pingEvery   // allows for lost pings
)

func decodePeerFrame(b []byte) (f peerFrame, err error) {
	f, err = decode[peerFrame]("frame", b)
	if err == nil && (f.Version != taskVersion || (f.Seq == 0) != (f.Kind == 0) || f.Kind > kindBye || f.From >= mostPeers) {
		err = fmt.Errorf("frame %d of version %d, kind %d: %w", f.Seq, f.Version, f.Kind, errWire)
	}
	return f, err
}

// newPeer returns peer number me, given all peers' addresses.
func newPeer(e Exchange, session uint64, me int, at []AgentID, resend time.Duration) *peer {
	p := &peer{exchange: e, ready: make(chan struct{}, 1), pause: resend / 2, links: make([]*link, len(at)),
		head: peerFrame{Version: taskVersion, Session: session, From: uint64(me)}}
	window := max(2, MailboxBytes/2/partBytes/len(at))
	for i := range at {
		if i != me {
			p.links[i] = &link{to: at[i], window: window, heard: time.Now(), sent: sentFrames{resend: resend}}
		}
	}
	return p
}

// Send queues a message, which must not change afterwards.
func (p *peer) Send(ctx context.Context, to int, message []byte) error {
	if to < 0 || to >= len(p.links) || p.links[to] == nil {
		return fmt.Errorf("peer %d of %d: %w", to, len(p.links), errWire)
	}
	return p.queue(ctx, to, outgoingPart{message, kindEnd})
}

func (p *peer) queue(ctx context.Context, to int, m outgoingPart) error {
	p.mu.Lock()
	l := p.links[to]
	if p.err != nil || len(l.queue) == mostQueued {
		defer p.mu.Unlock()
		return errors.Join(p.err, fmt.Errorf("peer %d: %w", to, errPeerFull))
	}
	l.queue = append(l.queue, m)
	frames := p.fill(l, time.Now())
	p.mu.Unlock()
	return p.send(ctx, l.to, frames)
}

func (p *peer) send(ctx context.Context, to AgentID, frames [][]byte) error {
	for _, b := range frames {
		if err := p.exchange.Send(ctx, to, b); err != nil {
			return err
		}
	}
	return nil
}

// Receive waits for the next message and returns it with its sender's number.
func (p *peer) Receive(ctx context.Context) (from int, message []byte, err error) {
	for {
		p.mu.Lock()
		err := p.err
		if len(p.inbox) > 0 {
			l := p.inbox[0]
			p.inbox = p.inbox[1:]
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

// serve does work while the peer receives, and returns once the other peers need no more of it.
func (p *peer) serve(ctx context.Context, work func(ctx context.Context) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return p.run(ctx) })
	done := false
	g.Go(func() error {
		if err := work(ctx); err != nil {
			return err
		}
		done = true
		p.part(ctx)
		stop()
		return nil
	})
	if err := g.Wait(); !done {
		return err
	}
	return nil
}

// run announces this peer, receives frames, and resends unacknowledged ones until ctx ends.
func (p *peer) run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		for {
			b, err := p.exchange.Receive(ctx)
			if err == nil {
				err = p.handle(ctx, b)
			}
			if err != nil {
				return err
			}
		}
	})
	g.Go(func() error {
		for greet := true; ; greet = false {
			for _, l := range p.links {
				if l == nil {
					continue
				}
				if err := p.send(ctx, l.to, p.overdue(l, greet)); err != nil {
					return err
				}
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(p.pause):
			}
		}
	})
	err := g.Wait()
	p.mu.Lock()
	p.err = err
	p.mu.Unlock()
	signal(p.ready)
	return err
}

// overdue returns frames to send again, or a ping. A silent peer gets only its first frame.
func (p *peer) overdue(l *link, greet bool) [][]byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	frames, _ := l.sent.again(now)
	if len(frames) > 1 && now.Sub(l.heard) > pingEvery {
		frames = frames[:1]
	}
	if len(frames) == 0 && (greet || now.Sub(l.spoke) >= pingEvery) {
		frames = [][]byte{p.ack(l)}
	}
	if len(frames) > 0 {
		l.spoke = now
	}
	return frames
}

func (p *peer) fill(l *link, now time.Time) (frames [][]byte) {
	for len(l.queue) > 0 && len(l.sent.frames) < l.window {
		m := &l.queue[0]
		f := p.head
		f.Ack, f.Seq, f.Kind, f.Bytes = l.taken.last, l.sent.next(), m.kind, m.bytes
		if len(m.bytes) > partBytes {
			f.Kind, f.Bytes, m.bytes = kindPart, m.bytes[:partBytes], m.bytes[partBytes:]
		} else {
			l.queue = l.queue[1:]
		}
		b := wire.Encode(f)
		l.sent.add(now, b)
		frames = append(frames, b)
		l.spoke = now
	}
	return frames
}

func (p *peer) ack(l *link) []byte {
	f := p.head
	f.Ack = l.taken.last
	return wire.Encode(f)
}

// handle takes a frame of this session.
func (p *peer) handle(ctx context.Context, b []byte) error {
	f, err := decodePeerFrame(b)
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

func (p *peer) takeIn(l *link, f peerFrame) (answer [][]byte, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	l.heard = now
	l.sent.ack(now, f.Ack)
	answer = p.fill(l, now)
	if f.Seq > 0 {
		if err := p.take(l, f); err != nil {
			return nil, err
		}
		answer = append(answer, p.ack(l))
		l.spoke = now
	}
	signal(p.ready)
	return answer, nil
}

func (p *peer) take(l *link, f peerFrame) error {
	l.taken.put(f.Seq, f, l.window)
	for next, ok := l.taken.next(); ok; next, ok = l.taken.next() {
		l.taken.take()
		if next.Kind == kindBye {
			l.bye = true
			continue
		}
		if l.part = append(l.part, next.Bytes...); len(l.part) > mostWholeBytes {
			return fmt.Errorf("a message of more than %d bytes: %w", int64(mostWholeBytes), errWire)
		}
		if next.Kind == kindEnd {
			p.inbox = append(p.inbox, peerMessage{int(f.From), l.part})
			l.part = nil
		}
	}
	return nil
}

// part tells all peers that this one needs no more, and waits until they have said the same. It
// does not wait for silent peers. Receive must not be called meanwhile.
func (p *peer) part(ctx context.Context) {
	for to, l := range p.links {
		if l != nil && p.queue(ctx, to, outgoingPart{nil, kindBye}) != nil {
			return // the exchange is gone, and this peer has all it needs
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

func (p *peer) parted() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.links {
		parted := l == nil || l.bye && len(l.queue) == 0 && len(l.sent.frames) == 0
		if !parted && time.Since(l.heard) <= peerSilentAfter {
			return false
		}
	}
	return true
}

func (p *peer) silent() (numbers []int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, l := range p.links {
		if l != nil && time.Since(l.heard) > peerSilentAfter {
			numbers = append(numbers, i)
		}
	}
	return numbers
}
