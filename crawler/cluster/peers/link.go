package peers

import (
	"fmt"
	"time"

	"fossick/crawler/cluster"
	"fossick/crawler/cluster/inorder"
	"fossick/internal/wire"
)

// link is a peer's connection with one other. The peer's mutex guards it.
type link struct {
	to     cluster.AgentID // address
	life   uint64          // of the other, as far as is known
	known  uint64          // life of the last message that was received
	window int             // frames on their way at most

	queue []outgoing // waits for room in the window
	sent  inorder.Sent
	spoke time.Time // when something was last sent

	taken inorder.Taken[frame]
	part  []byte // of a message that is not whole
	bye   bool   // it needs no more of us
	left  bool   // nor we of it
	died  bool   // after we had left
	heard time.Time
}

// outgoing is a message, or what is left of it.
type outgoing struct {
	bytes []byte
	kind  uint64 // kindEnd or kindBye
}

const (
	// mostQueued bounds messages that wait for one peer. Work in turns never has so many.
	mostQueued = 1 << 10
	// mostMessageBytes bounds what another is believed to say at once.
	mostMessageBytes = 4 << 30
)

// forget begins anew with a peer that died and came back. It knows nothing of what was sent.
func (l *link) forget(life uint64) {
	l.died = l.died || l.left
	l.life, l.queue, l.sent, l.taken, l.part, l.bye = life, nil, inorder.Sent{Resend: l.sent.Resend}, inorder.Taken[frame]{}, nil, false
}

// fill returns what there is room for in the window. head has what all frames say.
func (l *link) fill(now time.Time, head frame) (frames [][]byte) {
	for len(l.queue) > 0 && l.sent.Len() < l.window {
		m := &l.queue[0]
		f := head
		f.Of, f.Ack, f.Seq, f.Kind, f.Bytes = l.life, l.taken.Last(), l.sent.Next(), m.kind, m.bytes
		if len(m.bytes) > pieceBytes {
			f.Kind, f.Bytes, m.bytes = kindPiece, m.bytes[:pieceBytes], m.bytes[pieceBytes:]
		} else {
			l.queue = l.queue[1:]
		}
		b := wire.Encode(f)
		l.sent.Add(now, b)
		frames = append(frames, b)
	}
	return frames
}

// ack returns a frame that says what was taken, and nothing else.
func (l *link) ack(head frame) []byte {
	head.Of, head.Ack = l.life, l.taken.Last()
	return wire.Encode(head)
}

// take takes a frame in, and returns the messages that it makes whole, in order.
func (l *link) take(f frame) (messages [][]byte, err error) {
	l.taken.Put(f.Seq, f, l.window)
	for next, ok := l.taken.Next(); ok; next, ok = l.taken.Next() {
		l.taken.Take()
		if next.Kind == kindBye {
			l.bye = true
			continue
		}
		if l.part = append(l.part, next.Bytes...); len(l.part) > mostMessageBytes {
			return nil, fmt.Errorf("a message of more than %d bytes: %w", int64(mostMessageBytes), ErrWire)
		}
		if next.Kind == kindEnd {
			messages = append(messages, l.part)
			l.part = nil
		}
	}
	return messages, nil
}

// parted says that neither needs more of the other, and both know.
func (l *link) parted() bool {
	return l.died || l.bye && l.left && len(l.queue) == 0 && l.sent.Len() == 0
}
