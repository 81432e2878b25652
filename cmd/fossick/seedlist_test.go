package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"fossick/datasets/web"
	"fossick/internal/page"
	"fossick/relevance/propose"
	"fossick/store"
)

// TestManySeedsAreKept: a crawl knows its start pages when the file is gone, also
// where they are more than its settings have room for.
func TestManySeedsAreKept(t *testing.T) {
	addr, stop, err := serve(t.Context(), "demo", web.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	t.Chdir(t.TempDir())
	const n = 40_001 // as one record they would be too large for a batch
	var list strings.Builder
	list.WriteString("http://attic.test/\n") // the one page that is there
	for i := range n - 1 {
		fmt.Fprintf(&list, "http://attic.test/page/that/is/nowhere/but/has/a/long/name/%d\n", i)
	}
	write(t, "seeds", list.String())
	for _, args := range [][]string{
		{"focus", "--topic", "x", "--keywords", "page", "--seeds", "seeds", "--proxy", "http://" + addr, "--delay", "0", "--store", "crawl", "--max-pages", "1", "-q"},
		{"focus", "--resume", "--store", "crawl", "--max-pages", "1", "-q"},
	} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), args, &out, &errs); code != exitDone {
			t.Fatalf("%v: exit code %d: %s", args, code, errs.String())
		}
		write(t, "seeds", "gone")
	}
	s, err := store.Open("crawl")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got, err := s.Counts(); err != nil || got.URLs < n {
		t.Errorf("%d URLs, %v; want %d at least", got.URLs, err, n)
	}
	if size := len(s.Info().Settings); size > 1<<20 {
		t.Errorf("settings of %d bytes", size)
	}
	l := propose.NewStartPages(page.NewNormalizer(nil))
	if err := l.AddFile(filepath.Join("crawl", "seeds.txt")); err != nil || len(l.URLs) != n {
		t.Errorf("%d start pages are kept, %v; want %d", len(l.URLs), err, n)
	}
}
