package blockrank

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Rank ranks the links of several agents in one process, a goroutine each. The same parts
// come to the same bits.
func Rank(ctx context.Context, links []Links, opt Options) ([]*Part, *Result, error) {
	peers := inProcess(len(links) + 1)
	parts := make([]*Part, len(links))
	for i, l := range links {
		var err error
		if parts[i], err = New(l, i, len(links), peers[i], false); err != nil {
			return nil, nil, err
		}
	}
	var r *Result
	g, ctx := errgroup.WithContext(ctx)
	for _, p := range parts {
		g.Go(func() error { return p.Run(ctx) })
	}
	g.Go(func() (err error) {
		r, err = Coordinate(ctx, peers[len(links)], len(links), opt)
		return err
	})
	if err := g.Wait(); err != nil {
		return nil, r, err
	}
	return parts, r, nil
}

// mailbox has what was sent to a peer. Whoever sends does not wait.
type mailbox struct {
	ready chan struct{} // has one when there may be letters

	mu      sync.Mutex // guards letters
	letters []letter
}

type letter struct {
	from  int
	bytes []byte
}

// within is a peer in the same process as all others.
type within struct {
	me  int
	all []*mailbox
}

// inProcess returns so many peers.
func inProcess(count int) []Peers {
	boxes, peers := make([]*mailbox, count), make([]Peers, count)
	for i := range peers {
		boxes[i] = &mailbox{ready: make(chan struct{}, 1)}
		peers[i] = within{i, boxes}
	}
	return peers
}

func (w within) Send(_ context.Context, to int, message []byte) error {
	b := w.all[to]
	b.mu.Lock()
	b.letters = append(b.letters, letter{w.me, message})
	b.mu.Unlock()
	select {
	case b.ready <- struct{}{}:
	default: // it knows already
	}
	return nil
}

func (w within) Receive(ctx context.Context) (from int, message []byte, err error) {
	b := w.all[w.me]
	for {
		b.mu.Lock()
		if len(b.letters) > 0 {
			l := b.letters[0]
			b.letters = b.letters[1:]
			b.mu.Unlock()
			return l.from, l.bytes, nil
		}
		b.mu.Unlock()
		select {
		case <-b.ready:
		case <-ctx.Done():
			return 0, nil, ctx.Err()
		}
	}
}
