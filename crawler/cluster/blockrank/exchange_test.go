package blockrank

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"

	"fossick/crawler/cluster"
	"fossick/crawler/cluster/exchangetest"
	"fossick/crawler/cluster/local"
	"fossick/crawler/cluster/peers"
	"fossick/graph/rank"
	"fossick/internal/fulltest"
)

// TestOverExchange: agents behind an exchange that loses, doubles and mixes up their messages
// come to what rank says of the union, within ε. So they do when one of them dies in
// between, with all that it knew, and comes back; also when it is the one that leads.
func TestOverExchange(t *testing.T) {
	g := synthetic(t, 1500)
	want, err := rank.Of(t.Context(), g, rank.Options{Epsilon: 1e-13})
	if err != nil {
		t.Fatal(err)
	}
	const epsilon = 1e-9
	for seed := range fulltest.Rounds(5, 60) {
		agents := 2 + seed%3
		links, number := split(t, g, agents, bySite(g, agents))
		died := seed%(agents+1) - 1 // -1: nobody
		synctest.Test(t, func(t *testing.T) {
			hub, score := local.New(), make([]float64, g.Nodes())
			begun := time.Now()
			var comebacks atomic.Int64
			var all sync.WaitGroup
			for i := range agents {
				run := func(dies time.Duration) (*Part, error) {
					return rankBy(t.Context(), hub, links[i], i, agents, dies, uint64(100*seed+i), func() { comebacks.Add(1) })
				}
				all.Go(func() {
					dies := time.Duration(0)
					if i == died {
						dies = time.Duration(5+seed%8*3) * time.Second
					}
					part, err := run(dies)
					if errors.Is(err, cluster.ErrClosed) && i == died {
						time.Sleep(5 * time.Second)
						part, err = run(0)
					}
					if err != nil {
						t.Errorf("seed %d, agent %d: %v", seed, i, err)
						return
					}
					for at, v := range number[i] {
						if x, ours := part.Score(uint32(at)); ours {
							score[v] = x
						}
					}
				})
			}
			all.Wait()
			if off := l1(score, want.Score); off > epsilon {
				t.Errorf("seed %d: %d agents, %d dies: off by %g", seed, agents, died, off)
			}
			if died >= 0 && comebacks.Load() == 0 {
				t.Errorf("seed %d: agent %d did not come back to the ranking", seed, died)
			}
			t.Logf("seed %d: %d agents, %d dies: %v", seed, agents, died, time.Since(begun))
		})
	}
}

// rankBy ranks an agent's links together with others'. After a time, unless it is 0, the agent
// dies: its exchanges end, and nobody hears of it any more.
func rankBy(ctx context.Context, hub *local.Hub, links Links, i, agents int, dies time.Duration, seed uint64, again func()) (part *Part, err error) {
	var mu sync.Mutex
	var open []cluster.Exchange // guarded by mu
	opt := peers.Options{Me: agentID(i), Agents: agents, Task: "rank", Open: func(_ context.Context, at cluster.AgentID) (cluster.Exchange, error) {
		e, err := hub.Open(at)
		mu.Lock()
		open = append(open, e)
		mu.Unlock()
		return exchangetest.Lossy(e, seed), err
	}}
	if dies > 0 {
		defer time.AfterFunc(dies, func() {
			mu.Lock()
			defer mu.Unlock()
			for _, e := range open {
				_ = e.Close()
			}
		}).Stop()
	}
	sessions := 0
	err = peers.Run(ctx, opt, func(ctx context.Context, s peers.Session) error {
		if sessions++; s.Again || sessions > 1 {
			again()
		}
		work, ctx := errgroup.WithContext(ctx)
		part, err = New(links, s.Me, s.Agents, s.Peer, s.Again)
		if err != nil {
			return err
		}
		work.Go(func() error { return part.Run(ctx) })
		if s.Leader != nil {
			work.Go(func() error {
				_, err := Coordinate(ctx, s.Leader, s.Agents, Options{Epsilon: 1e-9})
				return err
			})
		}
		return work.Wait()
	})
	return part, err
}

func agentID(i int) cluster.AgentID { return cluster.AgentID(fmt.Sprintf("%016x", i+1)) }
