package crawler

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fossick/graph/orders"
	"fossick/internal/page"
	"fossick/internal/testkit"
	"fossick/store"
)

// listener records what it is told. Links to /bad… lose all worth once a page was marked off
// topic.
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

// TestMark marks pages and URLs of a running crawl. A resumed crawl gets the same marks in order.
func TestMark(t *testing.T) {
	w := markedWeb()
	opt := newOptions(t, w, "http://h.test/")
	first := &listener{bad: map[uint64]bool{}}
	opt.Scorer, opt.Ordering = first, orders.Latest
	var stored atomic.Uint64 // by the last Progress
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
		once.Do(func() { // bad0 is stored, bad1 in flight until the marks are entered
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
	testkit.Must(t, errors.Join(err, <-marked))
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
	testkit.Call(New(opt)).Must(t)
	if !slices.Equal(again.told, first.told) {
		t.Errorf("a resumed crawl is told %q\nthe first was told %q", again.told, first.told)
	}
	// Taken back, also where the mark was there before the page.
	testkit.Must(t, Put(opt.Store, []Mark{{URL: "http://h.test/bad0", Gone: true}, {URL: "http://h.test/bad1", Gone: true}}, 1))
	if counts, err := opt.Store.Counts(); err != nil || counts.Relevant != 9 {
		t.Errorf("%d pages are relevant without the marks, %v; want 9", counts.Relevant, err)
	}
	if problems, err := opt.Store.Verify(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("verify: %v, %v", problems, err)
	}
}

// TestMarkRefused: if one mark is invalid, none is kept.
func TestMarkRefused(t *testing.T) {
	w := markedWeb()
	w.pages["http://h.test/good1"] = w.pages["http://h.test/good0"] // identical
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
	testkit.Must(t, Put(opt.Store, marks, 1))
	n := 0
	for m, err := range opt.Store.Marks(false) {
		if err != nil || m.After != 1 {
			t.Fatal(m, err)
		}
		n++
	}
	if n != len(marks) {
		t.Errorf("%d marks, want %d", n, len(marks))
	}
}

// TestMarkedBefore: a mark before the fetch decides.
func TestMarkedBefore(t *testing.T) {
	w := markedWeb()
	opt := newOptions(t, w, "http://h.test/")
	opt.MaxPages = 1
	crawl(t, opt)
	testkit.Must(t, Put(opt.Store, []Mark{{URL: "http://h.test/good3", OnTopic: false}}, 1))
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

// TestRedirectsAreTold: a scorer learns of each hop before the target page.
func TestRedirectsAreTold(t *testing.T) {
	w := &fakeWeb{pages: map[string]string{
		"http://h.test/": html("gold start", "http://h.test/old"), "http://h.test/old": "→http://h.test/older",
		"http://h.test/older": "→http://h.test/new", "http://h.test/new": html("gold new"),
	}}
	opt := newOptions(t, w, "http://h.test/")
	first, again := &follower{listener: listener{bad: map[uint64]bool{}}}, &follower{listener: listener{bad: map[uint64]bool{}}}
	opt.Scorer, opt.Ordering = first, orders.Latest
	c := testkit.Call(New(opt)).Must(t)
	testkit.Call(c.Run(t.Context())).Must(t)
	leads := func(from, to string) string {
		return fmt.Sprintf("%x leads to %x by [0.5]", page.Key(from), page.Key(to))
	}
	want := []string{"page http://h.test/", leads("http://h.test/old", "http://h.test/older"), leads("http://h.test/older", "http://h.test/new"), "page http://h.test/new"}
	if !slices.Equal(first.told, want) {
		t.Errorf("told %q, want %q", first.told, want)
	}
	opt.Scorer, opt.Seeds = again, nil
	testkit.Call(New(opt)).Must(t)
	if !slices.Equal(again.told, want) {
		t.Errorf("a resumed crawl is told %q, want %q", again.told, want)
	}
}

// learner records what it is told.
type learner struct{ told []string }

func (l *learner) ScorePage(p *page.Page, parent float64) Score {
	l.told = append(l.told, fmt.Sprintf("%s by %g", p.URL, parent))
	return Score{}
}

func (l *learner) ScoreLinks(dst []float64, _ *page.Page, _ Score) []float64 { return dst }

func (l *learner) Rescore(uint64) (float64, bool) { return 0, false }

func (l *learner) Mark(marks []Marked) {
	var all []string
	for _, m := range marks {
		all = append(all, fmt.Sprintf("%s %v page %v", m.URL, m.OnTopic, m.Page != nil))
	}
	l.told = append(l.told, strings.Join(all, " and "))
}

type forgetful struct{}

func (forgetful) ScorePage(*page.Page, float64) Score { panic("shown a page") }

func (forgetful) ScoreLinks([]float64, *page.Page, Score) []float64 { panic("shown links") }

// overruled returns the verdict of a book's marks on a page.
func overruled(b *Book, id store.ID) (onTopic, marked bool) {
	on, off := Score{Relevant: true}, Score{}
	b.overrule(id, &on)
	b.overrule(id, &off)
	return on.Relevant && off.Relevant, on.Relevant == off.Relevant
}

// past is a crawl with pages a, b (relevant) and c. d waits, e failed, f is a duplicate of a.
func past(t *testing.T) *store.Store {
	t.Helper()
	s := testkit.Call(store.Create(t.TempDir(), store.Info{Topic: "gold"})).Must(t)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	b := s.Batch()
	defer b.Cancel()
	put := func(errs ...error) {
		testkit.Must(t, errors.Join(errs...))
	}
	for i, name := range []string{"a", "b", "c", "d", "e", "f"} {
		id, u := store.ID(i+1), "http://"+name+".test/"
		put(b.PutDiscovery(id, store.Discovery{URL: u}), b.PutSeen(store.HashURL(u), id, false))
		switch name {
		case "d":
			put(b.PutQueued(id, store.Queued{Priority: 0.5}))
		case "e":
			put(b.PutOutcome(id, store.Outcome{State: "code", Reason: "404"}))
		case "f":
			put(b.PutOutcome(id, store.Outcome{State: "duplicate", Page: 1}))
		default:
			record := &store.Page{Number: uint64(id), ID: id, URL: u, ContentType: "text/html", Parent: float64(id) / 10,
				Relevant: name == "b", Checksum: []byte(strings.Repeat(name, 16))}
			put(b.PutOutcome(id, store.Outcome{State: "ok", Page: uint64(id)}),
				b.PutPage(record, s.Compress([]byte("<title>"+name+"</title>"))))
		}
	}
	put(b.PutCounts(&store.Counts{URLs: 6, Pages: 3, Relevant: 1, States: map[string]uint64{"ok": 3, "code": 1, "duplicate": 1}}))
	put(b.Commit())
	return s
}

// enter enters marks as if so many pages were stored.
func enter(t *testing.T, b *Book, s *store.Store, pages uint64, at int64, marks ...Mark) {
	t.Helper()
	ids, _, err := b.Read(marks)
	if err != nil {
		t.Fatal(err)
	}
	counts, err := s.Counts()
	if err != nil {
		t.Fatal(err)
	}
	counts.Pages = pages
	if refused, broken := b.enter(ids, marks, &counts, time.UnixMilli(at)); refused != nil || broken != nil {
		t.Fatal(refused, broken)
	}
}

// TestReplay: a resumed crawl replays pages and marks in order, each mark after the earlier
// pages. Only a URL's last mark remains.
func TestReplay(t *testing.T) {
	s := past(t)
	urls := page.NewNormalizer(nil)
	b := NewBook(s, urls)
	enter(t, b, s, 2, 40, Mark{URL: "http://b.test/", OnTopic: false}, Mark{URL: "http://d.test/", OnTopic: true})
	enter(t, b, s, 1, 50, Mark{URL: "http://c.test/", OnTopic: true})
	enter(t, b, s, 2, 30, Mark{URL: "http://a.test/", OnTopic: false})
	enter(t, b, s, 3, 60, Mark{URL: "http://a.test/", OnTopic: true})

	l := &learner{}
	resumed := NewBook(s, urls)
	if learned, err := resumed.Replay(l, 3); err != nil || !learned {
		t.Fatalf("learned %v, %v", learned, err)
	}
	want := []string{
		"http://a.test/ by 0.1",
		"http://c.test/ true page false",
		"http://b.test/ by 0.2",
		"http://b.test/ false page true and http://d.test/ true page false",
		"http://c.test/ by 0.3",
		"http://a.test/ true page true",
	}
	if !slices.Equal(l.told, want) {
		t.Errorf("told %q\nwant %q", l.told, want)
	}
	for id, want := range map[store.ID]string{1: "true true", 2: "false true", 3: "true true", 4: "true true", 5: "false false"} {
		for name, book := range map[string]*Book{"running": b, "resumed": resumed} {
			onTopic, marked := overruled(book, id)
			if got := fmt.Sprint(onTopic, marked); got != want {
				t.Errorf("%s: URL %d is %s, want %s", name, id, got, want)
			}
		}
	}
}

// TestReplayToNobody: scorers that do not learn are shown nothing, but marks count.
func TestReplayToNobody(t *testing.T) {
	s := past(t)
	testkit.Must(t, Put(s, []Mark{{URL: "http://b.test/", OnTopic: false}}, 1))
	for _, c := range []struct {
		scorer Scorer
		pages  uint64
	}{{forgetful{}, 3}, {&learner{}, 0}} {
		b := NewBook(s, nil)
		if learned, err := b.Replay(c.scorer, c.pages); learned || err != nil {
			t.Errorf("%T, %d pages: learned %v, %v", c.scorer, c.pages, learned, err)
		}
		if onTopic, marked := overruled(b, 2); onTopic || !marked {
			t.Errorf("%T: marked %v, on topic %v; want a no", c.scorer, marked, onTopic)
		}
	}
}

// TestPut: the last mark decides and the totals follow. One invalid URL refuses all marks, with
// advice.
func TestPut(t *testing.T) {
	s := past(t)
	relevant := func() uint64 {
		counts := testkit.Call(s.Counts()).Must(t)
		return counts.Relevant
	}
	for _, c := range []struct {
		marks []Mark
		want  uint64 // relevant pages after it
		err   string
	}{
		{[]Mark{{URL: "http://a.test/", OnTopic: true}, {URL: "http://b.test/", OnTopic: false}}, 1, ""},
		{[]Mark{{URL: "http://b.test/", OnTopic: true}}, 2, ""},
		{[]Mark{{URL: "http://d.test/", OnTopic: true}}, 2, ""},
		{[]Mark{{URL: "http://b.test/", OnTopic: false}, {URL: "http://b.test/", OnTopic: true}, {URL: "http://b.test/", OnTopic: false}}, 1, ""},
		{[]Mark{{URL: "http://c.test/", OnTopic: true}, {URL: "http://e.test/", OnTopic: true}}, 1, "its state is code 404; label a stored page or a waiting URL"},
		{[]Mark{{URL: "http://c.test/", OnTopic: true}, {URL: "http://f.test/", OnTopic: true}}, 1, "it repeats http://a.test/; label that page instead"},
		{[]Mark{{URL: "http://c.test/", OnTopic: true}, {URL: "http://nowhere.test/", OnTopic: true}}, 1, "nowhere.test"},
	} {
		err := Put(s, c.marks, 1)
		if got := relevant(); (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) || got != c.want {
			t.Errorf("%v: %v, %d relevant; want %q, %d", c.marks, err, got, c.err, c.want)
		}
	}
}

// TestRefusedInTurn: a URL that ended between Read and enter refuses the marks.
func TestRefusedInTurn(t *testing.T) {
	s := past(t)
	b := NewBook(s, nil)
	marks := []Mark{{URL: "http://a.test/", OnTopic: true}, {URL: "http://d.test/", OnTopic: true}}
	ids, _, err := b.Read(marks)
	if err != nil {
		t.Fatal(err)
	}
	batch := s.Batch()
	defer batch.Cancel()
	testkit.Must(t, errors.Join(batch.PutOutcome(4, store.Outcome{State: "code"}), batch.Commit()))
	counts, err := s.Counts()
	if err != nil {
		t.Fatal(err)
	}
	refused, broken := b.enter(ids, marks, &counts, time.UnixMilli(1))
	if !errors.Is(refused, store.ErrNoPage) || broken != nil {
		t.Errorf("refused %v, broken %v; want that there is no page", refused, broken)
	}
	if _, marked := overruled(b, 1); marked || counts.Relevant != 1 {
		t.Errorf("a mark of a refused request stays: %v, %d relevant", marked, counts.Relevant)
	}
}

// TestTimes: the latest label counts, and of equally late ones the one with its page.
func TestTimes(t *testing.T) {
	var times times
	for i, c := range []struct {
		url     string
		topic   int
		at      int64
		fetched bool
		newer   bool
	}{
		{"a", 0, 5, false, true},
		{"a", 0, 5, false, false},
		{"a", 0, 4, true, false},
		{"a", 1, 4, true, true},
		{"b", 0, 1, true, true},
		{"a", 0, 5, true, true},
		{"a", 0, 5, true, false},
		{"a", 0, 5, false, false},
		{"a", 0, 6, false, true},
	} {
		if got := times.newer(c.url, c.topic, c.at, c.fetched); got != c.newer {
			t.Errorf("label %d: newer %v, want %v", i, got, c.newer)
		}
	}
}

// TestSaid: said returns the latest marks with their pages, also after a resume.
func TestSaid(t *testing.T) {
	s := past(t)
	b := NewBook(s, page.NewNormalizer(nil))
	enter(t, b, s, 3, 40, Mark{URL: "http://b.test/", OnTopic: false})
	enter(t, b, s, 3, 50, Mark{URL: "http://d.test/", OnTopic: true})
	enter(t, b, s, 3, 30, Mark{URL: "http://a.test/", OnTopic: true})
	for n, want := range map[int]string{5: "a true page true at 30; b false page true at 40; d true page false at 50; ", 1: "d true page false at 50; "} {
		said := testkit.Call(b.said(n)).Must(t)
		got := ""
		for _, m := range said {
			got += fmt.Sprintf("%s %v page %v at %d; ", m.URL[7:8], m.OnTopic, m.Page != nil, m.At)
		}
		if got != want {
			t.Errorf("the latest %d: %q, want %q", n, got, want)
		}
	}
	var times times
	testkit.Must(t, times.recall(s))
	if times.newer("http://b.test/", 0, 40, true) || !times.newer("http://d.test/", 0, 50, true) || !times.newer("http://b.test/", 0, 41, false) {
		t.Error("a resumed crawl does not know when its labels were given")
	}
}

// TestLabel: a label with a part of its page is unchanged by encoding.
func TestLabel(t *testing.T) {
	long := strings.Repeat("amber ", labelBytes)
	for name, p := range map[string]*page.Page{
		"waiting": nil,
		"fetched": {URL: "http://a.test/", Title: "A", Description: "B", Headings: "C", Text: "D", Lang: "en"},
		"long":    {URL: "http://a.test/", Title: long, Description: long, Headings: long, Text: long},
		"empty":   {URL: "http://a.test/"},
	} {
		want := labelOf(Marked{URL: "http://a.test/", Page: p, OnTopic: true, Topic: 2}, 7)
		data := want.pack()
		got, err := unpackLabel(data)
		if err != nil || !reflect.DeepEqual(got, want) || len(data) > 4*labelBytes+200 {
			t.Errorf("%s: %v, %d bytes", name, err, len(data))
			continue
		}
		switch q := got.page(); {
		case (q == nil) != (p == nil):
			t.Errorf("%s: page %+v", name, q)
		case p != nil && (q.URL != p.URL || !strings.HasPrefix(p.Text, q.Text) || q.Lang != p.Lang):
			t.Errorf("%s: page %+v", name, q)
		}
	}
}

// FuzzUnpackLabel: any input is a label or an error.
func FuzzUnpackLabel(f *testing.F) {
	data := labelOf(Marked{URL: "http://a.test/", Page: &page.Page{Text: "words"}}, 1).pack()
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := unpackLabel(data)
		if err != nil {
			return
		}
		again := l.pack()
		if same, err := unpackLabel(again); err != nil || !reflect.DeepEqual(same, l) {
			t.Fatalf("%+v becomes %+v, %v", l, same, err)
		}
	})
}
