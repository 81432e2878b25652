package export

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"fossick/crawler/fetch"
	"fossick/datasets"
	"fossick/internal/testkit"
	"fossick/store"
)

// rows are n pages in a chain, three per host, then difficult rows.
func rows(n int) []*datasets.Example {
	var all []*datasets.Example
	url := func(i int) string { return fmt.Sprintf("http://h%d.test/%d", i/3, i) }
	for i := range n {
		all = append(all, &datasets.Example{
			URL: url(i), Label: fmt.Sprint("label", i%2), Fields: map[string]string{"date": fmt.Sprintf("2020-01-01T00:%02d:%02dZ", i/60%60, i%60)},
			HTML: fmt.Sprintf("<title>page %d</title><p>words of page %d <a href=%q>next</a> <a href='http://else.test/'>else</a>", i, i, url(i+1)),
		})
	}
	return append(all,
		&datasets.Example{URL: "http://copy.test/", HTML: all[0].HTML},
		&datasets.Example{URL: "nonsense:", HTML: "x"},
		&datasets.Example{URL: all[1].URL, HTML: "<p>another"},
		&datasets.Example{URL: "http://kept.test/not", HTML: "<meta name=robots content=noindex><p>words that nobody may keep"},
		&datasets.Example{URL: "http://plain.test/robots.txt", Text: "rules"},
		&datasets.Example{URL: "http://plain.test/a/robots.txt", Text: "a page with the name of rules"})
}

func set(all []*datasets.Example) iter.Seq2[*datasets.Example, error] {
	return testkit.Each(all)
}

func options(source string) ImportOptions {
	return ImportOptions{Source: source, Version: "1", Log: slog.New(slog.DiscardHandler), Progress: func(uint64) {}}
}

func check(t *testing.T, dir string, all []*datasets.Example) {
	t.Helper()
	s := testkit.Call(store.Open(dir)).Must(t)
	defer s.Close()
	chain, n := len(all)-6, 0
	for p := range testkit.All(t, s.Pages()) {
		e, links := all[min(n, len(all)-1)], 2
		if n == chain { // of the difficult rows only the plain text is stored
			e, links = all[len(all)-1], 0
		}
		body := testkit.Call(s.Body(p.Number)).Must(t)
		if p.URL != e.URL || p.Label != e.Label || string(body) != e.HTML+e.Text || len(p.Links) != links {
			t.Fatalf("page %d: %s, label %s, %d links; want %s, %s, %d", n+1, p.URL, p.Label, len(p.Links), e.URL, e.Label, links)
		}
		if n < chain && p.At/1000 != 1577836800+int64(n) {
			t.Fatalf("page %d was fetched at %d", n+1, p.At)
		}
		n++
	}
	if n != chain+1 {
		t.Errorf("%d pages", n)
	}
}

func TestImport(t *testing.T) {
	all, dir := rows(200), filepath.Join(t.TempDir(), "s")
	r, err := Import(t.Context(), set(all), dir, options("rows"))
	if err != nil || r != (importResult{Pages: 201, Duplicates: 1, Left: 3, Refused: 1}) {
		t.Errorf("%+v, %v", r, err)
	}
	check(t, dir, all)
}

// TestGoesOn: an interrupted import resumes with the same result; another source's store is refused.
func TestGoesOn(t *testing.T) {
	all, dir := rows(3000), filepath.Join(t.TempDir(), "s")
	ctx, cancel := context.WithCancel(t.Context())
	read := 0
	_, err := Import(ctx, func(yield func(*datasets.Example, error) bool) {
		for _, e := range all {
			if read++; read == len(all)+1500 { // halfway through the second reading
				cancel()
			}
			if !yield(e, nil) {
				return
			}
		}
	}, dir, options("rows"))
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("cut off: %v", err)
	}
	if r, err := Import(t.Context(), set(all), dir, options("rows")); err != nil || r.Pages != 3001 {
		t.Errorf("%+v, %v", r, err)
	}
	check(t, dir, all)
	if _, err := Import(t.Context(), set(all), dir, options("other")); !errors.Is(err, errOther) {
		t.Errorf("another source: %v", err)
	}
}

// TestBadSources: a set that fails, changes or is empty gives an error.
func TestBadSources(t *testing.T) {
	broken := errors.New("line 7 is broken")
	try := func(name string, of iter.Seq2[*datasets.Example, error], want error) {
		dir := filepath.Join(t.TempDir(), name)
		if _, err := Import(t.Context(), of, dir, options(name)); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
		if name != "changed" && store.Exists(dir) {
			t.Errorf("%s: a store is left", name)
		}
	}
	try("broken", func(yield func(*datasets.Example, error) bool) { yield(nil, broken) }, broken)
	try("empty", set(nil), errNoPages)
	first := true
	try("changed", func(yield func(*datasets.Example, error) bool) {
		all := rows(5)
		if !first {
			all = slices.Delete(all, 2, 4)
		}
		first = false
		set(all)(yield)
	}, errMissing)
}

// TestTwoWorkers: a slow worker gets a second one, so Fetch must be safe for both.
func TestTwoWorkers(t *testing.T) {
	const pages = 400
	w := newImportWeb(func(yield func(*datasets.Example, error) bool) {
		for i := range pages {
			if !yield(&datasets.Example{URL: fmt.Sprintf("http://a.test/%d", i), HTML: "x", Label: fmt.Sprint(i)}, nil) {
				return
			}
		}
	})
	defer w.close()
	var both sync.WaitGroup
	for worker := range 2 {
		both.Go(func() {
			for i := worker; i < pages; i += 2 {
				url := fmt.Sprintf("http://a.test/%d", i)
				if r := w.Fetch(t.Context(), fetch.Request{URL: url}); r.State != fetch.StateOK || w.labelOf(url) != fmt.Sprint(i) {
					t.Errorf("%s: %+v", url, r)
				}
			}
		})
	}
	both.Wait()
}
