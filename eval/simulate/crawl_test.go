package simulate

import (
	"fmt"
	"fossick/graph"
	"fossick/graph/orders"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestCrawlKinds follows a small web by MCS, with the paper's kinds of links and
// with all alike.
func TestCrawlKinds(t *testing.T) {
	g := graphOf(t, `http://a.test/	http://b.test/
http://a.test/	http://c.test/
http://b.test/	http://b.test/1
http://b.test/	http://b.test/2
http://b.test/	http://b.test/3
http://b.test/1	http://b.test/3
http://c.test/	http://d.test/
http://b.test/2	http://d.test/
`)
	tests := []struct {
		alike bool
		want  []string
	}{
		// b's own links only discover: the one from 1 to 3 lifts it only where all are alike.
		{false, []string{"http://a.test/", "http://b.test/", "http://c.test/", "http://b.test/1", "http://b.test/2", "http://d.test/", "http://b.test/3"}},
		{true, []string{"http://a.test/", "http://b.test/", "http://c.test/", "http://b.test/1", "http://b.test/3", "http://b.test/2", "http://d.test/"}},
	}
	for _, tc := range tests {
		start, ok, err := g.Node("http://a.test/")
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		order, err := orders.NewSequence("mcs", orders.SequenceOptions{Vertices: g.Nodes()})
		if err != nil {
			t.Fatal(err)
		}
		c := Crawl{Graph: g, Order: order, Starts: []uint32{start}, Alike: tc.alike}
		var got []string
		res, err := c.Run(t.Context(), func(_ int, v uint32) error {
			name, err := g.Name(v)
			got = append(got, name)
			return err
		})
		if err != nil || !slices.Equal(got, tc.want) || res.Edges != 8 || res.Pages != 7 {
			t.Errorf("alike %v: got %v, %+v, %v, want %v", tc.alike, got, res, err, tc.want)
		}
	}
}

// sequenceOptions are for any ordering.
func sequenceOptions(g *graph.Graph) orders.SequenceOptions {
	r := g.Reader()
	return orders.SequenceOptions{
		Vertices: g.Nodes(), Rand: rand.New(rand.NewPCG(1, 1)), Sites: g.Sites().Array(g.Nodes()), Links: r.Successors,
		Score: func(v uint32) float64 { return float64(v%100) / 100 },
	}
}

// graphOf builds the graph of an edge list.
func graphOf(tb testing.TB, text string) *graph.Graph {
	tb.Helper()
	list := filepath.Join(tb.TempDir(), "list")
	if err := os.WriteFile(list, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	if _, err := graph.BuildEdgeList(tb.Context(), list, list+".graph", graph.BuildOptions{}); err != nil {
		tb.Fatal(err)
	}
	return opened(tb, list+".graph")
}

// BenchmarkCrawl crawls all of a synthetic web.
func BenchmarkCrawl(b *testing.B) {
	for _, pages := range []int{100_000, 1_000_000} {
		g := synthetic(b, pages)
		for _, name := range orders.Sequences() {
			b.Run(fmt.Sprintf("pages=%d/%s", pages, name), func(b *testing.B) {
				edges := int64(0)
				for b.Loop() {
					order, err := orders.NewSequence(name, sequenceOptions(g))
					if err != nil {
						b.Fatal(err)
					}
					c := Crawl{Graph: g, Order: order}
					for i := range 20 { // some of them have no links
						c.Starts = append(c.Starts, uint32(i*pages/20))
					}
					res, err := c.Run(b.Context(), func(int, uint32) error { return nil })
					if err != nil {
						b.Fatal(err)
					}
					edges += res.Edges
				}
				b.ReportMetric(float64(edges)/b.Elapsed().Seconds()/1e6, "Medges/s")
			})
		}
	}
}

// synthetic opens the graph of a made-up web.
func synthetic(t testing.TB, pages int) *graph.Graph {
	t.Helper()
	g, err := graph.OpenWeb(t.Context(), t.TempDir(), pages)
	return closing(t, g, err)
}

// opened opens a graph.
func opened(t testing.TB, path string) *graph.Graph {
	t.Helper()
	g, err := graph.Open(path)
	return closing(t, g, err)
}

// closing closes a graph when the test ends.
func closing(t testing.TB, g *graph.Graph, err error) *graph.Graph {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}
