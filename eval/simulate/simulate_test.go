package simulate

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestSimulation crawls all of a graph in which all can be reached: in the end it
// has all PageRank, all sites, and ranks as the whole does.
func TestSimulation(t *testing.T) {
	g := graphOf(t, `http://a.test/	http://b.test/
http://a.test/	http://b.test/1
http://b.test/	http://c.test/
http://b.test/1	http://c.test/
http://c.test/	http://a.test/
http://c.test/	http://b.test/1
`)
	start, _, err := g.Node("http://a.test/")
	if err != nil {
		t.Fatal(err)
	}
	s := Simulation{Graph: g, Starts: [][]uint32{{start}}, Points: 4, Rand: func(int) *rand.Rand { return nil }}
	whole, err := s.Prepare(t.Context())
	if err != nil || s.MaxPages != 4 {
		t.Fatalf("%d pages can be reached, %v", s.MaxPages, err)
	}
	s.MaxPages = 8
	crawls, err := s.Crawls(t.Context(), "bfs", func(int, *Crawled) {})
	if err != nil {
		t.Fatal(err)
	}
	got := crawls[0]
	for i, p := range s.MeanCurve(crawls) {
		if c := got.Curve[i]; p.Pages != c.Pages || p.PageRank.Value != c.PageRank || p.Sites.Value != float64(c.Sites) || !math.IsNaN(p.Harvest.Value) {
			t.Errorf("the mean of one crawl is %+v, of %+v", p, c)
		}
	}
	// a, then b and b/1, then c.
	first := whole.Score[start]
	second, _, err := g.Node("http://b.test/")
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Curve) != 4 || got.Pages != 4 || got.Edges != 6 {
		t.Fatalf("got %+v", got)
	}
	if p := got.Curve[0]; p.Pages != 2 || math.Abs(p.PageRank-first-whole.Score[second]) > 1e-12 || p.Sites != 2 {
		t.Errorf("after two pages: %+v", p)
	}
	for i, p := range got.Curve[1:] {
		if p.Pages != 4+2*i || math.Abs(p.PageRank-1) > 1e-9 || p.Sites != 3 || p.Tau != 1 {
			t.Errorf("in the end: %+v", p)
		}
	}
}

func TestDrawStarts(t *testing.T) {
	g := graphOf(t, "0\t1\n1\t1\n2\t0\n3\t3\n")
	rng := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		got, err := DrawStarts(g, 2, rng.IntN)
		if err != nil || len(got) != 2 || got[0]+got[1] != 2 {
			t.Fatalf("got %v, %v", got, err)
		}
	}
	if _, err := DrawStarts(g, 3, rng.IntN); err == nil {
		t.Error("three of two")
	}
}
