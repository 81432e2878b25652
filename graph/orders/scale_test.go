package orders_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"fossick/eval/lab"
	"fossick/graph"
	"fossick/graph/orders"
	"fossick/internal/testkit"
)

var scaleOrders = []string{"bfs", "mcs", "lexbfs"}

type scaleCost struct {
	lab.GraphCrawled
	ops       uint64  // see Operations
	perVertex float64 // bytes
}

// crawlCost crawls all that is reachable from starts, or from some pages. With memory set, it measures the
// peak memory of the sequence and the site map; that is a separate crawl, because measuring takes time.
func crawlCost(t *testing.T, g *graph.Graph, name string, starts []uint32, memory bool) scaleCost {
	t.Helper()
	opt := options(g)
	sites := opt.Sites
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	opt.Sites = nil
	order, err := orders.NewSequence(name, opt)
	if err != nil {
		t.Fatal(err)
	}
	c := lab.GraphCrawl{Graph: g, Order: order, Sites: sites, Starts: starts}
	if len(starts) == 0 {
		for i := range 20 { // some have no links
			c.Starts = append(c.Starts, uint32(i*g.Nodes()/20))
		}
	}
	most := uint64(0)
	res, err := c.Run(t.Context(), func(step int, _ uint32) error {
		if memory && step%max(1, g.Nodes()/20) == 0 {
			runtime.GC()
			runtime.ReadMemStats(&now)
			most = max(most, now.HeapAlloc)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	cost := scaleCost{GraphCrawled: res}
	cost.ops = orders.Operations(order)
	cost.perVertex = 4 + (float64(most)-float64(before.HeapAlloc))/float64(g.Nodes()) // 4 for the site map
	runtime.KeepAlive(sites)
	return cost
}

// TestCrawlMemory bounds the memory of whole crawls on the worst graph and, in full tests, on synthetic and
// real ones.
func TestCrawlMemory(t *testing.T) {
	graphs := []string{"worst"}
	if testkit.Asked() {
		graphs = append(graphs, "synthetic", "uci_ics", "debdocs", "hollins")
	}
	for _, what := range graphs {
		var g *graph.Graph
		var starts []uint32
		if what == "synthetic" {
			g = synthetic(t, 100_000)
		} else if what == "worst" {
			g, starts = worstClasses(t)
		} else if g = realGraph(t, what); g == nil {
			continue
		}
		for _, name := range append([]string{"dfs", "generic", "lexdfs"}, scaleOrders...) {
			cost := crawlCost(t, g, name, starts, true)
			t.Logf("%s, %s: %d pages, %d links, %.1f bytes a vertex", what, name, cost.Pages, cost.Edges, cost.perVertex)
			if cost.perVertex > 24 {
				t.Errorf("%s, %s takes %.1f bytes a vertex, want at most 24", what, name, cost.perVertex)
			}
		}
	}
}

// worstClasses has as many label classes as waiting pages once starts have been visited. For each thousand
// pages, ten start pages link to those whose number has a certain bit, so each splits every class in half.
// Lists are short, because decoded lists take memory.
func worstClasses(t *testing.T) (g *graph.Graph, starts []uint32) {
	t.Helper()
	const bits, groups = 10, 128
	path := filepath.Join(t.TempDir(), "worst")
	w, err := graph.Create(path, groups*(bits+1<<bits))
	if err != nil {
		t.Fatal(err)
	}
	for group := range uint32(groups) {
		for bit := bits - 1; bit >= 0; bit-- {
			var links []uint32
			for v := range uint32(1 << bits) {
				if v>>bit&1 == 1 {
					links = append(links, groups*bits+group<<bits+v)
				}
			}
			starts = append(starts, uint32(len(starts)))
			if err := w.Add(links); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Finish(nil); err != nil {
		t.Fatal(err)
	}
	return opened(t, path), starts
}

// TestLinearOperations checks that operations per link do not grow with the web. FOSSICK_SCALE names further
// graph files, comma-separated, in order of size.
func TestLinearOperations(t *testing.T) {
	var graphs []*graph.Graph
	if named := os.Getenv("FOSSICK_SCALE"); named != "" {
		for path := range strings.SplitSeq(named, ",") {
			graphs = append(graphs, opened(t, path))
		}
	} else {
		graphs = []*graph.Graph{synthetic(t, 3_000), synthetic(t, 30_000)}
		if testkit.Asked() {
			graphs = append(graphs, synthetic(t, 300_000))
		}
	}
	for _, name := range scaleOrders {
		first := 0.0
		for _, g := range graphs {
			cost := crawlCost(t, g, name, nil, false)
			perLink := float64(cost.ops) / float64(int64(cost.Pages)+cost.Edges)
			t.Log(scaleLine(name, cost, perLink))
			if first == 0 {
				first = perLink
			}
			if perLink > 3 || perLink > first*1.15 {
				t.Errorf("%s: %.2f operations a page or link, with %d links; %.2f in the smallest web, want no more, and 3 at most", name, perLink, cost.Edges, first)
			}
		}
	}
	if os.Getenv("FOSSICK_SCALE") == "" {
		return
	}
	for _, name := range scaleOrders {
		for _, g := range graphs {
			cost := crawlCost(t, g, name, nil, true)
			t.Logf("%s: %d links, %.1f bytes a vertex", name, cost.Edges, cost.perVertex)
		}
	}
}

func scaleLine(name string, c scaleCost, perLink float64) string {
	return fmt.Sprintf("%s: %d pages, %d links, %.3f operations a page or link", name, c.Pages, c.Edges, perLink)
}

// realGraph builds the graph of a local corpus or edge list; nil if there is none.
func realGraph(t *testing.T, name string) *graph.Graph {
	t.Helper()
	data := os.Getenv("FOSSICK_DATA")
	if data == "" {
		data = "../../../shared/data"
	}
	for _, list := range []string{filepath.Join(data, "graphs", name+".edges.tsv.zst"), filepath.Join(data, name, "links.tsv.zst")} {
		if _, err := os.Stat(list); err != nil {
			continue
		}
		path := filepath.Join(t.TempDir(), name)
		if _, err := graph.BuildEdgeList(t.Context(), list, path, graph.BuildOptions{}); err != nil {
			t.Fatal(err)
		}
		return opened(t, path)
	}
	t.Logf("%s is not at hand in %s; set FOSSICK_DATA", name, data)
	return nil
}

func options(g *graph.Graph) orders.SequenceOptions {
	return orders.SequenceOptions{
		Vertices: g.Nodes(), Rand: rand.New(rand.NewPCG(1, 1)), Sites: g.Sites().Array(g.Nodes()), Links: g.Reader().Successors,
		Score: func(v uint32) float64 { return float64(v%100) / 100 },
	}
}

func synthetic(t testing.TB, pages int) *graph.Graph {
	t.Helper()
	g, err := graph.OpenWeb(t.Context(), t.TempDir(), pages)
	return closing(t, g, err)
}

func opened(t testing.TB, path string) *graph.Graph {
	t.Helper()
	g, err := graph.Open(path)
	return closing(t, g, err)
}

func closing(t testing.TB, g *graph.Graph, err error) *graph.Graph {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}
