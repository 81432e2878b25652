package export

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"fossick/datasets"
	"fossick/graph"
	"fossick/internal/cli"
	"fossick/internal/testkit"
	"fossick/store"
)

func demo() GraphSource {
	return GraphSource{Name: "demo", OpenSet: func(name string) (*datasets.Set, error) { return datasets.Open(name, datasets.Options{}) }}
}

func built(t *testing.T, s GraphSource) (*graph.Graph, *graph.Stats) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "graph")
	stats := testkit.Call(s.Build(t.Context(), path, 0)).Must(t)
	g := testkit.Call(graph.Open(path)).Must(t)
	t.Cleanup(func() { g.Close() })
	if !(GraphSource{Name: path}).IsGraph() || s.IsGraph() {
		t.Errorf("%s: what is a graph file is not known", s.Name)
	}
	return g, stats
}

func TestKindsOfSources(t *testing.T) {
	list := filepath.Join(t.TempDir(), "list.tsv")
	testkit.Must(t, os.WriteFile(list, []byte("http://a.test/\thttp://b.test/\nhttp://b.test/\thttp://b.test/\n"), 0o600))
	g, stats := built(t, GraphSource{Name: list})
	if g.Nodes() != 2 || g.Edges() != 1 || stats == nil || stats.SelfLoops != 1 {
		t.Errorf("a list: %d nodes, %d edges, %+v", g.Nodes(), g.Edges(), stats)
	}
	if g, stats := built(t, GraphSource{Name: "synthetic:1k", Pages: 1000, Seed: 1}); g.Nodes() != 1000 || stats != nil {
		t.Errorf("a synthetic web: %d nodes, %+v", g.Nodes(), stats)
	}
	for _, s := range []GraphSource{{Name: list}, {Name: "synthetic:1k", Pages: 1000}} {
		var asked cli.UsageError
		if err := s.labels(t.Context(), g, nil); !errors.As(err, &asked) {
			t.Errorf("%s has labels: %v", s.Name, err)
		}
	}
	if _, err := (GraphSource{Name: "synthetic:-1", Pages: -1}).Build(t.Context(), list+".graph", 0); err == nil {
		t.Error("a web of −1 pages")
	}
}

// TestCorpus compares the demo corpus's graph and labels with naive counts.
func TestCorpus(t *testing.T) {
	s := demo()
	g, _ := built(t, s)
	set, err := s.OpenSet("demo")
	if err != nil {
		t.Fatal(err)
	}
	pages, links := map[string]string{}, map[datasets.Link]bool{}
	for e := range testkit.All(t, set.Examples()) {
		pages[e.URL] = e.Label
	}
	for l := range testkit.All(t, set.Links()) {
		if links[l] = true; pages[l.Dst] == "" {
			pages[l.Dst] = ""
		}
	}
	maps.DeleteFunc(links, func(l datasets.Link, _ bool) bool { return l.Src == l.Dst })
	if g.Nodes() != len(pages) || g.Edges() != int64(len(links)) {
		t.Errorf("%d nodes, %d edges, want %d and %d", g.Nodes(), g.Edges(), len(pages), len(links))
	}
	is, counts, err := s.labelled(t.Context(), g, "banking")
	if err != nil || counts["banking"] == 0 {
		t.Fatal(counts, err)
	}
	scores, err := s.Scores(t.Context(), g, func(e *datasets.Example) (float64, bool, error) { return 0.5, e.Label == "banking", nil })
	if err != nil || scores.Count != counts["banking"] {
		t.Fatalf("%d pages on topic, want %d: %v", scores.Count, counts["banking"], err)
	}
	for v := range is {
		name := testkit.Call(g.Name(uint32(v))).Must(t)
		if on := pages[name] == "banking"; on != (is[v] == 1) || on != scores.Relevant[v] || on && scores.Score[v] != 0.5 {
			t.Errorf("%s, labelled %q: %g, %g", name, pages[name], is[v], scores.Score[v])
		}
	}
}

// standsFor follows aliases to a URL that is none, or that lies in a cycle.
func standsFor(a aliases, id store.ID) store.ID {
	inCircle := func(id store.ID) bool {
		at := a[id]
		for range len(a) {
			if at == id {
				return true
			}
			at = a[at] // 0 maps to 0
		}
		return false
	}
	for {
		next, is := a[id]
		if !is || inCircle(id) {
			return id
		}
		id = next
	}
}

// TestAliasesEqualRule compares on random chains, trees and cycles.
func TestAliasesEqualRule(t *testing.T) {
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n := 1 + rng.IntN(30)
		a := aliases{}
		for range rng.IntN(2 * n) {
			a[store.ID(1+rng.IntN(n))] = store.ID(1 + rng.IntN(n))
		}
		want := aliases{}
		for id := range a {
			want[id] = standsFor(a, id)
		}
		given := maps.Clone(a)
		a.settle()
		if !maps.Equal(a, want) {
			t.Fatalf("%v: got %v, want %v", given, a, want)
		}
	}
}

