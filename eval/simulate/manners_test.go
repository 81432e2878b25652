package simulate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"fossick/graph"
	"fossick/graph/orders"
	"fossick/internal/fulltest"
)

// slowManners crawls second by second, and looks at everything in each.
type slowManners struct {
	Manners
	g      *graph.Graph
	order  orders.Sequence
	links  *graph.Reader
	flying map[uint32]int // page → second at which its fetch ends
	began  []uint32       // pages in flight, in the order in which they began
	free   map[uint32]int // host → second from which on it may be asked
	parked []uint32
	visits []uint32
	gaps   map[uint32][]int // host → seconds at which fetches began
}

func (s *slowManners) choose(now int) (uint32, bool) {
	for i, v := range s.parked {
		if s.free[s.Hosts[v]] <= now {
			s.parked = slices.Delete(s.parked, i, i+1)
			return v, true
		}
	}
	for len(s.parked) < s.Ahead {
		v, ok := s.order.Next()
		if !ok {
			return 0, false
		}
		if s.free[s.Hosts[v]] <= now {
			return v, true
		}
		s.parked = append(s.parked, v)
	}
	return 0, false
}

// run returns the second of the last visit.
func (s *slowManners) run(t *testing.T, most int) (last int) {
	fetch, rest := int(s.Fetch/time.Second), int(s.Rest/time.Second)
	for now := 0; ; now++ {
		for _, v := range slices.Clone(s.began) {
			if s.flying[v] > now {
				continue
			}
			s.began = slices.DeleteFunc(s.began, func(w uint32) bool { return w == v })
			links, err := s.links.Successors(v)
			if err != nil {
				t.Fatal(err)
			}
			s.visits, last = append(s.visits, v), now
			s.order.Visit(orders.Alike(v, links))
		}
		for len(s.began) < s.Workers && len(s.visits)+len(s.began) < most {
			v, ok := s.choose(now)
			if !ok {
				break
			}
			host := s.Hosts[v]
			s.began, s.flying[v] = append(s.began, v), now+fetch
			s.free[host] = now + fetch + rest
			s.gaps[host] = append(s.gaps[host], now)
		}
		if len(s.began) == 0 && (len(s.parked) == 0 || len(s.visits) == most) {
			return last
		}
	}
}

// TestManners compares with a simulation second by second, for random webs,
// numbers of workers, times and orderings. In that one no host is asked twice
// within a fetch and a rest.
func TestManners(t *testing.T) {
	for seed := range uint64(fulltest.Rounds(60, 300)) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var text strings.Builder
		pages, hosts := 2+rng.IntN(50), 1+rng.IntN(8)
		name := func() string { p := rng.IntN(pages); return fmt.Sprintf("http://h%d.test/%d", p%hosts, p) }
		for range 1 + rng.IntN(4*pages) {
			fmt.Fprintf(&text, "%s\t%s\n", name(), name())
		}
		g := graphOf(t, text.String())
		m := Manners{
			Workers: 1 + rng.IntN(4), Fetch: time.Duration(1+rng.IntN(3)) * time.Second, Rest: time.Duration(rng.IntN(5)) * time.Second,
			Ahead: 1 + rng.IntN(6), Hosts: g.Hosts().Array(g.Nodes()),
		}
		names := []string{"bfs", "mcs", "lexbfs", "opic", "pagerank", "largest-site", "relevance", "mcs+bfs", "generic"}
		order := names[rng.IntN(len(names))]
		starts := []uint32{uint32(rng.IntN(g.Nodes()))}
		most := 1 + rng.IntN(g.Nodes())
		want := &slowManners{Manners: m, g: g, links: g.Reader(), flying: map[uint32]int{}, free: map[uint32]int{}, gaps: map[uint32][]int{}}
		var sequences [2]orders.Sequence
		for i := range sequences {
			var err error
			if sequences[i], err = orders.NewSequence(order, sequenceOptions(g)); err != nil {
				t.Fatal(err)
			}
		}
		want.order = sequences[0]
		want.order.Visit(orders.Starts(starts))
		last := want.run(t, most)
		var got []uint32
		c := Crawl{Graph: g, Order: sequences[1], Starts: starts, MaxPages: most, Alike: true, Manners: &m}
		done, err := c.Run(t.Context(), func(_ int, v uint32) error {
			got = append(got, v)
			return nil
		})
		if err != nil || !slices.Equal(got, want.visits) || done.Time != time.Duration(last)*time.Second {
			t.Fatalf("seed %d, %s, %+v: %v\n got %v in %s\nwant %v in %d s", seed, order, m, err, got, done.Time, want.visits, last)
		}
		for host, at := range want.gaps {
			for i := 1; i < len(at); i++ {
				if time.Duration(at[i]-at[i-1])*time.Second < m.Fetch+m.Rest {
					t.Fatalf("seed %d: host %d was asked at %v", seed, host, at)
				}
			}
		}
	}
	g := synthetic(t, 3000)
	order, err := orders.NewSequence("bfs", sequenceOptions(g))
	if err != nil {
		t.Fatal(err)
	}
	c := Crawl{Graph: g, Order: order, Starts: []uint32{0}, Manners: &Manners{}}
	if _, err := c.Run(t.Context(), func(int, uint32) error { return nil }); err == nil {
		t.Error("a crawl without workers")
	}
}
