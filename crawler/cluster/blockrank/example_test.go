package blockrank_test

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"fossick/crawler/cluster/blockrank"
	"fossick/graph"
)

// letter is a message between peers of the example.
type letter struct {
	from    int
	message []byte
}

// peer is one of them: what it is sent waits in a channel.
type peer struct {
	me    int
	boxes []chan letter
}

func (p peer) Send(ctx context.Context, to int, message []byte) error {
	select {
	case p.boxes[to] <- letter{p.me, message}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p peer) Receive(ctx context.Context) (int, []byte, error) {
	select {
	case l := <-p.boxes[p.me]:
		return l.from, l.message, nil
	case <-ctx.Done():
		return 0, nil, ctx.Err()
	}
}

// Two agents have a page each, which lead to each other.
func ExampleCoordinate() {
	boxes := make([]chan letter, 3)
	for i := range boxes {
		boxes[i] = make(chan letter, 100)
	}
	links := []blockrank.Links{
		{In: &graph.CSR{Start: []int64{0, 0, 1}, To: []uint32{0}}, Degree: []uint32{1, 0}, Keys: []uint64{7, 8}, Page: []bool{true, false}},
		{In: &graph.CSR{Start: []int64{0, 1, 1}, To: []uint32{1}}, Degree: []uint32{0, 1}, Keys: []uint64{7, 8}, Page: []bool{false, true}},
	}
	g, ctx := errgroup.WithContext(context.Background())
	parts := make([]*blockrank.Part, 2)
	for i := range parts {
		var err error
		if parts[i], err = blockrank.New(links[i], i, 2, peer{i, boxes}, false); err != nil {
			fmt.Println(err)
			return
		}
		g.Go(func() error { return parts[i].Run(ctx) })
	}
	r, err := blockrank.Coordinate(ctx, peer{2, boxes}, 2, blockrank.Options{})
	if err := g.Wait(); err != nil {
		fmt.Println(err)
	}
	score, ours := parts[0].Score(0)
	fmt.Printf("%d nodes, %d edges, %.3f %v %v\n", r.Nodes, r.Edges, score, ours, err)
	// Output: 2 nodes, 2 edges, 0.500 true <nil>
}
