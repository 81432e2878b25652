package orders

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"fossick/internal/fulltest"
)

// known is what the oracles of the further orderings keep: nothing but the past.
type known struct {
	links   [][]uint32
	starts  []uint32
	visits  []uint32
	found   []uint32 // in the order of discovery, visited ones too
	visited map[uint32]bool
}

// parents returns the visited pages that link to v, in the order of their visits; a
// page before all links to the start pages.
func (k *known) parents(v uint32) (parents []uint32, start bool) {
	for _, p := range k.visits {
		if slices.Contains(k.links[p], v) {
			parents = append(parents, p)
		}
	}
	return parents, slices.Contains(k.starts, v)
}

// discover notes the links of a page.
func (k *known) discover(links []uint32) {
	for _, v := range links {
		if !slices.Contains(k.found, v) {
			k.found = append(k.found, v)
		}
	}
}

// follow drives a sequence and calls check with what it chose before it is noted.
func follow(t *testing.T, s Sequence, k *known, check func(v uint32)) {
	t.Helper()
	k.visited = map[uint32]bool{}
	s.Visit(Starts(k.starts))
	k.discover(k.starts)
	for {
		v, ok := s.Next()
		if !ok {
			break
		}
		if k.visited[v] || !slices.Contains(k.found, v) {
			t.Fatalf("%d was visited or not discovered; visits %v", v, k.visits)
		}
		check(v)
		k.visited[v] = true
		k.visits = append(k.visits, v)
		k.discover(k.links[v])
		// All links only discover: these orderings do not look at that.
		s.Visit(linksOf(k.links, func(_, _ uint32) bool { return false }, v))
	}
	if len(k.visits) != len(k.found) || s.Err() != nil {
		t.Fatalf("%d of %d visited, %v", len(k.visits), len(k.found), s.Err())
	}
}

// first returns the first in the order of discovery that waits and that has the
// largest value.
func (k *known) first(value func(v uint32) float64) uint32 {
	best, most := uint32(0), math.Inf(-1)
	for _, v := range k.found {
		if x := value(v); !k.visited[v] && x > most {
			best, most = v, x
		}
	}
	return best
}

// furtherGraph draws a graph and start pages.
func furtherGraph(i int) (k *known, o SequenceOptions, rng *rand.Rand) {
	rng = rand.New(rand.NewPCG(uint64(i), 5))
	links, _ := randomWeb(rng)
	k = &known{links: links}
	for _, v := range rng.Perm(len(links))[:1+rng.IntN(min(3, len(links)))] {
		k.starts = append(k.starts, uint32(v))
	}
	o = testOptions(len(links), links, rng)
	o.Vertices = rng.IntN(len(links) + 1)
	return k, o, rng
}

func graphs() int { return fulltest.Rounds(400, 10_000) }

