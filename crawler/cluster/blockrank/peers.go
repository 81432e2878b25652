package blockrank

import (
	"context"
	"fmt"
)

// Peers carries messages between numbered peers: the parts from 0, and last the
// coordinator. What one peer sends to another arrives once and in order, unless one of
// them dies. To one that died and came back nothing comes that was sent before a message of
// its new life was received. A Peers is one peer's.
type Peers interface {
	// Send hands over a message. It does not wait for it to be received.
	Send(ctx context.Context, to int, message []byte) error
	// Receive returns the next message and who sent it; it waits for one.
	Receive(ctx context.Context) (from int, message []byte, err error)
}

// line is one peer's end. It keeps the last message of each kind to each other peer, and
// says them again to one that died and came back. So a peer that comes back finds
// all that it needs, and the others do not work again for it.
type line struct {
	peers Peers
	said  []map[kind][]byte // by peer
	bytes uint64            // sent
}

func newLine(peers Peers, count int) *line {
	l := &line{peers: peers, said: make([]map[kind][]byte, count)}
	for i := range l.said {
		l.said[i] = map[kind][]byte{}
	}
	return l
}

func (l *line) send(ctx context.Context, to int, m message) error {
	b := m.encode()
	if m.kind != again {
		l.said[to][m.kind] = b
	}
	l.bytes += uint64(len(b))
	return l.peers.Send(ctx, to, b)
}

// receive returns the next message. Who has to hear all again has by then.
func (l *line) receive(ctx context.Context) (from int, m message, err error) {
	from, b, err := l.peers.Receive(ctx)
	if err != nil {
		return from, m, err
	}
	if from < 0 || from >= len(l.said) {
		return from, m, fmt.Errorf("%w: from peer %d of %d", ErrMessage, from, len(l.said))
	}
	if m, err = decode(b); err != nil {
		return from, m, fmt.Errorf("peer %d: %w", from, err)
	}
	if m.kind != again {
		return from, m, nil
	}
	for k := claims; k <= lastKind; k++ {
		if b, ok := l.said[from][k]; ok {
			l.bytes += uint64(len(b))
			if err := l.peers.Send(ctx, from, b); err != nil {
				return from, m, err
			}
		}
	}
	return from, m, nil
}
