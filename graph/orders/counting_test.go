package orders

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestCountingOrderings crawls random graphs by the orderings as
// priorities, and compares with a list of all waiting vertices that keeps all
// their visits.
func TestCountingOrderings(t *testing.T) {
	weight := func(step int) int {
		n := 0
		for ; step > 0; step /= 2 {
			n += step % 2
		}
		return 1 + n%2
	}
	cut := func(xs []int) []int { return xs[:min(2, len(xs))] }
	before := map[string]func(a, b *reached) bool{
		"mcs": func(a, b *reached) bool { return len(a.steps) > len(b.steps) },
		"mns": func(a, b *reached) bool { return a.weight > b.weight },
		"lexbfs": func(a, b *reached) bool { // n−i: the smaller step is the larger letter
			return slices.CompareFunc(cut(a.steps), cut(b.steps), func(x, y int) int { return y - x }) > 0
		},
		"lexdfs": func(a, b *reached) bool {
			x, y := slices.Clone(a.steps), slices.Clone(b.steps)
			slices.Reverse(x)
			slices.Reverse(y)
			return slices.Compare(cut(x), cut(y)) > 0
		},
	}
	for order, before := range before {
		for i := range 1000 {
			rng := rand.New(rand.NewPCG(uint64(i), 3))
			links, counts := randomWeb(rng)
			got := crawlByPriority(t, order, links, counts)
			var want []uint32
			var waits []*reached // in the order of discovery
			known := map[uint32]*reached{}
			find := func(v uint32, step int, counts bool) {
				r := known[v]
				if r == nil {
					r = &reached{v: v}
					known[v], waits = r, append(waits, r)
				}
				if counts {
					r.steps, r.weight = append(r.steps, step), r.weight+weight(step)
				}
			}
			find(0, 0, true)
			for len(waits) > 0 {
				best := 0
				for j, r := range waits {
					if before(r, waits[best]) {
						best = j
					}
				}
				v := waits[best].v
				waits = slices.Delete(waits, best, best+1)
				want = append(want, v)
				for _, w := range links[v] {
					find(w, len(want), counts(v, w))
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s, graph %d: links %v\n got %v\nwant %v", order, i, links, got, want)
			}
		}
	}
}

// crawlByPriority crawls as the crawler does, with a priority a link: the vertex with the
// highest goes first, of equal ones that which was discovered first.
func crawlByPriority(t *testing.T, order string, links [][]uint32, counts func(src, dst uint32) bool) (visits []uint32) {
	t.Helper()
	o, err := OrderingByName(order)
	if err != nil || !WantsKinds(o) {
		t.Fatal(order, err)
	}
	found, priority := []uint32{0}, map[uint32]float64{0: o.Priority(Link{})}
	for len(visits) < len(found) {
		next, chosen := uint32(0), false
		for _, v := range found {
			if !slices.Contains(visits, v) && (!chosen || priority[v] > priority[next]) {
				next, chosen = v, true
			}
		}
		visits = append(visits, next)
		for _, w := range links[next] {
			old, queued := priority[w]
			if !queued {
				found = append(found, w)
			} else if slices.Contains(visits, w) {
				continue
			}
			priority[w] = o.Priority(Link{Step: uint64(len(visits)), Discovers: !counts(next, w), Queued: queued, Old: old})
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
	for _, l := range []Link{{}, {Score: 1, Step: 3}, {Queued: true, Old: 4, Step: 9}, {Discovers: true}} {
		if a, b := same.Priority(l), links.Priority(l); a != b || !l.Discovers && a != l.Old+1 {
			t.Errorf("%+v: %g and %g", l, a, b)
		}
	}
	if bfs, _ := OrderingByName("bfs"); bfs != nil {
		if _, tells := CountAlike(bfs); tells {
			t.Error("bfs tells kinds of links apart")
		}
	}
}

func TestLateSteps(t *testing.T) {
	for _, name := range []string{"lexbfs", "lexdfs"} {
		o, err := OrderingByName(name)
		if err != nil {
			t.Fatal(err)
		}
		p := o.Priority(Link{Step: 1 << 40})
		q := o.Priority(Link{Step: 1 << 41, Queued: true, Old: p})
		if !(p > 0) || !(q > p) || q != float64(uint64(q)) || q >= 1<<53 {
			t.Errorf("%s: %g, then %g", name, p, q)
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
