package orders

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// doubled has each link of a page twice, in places drawn at random.
func doubled(rng *rand.Rand, links [][]uint32) [][]uint32 {
	twice := make([][]uint32, len(links))
	for v, l := range links {
		twice[v] = slices.Clone(l)
		for at, w := range l { // after its first place, so that the order of first places stays
			i := slices.Index(twice[v], w)
			twice[v] = slices.Insert(twice[v], i+1+rng.IntN(len(twice[v])-i), l[at])
		}
	}
	return twice
}

// TestLexLinksTwice gives each link twice: the second one must change nothing.
func TestLexLinksTwice(t *testing.T) {
	for _, order := range []string{"lexbfs", "lexdfs"} {
		for i := range 500 {
			rng := rand.New(rand.NewPCG(uint64(i), 2))
			links, counts := randomWeb(rng)
			starts := []uint32{uint32(rng.IntN(len(links)))}
			run := func(links [][]uint32) []uint32 {
				s, err := NewSequence(order, SequenceOptions{})
				if err != nil {
					t.Fatal(err)
				}
				return crawl(links, counts, starts, s.Next, s.Visit)
			}
			if got, want := run(doubled(rng, links)), run(links); !slices.Equal(got, want) {
				t.Fatalf("%s, graph %d: links %v from %v\n got %v\nwant %v", order, i, links, starts, got, want)
			}
		}
	}
}

// TestLexDFSRenumbers lets the numbers of classes run out in the middle of crawls.
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

// TestLexBFSClasses takes the most classes that can be: they are no more than vertices
// that wait, and the records of empty ones are used again.
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
