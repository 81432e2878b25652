package lab

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"fossick/graph"
	"fossick/graph/orders"
	"fossick/graph/rank"
	"fossick/internal/report"
	"fossick/internal/testkit"
)

// TestCrawlKinds crawls a small web by MCS, with paper B's kinds of links and with all alike.
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
		// b's own links only discover, so the link from 1 to 3 raises 3 only when all count alike.
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
		c := GraphCrawl{Graph: g, Order: order, Starts: []uint32{start}, Alike: tc.alike}
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

func sequenceOptions(g *graph.Graph) orders.SequenceOptions {
	return orders.SequenceOptions{
		Vertices: g.Nodes(), Rand: rand.New(rand.NewPCG(1, 1)), Sites: g.Sites().Array(g.Nodes()), Links: g.Reader().Successors,
		Score: func(v uint32) float64 { return float64(v%100) / 100 },
	}
}

func graphOf(tb testing.TB, text string) *graph.Graph {
	tb.Helper()
	list := filepath.Join(tb.TempDir(), "list")
	if err := os.WriteFile(list, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	if _, err := graph.BuildEdgeList(tb.Context(), list, list+".graph", graph.BuildOptions{}); err != nil {
		tb.Fatal(err)
	}
	g, err := graph.Open(list + ".graph")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { g.Close() })
	return g
}

// slowManners simulates every second.
type slowManners struct {
	GraphManners
	g      *graph.Graph
	order  orders.Sequence
	links  *graph.Reader
	flying map[uint32]int // page → second when its fetch ends
	began  []uint32       // pages in flight, by start
	free   map[uint32]int // host → second from which it may be fetched
	parked []uint32
	visits []uint32
	gaps   map[uint32][]int // host → seconds when fetches began
}

func (s *slowManners) choose(now int) (uint32, bool) {
	for i, v := range s.parked {
		if s.free[s.Hosts[v]] <= now {
			s.parked = slices.Delete(s.parked, i, i+1)
			return v, true
		}
	}
	for len(s.parked) < s.Workers {
		v, ok := s.order.Next()
		if !ok {
			return 0, false
		}
		if s.free[s.Hosts[v]] <= now {
			return v, true
		}
		s.parked = append(s.parked, v)
	}
	return 0, false
}

func (s *slowManners) run(t *testing.T, most int) (last int) {
	fetch, rest := int(s.Fetch/time.Second), int(s.Rest/time.Second)
	for now := 0; ; now++ {
		for _, v := range slices.Clone(s.began) {
			if s.flying[v] > now {
				continue
			}
			s.began = slices.DeleteFunc(s.began, func(w uint32) bool { return w == v })
			links, err := s.links.Successors(v)
			if err != nil {
				t.Fatal(err)
			}
			s.visits, last = append(s.visits, v), now
			s.order.Visit(orders.Alike(v, links))
		}
		for len(s.began) < s.Workers && len(s.visits)+len(s.began) < most {
			v, ok := s.choose(now)
			if !ok {
				break
			}
			host := s.Hosts[v]
			s.began, s.flying[v] = append(s.began, v), now+fetch
			s.free[host] = now + fetch + rest
			s.gaps[host] = append(s.gaps[host], now)
		}
		if len(s.began) == 0 && (len(s.parked) == 0 || len(s.visits) == most) {
			return last
		}
	}
}