// TestAliasesAreFast settles a long chain, and many redirects into one cycle.
func TestAliasesAreFast(t *testing.T) {
	const n = 200_000 // a quadratic algorithm would not finish
	a := aliases{1: 2, 2: 1}
	for i := store.ID(3); i < n; i++ {
		a[i] = i + 1
		a[n+i] = 1
	}
	a.settle()
	if a[3] != n || a[n-1] != n || a[n+5] != 1 || a[1] != 1 || a[2] != 2 {
		t.Error("they stand for the wrong ones")
	}
}

// linkedStore writes a store whose URLs are pages with links, redirects, duplicates, or waiting.
func linkedStore(t *testing.T, dir string, rng *rand.Rand) (pages map[store.ID][]store.ID, same aliases) {
	t.Helper()
	s := testkit.Call(store.Create(dir, store.Info{})).Must(t)
	n := 2 + rng.IntN(30)
	pages, same = map[store.ID][]store.ID{}, aliases{}
	var stored []store.ID // by page number − 1
	b := s.Batch()
	put := func(errs ...error) {
		testkit.Must(t, errors.Join(errs...))
	}
	counts := store.Counts{URLs: uint64(n), States: map[string]uint64{}}
	for i := 1; i <= n; i++ {
		id, url := store.ID(i), urlAt(i)
		put(b.PutSeen(store.HashURL(url), id, false), b.PutDiscovery(id, store.Discovery{URL: url}))
		any := func() store.ID { return store.ID(1 + rng.IntN(n)) }
		switch kind := rng.IntN(4); {
		case kind == 0:
			put(b.PutQueued(id, store.Queued{}))
		case kind == 1:
			same[id] = any()
			put(b.PutVisit(id, 1, store.Visit{State: "redirect", Location: any()}),
				b.PutVisit(id, 2, store.Visit{State: "redirect", Location: same[id]}), b.PutOutcome(id, store.Outcome{State: "redirect"}))
		case kind == 2 && len(stored) > 0:
			number := 1 + rng.IntN(len(stored))
			same[id] = stored[number-1]
			put(b.PutVisit(id, 1, store.Visit{State: "duplicate"}), b.PutOutcome(id, store.Outcome{State: "duplicate", Page: uint64(number)}))
		default:
			links := []store.ID{}
			for range rng.IntN(6) {
				links = append(links, any())
			}
			stored, pages[id] = append(stored, id), links
			p := &store.Page{Number: uint64(len(stored)), ID: id, URL: url, Checksum: fmt.Appendf(nil, "%016d", i), Links: links}
			put(b.PutVisit(id, 1, store.Visit{State: "redirect", Location: any()}), // an earlier redirect
				b.PutVisit(id, 2, store.Visit{State: "ok"}), b.PutPage(p, s.Compress(nil)), b.PutOutcome(id, store.Outcome{State: "ok", Page: p.Number}))
		}
	}
	counts.Pages = uint64(len(stored))
	put(b.PutCounts(&counts), b.Commit(), s.Close())
	return pages, same
}

func urlAt(i int) string { return fmt.Sprintf("http://h%d.test/%d", i%3, i) }

// TestGraphOfStore compares the graph of random stores with its definition.
func TestGraphOfStore(t *testing.T) {
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 2))
		dir := filepath.Join(t.TempDir(), "store")
		pages, same := linkedStore(t, dir, rng)
		nodes, edges := map[string]bool{}, map[[2]string]bool{}
		for id, links := range pages {
			nodes[urlAt(int(id))] = true
			for _, to := range links {
				if to = standsFor(same, to); to != id {
					nodes[urlAt(int(to))] = true
					edges[[2]string{urlAt(int(id)), urlAt(int(to))}] = true
				}
			}
		}
		s, err := store.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "graph")
		_, err = GraphSource{Name: dir, OpenStore: func(string) (*store.Store, func() error, error) { return s, func() error { return nil }, nil }}.Build(t.Context(), path, 0)
		testkit.Must(t, errors.Join(err, s.Close()))
		gotNodes, gotEdges := graphByName(t, path)
		if !slices.Equal(slices.Sorted(maps.Keys(gotNodes)), slices.Sorted(maps.Keys(nodes))) || !maps.Equal(gotEdges, edges) {
			t.Errorf("seed %d: %v, same %v\n got %v, %v\nwant %v, %v", seed, pages, same, gotNodes, gotEdges, nodes, edges)
		}
	}
}