func mustSequence(t *testing.T, name string, o SequenceOptions) Sequence {
	t.Helper()
	s, err := NewSequence(name, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestBacklinkEqualsOracle: most visited parents first; the one that has waited
// longest since its last one first, then the place among that page's links.
func TestBacklinkEqualsOracle(t *testing.T) {
	for i := range graphs() {
		k, o, _ := furtherGraph(i)
		follow(t, mustSequence(t, "backlink", o), k, func(got uint32) {
			type key struct{ n, last, place int }
			of := func(v uint32) key {
				parents, start := k.parents(v)
				x := key{n: len(parents)}
				if start {
					x.n, x.place = x.n+1, slices.Index(k.starts, v)
				}
				if len(parents) > 0 {
					p := parents[len(parents)-1]
					x.last, x.place = 1+slices.Index(k.visits, p), slices.Index(k.links[p], v)
				}
				return x
			}
			best := got
			for _, v := range k.found {
				a, b := of(v), of(best)
				if !k.visited[v] && (a.n > b.n || a.n == b.n && (a.last < b.last || a.last == b.last && a.place < b.place)) {
					best = v
				}
			}
			if best != got {
				t.Fatalf("graph %d: took %d %+v, want %d %+v", i, got, of(got), best, of(best))
			}
		})
	}
}

// TestRelevanceEqualsOracle: the best visited parent counts.
func TestRelevanceEqualsOracle(t *testing.T) {
	for i := range graphs() {
		k, o, _ := furtherGraph(i)
		follow(t, mustSequence(t, "relevance", o), k, func(got uint32) {
			want := k.first(func(v uint32) float64 {
				parents, start := k.parents(v)
				best := 0.0
				if start {
					best = 1
				}
				for _, p := range parents {
					best = max(best, o.Score(p))
				}
				return best
			})
			if got != want {
				t.Fatalf("graph %d: took %d, want %d", i, got, want)
			}
		})
	}
}

// TestOPICEqualsOracle counts all cash anew at each step.
func TestOPICEqualsOracle(t *testing.T) {
	for i := range graphs() {
		k, o, _ := furtherGraph(i)
		spent := map[uint32]float64{}
		follow(t, mustSequence(t, "opic", o), k, func(got uint32) {
			cash := func(v uint32) float64 {
				sum := 1.0
				parents, _ := k.parents(v)
				for _, p := range parents {
					sum += spent[p] / float64(len(k.links[p]))
				}
				return sum
			}
			if want := k.first(cash); got != want {
				t.Fatalf("graph %d: took %d with %g, want %d with %g", i, got, cash(got), want, cash(want))
			}
			spent[got] = cash(got)
		})
	}
}

// TestOPICHistoryEqualsOracle: with each visit the richest visited page spends again.
func TestOPICHistoryEqualsOracle(t *testing.T) {
	for i := range graphs() / 4 {
		k, o, _ := furtherGraph(i)
		cash := map[uint32]float64{}
		spend := func(p uint32) {
			c := cash[p]
			cash[p] = 0
			for _, w := range k.links[p] {
				if _, ok := cash[w]; !ok {
					cash[w] = 1
				}
				cash[w] += c / float64(len(k.links[p]))
			}
		}
		for _, v := range k.starts {
			cash[v] = 1
		}
		follow(t, mustSequence(t, "opic-history", o), k, func(got uint32) {
			want := k.first(func(v uint32) float64 { return cash[v] })
			if math.Abs(cash[got]-cash[want]) > 1e-9 || cash[got] == cash[want] && got != want {
				t.Fatalf("graph %d: took %d with %g, want %d with %g", i, got, cash[got], want, cash[want])
			}
			spend(got)
			rich, most := uint32(0), 0.0
			for _, v := range append(slices.Sorted(slices.Values(k.visits)), got) {
				if cash[v] > most || cash[v] == most && most > 0 && v < rich {
					rich, most = v, cash[v]
				}
			}
			if most > 0 {
				spend(rich)
			}
		})
	}
}

// TestPageRankEqualsOracle iterates at each step over all that is known: pages that
// were visited with their links, the others without; what pages without links have
// is everyone's. Made up to date after every page and to the last bit, the
// ordering takes the page with the highest PageRank.
func TestPageRankEqualsOracle(t *testing.T) {
	const d = 0.85
	for i := range graphs() / 20 {
		k, o, _ := furtherGraph(i)
		o.Every = 1
		s := mustSequence(t, "pagerank", o)
		s.(*pageRank).pushFrom = 1e-12
		follow(t, s, k, func(got uint32) {
			n := float64(len(k.found))
			rank := map[uint32]float64{}
			for _, v := range k.found {
				rank[v] = 1 / n
			}
			for range 150 {
				next, lost := map[uint32]float64{}, 0.0
				for _, v := range k.found {
					if !k.visited[v] || len(k.links[v]) == 0 {
						lost += rank[v]
						continue
					}
					for _, w := range k.links[v] {
						next[w] += d * rank[v] / float64(len(k.links[v]))
					}
				}
				for _, v := range k.found {
					next[v] += (1 - d + d*lost) / n
				}
				rank = next
			}
			want := k.first(func(v uint32) float64 { return rank[v] })
			if rank[got] < rank[want]*(1-1e-8) {
				t.Fatalf("graph %d, step %d: took %d with %g, want %d with %g", i, len(k.visits), got, rank[got], want, rank[want])
			}
		})
	}
}

// TestPageRankPushes bounds the pushes, whatever the time between them.
func TestPageRankPushes(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	const n = 5000
	links := make([][]uint32, n)
	for v := range links {
		for range 1 + rng.IntN(6) {
			if w := uint32(rng.IntN(1 + rng.IntN(n))); !slices.Contains(links[v], w) {
				links[v] = append(links[v], w)
			}
		}
	}
	for _, every := range []int{1, 10, 1000, n, 0} {
		pushes := 0
		s := mustSequence(t, "pagerank", SequenceOptions{Every: every, Links: func(v uint32) ([]uint32, error) {
			pushes++
			return links[v], nil
		}})
		k := &known{links: links, starts: []uint32{n - 1}}
		got := crawl(links, func(uint32, uint32) bool { return true }, k.starts, s.Next, s.Visit)
		t.Logf("every %d pages: %d pages, %d pushes beside", every, len(got), pushes)
		if most := int(float64(len(got)) / (0.15 * pushFrom)); len(got) < n/2 || pushes > most || every == 1 && pushes < len(got)/10 {
			t.Errorf("every %d pages: %d pages, %d pushes beside, want %d at most", every, len(got), pushes, most)
		}
		if p := s.(*pageRank); len(p.queue)-p.head > n {
			t.Errorf("every %d pages: %d in the queue of %d pages", every, len(p.queue)-p.head, n)
		}
	}
}

// TestLargestSiteEqualsOracle counts what waits at each step.
func TestLargestSiteEqualsOracle(t *testing.T) {
	for i := range graphs() {
		k, o, rng := furtherGraph(i)
		for v := range o.Sites {
			if rng.IntN(5) == 0 {
				o.Sites[v] = noSite
			}
		}
		o.Sites = o.Sites[:rng.IntN(len(o.Sites)+1)]
		site := func(v uint32) uint32 {
			if int(v) >= len(o.Sites) {
				return noSite
			}
			return o.Sites[v]
		}
		clock, changed := 0, map[uint32]int{}
		seen := map[uint32]bool{}
		find := func(links []uint32) {
			for _, v := range links {
				if !seen[v] {
					seen[v] = true
					clock++
					changed[site(v)] = clock
				}
			}
		}
		find(k.starts)
		follow(t, mustSequence(t, "largest-site", o), k, func(got uint32) {
			waits := map[uint32]int{}
			for _, v := range k.found {
				if !k.visited[v] {
					waits[site(v)]++
				}
			}
			want := k.first(func(v uint32) float64 {
				return float64(waits[site(v)]) - float64(changed[site(v)])/float64(clock+1)
			})
			if got != want {
				t.Fatalf("graph %d: took %d, want %d", i, got, want)
			}
			clock++
			changed[site(got)] = clock
			find(k.links[got])
		})
	}
}

// TestLinksFail: an error of the links ends the sequence.
func TestLinksFail(t *testing.T) {
	broken := errors.New("broken")
	for _, name := range []string{"opic-history", "pagerank", "bfs+pagerank"} {
		s := mustSequence(t, name, SequenceOptions{Every: 1, Links: func(uint32) ([]uint32, error) { return nil, broken }})
		got := crawl([][]uint32{{1}, {0, 2}, {0}}, func(uint32, uint32) bool { return true }, []uint32{0}, s.Next, s.Visit)
		if len(got) > 2 && name != "bfs+pagerank" || !errors.Is(s.Err(), broken) {
			t.Errorf("%s: %v, %v", name, got, s.Err())
		}
	}
	for _, name := range []string{"relevance", "pagerank", "opic-history", "generic", "mns", "bfs+relevance"} {
		if _, err := NewSequence(name, SequenceOptions{}); err == nil {
			t.Errorf("%s without what it needs", name)
		}
	}
}
