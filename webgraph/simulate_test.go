package webgraph

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"fossick/frontier"
)

// TestSimulation crawls all of a graph in which all can be reached: in the end it
// has all PageRank, all sites, and ranks as the whole does.
func TestSimulation(t *testing.T) {
	list := filepath.Join(t.TempDir(), "list")
	writeFile(t, list, []byte(`http://a.test/	http://b.test/
http://a.test/	http://b.test/1
http://b.test/	http://c.test/
http://b.test/1	http://c.test/
http://c.test/	http://a.test/
http://c.test/	http://b.test/1
`))
	if _, err := BuildEdgeList(t.Context(), list, list+".graph", BuildOptions{}); err != nil {
		t.Fatal(err)
	}
	g := openGraph(t, list+".graph")
	in, degree, err := Transposed(g)
	if err != nil {
		t.Fatal(err)
	}
	rank, err := PageRank(t.Context(), in, degree, RankOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := Simulation{Graph: g, Sites: g.Sites().Array(g.Nodes()), Rank: rank.Score, MaxPages: 8, Points: 4}
	start, _, err := g.Node("http://a.test/")
	if err != nil {
		t.Fatal(err)
	}
	order, err := frontier.NewSequence("bfs", frontier.SequenceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Run(t.Context(), order, []uint32{start})
	if err != nil {
		t.Fatal(err)
	}
	// a, then b and b/1, then c.
	first := rank.Score[start]
	second, _, err := g.Node("http://b.test/")
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Curve) != 4 || got.Pages != 4 || got.Edges != 6 {
		t.Fatalf("got %+v", got)
	}
	if p := got.Curve[0]; p.Pages != 2 || math.Abs(p.PageRank-first-rank.Score[second]) > 1e-12 || p.Sites != 2 {
		t.Errorf("after two pages: %+v", p)
	}
	for i, p := range got.Curve[1:] {
		if p.Pages != 4+2*i || math.Abs(p.PageRank-1) > 1e-9 || p.Sites != 3 || p.Tau != 1 {
			t.Errorf("in the end: %+v", p)
		}
	}
}

func TestDrawStarts(t *testing.T) {
	g := write(t, params{defaultWindow, defaultChain, defaultZeta}, [][]uint32{{1}, {}, {0}, {}})
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

func TestMeanOf(t *testing.T) {
	m := MeanOf([]float64{1, 2, 3, math.NaN()})
	// t(0.975, 2) = 4.303, s = 1
	if m.Value != 2 || m.CI == nil || math.Abs(m.CI[1]-2-4.3027/math.Sqrt(3)) > 1e-3 {
		t.Errorf("got %+v", m)
	}
	if m := MeanOf([]float64{5}); m.Value != 5 || m.CI != nil {
		t.Errorf("got %+v", m)
	}
	if m := MeanOf(nil); !math.IsNaN(m.Value) {
		t.Errorf("got %+v", m)
	}
}
