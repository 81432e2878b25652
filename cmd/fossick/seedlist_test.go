package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"fossick/corpusweb"
	"fossick/page"
	"fossick/store"
)

// FuzzSeedList: any file is taken, or refused with its name, and what is taken is
// in normal form, each once.
func FuzzSeedList(f *testing.F) {
	for _, seed := range []string{
		"http://a.test/\n", "\xef\xbb\xbfhttp://a.test/\r\n\r\n# x\r\n", "\xff\xfeh\x00t\x00t\x00p\x00:\x00/\x00/\x00a\x00\n\x00", "\xfe\xff\x00h",
		"http://a.test/\x00\n", "nonsense", "http://a.test/\nHTTP://A.TEST\n", strings.Repeat("x", maxListLine+1), "\xff\xfe\x00", "\xef\xbb",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		t.Chdir(t.TempDir())
		write(t, "seeds", text)
		urls := page.NewNormalizer(nil)
		l := newSeedList(urls)
		if err := l.addFile("seeds"); err != nil && !strings.Contains(err.Error(), "seeds:") {
			t.Errorf("%q: %v names no line", text, err)
		}
		for i, u := range l.seeds {
			if again, err := urls.Normalize(u); err != nil || again != u {
				t.Errorf("%q: start page %q is not in normal form: %q, %v", text, u, again, err)
			}
			if i > 0 && u == l.seeds[0] {
				t.Errorf("%q: %s stands there twice", text, u)
			}
		}
	})
}

// TestManySeedsAreKept: a crawl knows its start pages when the file is gone, also
// where they are more than its settings have room for.
func TestManySeedsAreKept(t *testing.T) {
	addr, stop, err := serve(t.Context(), "demo", corpusweb.Options{})
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
	l := newSeedList(page.NewNormalizer(nil))
	if err := l.addFile(filepath.Join("crawl", "seeds.txt")); err != nil || len(l.seeds) != n {
		t.Errorf("%d start pages are kept, %v; want %d", len(l.seeds), err, n)
	}
}
