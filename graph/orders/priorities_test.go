package orders

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"fossick/internal/testkit"
)

// TestPrioritiesEqualSequences checks that orderings as priorities visit pages in the order of Sequence.
func TestPrioritiesEqualSequences(t *testing.T) {
	for _, order := range []string{"bfs", "dfs", "mcs", "mcs-sites", "lexdfs"} {
		for i := range graphs() {
			links, counts := randomWeb(rand.New(rand.NewPCG(uint64(i), 3)))
			s := mustSequence(t, order, SequenceOptions{})
			got := crawlByPriority(t, order, links, counts)
			if want := crawl(links, counts, []uint32{0}, s.Next, s.Visit); !slices.Equal(got, want) {
				t.Fatalf("%s, graph %d: links %v\n got %v\nwant %v", order, i, links, got, want)
			}
		}
	}
}

// TestPrioritiesEqualOracle compares the orderings without an equal Sequence with a list of waiting vertices
// and all their visits.
func TestPrioritiesEqualOracle(t *testing.T) {
	before := map[string]func(a, b *reached) int{
		"mns": func(a, b *reached) int { // ties within a class: first to enter it
			x, y := len(a.steps)-1, len(b.steps)-1
			return cmp.Or(b.weight-a.weight, a.steps[x]-b.steps[y], a.places[x]-b.places[y])
		},
		"lexbfs": func(a, b *reached) int { // n−i: the smaller step is the larger letter
			cut := func(xs []int) []int { return xs[:min(2, len(xs))] }
			return -slices.CompareFunc(cut(a.steps), cut(b.steps), func(x, y int) int { return y - x })
		},
	}
	for order, before := range before {
		for i := range graphs() {
			links, counts := randomWeb(rand.New(rand.NewPCG(uint64(i), 3)))
			waits := []*reached{{v: 0, steps: []int{0}, places: []int{0}, weight: 1}} // in order of discovery
			known := map[uint32]*reached{0: waits[0]}
			var want []uint32
			for len(waits) > 0 {
				next := slices.MinFunc(waits, before) // first of equals
				waits = slices.DeleteFunc(waits, func(r *reached) bool { return r == next })
				want = append(want, next.v)
				step := len(want)
				for place, w := range links[next.v] {
					r, found := known[w]
					if found && !counts(next.v, w) {
						continue
					}
					if !found {
						r = &reached{v: w}
						known[w], waits = r, append(waits, r)
					}
					r.steps, r.places = append(r.steps, step), append(r.places, place)
					r.weight += 1 + strings.Count(strconv.FormatInt(int64(step), 2), "1")%2
				}
			}
			if got := crawlByPriority(t, order, links, counts); !slices.Equal(got, want) {
				t.Fatalf("%s, graph %d: links %v\n got %v\nwant %v", order, i, links, got, want)
			}
		}
	}
}

func TestReplayByPriority(t *testing.T) {
	names, links, counts := replay()
	var got []string
	for _, v := range crawlByPriority(t, "mcs", links, counts) {
		got = append(got, names[v])
	}
	if want := strings.Fields(replays["mcs"]); !slices.Equal(got, want) {
		t.Errorf(" got %v\nwant %v", got, want)
	}
}

// crawlByPriority crawls with one priority per link: highest first, ties by discovery.
func crawlByPriority(t *testing.T, order string, links [][]uint32, counts func(src, dst uint32) bool) (visits []uint32) {
	t.Helper()
	o := testkit.Call(OrderingByName(order)).Must(t)
	found, priority := []uint32{0}, map[uint32]float64{0: o.Priority(Link{})}
	done := map[uint32]bool{}
	for len(visits) < len(found) {
		next, chosen := uint32(0), false
		for _, v := range found {
			if !done[v] && (!chosen || priority[v] > priority[next]) {
				next, chosen = v, true
			}
		}
		visits, done[next] = append(visits, next), true
		ranks := map[float64]bool{}
		for _, w := range links[next] {
			if p, known := priority[w]; known && !done[w] {
				ranks[p] = true
			}
		}
		all := slices.Sorted(maps.Keys(ranks))
		for place, w := range links[next] {
			old, queued := priority[w]
			if !queued {
				found = append(found, w)
			} else if done[w] {
				continue
			}
			l := Link{Step: uint64(len(visits)), Place: place, Queued: queued, Old: old, Discovers: WantsKinds(o) && !counts(next, w)}
			if at, waits := slices.BinarySearch(all, old); queued && waits {
				l.Rank = 1 + at
			}
			priority[w] = o.Priority(l)
		}
	}
	return visits
}

// TestLargePriorities checks that priorities at the limits are exact in float64 and never decrease.
func TestLargePriorities(t *testing.T) {
	for _, name := range []string{"dfs", "mcs", "mcs-sites", "mns", "lexbfs", "lexdfs"} {
		o := testkit.Call(OrderingByName(name)).Must(t)
		p := o.Priority(Link{Step: 1 << 40, Place: 1 << 20, Rank: 1 << 30})
		for range 70_000 {
			q := o.Priority(Link{Step: 1 << 41, Place: 1 << 21, Rank: 1 << 31, Queued: true, Old: p})
			if !(p > 0) || q < p || q != float64(uint64(q)) || q >= 1<<53 {
				t.Fatalf("%s: %g, then %g", name, p, q)
			}
			p = q
		}
	}
}

func TestTell(t *testing.T) {
	for _, c := range []struct{ order, want string }{
		{"", "priority 0.5"},
		{"relevance", "priority 0.5"},
		{"bfs", "found on page 3 by bfs"},
		{"dfs", "linked latest from page 9 by dfs"},
		{"mcs", "2 links that count by mcs"},
		{"mns", "links that weigh 2 by mns"}, // 1 each: 3 and 9 have an even number of bits
		{"lexbfs", "found on page 3, then linked from page 9 by lexbfs"},
		{"lexdfs", "linked latest from page 9 by lexdfs"},
		{"relevance*0.7+mcs*0.3", "priority 0.5 by relevance, 2 links that count by mcs"},
	} {
		o, err := OrderingByName(c.order)
		if c.order == "" {
			o, err = OrderingByName("relevance")
		}
		if err != nil {
			t.Fatal(err)
		}
		var all []float64
		for _, part := range Parts(o) {
			first := part.Priority(Link{Score: 0.5, Step: 3, Place: 4})
			all = append(all, part.Priority(Link{Score: 0.4, Step: 9, Place: 1, Queued: true, Old: first}))
		}
		if got := Tell(c.order, all[0], all[1:]); got != c.want {
			t.Errorf("%q: %q, want %q", c.order, got, c.want)
		}
	}
	if got := Tell("mcs", named("mcs").Priority(Link{}), nil); got != "1 link that counts by mcs" {
		t.Error(got)
	}
}
