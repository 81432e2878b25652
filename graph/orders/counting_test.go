package orders

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestPrioritiesEqualSequences crawls random graphs with links of the three kinds by the
// orderings as priorities: the pages come as the lists and classes of Sequence give them.
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

// TestPrioritiesEqualOracle does so by those that are no Sequence's, with a list of all
// waiting vertices that keeps all their visits.
func TestPrioritiesEqualOracle(t *testing.T) {
	before := map[string]func(a, b *reached) int{
		"mns": func(a, b *reached) int { // in a class, which came to it first
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
			waits := []*reached{{v: 0, steps: []int{0}, places: []int{0}, weight: 1}} // in the order of discovery
			known := map[uint32]*reached{0: waits[0]}
			var want []uint32
			for len(waits) > 0 {
				next := slices.MinFunc(waits, before) // of equal ones the first
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

// TestReplayByPriority is TestReplay of the ordering that is whole as a priority.
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

// crawlByPriority crawls as the crawler does, with a priority a link: the vertex with the
// highest goes first, of equal ones that which was discovered first.
func crawlByPriority(t *testing.T, order string, links [][]uint32, counts func(src, dst uint32) bool) (visits []uint32) {
	t.Helper()
	o, err := OrderingByName(order)
	if err != nil {
		t.Fatal(err)
	}
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

// TestCountAlike: without kinds of links MCS is the back-link count.
func TestCountAlike(t *testing.T) {
	mcs, err := OrderingByName("mcs")
	if err != nil {
		t.Fatal(err)
	}
	same, tells := CountAlike(mcs)
	links, err := OrderingByName("backlink")
	if err != nil || !tells || WantsKinds(same) || WantsKinds(links) || ByScore(same) || ByScore(links) {
		t.Fatal(err, tells, "or it looks at kinds or scores")
	}
	class := func(priority float64) float64 { return math.Floor(priority / Width(links)) }
	for _, l := range []Link{{}, {Score: 1, Step: 3}, {Queued: true, Old: 4 * Width(links), Step: 9}, {Queued: true, Old: Width(links), Discovers: true}} {
		if a, b := same.Priority(l), links.Priority(l); a != b || class(a) != class(l.Old)+1 {
			t.Errorf("%+v: %g and %g, of class %g", l, a, b, class(a))
		}
	}
	if bfs, _ := OrderingByName("bfs"); bfs != nil {
		if _, tells := CountAlike(bfs); tells {
			t.Error("bfs tells kinds of links apart")
		}
	}
	mix, err := OrderingByName("mcs+bfs")
	if err != nil || !WantsKinds(mix) {
		t.Fatal(err, "or a mix with mcs wants no kinds")
	}
	if mix, tells := CountAlike(mix); !tells || WantsKinds(mix) {
		t.Error("a mix with mcs tells kinds of links apart, or never did")
	}
}

// TestLargePriorities: at the bounds of steps, places and counts priorities are still whole
// numbers that a float64 holds, and a further link makes them no smaller.
func TestLargePriorities(t *testing.T) {
	for _, name := range []string{"dfs", "mcs", "mcs-sites", "mns", "lexbfs", "lexdfs"} {
		o, err := OrderingByName(name)
		if err != nil {
			t.Fatal(err)
		}
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

// TestOrderings has paper B's ten vertices: 1 … 5 visited in that order, and the visited
// neighbours of the rest. Ties leave in the order of discovery.
func TestOrderings(t *testing.T) {
	neighbours := [][]uint64{6: {1}, 7: {1, 2}, 8: {2, 3, 4}, 9: {4, 5}, 10: {5}}
	for name, want := range map[string]int{"bfs": 6, "dfs": 9} {
		order, err := OrderingByName(name)
		if err != nil {
			t.Fatal(err)
		}
		best, most := 0, math.Inf(-1)
		for v, steps := range neighbours {
			l := Link{}
			for _, l.Step = range steps {
				l.Queued, l.Old = l.Step != steps[0], order.Priority(l)
			}
			if len(steps) > 0 && l.Old > most {
				best, most = v, l.Old
			}
		}
		if best != want {
			t.Errorf("%s visits %d next, want %d", name, best, want)
		}
	}
	if _, err := OrderingByName("best"); err == nil {
		t.Error("an unknown ordering was accepted")
	}
}
