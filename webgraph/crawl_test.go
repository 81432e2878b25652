package webgraph

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"fossick/frontier"
)

// TestCrawlKinds follows a small web by MCS, with the paper's kinds of links and
// with all alike.
func TestCrawlKinds(t *testing.T) {
	list := filepath.Join(t.TempDir(), "list")
	writeFile(t, list, []byte(`http://a.test/	http://b.test/
http://a.test/	http://c.test/
http://b.test/	http://b.test/1
http://b.test/	http://b.test/2
http://b.test/1	http://b.test/2
http://c.test/	http://d.test/
http://b.test/2	http://d.test/
`))
	if _, err := BuildEdgeList(t.Context(), list, list+".graph", BuildOptions{}); err != nil {
		t.Fatal(err)
	}
	g := openGraph(t, list+".graph")
	tests := []struct {
		alike bool
		want  []string
	}{
		// b's own links only discover: d, to which c links, comes before them.
		{false, []string{"http://a.test/", "http://b.test/", "http://c.test/", "http://d.test/", "http://b.test/1", "http://b.test/2"}},
		{true, []string{"http://a.test/", "http://b.test/", "http://c.test/", "http://b.test/1", "http://b.test/2", "http://d.test/"}},
	}
	for _, tc := range tests {
		start, ok, err := g.Node("http://a.test/")
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		order, err := frontier.NewSequence("mcs", frontier.SequenceOptions{Vertices: g.Nodes()})
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
		if err != nil || !slices.Equal(got, tc.want) || res.Edges != 7 || res.Pages != 6 {
			t.Errorf("alike %v: got %v, %+v, %v, want %v", tc.alike, got, res, err, tc.want)
		}
	}
}

// sequenceOptions are for any ordering.
func sequenceOptions(g *Graph) frontier.SequenceOptions {
	r := g.Reader()
	return frontier.SequenceOptions{
		Vertices: g.Nodes(), Rand: rand.New(rand.NewPCG(1, 1)), Sites: g.Sites().Array(g.Nodes()), Links: r.Successors,
		Score: func(v uint32) float64 { return float64(v%100) / 100 },
	}
}

func synthetic(tb testing.TB, pages int) *Graph {
	tb.Helper()
	s, err := NewSynthetic(pages, 1)
	if err != nil {
		tb.Fatal(err)
	}
	path := filepath.Join(tb.TempDir(), "g")
	if err := s.Write(tb.Context(), path); err != nil {
		tb.Fatal(err)
	}
	g, err := Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := g.Close(); err != nil {
			tb.Error(err)
		}
	})
	return g
}

// BenchmarkCrawl crawls all of a synthetic web.
func BenchmarkCrawl(b *testing.B) {
	for _, pages := range []int{100_000, 1_000_000} {
		g := synthetic(b, pages)
		for _, name := range frontier.Sequences() {
			b.Run(fmt.Sprintf("pages=%d/%s", pages, name), func(b *testing.B) {
				edges, before := int64(0), cpuTime(b)
				for b.Loop() {
					order, err := frontier.NewSequence(name, sequenceOptions(g))
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
				b.ReportMetric(float64(edges)/(cpuTime(b)-before).Seconds()/1e6, "Medges/cpu-s")
			})
		}
	}
}

// BenchmarkPageRank iterates over a synthetic web in memory, and on disk.
func BenchmarkPageRank(b *testing.B) {
	g := synthetic(b, 1_000_000)
	in, degree, err := Transposed(g)
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(b.TempDir(), "t")
	if err := g.Transpose(b.Context(), path, 0); err != nil {
		b.Fatal(err)
	}
	disk, err := Open(path)
	if err != nil {
		b.Fatal(err)
	}
	for name, lists := range map[string]Lists{"arrays": in, "compressed": disk} {
		b.Run(name, func(b *testing.B) {
			visits, before := 0.0, cpuTime(b)
			for b.Loop() {
				r, err := PageRank(b.Context(), lists, degree, RankOptions{Epsilon: 1e-3})
				if err != nil {
					b.Fatal(err)
				}
				visits += float64(r.Iterations) * float64(g.Edges())
			}
			b.ReportMetric(visits/(cpuTime(b)-before).Seconds()/1e6, "Mvisits/cpu-s")
		})
	}
	if err := disk.Close(); err != nil {
		b.Fatal(err)
	}
}
