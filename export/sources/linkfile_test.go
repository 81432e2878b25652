package sources

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fossick/export/convert/links"
)

// linkFile writes links 0 → 1, 2 and 2 → 0 of four pages.
func linkFile(t *testing.T) string {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "links.bin"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := links.NewWriter(f, 4)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Add(0, []uint32{1, 2}), w.Add(2, []uint32{0})); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

func TestLinkFile(t *testing.T) {
	path := linkFile(t)
	if g, stats := built(t, Source{Name: path}); g.Nodes() != 3 || g.Edges() != 3 || stats == nil {
		t.Errorf("without names: %d nodes, %d edges, %+v", g.Nodes(), g.Edges(), stats)
	}
	urls := "0\thttp://b.test/\n1\thttp://a.test/\n2\thttp://a.test/2\n3\thttp://c.test/\n"
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "links.urls.tsv"), []byte(urls), 0o600); err != nil {
		t.Fatal(err)
	}
	g, _ := built(t, Source{Name: path})
	if g.Nodes() != 4 || g.Edges() != 3 {
		t.Errorf("with names: %d nodes, %d edges", g.Nodes(), g.Edges())
	}
	if v, ok, err := g.Node("http://c.test/"); !ok || err != nil {
		t.Errorf("a page without links is no node: %d, %v", v, err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, whole[:len(whole)-1], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (Source{Name: path}).Build(t.Context(), path+".graph", 0); !errors.Is(err, links.ErrDamaged) || !strings.Contains(err.Error(), "links.bin") {
		t.Errorf("a damaged file: %v", err)
	}
}
