package cluster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"

	"fossick/graph/rank"
	"fossick/internal/testkit"
)

// rankMortal dies at its n-th exchange, before it sends or with the message received. After it
// has sent rankChange, the others may finish without it. So it then survives until it must send
// more than scores.
type rankMortal struct {
	*afterlife
	me    int
	known []byte // lives of the others, as far as known
	left  int
	safe  bool
}

// afterlife carries messages between mortals. Messages for a dead peer do not reach its next
// life.
type afterlife struct {
	peers []rankPeers

	mu    sync.Mutex // guards lives, and each message's delivery in its life
	lives []byte
}

// born begins a life of a peer that dies after so many exchanges; 0: never.
func (a *afterlife) born(me, left int) *rankMortal {
	a.mu.Lock()
	defer a.mu.Unlock()
	return &rankMortal{afterlife: a, me: me, known: slices.Clone(a.lives), left: left}
}

func (a *afterlife) buried(me int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lives[me]++
	for box := a.peers[me].(inProcess).boxes[me]; len(box) > 0; {
		<-box
	}
}

func (m *rankMortal) dies() bool {
	m.left--
	return !m.safe && m.left == 0
}

func (m *rankMortal) Send(ctx context.Context, to int, message []byte) error {
	last := rankKind(message[0]) == rankScores
	if m.safe = m.safe && last; m.dies() {
		return errDied
	}
	m.safe = last || rankKind(message[0]) == rankChange
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known[to] != m.lives[to] {
		return nil
	}
	return m.peers[m.me].Send(ctx, to, append([]byte{m.lives[m.me]}, message...))
}

func (m *rankMortal) Receive(ctx context.Context) (int, []byte, error) {
	from, message, err := m.peers[m.me].Receive(ctx)
	if err != nil {
		return 0, nil, err
	}
	if m.dies() {
		return 0, nil, errDied
	}
	m.known[from] = message[0]
	return from, message[1:], nil
}

// TestRankDeaths: agents die at any exchange, lose their memory and the messages sent to them,
// and come back. All still find the PageRank of the union within ε.
func TestRankDeaths(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	died, late := 0, 0
	for run := range testkit.Rounds(60, 1000) {
		agents := randomAgents(r, 2+r.IntN(3), 10+r.IntN(30))
		all := union(agents)
		if len(all) == 0 {
			continue
		}
		var links []namedLinks
		for _, a := range agents {
			links = append(links, linksOf(a))
		}
		opt := RankOptions{Method: RankMethods[run%len(RankMethods)], Epsilon: 1e-9}
		peers := &afterlife{peers: newInProcess(len(agents) + 1), lives: make([]byte, len(agents)+1)}
		parts := make([]*RankPart, len(agents))
		g, ctx := errgroup.WithContext(t.Context())
		deaths := make([][]int, len(agents))
		for i := range agents {
			for range r.IntN(3) {
				deaths[i] = append(deaths[i], 1+r.IntN(120))
			}
		}
		comeback := make([]int, len(agents))
		for i := range agents {
			g.Go(func() error {
				for life := 0; ; life++ {
					left := 0
					if life < len(deaths[i]) {
						left = deaths[i][life]
					}
					p, err := newRankPart(links[i].RankLinks, i, len(agents), peers.born(i, left), life > 0)
					if err != nil {
						return err
					}
					parts[i] = p
					if err = p.run(ctx); !errors.Is(err, errDied) {
						return err
					}
					comeback[i]++
					if p.round > 0 {
						comeback[i] += 1000
					}
					peers.buried(i)
				}
			})
		}
		var result *RankResult
		g.Go(func() (err error) {
			result, err = coordinateRank(ctx, peers.born(len(agents), 0), len(agents), opt)
			return err
		})
		if err := g.Wait(); err != nil {
			t.Fatalf("run %d, %v: %v", run, deaths, err)
		}
		if off := distance(t, dense(all, 0.85), scores(t, links, parts)); off > opt.Epsilon {
			t.Errorf("run %d, %v, %+v: off by %g; %+v", run, deaths, opt, off, result)
		}
		for _, c := range comeback {
			died, late = died+c%1000, late+c/1000
		}
	}
	t.Logf("%d deaths, %d of them in rounds", died, late)
	if died < 10 || late < 5 {
		t.Errorf("%d deaths, %d of them in rounds: too few to show anything", died, late)
	}
}

// TestOverExchange: over an exchange that loses, doubles and reorders messages, agents find the
// PageRank of the union within ε. They also do if one of them, even the leader, dies and comes
// back without its memory.
func TestOverExchange(t *testing.T) {
	g := synthetic(t, 1500)
	want, err := rank.Of(t.Context(), g, rank.Options{Epsilon: 1e-13})
	if err != nil {
		t.Fatal(err)
	}
	const epsilon = 1e-9
	for seed := range testkit.Rounds(5, 60) {
		agents := 2 + seed%3
		links, number := split(t, g, agents, bySite(g, agents))
		died := seed%(agents+1) - 1 // -1: none
		synctest.Test(t, func(t *testing.T) {
			hub, score := NewHub(), make([]float64, g.Nodes())
			begun := time.Now()
			var comebacks atomic.Int64
			var all sync.WaitGroup
			for i := range agents {
				run := func(dies time.Duration) (*RankPart, error) {
					return rankBy(t.Context(), hub, links[i], i, agents, dies, uint64(100*seed+i), func() { comebacks.Add(1) })
				}
				all.Go(func() {
					dies := time.Duration(0)
					if i == died {
						dies = time.Duration(5+seed%8*3) * time.Second
					}
					part, err := run(dies)
					if errors.Is(err, ErrClosed) && i == died {
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

// rankBy ranks an agent's links together with the others'. If dies is not 0, the agent dies after
// that time: its exchanges end, and it sends nothing more.
func rankBy(ctx context.Context, hub *Hub, links RankLinks, i, agents int, dies time.Duration, seed uint64, again func()) (part *RankPart, err error) {
	var mu sync.Mutex
	var open []Exchange // guarded by mu
	opt := Task{Me: agentID(i), Agents: agents, Name: "rank", Open: func(_ context.Context, at AgentID) (Exchange, error) {
		e, err := hub.Open(at)
		mu.Lock()
		open = append(open, e)
		mu.Unlock()
		return newLossy(e, seed), err
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
	err = opt.Run(ctx, func(ctx context.Context, s TaskSession) error {
		if sessions++; s.Again || sessions > 1 {
			again()
		}
		part, err = s.Rank(ctx, links, RankOptions{Epsilon: 1e-9})
		return err
	})
	return part, err
}

func agentID(i int) AgentID { return AgentID(fmt.Sprintf("%016x", i+1)) }