func graphByName(t *testing.T, path string) (nodes map[string]bool, edges map[[2]string]bool) {
	t.Helper()
	g, err := graph.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	nodes, edges = map[string]bool{}, map[[2]string]bool{}
	name := func(v uint32) string {
		n := testkit.Call(g.Name(v)).Must(t)
		return n
	}
	err = g.Scan(0, g.Nodes(), func(v uint32, links []uint32) error {
		nodes[name(v)] = true
		for _, to := range links {
			edges[[2]string{name(v), name(to)}] = true
		}
		return nil
	})
	testkit.Must(t, errors.Join(err, g.Close()))
	return nodes, edges
}

// listed4 is the graph of an edge list with four nodes on three hosts, sorted by URL: a, a/1, b, c.
func listed4(t *testing.T) (GraphSource, *graph.Graph) {
	path := textFile(t, "http://a.test/\thttp://b.test/\nhttp://a.test/\thttp://a.test/1\nhttp://b.test/\thttp://c.test/\n")
	s := GraphSource{Name: path}
	g, _ := built(t, s)
	return s, g
}

func textFile(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "list.tsv")
	testkit.Must(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestWeights(t *testing.T) {
	s, g := listed4(t)
	x, n, err := s.Weights(t.Context(), g, "", textFile(t, "http://b.test/\t2.5\n# none\nhttp://a.test/\nhttp://c.test/\t0\n"))
	if want := []float64{1, 0, 2.5, 0}; err != nil || n != 2 || !slices.Equal(x, want) {
		t.Errorf("got %v, %d, %v; want %v", x, n, err, want)
	}
	for text, want := range map[string]string{
		"http://b.test/\t0\n":       "all weights are 0",
		"http://a.test/\nhttp://d/": ":2: http://d/ is not a node of",
		"http://a.test/\t-1\n":      `:1: the weight "-1"`,
		"# nobody\n":                "names no node",
	} {
		if _, _, err := s.Weights(t.Context(), g, "", textFile(t, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
	demo := demo()
	g, _ = built(t, demo)
	if _, n, err = demo.Weights(t.Context(), g, "banking", ""); err != nil || n == 0 {
		t.Errorf("banking has %d pages, %v", n, err)
	}
	var asked cli.UsageError
	if _, _, err = demo.Weights(t.Context(), g, "bees", ""); !errors.As(err, &asked) || !strings.Contains(err.Error(), "it has the labels ") {
		t.Errorf("bees: %v", err)
	}
}

func TestBlocks(t *testing.T) {
	s, g := listed4(t)
	for by, want := range map[string][]uint32{
		"": {0, 0, 1, 2}, "host": {0, 0, 1, 2}, "site": {0, 0, 1, 2},
		textFile(t, "http://c.test/\tx\nhttp://a.test/1\ty\nhttp://a.test/\tx\n"): {0, 1, graph.None, 0},
	} {
		if got, err := s.Blocks(t.Context(), g, by); err != nil || !slices.Equal(got, want) {
			t.Errorf("by %s: %v, %v; want %v", by, got, err, want)
		}
	}
	if _, err := s.Blocks(t.Context(), g, textFile(t, "http://a.test/\n")); err == nil || !strings.Contains(err.Error(), ":1: no block") {
		t.Errorf("a node without a block: %v", err)
	}
}

func TestStartPages(t *testing.T) {
	s, g := listed4(t)
	got, err := s.StartPages(g, textFile(t, "http://b.test/\n# c\nhttp://a.test/\nhttp://b.test/\n"))
	if err != nil || !slices.Equal(got, []uint32{2, 0}) {
		t.Errorf("got %v, %v", got, err)
	}
	for text, want := range map[string]string{"# none\n": "names no start page", "\nhttp://d/\n": ":2: http://d/ is not a page of"} {
		if _, err := s.StartPages(g, textFile(t, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

// TestPutRanks: each stored page gets its node's scores; nodes without a page do not count.
func TestPutRanks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	pages, _ := linkedStore(t, dir, rand.New(rand.NewPCG(1, 2)))
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	g, _ := built(t, GraphSource{Name: dir, OpenStore: func(string) (*store.Store, func() error, error) { return s, func() error { return nil }, nil }})
	score, hub := make([]float64, g.Nodes()), make([]float64, g.Nodes())
	for v := range score {
		score[v], hub[v] = float64(v+1), float64(-v)
	}
	is, n, err := PutRanks(t.Context(), g, s, store.Ranking{Method: "hits", Nodes: g.Nodes()}, score, hub)
	if err != nil || int(n) != len(pages) || len(pages) == 0 {
		t.Fatalf("%d of %d pages: %v", n, len(pages), err)
	}
	for p := range testkit.All(t, s.Pages()) {
		v, _, err := g.Node(p.URL)
		rank, ranking, err2 := s.Ranks().Of(p.Number)
		testkit.Must(t, errors.Join(err, err2))
		if !is[v] || rank.Score != score[v] || rank.Hub != hub[v] || ranking.Nodes != g.Nodes() {
			t.Errorf("page %s, node %d: %v %+v of %+v", p.URL, v, is[v], rank, ranking)
		}
	}
}

// FuzzNamed: parsed lines match the text, and round-trip.
func FuzzNamed(f *testing.F) {
	f.Add("http://a.test/\t2\n# c\n\n http://b.test/ \r\nc\t1e-3\td")
	f.Add("a\tinf\nb\t-1\nc\tNaN\nd\t0x1p-2")
	f.Add("\t1\n \t \n")
	f.Fuzz(func(t *testing.T, text string) {
		type row struct{ name, value string }
		read := func(text string) (rows []row, lines []int) {
			found, err := eachNamed(strings.NewReader(text), "file", func(name, value string, line int) error {
				rows, lines = append(rows, row{name, value}), append(lines, line)
				return nil
			})
			if err != nil {
				if !strings.Contains(err.Error(), "over 1024 KiB") {
					t.Fatal(err)
				}
				t.Skip("a long line")
			}
			if found != (len(rows) > 0) {
				t.Fatalf("found: %v, in %d rows", found, len(rows))
			}
			return rows, lines
		}
		rows, at := read(text)
		all := strings.Split(text, "\n")
		for i, r := range rows {
			line := strings.TrimSpace(all[at[i]-1])
			if r.name == "" || line[0] == '#' || !strings.HasPrefix(line, r.name) || !strings.HasSuffix(line, r.value) {
				t.Errorf("line %d, %q, is read as %q", at[i], line, r)
			}
		}
		var again strings.Builder
		for _, r := range rows {
			fmt.Fprintf(&again, "%s\t%s\n", r.name, r.value)
		}
		if twice, _ := read(again.String()); !slices.Equal(twice, rows) {
			t.Errorf("%q is read as %q, then as %q", text, rows, twice)
		}
	})
}

// FuzzWeight: any text gives an error or a finite weight that round-trips.
func FuzzWeight(f *testing.F) {
	for _, s := range []string{"", "1", "0", "-0", "1e400", "inf", "NaN", "0x1p-2", "1_000", " 1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		x, err := weightOf(text)
		if err != nil {
			return
		}
		if !(x >= 0 && x <= math.MaxFloat64) {
			t.Errorf("%q gives %g", text, x)
		}
		if again, err := weightOf(strconv.FormatFloat(x, 'g', -1, 64)); err != nil || again != x {
			t.Errorf("%q gives %g, then %g, %v", text, x, again, err)
		}
	})
}

// linkFile writes a link file of four pages with links 0 → 1, 2 and 2 → 0.
func linkFile(t *testing.T) string {
	t.Helper()
	f := testkit.Call(os.Create(filepath.Join(t.TempDir(), "links.bin"))).Must(t)
	defer f.Close()
	w := testkit.Call(NewLinkWriter(f, 4)).Must(t)
	testkit.Must(t, errors.Join(w.Add(0, []uint32{1, 2}), w.Add(2, []uint32{0})))
	testkit.Call(w.Close()).Must(t)
	return f.Name()
}

func TestLinkFile(t *testing.T) {
	path := linkFile(t)
	if g, stats := built(t, GraphSource{Name: path}); g.Nodes() != 3 || g.Edges() != 3 || stats == nil {
		t.Errorf("without names: %d nodes, %d edges, %+v", g.Nodes(), g.Edges(), stats)
	}
	urls := "0\thttp://b.test/\n1\thttp://a.test/\n2\thttp://a.test/2\n3\thttp://c.test/\n"
	testkit.Must(t, os.WriteFile(filepath.Join(filepath.Dir(path), "links.urls.tsv"), []byte(urls), 0o600))
	g, _ := built(t, GraphSource{Name: path})
	if g.Nodes() != 4 || g.Edges() != 3 {
		t.Errorf("with names: %d nodes, %d edges", g.Nodes(), g.Edges())
	}
	if v, ok, err := g.Node("http://c.test/"); !ok || err != nil {
		t.Errorf("a page without links is no node: %d, %v", v, err)
	}
	whole := testkit.Call(os.ReadFile(path)).Must(t)
	testkit.Must(t, os.WriteFile(path, whole[:len(whole)-1], 0o600))
	if _, err := (GraphSource{Name: path}).Build(t.Context(), path+".graph", 0); !errors.Is(err, errLinksDamaged) || !strings.Contains(err.Error(), "links.bin") {
		t.Errorf("a damaged file: %v", err)
	}
}
