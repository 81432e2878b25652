package search

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fossick/store"
)

type doc struct {
	url, title, body, lang, label string
	score                         float64
}

func texts(body []byte, _ *store.Page) (text, markdown string) { return string(body), string(body) }

// made writes docs into a new store, numbered from 1.
func made(t testing.TB, docs ...doc) *store.Store {
	t.Helper()
	s, err := store.Create(filepath.Join(t.TempDir(), "crawl"), store.Info{Topic: "gold"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	for i, d := range docs {
		put(t, s, i+1, d)
	}
	return s
}

func put(t testing.TB, s *store.Store, n int, d doc) {
	t.Helper()
	b := s.Batch()
	defer b.Cancel()
	p := &store.Page{Number: uint64(n), ID: store.ID(n), URL: d.url, Title: d.title, Lang: d.lang, Label: d.label, Score: d.score,
		Checksum: fmt.Appendf(nil, "%-16.16s", fmt.Sprint(len(d.body), d.body))}
	if err := errors.Join(b.PutDiscovery(p.ID, store.Discovery{URL: d.url}), b.PutPage(p, s.Compress([]byte(d.body))), b.Commit()); err != nil {
		t.Fatal(err)
	}
}

func fresh(t testing.TB, s *store.Store) (*Index, indexReport) {
	t.Helper()
	x, r, err := Fresh(t.Context(), s, Options{Text: texts})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x, r
}

// numbers returns the numbers of the matching pages, the best first.
func numbers(t testing.TB, x *Index, query string, f Filter) (numbers []uint64) {
	t.Helper()
	q, err := Parse(query)
	if err != nil {
		t.Fatal(err)
	}
	hits, total, err := x.Find(context.Background(), q, f, 1000)
	if err != nil || total != len(hits) {
		t.Fatalf("%s: %d of %d, %v", query, len(hits), total, err)
	}
	for _, h := range hits {
		numbers = append(numbers, h.Number)
	}
	return numbers
}

func TestFind(t *testing.T) {
	s := made(t,
		doc{url: "http://a.test/loans.html", title: "Loans", body: "The banks lend money at interest rates.", lang: "en", label: "gold", score: .9},
		doc{url: "http://b.test:8080/x", title: "Konten", body: "Die Bank führt Konten und Häuser. Zinsen für das Haus.", lang: "de", label: "other", score: .2},
		doc{url: "http://a.test/bees", title: "Of bees", body: "Rates of interest in honey; the bank of the river. don't 3.14", lang: "en", label: "other", score: .5},
		doc{url: "http://c.test/zh", title: "银行", body: "银行的存款利率很高。", lang: "zh", score: .1},
		doc{url: "http://d.test/long", title: "", body: "loans " + strings.Repeat("and other things that a page says ", 50), lang: "en", score: .1},
	)
	x, r := fresh(t, s)
	if r.Entered != 5 {
		t.Errorf("entered %+v", r)
	}
	half := .5
	for _, c := range []struct {
		query string
		f     Filter
		want  []uint64
	}{
		{"loan", Filter{}, []uint64{1, 5}},
		{"LOANS lending", Filter{}, []uint64{1}},
		{`"interest rates"`, Filter{}, []uint64{1}},
		{`"rate of interest"`, Filter{}, []uint64{3}},
		{"interest rate", Filter{}, []uint64{1, 3}},
		{"interest -river", Filter{}, []uint64{1}},
		{"haus", Filter{}, []uint64{2}},
		{"häusern", Filter{}, []uint64{2}},
		{"bank lang:de", Filter{}, []uint64{2}},
		{"bank -lang:de", Filter{}, []uint64{1, 3}},
		{"title:loans", Filter{}, []uint64{1}},
		{"title:bees interest", Filter{}, []uint64{3}},
		{"url:loans", Filter{}, []uint64{1}},
		{"interest site:a.test", Filter{}, []uint64{1, 3}},
		{"host:a.test", Filter{}, []uint64{1, 3}},
		{"host:b.test", Filter{}, []uint64{2}},
		{"host:b.test:8080", Filter{}, []uint64{2}},
		{"label:gold", Filter{}, []uint64{1}},
		{"bank", Filter{Labels: []string{"gold", "nothing"}}, []uint64{1}},
		{"interest", Filter{MinScore: &half}, []uint64{1, 3}},
		{"bank", Filter{MinScore: &half, Hosts: []string{"a.test"}}, []uint64{1, 3}},
		{"存款", Filter{}, []uint64{4}},
		{"3.14", Filter{}, []uint64{3}},
		{"don't", Filter{}, []uint64{3}},
		{"the honey", Filter{}, []uint64{3}},
		{"the", Filter{}, []uint64{1, 3}},
		{"https: honey", Filter{}, nil},
		{"honey -nothing -label:gold", Filter{}, []uint64{3}},
		{"host:a.test -interest", Filter{}, nil},
		{`"" honey`, Filter{}, []uint64{3}},
		{`honey" OR ti*tle:x NEAR(`, Filter{}, nil},
	} {
		got := numbers(t, x, c.query, c.f)
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("%s %+v: pages %v, want %v", c.query, c.f, got, c.want)
		}
	}
	if got := numbers(t, x, "loans", Filter{}); got[0] != 1 {
		t.Errorf("the page with that title comes %v", got)
	}
}

// TestFindsAsNaively compares with a scan of every word of every page.
func TestFindsAsNaively(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	words := []string{"ash", "bar", "cow", "dog", "elk"}
	var docs []doc
	for i := range 60 {
		var b []string
		for range 1 + rng.IntN(6) {
			b = append(b, words[rng.IntN(len(words))])
		}
		docs = append(docs, doc{url: fmt.Sprintf("http://h.test/%dq", i), body: strings.Join(b, " "), lang: "en"})
	}
	x, _ := fresh(t, made(t, docs...))
	for range 200 {
		var query []string
		holds := func(string) bool { return true }
		for range 1 + rng.IntN(3) {
			w := words[rng.IntN(len(words))]
			also := holds
			switch rng.IntN(3) {
			case 0:
				w += " " + words[rng.IntN(len(words))]
				query = append(query, `"`+w+`"`)
				holds = func(b string) bool { return also(b) && strings.Contains(" "+b+" ", " "+w+" ") }
			case 1:
				if len(query) > 0 {
					query = append(query, "-"+w)
					holds = func(b string) bool { return also(b) && !strings.Contains(b, w) }
				}
			default:
				query = append(query, w)
				holds = func(b string) bool { return also(b) && strings.Contains(b, w) }
			}
		}
		if len(query) == 0 {
			continue
		}
		var want []uint64
		for i, d := range docs {
			if holds(d.body) {
				want = append(want, uint64(i+1))
			}
		}
		got := numbers(t, x, strings.Join(query, " "), Filter{})
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Fatalf("%v: pages %v, want %v", query, got, want)
		}
	}
}