// TestGraphManners compares with a simulation of every second, which must respect fetch times and rests.
func TestGraphManners(t *testing.T) {
	for seed := range uint64(testkit.Rounds(60, 300)) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var text strings.Builder
		pages, hosts := 2+rng.IntN(50), 1+rng.IntN(8)
		name := func() string { p := rng.IntN(pages); return fmt.Sprintf("http://h%d.test/%d", p%hosts, p) }
		for range 1 + rng.IntN(4*pages) {
			fmt.Fprintf(&text, "%s\t%s\n", name(), name())
		}
		g := graphOf(t, text.String())
		m := GraphManners{
			Workers: 1 + rng.IntN(4), Fetch: time.Duration(1+rng.IntN(3)) * time.Second, Rest: time.Duration(rng.IntN(5)) * time.Second,
			Hosts: g.Hosts().Array(g.Nodes()),
		}
		names := []string{"bfs", "mcs", "lexbfs", "opic", "pagerank", "largest-site", "relevance", "mcs+bfs", "generic"}
		order := names[rng.IntN(len(names))]
		starts := []uint32{uint32(rng.IntN(g.Nodes()))}
		most := 1 + rng.IntN(g.Nodes())
		want := &slowManners{GraphManners: m, g: g, links: g.Reader(), flying: map[uint32]int{}, free: map[uint32]int{}, gaps: map[uint32][]int{}}
		var sequences [2]orders.Sequence
		for i := range sequences {
			var err error
			if sequences[i], err = orders.NewSequence(order, sequenceOptions(g)); err != nil {
				t.Fatal(err)
			}
		}
		want.order = sequences[0]
		want.order.Visit(orders.Starts(starts))
		last := want.run(t, most)
		var got []uint32
		c := GraphCrawl{Graph: g, Order: sequences[1], Starts: starts, MaxPages: most, Alike: true, Manners: &m}
		done, err := c.Run(t.Context(), func(_ int, v uint32) error {
			got = append(got, v)
			return nil
		})
		if err != nil || !slices.Equal(got, want.visits) || done.Time != time.Duration(last)*time.Second {
			t.Fatalf("seed %d, %s, %+v: %v\n got %v in %s\nwant %v in %d s", seed, order, m, err, got, done.Time, want.visits, last)
		}
		for host, at := range want.gaps {
			for i := 1; i < len(at); i++ {
				if time.Duration(at[i]-at[i-1])*time.Second < m.Fetch+m.Rest {
					t.Fatalf("seed %d: host %d was asked at %v", seed, host, at)
				}
			}
		}
	}
	g := graphOf(t, "0\t1\n")
	order, err := orders.NewSequence("bfs", sequenceOptions(g))
	if err != nil {
		t.Fatal(err)
	}
	c := GraphCrawl{Graph: g, Order: order, Starts: []uint32{0}, Manners: &GraphManners{}}
	if _, err := c.Run(t.Context(), func(int, uint32) error { return nil }); err == nil {
		t.Error("a crawl without workers")
	}
}

// TestSimulation: a crawl of the whole graph has all PageRank and all sites, and ranks like the whole graph.
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
	crawls, err := s.Crawls(t.Context(), "bfs", func(int, *GraphCurve) {})
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

var update = flag.Bool("update", false, "write testdata/golden.txt anew")

