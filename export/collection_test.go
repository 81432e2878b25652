package export

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"fossick/internal/testkit"
	"fossick/store"
)

type crawled struct {
	path  string
	links []string // paths
	page  store.Page
	label *store.Label
	body  string
	lost  bool // the stored body is damaged
}

func urlOf(path string) string { return "http://" + path }

// makeStore writes a crawl of pages; links may name pages that come later.
func makeStore(t testing.TB, dir string, pages []crawled) string {
	t.Helper()
	s := testkit.Call(store.Create(dir, store.Info{Topic: "banking"})).Must(t)
	b := s.Batch()
	put := func(errs ...error) {
		testkit.Must(t, errors.Join(errs...))
	}
	ids := map[string]store.ID{}
	idOf := func(path string, from store.ID) store.ID {
		if ids[path] == 0 {
			id := store.ID(len(ids) + 1)
			ids[path] = id
			via := store.ViaLink
			if from == 0 {
				via = store.ViaSeed
			}
			put(b.PutSeen(store.HashURL(urlOf(path)), id, false), b.PutDiscovery(id, store.Discovery{URL: urlOf(path), From: from, Via: via}))
		}
		return ids[path]
	}
	for i, c := range pages {
		p := c.page
		p.Number, p.ID, p.URL = uint64(i+1), idOf(c.path, 0), urlOf(c.path)
		p.Checksum = fmt.Appendf(nil, "%16d", i)
		if p.At == 0 {
			p.At = int64(i+1) * 1000
		}
		for _, to := range c.links {
			p.Links = append(p.Links, idOf(to, p.ID))
		}
		body := s.Compress([]byte(c.body))
		if c.lost {
			body = body[:len(body)/2]
		}
		put(b.PutPage(&p, body), b.PutVisit(p.ID, 1, store.Visit{State: "ok"}), b.PutOutcome(p.ID, store.Outcome{State: "ok", Page: p.Number}))
		if c.label != nil {
			put(b.PutLabel(p.Number, *c.label))
		}
	}
	put(b.PutCounts(&store.Counts{URLs: uint64(len(ids)), Pages: uint64(len(pages)), States: map[string]uint64{"ok": uint64(len(pages))}}), b.Commit(), s.Close())
	return dir
}

func openStore(dir string) (*store.Store, func() error, error) {
	s, err := store.OpenToRead(dir)
	if err != nil {
		return nil, nil, err
	}
	return s, s.Close, nil
}

func wholeText(body []byte, _ *Page, want Want) (text, markdown string) {
	if want.Markdown {
		markdown = "# " + string(body)
	}
	return string(body), markdown
}