// TestFollowsStore: an update equals a rebuild, and reads only what changed.
func TestFollowsStore(t *testing.T) {
	s := made(t, doc{url: "http://a.test/1", body: "ash", lang: "en"}, doc{url: "http://a.test/2", body: "bar", lang: "en"}, doc{url: "http://a.test/3", body: "cow secretword", lang: "en"})
	for _, want := range []indexReport{{Entered: 3}, {}} {
		x, r := fresh(t, s)
		if err := x.Close(); r != want || err != nil {
			t.Errorf("%+v, want %+v; %v", r, want, err)
		}
	}
	put(t, s, 1, doc{url: "http://a.test/1", body: "dog", lang: "en"})
	put(t, s, 4, doc{url: "http://a.test/4", body: "elk", lang: "de"})
	b := s.Batch()
	defer b.Cancel()
	third, err := s.Page(3)
	if err := errors.Join(err, b.WithdrawPage(third), b.PutLabel(2, store.Label{Label: "gold"}), b.Commit()); err != nil {
		t.Fatal(err)
	}
	x, r := fresh(t, s)
	if want := (indexReport{Entered: 2, Relabel: 1, Removed: 1}); r != want {
		t.Errorf("%+v, want %+v", r, want)
	}
	for query, want := range map[string]int{"ash": 0, "dog": 1, "elk": 4, "cow": 0, "bar label:gold": 2, "secretword": 0} {
		if got := numbers(t, x, query, Filter{}); want == 0 && len(got) > 0 || want > 0 && !slices.Equal(got, []uint64{uint64(want)}) {
			t.Errorf("%s: pages %v, want %d", query, got, want)
		}
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	if files := contents(t, s.Dir()); strings.Contains(files, "secretword") {
		t.Error("a word that no page has any more is in the file")
	}
}

func contents(t *testing.T, dir string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folderOf(dir), "*"))
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	var all strings.Builder
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
	}
	return all.String()
}

// TestDamagedIndex: a damaged or outdated index is rebuilt.
func TestDamagedIndex(t *testing.T) {
	s := made(t, doc{url: "http://a.test/", body: "ash", lang: "en"})
	name := filepath.Join(folderOf(s.Dir()), "words.sqlite")
	for what, harm := range map[string]func(b []byte) []byte{
		"garbage":         func([]byte) []byte { return []byte(strings.Repeat("garbage ", 1000)) },
		"cut":             func(b []byte) []byte { return b[:len(b)/2] },
		"emptied":         func([]byte) []byte { return nil },
		"zeros":           func(b []byte) []byte { clear(b[100:]); return b },
		"another version": func(b []byte) []byte { b[63] = 99; return b }, // user_version, big-endian at 60
	} {
		x, _ := fresh(t, s)
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(name)
		if err := errors.Join(err, os.WriteFile(name, harm(b), 0o644)); err != nil {
			t.Fatal(err)
		}
		x, r := fresh(t, s)
		if got := numbers(t, x, "ash", Filter{}); len(got) != 1 || r.Entered != 1 || !r.Rebuilt && what != "emptied" {
			t.Errorf("%s: pages %v, %+v", what, got, r)
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCutOff: an interrupted update resumes.
func TestCutOff(t *testing.T) {
	var docs []doc
	for i := range 20 {
		docs = append(docs, doc{url: fmt.Sprintf("http://a.test/%d", i), body: "ash", lang: "en"})
	}
	s := made(t, docs...)
	ctx, stop := context.WithCancel(t.Context())
	n := 0
	_, _, err := Fresh(ctx, s, Options{Text: texts, Done: func(int) {
		if n++; n == 10 {
			stop()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	x, _ := fresh(t, s)
	if got := numbers(t, x, "ash", Filter{}); len(got) != 20 {
		t.Errorf("%d pages", len(got))
	}
}
