package crawler

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"fossick/graph/orders"
	"fossick/internal/page"
	"fossick/store"
)

// listener is a Marker that writes down what it is told. What links to /bad… is worth
// nothing once a page was marked no.
type listener struct {
	wordScorer
	mu   sync.Mutex // guards the rest
	told []string
	bad  map[uint64]bool // keys of targets
	no   bool
}

func (l *listener) ScorePage(p *page.Page, parent float64) Score {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told = append(l.told, "page "+p.URL)
	return l.wordScorer.ScorePage(p, parent)
}

func (l *listener) ScoreLinks(dst []float64, p *page.Page, s Score) []float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, link := range p.Links {
		if strings.Contains(link.URL, "/bad") {
			l.bad[page.Key(link.URL)] = true
		}
	}
	for i := range p.Links {
		dst = append(dst, 0.9-float64(i)/1000)
	}
	return dst
}

func (l *listener) Rescore(key uint64) (float64, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return 0, l.no && l.bad[key]
}

func (l *listener) Mark(marks []Marked) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range marks {
		l.told = append(l.told, fmt.Sprintf("mark %s %v, page %v", m.URL, m.OnTopic, m.Page != nil))
		l.no = l.no || !m.OnTopic
	}
}

// markedWeb has a start page that links to bad pages first, then to good ones.
func markedWeb() *fakeWeb {
	w := &fakeWeb{pages: map[string]string{}}
	var links []string
	for _, kind := range []string{"bad", "good"} {
		for i := range 4 {
			u := fmt.Sprintf("http://h.test/%s%d", kind, i)
			links = append(links, u)
			w.pages[u] = html(fmt.Sprintf("gold %s number %d", kind, i))
		}
	}
	w.pages["http://h.test/"] = html("gold start", links...)
	return w
}

// TestMark marks pages and URLs of a running crawl. The rest of the queue follows, and
// a resumed crawl is told the same in the same order.
func TestMark(t *testing.T) {
	w := markedWeb()
	opt := newOptions(t, w, "http://h.test/")
	first := &listener{bad: map[uint64]bool{}}
	opt.Scorer, opt.Ordering = first, orders.Latest
	var stored atomic.Uint64 // as Progress was told last
	opt.Progress = func(p Progress) { stored.Store(p.Counts.Pages) }
	c, err := New(opt)
	if err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	marked := make(chan error, 1)
	w.asked = func(url string) {
		if url != "http://h.test/bad1" {
			return
		}
		once.Do(func() { // bad0 is stored, bad1 in flight until the marks are in
			moves, err := c.Mark(t.Context(), []Mark{{URL: "http://h.test/bad0", OnTopic: false}, {URL: "http://h.test/bad1", OnTopic: false}})
			if err == nil && !moves {
				err = errors.New("the scorer was not told")
			}
			if n := stored.Load(); err == nil && n != 2 {
				err = fmt.Errorf("progress tells of %d pages when the marks are in, want 2", n)
			}
			marked <- err
		})
	}
	r, err := c.Run(t.Context())
	if err := errors.Join(err, <-marked); err != nil {
		t.Fatal(err)
	}
	want := []string{"http://h.test/", "http://h.test/bad0", "http://h.test/bad1", "http://h.test/good0", "http://h.test/good1",
		"http://h.test/good2", "http://h.test/good3", "http://h.test/bad2", "http://h.test/bad3"}
	if got := w.urls(); !slices.Equal(got, want) {
		t.Errorf("fetched %v\nwant    %v", got, want)
	}
	if r.Counts.Pages != 9 || r.Counts.Relevant != 7 {
		t.Errorf("%d of %d pages relevant, want 7 of 9: two were marked no", r.Counts.Relevant, r.Counts.Pages)
	}
	if problems, err := opt.Store.Verify(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("verify: %v, %v", problems, err)
	}
	if _, err := c.Mark(t.Context(), []Mark{{URL: "http://h.test/bad2", OnTopic: false}}); !errors.Is(err, ErrEnded) {
		t.Errorf("marked after the end: %v", err)
	}
	again := &listener{bad: map[uint64]bool{}}
	opt.Scorer, opt.Seeds = again, nil
	if _, err := New(opt); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(again.told, first.told) {
		t.Errorf("a resumed crawl is told %q\nthe first was told %q", again.told, first.told)
	}
}