// TestGolden compares graph files, crawls by every ordering, and ranks with stored hashes.
func TestGolden(t *testing.T) {
	var got strings.Builder
	for _, name := range []string{"graphs/hollins.edges.tsv.zst", "wikispeedia/links.tsv.zst", "uci_ics/links.tsv.zst", "synthetic"} {
		golden(t, &got, name)
	}
	const path = "testdata/golden.txt"
	if *update {
		if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	wanted := map[string]bool{}
	for line := range strings.Lines(string(want)) {
		wanted[line] = true
	}
	for line := range strings.Lines(got.String()) {
		ranks := strings.Contains(line, " rank ") && runtime.GOARCH != "amd64" // other architectures may use fused multiply-add
		if !wanted[line] && !ranks {
			t.Errorf("not so before: %s", line)
		}
	}
}

func golden(t *testing.T, out io.Writer, name string) {
	path := filepath.Join(t.TempDir(), "graph")
	if name == "synthetic" {
		web, err := graph.NewWeb(20_000, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := web.Write(t.Context(), path); err != nil {
			t.Fatal(err)
		}
	} else {
		list := testkit.Corpus(t, name)
		if _, err := graph.BuildEdgeList(t.Context(), list, path, graph.BuildOptions{Memory: 8 << 20}); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(out, "%s file %.8x\n", name, sha256.Sum256(data))
	g, err := graph.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	for _, order := range append(orders.Sequences(), "mcs*0.3+bfs*0.7") {
		for _, alike := range []bool{false, true} {
			fmt.Fprintf(out, "%s %s alike=%v %s\n", name, order, alike, crawlHash(t, g, order, alike, nil))
		}
	}
	manners := &GraphManners{Workers: 8, Fetch: time.Second, Rest: 2 * time.Second}
	for _, order := range []string{"lexbfs", "mcs", "opic"} {
		fmt.Fprintf(out, "%s %s polite %s\n", name, order, crawlHash(t, g, order, false, manners))
	}
	rankHashes(t, out, name, g)
}

func crawlHash(t *testing.T, g *graph.Graph, name string, alike bool, m *GraphManners) string {
	order, err := orders.NewSequence(name, sequenceOptions(g))
	if err != nil {
		t.Fatal(err)
	}
	c := GraphCrawl{Graph: g, Order: order, MaxPages: 5000, Alike: alike, Manners: m}
	for i := range 20 {
		c.Starts = append(c.Starts, uint32(i*g.Nodes()/20))
	}
	h := sha256.New()
	done, err := c.Run(t.Context(), func(_ int, v uint32) error { return binary.Write(h, binary.LittleEndian, v) })
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d pages %s %.8x", done.Pages, done.Time, h.Sum(nil))
}

func rankHashes(t *testing.T, out io.Writer, name string, g *graph.Graph) {
	for _, method := range rank.Methods()[1:] {
		r, err := rank.Of(t.Context(), g, rank.Options{Method: method})
		if err != nil {
			t.Fatal(err)
		}
		h := sha256.New()
		if err := binary.Write(h, binary.LittleEndian, append(r.Score, r.Hub...)); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(out, "%s rank %s %.8x\n", name, method, h.Sum(nil))
	}
}

func TestComparison(t *testing.T) {
	g := graphOf(t, "http://a.test/\thttp://b.test/\nhttp://a.test/\thttp://c.test/\nhttp://b.test/\thttp://a.test/\nhttp://c.test/\thttp://b.test/\n")
	on := func(v uint32) bool { return v == 1 }
	s := Simulation{Graph: g, Starts: [][]uint32{{0}, {2}}, MaxPages: 3, Points: 3, Damping: 0.85, Rand: func(int) *rand.Rand { return nil }, Relevant: on}
	if _, err := s.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := s.Compare("three")
	topic, count := "bees", 1
	c.Topic, c.Relevant = &topic, &count
	for _, name := range []string{"bfs", "mcs"} {
		crawls, err := s.Crawls(t.Context(), name, func(int, *GraphCurve) {})
		if err != nil {
			t.Fatal(err)
		}
		c.Add(name, crawls, s.MeanCurve(crawls))
	}
	if by := c.Orders["bfs"]; by.Pages != 3 || by.Short != 0 || len(by.Curve) != 3 || *by.Curve[2][2] != 3 || *by.Harvest[2][1] != 1./3 || by.Time != nil {
		t.Errorf("bfs: %+v", by)
	}
	if _, err := json.Marshal(c); err != nil {
		t.Error(err)
	}
	var text, page strings.Builder
	c.Print(&text)
	_, tables, _ := strings.Cut(text.String(), "\n\n")
	for line := range strings.Lines(tables) {
		if len([]rune(line)) > 81 {
			t.Errorf("a wide line: %s", line)
		}
	}
	if err := c.WriteReport(&page, report.Fact{Name: "random seed", Value: "7"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Orderings on three", "random seed", "Harvest", "PageRank collected", "2 sets of 1"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("no %q on the page", want)
		}
	}
	if strings.Contains(page.String(), "Simulated seconds") {
		t.Error("time is drawn without manners")
	}
}

func TestVerdict(t *testing.T) {
	curve := func(tenth, whole float64) []graphMean {
		a, b := graphMean{Pages: 100}, graphMean{Pages: 1000}
		a.PageRank.Value, b.PageRank.Value = tenth, whole
		return []graphMean{a, b}
	}
	r := &orderings{Nodes: 1000, order: []string{"dfs", "opic"}, points: map[string][]graphMean{
		"dfs": curve(.2, 1), "opic": curve(.4, .9), "bfs": curve(.3, 1),
	}}
	if got, want := r.verdict(), "After 100 pages, opic has 40 % of all PageRank; pages at random would have 10 %."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r.order = append(r.order, "bfs")
	if got, want := r.verdict(), "After 100 pages, opic has 40 % of all PageRank; bfs, breadth first, has 30 %."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
