package peers_test

import (
	"context"
	"fmt"
	"sync"

	"fossick/crawler/cluster"
	"fossick/crawler/cluster/local"
	"fossick/crawler/cluster/peers"
)

// Two agents greet the leader, which is one of them.
func ExampleRun() {
	hub := local.New()
	var g sync.WaitGroup
	for _, id := range []cluster.AgentID{"000000000000000a", "000000000000000b"} {
		opt := peers.Options{Me: id, Agents: 2, Task: "greet",
			Open: func(_ context.Context, at cluster.AgentID) (cluster.Exchange, error) { return hub.Open(at) }}
		g.Go(func() {
			err := peers.Run(context.Background(), opt, func(ctx context.Context, s peers.Session) error {
				if err := s.Peer.Send(ctx, s.Agents, []byte("hello")); err != nil || s.Leader == nil {
					return err
				}
				for range s.Agents {
					_, b, err := s.Leader.Receive(ctx)
					if err != nil {
						return err
					}
					fmt.Printf("%s\n", b)
				}
				return nil
			})
			if err != nil {
				fmt.Println(err)
			}
		})
	}
	g.Wait()
	// Output:
	// hello
	// hello
}