// TestMarkRefused: nothing of marks is kept when one of them cannot be.
func TestMarkRefused(t *testing.T) {
	w := markedWeb()
	w.pages["http://h.test/good1"] = w.pages["http://h.test/good0"] // to the word
	delete(w.pages, "http://h.test/good2")
	opt := newOptions(t, w, "http://h.test/")
	crawl(t, opt)
	for url, want := range map[string]string{
		"http://h.test/good1":     "it repeats http://h.test/good0; label that page instead",
		"http://h.test/good2":     "its state is code",
		"http://nowhere.test/":    "no page of the crawl links to it",
		"http://h.test/good0\x00": "no page of the crawl links to it",
	} {
		err := Put(opt.Store, []Mark{{URL: "http://h.test/good0", OnTopic: false}, {URL: url, OnTopic: true}}, 1)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", url, err, want)
		}
	}
	if l := life(t, opt.Store, "http://h.test/good0"); l.Mark != nil || !l.Page.Relevant {
		t.Errorf("a mark was kept: %+v", l.Mark)
	}
}

// TestMarkManyAtOnce: marks that fill more than one batch.
func TestMarkManyAtOnce(t *testing.T) {
	w := &fakeWeb{pages: map[string]string{}}
	var links []string
	var marks []Mark
	for i := range 3000 {
		u := fmt.Sprintf("http://h.test/%s/%d", strings.Repeat("x", 100), i)
		links, marks = append(links, u), append(marks, Mark{URL: u, OnTopic: i%2 == 0})
	}
	w.pages["http://h.test/"] = html("gold start", links...)
	opt := newOptions(t, w, "http://h.test/")
	opt.MaxPages = 1
	crawl(t, opt)
	if err := Put(opt.Store, marks, 1); err != nil {
		t.Fatal(err)
	}
	n := 0
	for m, err := range opt.Store.Marks() {
		if err != nil || m.After != 1 {
			t.Fatal(m, err)
		}
		n++
	}
	if n != len(marks) {
		t.Errorf("%d marks, want %d", n, len(marks))
	}
}

// TestMarkedBefore: what a person said of a URL before it was fetched decides.
func TestMarkedBefore(t *testing.T) {
	w := markedWeb()
	opt := newOptions(t, w, "http://h.test/")
	opt.MaxPages = 1
	crawl(t, opt)
	if err := Put(opt.Store, []Mark{{URL: "http://h.test/good3", OnTopic: false}}, 1); err != nil {
		t.Fatal(err)
	}
	opt.MaxPages = 0
	if r := crawl(t, opt); r.Counts.Relevant != 8 {
		t.Errorf("%d relevant pages, want 8 of 9", r.Counts.Relevant)
	}
	if l := life(t, opt.Store, "http://h.test/good3"); l.Page == nil || l.Page.Relevant || l.Mark == nil || *l.Mark != (store.Mark{At: 1, After: 1}) {
		t.Errorf("%+v, %+v", l.Page, l.Mark)
	}
}

// follower is a listener that is told of redirects.
type follower struct {
	listener
	asked uint64
}

func (f *follower) Led(url uint64) []float64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = url
	return []float64{0.5}
}

func (f *follower) Lead(url uint64, led []float64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.told = append(f.told, fmt.Sprintf("%x leads to %x by %v", f.asked, url, led))
}

// TestRedirectsAreTold: a scorer is told of each hop before the page that it leads to, also
// of a resumed crawl.
func TestRedirectsAreTold(t *testing.T) {
	w := &fakeWeb{pages: map[string]string{
		"http://h.test/": html("gold start", "http://h.test/old"), "http://h.test/old": "→http://h.test/older",
		"http://h.test/older": "→http://h.test/new", "http://h.test/new": html("gold new"),
	}}
	opt := newOptions(t, w, "http://h.test/")
	first, again := &follower{listener: listener{bad: map[uint64]bool{}}}, &follower{listener: listener{bad: map[uint64]bool{}}}
	opt.Scorer, opt.Ordering = first, orders.Latest
	c, err := New(opt)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	leads := func(from, to string) string {
		return fmt.Sprintf("%x leads to %x by [0.5]", page.Key(from), page.Key(to))
	}
	want := []string{"page http://h.test/", leads("http://h.test/old", "http://h.test/older"), leads("http://h.test/older", "http://h.test/new"), "page http://h.test/new"}
	if !slices.Equal(first.told, want) {
		t.Errorf("told %q, want %q", first.told, want)
	}
	opt.Scorer, opt.Seeds = again, nil
	if _, err := New(opt); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(again.told, want) {
		t.Errorf("a resumed crawl is told %q, want %q", again.told, want)
	}
}
