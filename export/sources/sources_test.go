package sources

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"fossick/datasets"
	"fossick/graph"
	"fossick/internal/usage"
)

// demo is the built-in corpus.
func demo() Source {
	return Source{Name: "demo", OpenSet: func(name string) (*datasets.Set, error) { return datasets.Open(name, datasets.Options{}) }}
}

// built opens the graph of a source.
func built(t *testing.T, s Source) (*graph.Graph, *graph.Stats) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "graph")
	stats, err := s.Build(t.Context(), path, 0)
	if err != nil {
		t.Fatal(err)
	}
	g, err := graph.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	if !(Source{Name: path}).IsGraph() || s.IsGraph() {
		t.Errorf("%s: what is a graph file is not known", s.Name)
	}
	return g, stats
}

func TestKindsOfSources(t *testing.T) {
	list := filepath.Join(t.TempDir(), "list.tsv")
	if err := os.WriteFile(list, []byte("http://a.test/\thttp://b.test/\nhttp://b.test/\thttp://b.test/\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	g, stats := built(t, Source{Name: list})
	if g.Nodes() != 2 || g.Edges() != 1 || stats == nil || stats.SelfLoops != 1 {
		t.Errorf("a list: %d nodes, %d edges, %+v", g.Nodes(), g.Edges(), stats)
	}
	if g, stats := built(t, Source{Name: "synthetic:1k", Pages: 1000, Seed: 1}); g.Nodes() != 1000 || stats != nil {
		t.Errorf("a synthetic web: %d nodes, %+v", g.Nodes(), stats)
	}
	for _, s := range []Source{{Name: list}, {Name: "synthetic:1k", Pages: 1000}} {
		var asked usage.Error
		if err := s.Labels(t.Context(), g, nil); !errors.As(err, &asked) {
			t.Errorf("%s has labels: %v", s.Name, err)
		}
	}
	if _, err := (Source{Name: "synthetic:-1", Pages: -1}).Build(t.Context(), list+".graph", 0); err == nil {
		t.Error("a web of −1 pages")
	}
}

// TestCorpus counts a corpus's pages, links and labels by hand.
func TestCorpus(t *testing.T) {
	s := demo()
	g, _ := built(t, s)
	set, err := s.OpenSet("demo")
	if err != nil {
		t.Fatal(err)
	}
	pages, links := map[string]string{}, map[datasets.Link]bool{}
	for e, err := range set.Examples() {
		if err != nil {
			t.Fatal(err)
		}
		pages[e.URL] = e.Label
	}
	for l, err := range set.Links() {
		if err != nil {
			t.Fatal(err)
		}
		if links[l] = true; pages[l.Dst] == "" {
			pages[l.Dst] = ""
		}
	}
	maps.DeleteFunc(links, func(l datasets.Link, _ bool) bool { return l.Src == l.Dst })
	if g.Nodes() != len(pages) || g.Edges() != int64(len(links)) {
		t.Errorf("%d nodes, %d edges, want %d and %d", g.Nodes(), g.Edges(), len(pages), len(links))
	}
	is, counts, err := s.Labelled(t.Context(), g, "banking")
	if err != nil || counts["banking"] == 0 {
		t.Fatal(counts, err)
	}
	scores, err := s.Scores(t.Context(), g, func(e *datasets.Example) (float64, bool, error) { return 0.5, e.Label == "banking", nil })
	if err != nil || scores.Count != counts["banking"] {
		t.Fatalf("%d pages on topic, want %d: %v", scores.Count, counts["banking"], err)
	}
	for v := range is {
		name, err := g.Name(uint32(v))
		if err != nil {
			t.Fatal(err)
		}
		if on := pages[name] == "banking"; on != (is[v] == 1) || on != scores.Relevant[v] || on && scores.Score[v] != 0.5 {
			t.Errorf("%s, labelled %q: %g, %g", name, pages[name], is[v], scores.Score[v])
		}
	}
}