func openCollection(t testing.TB, partial bool, dirs ...string) *Collection {
	t.Helper()
	c := testkit.Call(Open(t.Context(), dirs, Options{Open: openStore, Partial: partial, Text: wholeText})).Must(t)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func all(t testing.TB, c *Collection, choice Choice, want Want) (pages []*Page, left Left) {
	t.Helper()
	s := testkit.Call(c.Select(t.Context(), choice, want)).Must(t)
	for p := range testkit.All(t, s.Pages(t.Context())) {
		pages = append(pages, p)
	}
	return pages, s.Left()
}

// TestLinksJoin compares nodes and links of two random crawls of one web with their definition.
func TestLinksJoin(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 1))
		web := func() (pages []crawled) {
			for _, i := range r.Perm(20)[:12] {
				c := crawled{path: fmt.Sprintf("h%d.test/%d", i%3, i), page: store.Page{At: r.Int64N(1e6) + 1}}
				for range r.IntN(8) {
					to := r.IntN(20)
					c.links = append(c.links, fmt.Sprintf("h%d.test/%d", to%3, to))
				}
				pages = append(pages, c)
			}
			return pages
		}
		first, second := web(), web()
		c := openCollection(t, false, makeStore(t, filepath.Join(t.TempDir(), "a"), first), makeStore(t, filepath.Join(t.TempDir(), "b"), second))
		pages, _ := all(t, c, Choice{}, Want{Links: true})
		rows := slices.Concat(first, second)
		if len(pages) != len(rows) {
			t.Fatalf("seed %d: %d pages of %d", seed, len(pages), len(rows))
		}
		nodes, ids := map[string]uint32{}, map[string]bool{}
		for i, p := range pages {
			if p.URL != urlOf(rows[i].path) {
				t.Fatalf("seed %d: page %d is %s, want %s", seed, i, p.URL, rows[i].path)
			}
			if _, ok := nodes[p.URL]; !ok {
				nodes[p.URL] = uint32(len(nodes))
			}
			ids[p.ID] = true
			if p.Node != nodes[p.URL] {
				t.Errorf("seed %d: %s is node %d, want %d", seed, p.URL, p.Node, nodes[p.URL])
			}
		}
		if len(ids) != len(pages) {
			t.Errorf("seed %d: %d ids of %d pages", seed, len(ids), len(pages))
		}
		edges := map[[2]uint32]bool{}
		for i, p := range pages {
			want := []uint32{}
			for _, to := range rows[i].links {
				if n, ok := nodes[urlOf(to)]; ok && n != p.Node && !edges[[2]uint32{p.Node, n}] {
					want = append(want, n)
					edges[[2]uint32{p.Node, n}] = true
				}
			}
			if !slices.Equal(p.Links, want) {
				t.Errorf("seed %d: %s links to %v, want %v", seed, p.URL, p.Links, want)
			}
		}
	}
}

func TestChoice(t *testing.T) {
	t.Parallel()
	half := 0.5
	dir := makeStore(t, filepath.Join(t.TempDir(), "crawl"), []crawled{
		{path: "a.test/", page: store.Page{Lang: "en", Score: 0.9, Label: "banking", Probability: 0.8}},
		{path: "b.test:8080/x", page: store.Page{Lang: "de", Score: 0.5, Label: "sport"}, label: &store.Label{Label: "banking", Score: 0.6, Kept: true}},
		{path: "a.test/y", page: store.Page{Score: 0.2, Relevant: true, At: 1e6}},
		{path: "c.test/z", page: store.Page{Withdrawn: true}},
		{path: "c.test/", page: store.Page{Lang: "en", Label: "banking"}, label: &store.Label{Label: "sport", Score: 0.1}},
	})
	c := openCollection(t, false, dir)
	for _, test := range []struct {
		name   string
		choice Choice
		want   string
	}{
		{"all", Choice{}, "1 2 3 5"},
		{"label", Choice{Labels: []string{"banking"}}, "1 2 3"},
		{"either label", Choice{Labels: []string{"sport", "science"}}, "5"},
		{"score", Choice{MinScore: &half}, "1 2"},
		{"kept", Choice{Kept: true}, "2"},
		{"numbers", Choice{Numbers: map[uint64]bool{2: true, 5: true, 77: true}}, "2 5"},
		{"language", Choice{Langs: []string{"en"}}, "1 5"},
		{"host by name", Choice{Hosts: []string{"b.test"}}, "2"},
		{"host with port", Choice{Hosts: []string{"a.test:80"}}, "1 3"},
		{"pattern", Choice{Include: regexp.MustCompile(`/[xy]$`)}, "2 3"},
		{"since", Choice{Since: time.UnixMilli(3001)}, "3 5"},
		{"limit", Choice{Limit: 2}, "1 2"},
		{"all of it", Choice{Labels: []string{"banking"}, Langs: []string{"de"}, MinScore: &half, Limit: 1}, "2"},
	} {
		pages, left := all(t, c, test.choice, Want{})
		got := []string{}
		for _, p := range pages {
			got = append(got, fmt.Sprint(p.Number))
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: pages %v, want %s", test.name, got, test.want)
		}
		if test.choice.Limit == 0 && left.Withdrawn != 1 {
			t.Errorf("%s: %d withdrawn, want 1", test.name, left.Withdrawn)
		}
	}
	never := openCollection(t, false, makeStore(t, filepath.Join(t.TempDir(), "unrefined"), []crawled{{path: "a.test/"}}))
	if _, err := never.Select(t.Context(), Choice{Kept: true}, Want{}); err == nil || !strings.Contains(err.Error(), "fossick refine") {
		t.Errorf("--kept of what was not refined: %v", err)
	}
}

