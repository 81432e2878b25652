package sources

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fossick/graph"
	"fossick/internal/usage"
	"fossick/store"
)

// listed4 is the graph of an edge list with nodes of three hosts, by URL: a, a/1, b, c.
func listed4(t *testing.T) (Source, *graph.Graph) {
	path := file(t, "http://a.test/\thttp://b.test/\nhttp://a.test/\thttp://a.test/1\nhttp://b.test/\thttp://c.test/\n")
	s := Source{Name: path}
	g, _ := built(t, s)
	return s, g
}

func file(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "list.tsv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWeights(t *testing.T) {
	s, g := listed4(t)
	x, n, err := s.Weights(t.Context(), g, "", file(t, "http://b.test/\t2.5\n# none\nhttp://a.test/\nhttp://c.test/\t0\n"))
	if want := []float64{1, 0, 2.5, 0}; err != nil || n != 2 || !slices.Equal(x, want) {
		t.Errorf("got %v, %d, %v; want %v", x, n, err, want)
	}
	for text, want := range map[string]string{
		"http://b.test/\t0\n":       "all weights are 0",
		"http://a.test/\nhttp://d/": ":2: http://d/ is not a node of",
		"http://a.test/\t-1\n":      `:1: the weight "-1"`,
		"# nobody\n":                "names no node",
	} {
		if _, _, err := s.Weights(t.Context(), g, "", file(t, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
	demo := demo()
	g, _ = built(t, demo)
	if _, n, err = demo.Weights(t.Context(), g, "banking", ""); err != nil || n == 0 {
		t.Errorf("banking has %d pages, %v", n, err)
	}
	var asked usage.Error
	if _, _, err = demo.Weights(t.Context(), g, "bees", ""); !errors.As(err, &asked) || !strings.Contains(err.Error(), "it has the labels ") {
		t.Errorf("bees: %v", err)
	}
}

func TestBlocks(t *testing.T) {
	s, g := listed4(t)
	for by, want := range map[string][]uint32{
		"": {0, 0, 1, 2}, "host": {0, 0, 1, 2}, "site": {0, 0, 1, 2},
		file(t, "http://c.test/\tx\nhttp://a.test/1\ty\nhttp://a.test/\tx\n"): {0, 1, graph.None, 0},
	} {
		if got, err := s.Blocks(t.Context(), g, by); err != nil || !slices.Equal(got, want) {
			t.Errorf("by %s: %v, %v; want %v", by, got, err, want)
		}
	}
	if _, err := s.Blocks(t.Context(), g, file(t, "http://a.test/\n")); err == nil || !strings.Contains(err.Error(), ":1: no block") {
		t.Errorf("a node without a block: %v", err)
	}
}

func TestStartPages(t *testing.T) {
	s, g := listed4(t)
	got, err := s.StartPages(g, file(t, "http://b.test/\n# c\nhttp://a.test/\nhttp://b.test/\n"))
	if err != nil || !slices.Equal(got, []uint32{2, 0}) {
		t.Errorf("got %v, %v", got, err)
	}
	for text, want := range map[string]string{"# none\n": "names no start page", "\nhttp://d/\n": ":2: http://d/ is not a page of"} {
		if _, err := s.StartPages(g, file(t, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

// TestPutRanks: each stored page gets the scores of its node, and is told apart from nodes
// that are only linked to.
func TestPutRanks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	pages, _ := linkedStore(t, dir, rand.New(rand.NewPCG(1, 2)))
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	g, _ := built(t, Source{Name: dir, OpenStore: func(string) (*store.Store, func() error, error) { return s, func() error { return nil }, nil }})
	score, hub := make([]float64, g.Nodes()), make([]float64, g.Nodes())
	for v := range score {
		score[v], hub[v] = float64(v+1), float64(-v)
	}
	is, n, err := PutRanks(t.Context(), g, s, store.Ranking{Method: "hits", Nodes: g.Nodes()}, score, hub)
	if err != nil || int(n) != len(pages) || len(pages) == 0 {
		t.Fatalf("%d of %d pages: %v", n, len(pages), err)
	}
	for p, err := range s.Pages() {
		if err != nil {
			t.Fatal(err)
		}
		v, _, err := g.Node(p.URL)
		rank, ranking, err2 := s.Ranks().Of(p.Number)
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		if !is[v] || rank.Score != score[v] || rank.Hub != hub[v] || ranking.Nodes != g.Nodes() {
			t.Errorf("page %s, node %d: %v %+v of %+v", p.URL, v, is[v], rank, ranking)
		}
	}
}
