package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fossick/datasets"
	"fossick/datasets/web"
	"fossick/export"
	"fossick/graph"
	"fossick/internal/page"
	"fossick/internal/testkit"
	"fossick/store"
)

// TestExported exports four collections of pages in all formats in one pass. The files must agree
// with each other, with the store, and with what other authors' programs read from them.
func TestExported(t *testing.T) {
	testkit.Only(t, "exports thousands of pages in all formats; by default the tests of each format read what it writes")
	t.Parallel()
	for name, collect := range map[string]func(t *testing.T, corpus, dir string){
		"demo": crawlCorpus, "debdocs": crawlCorpus, "uci_ics": crawlCorpus, "webkb": importCorpus,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			corpus := name
			if name != "demo" { // demo is built in
				corpus = testkit.Corpus(t, name)
			}
			e := &exported{name: name, store: filepath.Join(t.TempDir(), name), dir: filepath.Join(t.TempDir(), "all")}
			collect(t, corpus, e.store)
			fossick(t, "export", e.store, "--all", "-o", e.dir, "--quiet")
			if e.read(t); len(e.rows) < 1000 {
				t.Fatalf("only %d pages", len(e.rows))
			}
			t.Logf("%d pages, %d links", len(e.rows), len(e.edges))
			t.Run("joins", e.checkJoins)
			t.Run("peers", e.checkPeers)
		})
	}
}

// exported is a store, and a folder with its export in all formats.
type exported struct {
	name, store, dir string
	rows             []exportedRow  // of the JSON Lines, in order
	edges            map[edge]bool  // links of the store, between nodes
	nodes            map[string]int // by URL
}

type exportedRow struct {
	ID, URL, Title, Text string
	Node, Bytes          int
}

type edge struct{ from, to int }

// fossick runs a command line and returns its stdout.
func fossick(t *testing.T, args ...string) []byte {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(t.Context(), args, &out, &errs); code != 0 {
		t.Fatalf("fossick %s ended with %d: %s", strings.Join(args, " "), code, errs.Bytes())
	}
	return out.Bytes()
}

// crawlCorpus crawls 1,500 pages of a served corpus, from a page of each host.
func crawlCorpus(t *testing.T, corpus, dir string) {
	set := testkit.Call(datasets.Open(corpus, datasets.Options{})).Must(t)
	starts := map[string]string{}
	for e := range testkit.All(t, set.Examples()) {
		if host := page.Host(e.URL); starts[host] == "" || len(e.URL) < len(starts[host]) {
			starts[host] = e.URL
		}
	}
	addr, ca := served(t, set, web.Options{})
	args := []string{"focus", "--topic", "science", "--proxy", "http://" + addr, "--ca", ca, "--delay", "0", "--max-pages", "1500", "--store", dir, "--quiet"}
	for _, url := range slices.Sorted(maps.Values(starts)) {
		args = append(args, "--seed", url)
	}
	fossick(t, args...)
}

func importCorpus(t *testing.T, corpus, dir string) {
	fossick(t, "import", corpus, "--store", dir, "--quiet")
}

func (e *exported) read(t *testing.T) {
	e.nodes = map[string]int{}
	for line := range bytes.Lines(e.file(t, "pages.jsonl")) {
		var row exportedRow
		testkit.Must(t, json.Unmarshal(line, &row))
		e.rows = append(e.rows, row)
		e.nodes[row.URL] = row.Node
	}
	path := filepath.Join(t.TempDir(), "store.graph")
	testkit.Call(export.GraphSource{Name: e.store, OpenStore: func(path string) (*store.Store, func() error, error) {
		s, err := store.OpenToRead(path)
		if err != nil {
			return nil, nil, err
		}
		return s, s.Close, nil
	}}.Build(t.Context(), path, 0)).Must(t)
	e.edges = e.edgesOf(t, path)
}

func (e *exported) file(t *testing.T, name string) []byte {
	t.Helper()
	b := testkit.Call(os.ReadFile(filepath.Join(e.dir, filepath.FromSlash(name)))).Must(t)
	return b
}

// edgesOf returns the links of a graph file, between the export's nodes.
func (e *exported) edgesOf(t *testing.T, path string) map[edge]bool {
	t.Helper()
	g := testkit.Call(graph.Open(path)).Must(t)
	defer g.Close()
	node := make([]int, g.Nodes())
	for v := range node {
		name := testkit.Call(g.Name(uint32(v))).Must(t)
		var ok bool
		if node[v], ok = e.nodes[name]; !ok {
			node[v] = -1 // it was not fetched
		}
	}
	edges := map[edge]bool{}
	testkit.Must(t, g.Scan(0, g.Nodes(), func(v uint32, successors []uint32) error {
		for _, to := range successors {
			if from, to := node[v], node[to]; min(from, to) >= 0 && from != to {
				edges[edge{from, to}] = true
			}
		}
		return nil
	}))
	return edges
}

func (e *exported) sameEdges(t *testing.T, of string, got map[edge]bool) {
	t.Helper()
	if !maps.Equal(got, e.edges) {
		t.Errorf("%s: %d links, which are not the %d of the store", of, len(got), len(e.edges))
	}
}

// record is a page as a format names it, zero where the format has no field.
type record struct {
	id   string
	node int
	url  string
}

// sameRecords compares a format's pages with the rows; has marks the fields that the format has.
func (e *exported) sameRecords(t *testing.T, of string, has record, got []record) {
	t.Helper()
	var want []record
	for _, r := range e.rows {
		var w record
		if has.id != "" {
			w.id = r.ID
		}
		if has.node != 0 {
			w.node = r.Node
		}
		if has.url != "" {
			w.url = r.URL
		}
		want = append(want, w)
	}
	order := func(a, b record) int {
		return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.id, b.id), cmp.Compare(a.url, b.url))
	}
	slices.SortFunc(got, order)
	slices.SortFunc(want, order)
	if !slices.Equal(got, want) {
		t.Errorf("%s: %d pages, which are not the %d of the JSON Lines; the first are %v, want %v", of, len(got), len(want), got[:min(3, len(got))], want[:3])
	}
}
