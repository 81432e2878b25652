package orders

import (
	"math/rand/v2"
	"slices"
	"testing"

	"fossick/internal/testkit"
)

// doubled repeats each link of a page at a random place.
func doubled(rng *rand.Rand, links [][]uint32) [][]uint32 {
	twice := make([][]uint32, len(links))
	for v, l := range links {
		twice[v] = slices.Clone(l)
		for at, w := range l { // after its first place, so first places keep their order
			i := slices.Index(twice[v], w)
			twice[v] = slices.Insert(twice[v], i+1+rng.IntN(len(twice[v])-i), l[at])
		}
	}
	return twice
}

// TestLexLinksTwice checks that repeated links change nothing.
func TestLexLinksTwice(t *testing.T) {
	for _, order := range []string{"lexbfs", "lexdfs"} {
		for i := range 500 {
			rng := rand.New(rand.NewPCG(uint64(i), 2))
			links, counts := randomWeb(rng)
			starts := []uint32{uint32(rng.IntN(len(links)))}
			run := func(links [][]uint32) []uint32 {
				s := testkit.Call(NewSequence(order, SequenceOptions{})).Must(t)
				return crawl(links, counts, starts, s.Next, s.Visit)
			}
			if got, want := run(doubled(rng, links)), run(links); !slices.Equal(got, want) {
				t.Fatalf("%s, graph %d: links %v from %v\n got %v\nwant %v", order, i, links, starts, got, want)
			}
		}
	}
}

// TestLexDFSRenumbers lets the numbers run out during crawls.
func TestLexDFSRenumbers(t *testing.T) {
	renumbered := 0
	for i := range 500 {
		rng := rand.New(rand.NewPCG(uint64(i), 3))
		links, counts := randomWeb(rng)
		starts := []uint32{uint32(rng.IntN(len(links)))}
		fresh, late := newLexDFS(0), newLexDFS(0)
		late.made = none - waiting - uint32(1+rng.IntN(100))
		want := crawl(links, counts, starts, fresh.Next, fresh.Visit)
		got := crawl(links, counts, starts, late.Next, late.Visit)
		if late.made < 1<<31 {
			renumbered++
		}
		if !slices.Equal(got, want) {
			t.Fatalf("graph %d: links %v from %v\n got %v\nwant %v", i, links, starts, got, want)
		}
	}
	if renumbered < 100 {
		t.Errorf("numbers ran out in %d crawls of 500", renumbered)
	}
}

// TestLexBFSClasses checks that classes never outnumber waiting vertices and that their records are reused.
func TestLexBFSClasses(t *testing.T) {
	const bits, n = 10, 1 << 10
	for range 2 {
		l := newLexBFS(0)
		for round := range 3 {
			first := uint32(round * n)
			for bit := range bits + 1 {
				var links []uint32
				for v := range uint32(n) {
					if bit == 0 || v>>(bit-1)&1 == 1 {
						links = append(links, first+v)
					}
				}
				l.Visit(Alike(0, links))
			}
			for range n {
				if _, ok := l.Next(); !ok {
					t.Fatal("too few vertices wait")
				}
			}
			if l.n > n+1 {
				t.Errorf("%d records of classes for %d vertices", l.n, n)
			}
		}
	}
}

// TestTheorems checks the properties that characterise the orders on connected undirected graphs (Corneil and
// Krueger 2008): for a before b before c with edge ac and no edge ab there is a certain vertex d.
func TestTheorems(t *testing.T) {
	type has = func(x, y int) bool // whether an edge connects the x-th and y-th visited vertices
	some := func(from, to int, p func(d int) bool) bool {
		for d := from; d < to; d++ {
			if p(d) {
				return true
			}
		}
		return false
	}
	properties := map[string]func(e has, a, b, c int) bool{
		"generic": func(e has, a, b, c int) bool { return some(0, b, func(d int) bool { return e(d, b) }) },
		"bfs":     func(e has, a, b, c int) bool { return some(0, a, func(d int) bool { return e(d, b) }) },
		"dfs":     func(e has, a, b, c int) bool { return some(a+1, b, func(d int) bool { return e(d, b) }) },
		"lexbfs":  func(e has, a, b, c int) bool { return some(0, a, func(d int) bool { return e(d, b) && !e(d, c) }) },
		"lexdfs":  func(e has, a, b, c int) bool { return some(a+1, b, func(d int) bool { return e(d, b) && !e(d, c) }) },
		"mns":     func(e has, a, b, c int) bool { return some(0, b, func(d int) bool { return e(d, b) && !e(d, c) }) },
		"mcs": func(e has, a, b, c int) bool {
			n := 0
			for d := range b {
				if e(d, b) {
					n++
				}
				if e(d, c) {
					n--
				}
			}
			return n >= 0
		},
	}
	// An ordering also has the properties of the orderings it refines.
	also := map[string][]string{"lexbfs": {"bfs", "mns"}, "lexdfs": {"dfs", "mns"}, "mcs": {"mns"}, "mcs-sites": {"mcs", "mns"}, "backlink": {"mcs", "mns"}}
	for _, order := range append(Sequences(), "mcs*0.3+dfs*0.7") {
		names := append([]string{"generic"}, also[order]...)
		if properties[order] != nil {
			names = append(names, order)
		}
		for i := range 400 {
			rng := rand.New(rand.NewPCG(uint64(i), 2))
			n := 2 + rng.IntN(24)
			edge := make([][]bool, n)
			for v := range edge {
				edge[v] = make([]bool, n)
			}
			density := rng.Float64()
			for v := 1; v < n; v++ {
				w := rng.IntN(v) // keeps the graph connected
				edge[v][w], edge[w][v] = true, true
				for w := range v {
					if rng.Float64() < density*density {
						edge[v][w], edge[w][v] = true, true
					}
				}
			}
			links := make([][]uint32, n)
			for v := range links {
				for _, w := range rng.Perm(n) {
					if edge[v][w] {
						links[v] = append(links[v], uint32(w))
					}
				}
			}
			s := testkit.Call(NewSequence(order, testOptions(n, links, rng))).Must(t)
			visits := crawl(links, func(uint32, uint32) bool { return true }, []uint32{uint32(rng.IntN(n))}, s.Next, s.Visit)
			if len(visits) != n {
				t.Fatalf("%s: %d of %d vertices", order, len(visits), n)
			}
			e := func(x, y int) bool { return edge[visits[x]][visits[y]] }
			for _, name := range names {
				if a, b, c, ok := breach(n, e, properties[name]); ok {
					t.Fatalf("%s is no %s order: visits %d, %d, %d of %v, links %v", order, name, a, b, c, visits, links)
				}
			}
		}
	}
}

// breach finds a < b < c with edge ac, no edge ab, and without the property.
func breach(n int, e func(x, y int) bool, property func(e func(x, y int) bool, a, b, c int) bool) (a, b, c int, found bool) {
	for a := range n {
		for b := a + 1; b < n; b++ {
			for c := b + 1; c < n; c++ {
				if e(a, c) && !e(a, b) && !property(e, a, b, c) {
					return a, b, c, true
				}
			}
		}
	}
	return 0, 0, 0, false
}