func TestPage(t *testing.T) {
	t.Parallel()
	dir := makeStore(t, filepath.Join(t.TempDir(), "crawl"), []crawled{
		{path: "a.test/", links: []string{"a.test/loan"}},
		{
			path: "a.test/loan", body: "Cheap loans.", label: &store.Label{Label: "banking", Score: 0.75, Kept: true, Rule: "loan"},
			page: store.Page{Title: "Loans", Lang: "en", Score: 0.5, Depth: 1, ContentType: "text/html", At: 1_000_000_000_000},
		},
	})
	pages, _ := all(t, openCollection(t, false, dir), Choice{}, Want{Text: true, Markdown: true, Body: true})
	p := pages[1]
	if p.ID != "urn:uuid:45fe1654-0d59-8905-a220-2803b3dbcf7b" {
		t.Errorf("id %s: ids of published exports must not change", p.ID)
	}
	got := fmt.Sprint(p.path(), p.Node, p.Host, p.Site, p.Fetched.Format(time.RFC3339), *p.Probability, *p.Kept, p.Why, p.FoundBy, p.Via, p.Depth, p.Rank, p.Text)
	want := fmt.Sprint("crawl#2", 1, "a.test:80", "a.test", "2001-09-09T01:46:40Z", 0.75, true, "loan", "http://a.test/", "link", 1, nil, "Cheap loans.")
	if strings.ReplaceAll(got, "<nil>", "nil") != strings.ReplaceAll(want, "<nil>", "nil") {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if want := "# Cheap loans."; p.Markdown != want {
		t.Errorf("Markdown %q, want %q", p.Markdown, want)
	}
}

// TestDamage exports a crawl with an unreadable body.
func TestDamage(t *testing.T) {
	t.Parallel()
	dir := makeStore(t, filepath.Join(t.TempDir(), "crawl"), []crawled{
		{path: "a.test/1", body: "one"}, {path: "a.test/2", body: strings.Repeat("<p>two", 100), lost: true}, {path: "a.test/3", body: "three"},
	})
	c := openCollection(t, false, dir)
	s, err := c.Select(t.Context(), Choice{}, Want{Text: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range s.Pages(t.Context()) {
		err = e
	}
	if !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "http://a.test/2") || !strings.Contains(err.Error(), "--partial") {
		t.Errorf("a damaged body: %v", err)
	}
	testkit.Must(t, c.Close())
	pages, left := all(t, openCollection(t, true, dir), Choice{}, Want{Text: true})
	if len(pages) != 3 || left.Damaged != 1 || pages[0].Text != "one" || !pages[1].Damaged || pages[2].Text != "three" {
		t.Errorf("%d pages, %+v left out", len(pages), left)
	}
}

// TestCopiesAreOneRecord: a store and its copy give each page once.
func TestCopiesAreOneRecord(t *testing.T) {
	t.Parallel()
	web := []crawled{{path: "a.test/1"}, {path: "a.test/2"}}
	c := openCollection(t, false, makeStore(t, filepath.Join(t.TempDir(), "one"), web), makeStore(t, filepath.Join(t.TempDir(), "one"), web))
	pages, left := all(t, c, Choice{}, Want{Links: true})
	if len(pages) != 2 || left.Repeated != 2 {
		t.Errorf("%d pages, %d repeated; want 2 and 2", len(pages), left.Repeated)
	}
	if a, b := c.Sources()[0].Name, c.Sources()[1].Name; a == b {
		t.Errorf("both stores are called %s", a)
	}
}

// TestStopsEarly breaks off one iteration, and cancels another.
func TestStopsEarly(t *testing.T) {
	t.Parallel()
	var web []crawled
	for i := range 200 {
		web = append(web, crawled{path: fmt.Sprintf("a.test/%d", i), body: "<p>words"})
	}
	c := openCollection(t, false, makeStore(t, filepath.Join(t.TempDir(), "crawl"), web))
	s := testkit.Call(c.Select(t.Context(), Choice{}, Want{Text: true})).Must(t)
	n := 0
	for p, err := range s.Pages(t.Context()) {
		if n++; err != nil || p.Number != uint64(n) {
			t.Fatalf("page %d: %v, %v", n, p, err)
		}
		if n == 50 {
			break
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	s = testkit.Call(c.Select(ctx, Choice{}, Want{Text: true})).Must(t)
	var last error
	for _, err := range s.Pages(ctx) {
		cancel()
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("cancelled: %v", last)
	}
	cancel()
}

// TestCancelledAtTheLast: cancelling while the last pages are being read is an error.
func TestCancelledAtTheLast(t *testing.T) {
	t.Parallel()
	dir := makeStore(t, filepath.Join(t.TempDir(), "crawl"), []crawled{{path: "a.test/1", body: "<p>words"}})
	ctx, cancel := context.WithCancel(t.Context())
	c := testkit.Call(Open(ctx, []string{dir}, Options{Open: openStore, Text: func([]byte, *Page, Want) (string, string) {
		cancel()
		return "", ""
	}})).Must(t)
	t.Cleanup(func() { _ = c.Close() })
	s := testkit.Call(c.Select(ctx, Choice{}, Want{Text: true})).Must(t)
	var last error
	for _, err := range s.Pages(ctx) {
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("cancelled: %v", last)
	}
}

// TestFingerprint: the fingerprint is reproducible and changes with the store.
func TestFingerprint(t *testing.T) {
	t.Parallel()
	dir := makeStore(t, filepath.Join(t.TempDir(), "s"), []crawled{{path: "a.test/", links: []string{"a.test/2"}}, {path: "a.test/2"}})
	print := func() string {
		c, err := Open(t.Context(), []string{dir}, Options{Open: openStore})
		if err != nil {
			t.Fatal(err)
		}
		p, err := c.Sources()[0].Fingerprint(t.Context(), func() {})
		testkit.Must(t, errors.Join(err, c.Close()))
		return p
	}
	last := print()
	if again := print(); again != last {
		t.Errorf("%s, then %s", last, again)
	}
	for what, change := range map[string]func(s *store.Store, b *store.Batch) error{
		"a label": func(_ *store.Store, b *store.Batch) error { return b.PutLabel(1, store.Label{Label: "sport"}) },
		"a page": func(s *store.Store, b *store.Batch) error {
			p, err := s.Page(2)
			p.Title = "other"
			return errors.Join(err, b.PutPage(p, s.Compress(nil)))
		},
		"counts": func(s *store.Store, b *store.Batch) error {
			counts, err := s.Counts()
			counts.Requests++
			return errors.Join(err, b.PutCounts(&counts))
		},
	} {
		s := testkit.Call(store.Open(dir)).Must(t)
		b := s.Batch()
		testkit.Must(t, errors.Join(change(s, b), b.Commit(), s.Close()))
		now := print()
		if now == last {
			t.Errorf("%s changed nothing", what)
		}
		last = now
	}
}

// TestExchanges: a page comes with the exchange of its body, its later ones, and those of redirects to it and of
// duplicates. Exchanges of replaced bodies, unselected URLs and other pages are left out.
func TestExchanges(t *testing.T) {
	dir := makeStore(t, filepath.Join(t.TempDir(), "s"), []crawled{
		{path: "a.test/1", body: "one", links: []string{"a.test/copy", "a.test/moved", "a.test/twice", "b.test/copy", "a.test/loop", "a.test/aside"}, page: store.Page{At: 5000}},
		{path: "a.test/2", body: "two"},
	})
	s := testkit.Call(store.Open(dir)).Must(t)
	b := s.Batch()
	id := func(path string) store.ID {
		seen, err := s.Lookup([]store.Hash{store.HashURL(urlOf(path))})
		if err != nil || seen[0].ID == 0 {
			t.Fatalf("%s: %v", path, err)
		}
		return seen[0].ID
	}
	put := func(path string, visit int, start int64, kind store.WireKind, to string, state string) {
		v := store.Visit{Start: start}
		if to != "" {
			v.Location = id(to)
		}
		url := urlOf(path)
		w := store.Wire{Protocol: "http/1.1", Response: fmt.Appendf(nil, "%s %d\r\n", path, visit)}
		err := errors.Join(b.PutVisit(id(path), visit, v), b.PutWire(id(path), visit, store.WireRecord{Kind: kind, Packed: store.PackWire(url, &w)}))
		if state != "" {
			err = errors.Join(err, b.PutOutcome(id(path), store.Outcome{State: state, Page: map[string]uint64{"duplicate": 1}[state]}))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	put("a.test/1", 2, 4000, store.WirePage, "", "") // its body was replaced by a build that keeps no headers
	put("a.test/1", 3, 5000, store.WirePage, "", "")
	put("a.test/1", 4, 6000, store.WireSame, "", "")
	put("a.test/1", 5, 7000, store.WireRepeat, "", "")
	put("a.test/copy", 1, 100, store.WireRepeat, "", "duplicate")
	put("b.test/copy", 1, 100, store.WireRepeat, "", "duplicate")
	put("a.test/moved", 1, 200, store.WireRedirect, "a.test/twice", "redirect")
	put("a.test/twice", 1, 300, store.WireRedirect, "a.test/copy", "redirect")
	put("a.test/loop", 1, 300, store.WireRedirect, "a.test/loop", "redirect")
	put("a.test/aside", 1, 300, store.WireRedirect, "", "redirect") // redirects to a URL that the crawl excludes
	testkit.Must(t, errors.Join(b.Commit(), s.Close()))
	c := openCollection(t, false, dir)
	told := func(choice Choice, want Want) string {
		var lines []string
		pages, _ := all(t, c, choice, want)
		for _, p := range pages {
			if p.Exchange != nil {
				lines = append(lines, fmt.Sprint("gave ", strings.TrimSpace(string(p.Exchange.Response))))
			}
			for _, x := range p.Others {
				lines = append(lines, fmt.Sprint([]string{store.WireSame: "same", store.WireRepeat: "repeated", store.WireRedirect: "led"}[x.Kind], " ", strings.TrimSpace(string(x.Response)), " ", x.Start))
				if !strings.HasPrefix(string(x.Response), strings.TrimPrefix(x.URL, "http://")+" ") {
					t.Errorf("%s: %q", x.URL, x.Response)
				}
			}
		}
		return strings.Join(lines, "; ")
	}
	const own = "gave a.test/1 3; same a.test/1 4 6000; repeated a.test/1 5 7000; repeated a.test/copy 1 100; led a.test/moved 1 200; led a.test/twice 1 300"
	if got := told(Choice{Hosts: []string{"a.test"}}, Want{Exchanges: true}); got != own {
		t.Errorf("got  %s\nwant %s", got, own)
	}
	if got := told(Choice{}, Want{Exchanges: true}); got != own+"; repeated b.test/copy 1 100" {
		t.Errorf("with the other host: %s", got)
	}
	if got := told(Choice{}, Want{}); got != "" {
		t.Errorf("unasked: %s", got)
	}
}
