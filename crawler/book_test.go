package crawler

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fossick/internal/page"
	"fossick/store"
)

// A learner writes down what it is told.
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

// forgetful learns nothing.
type forgetful struct{}

func (forgetful) ScorePage(*page.Page, float64) Score { panic("shown a page") }

func (forgetful) ScoreLinks([]float64, *page.Page, Score) []float64 { panic("shown links") }

// saidPeople is what a book lets stand of a page, by what it makes of one on topic and of one off.
func saidPeople(b *Book, id store.ID) (onTopic, marked bool) {
	on, off := Score{Relevant: true}, Score{}
	b.overrule(id, &on)
	b.overrule(id, &off)
	return on.Relevant && off.Relevant, on.Relevant == off.Relevant
}

// past is a crawl with pages 1 to 3, of the URLs a, b and c, b's relevant. d waits, e failed,
// f repeats page 1.
func past(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Create(t.TempDir(), store.Info{Topic: "gold"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	b := s.Batch()
	defer b.Cancel()
	put := func(errs ...error) {
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	for i, name := range []string{"a", "b", "c", "d", "e", "f"} {
		id, u := store.ID(i+1), "http://"+name+".test/"
		put(b.PutBirth(id, store.Birth{URL: u}), b.PutSeen(store.HashURL(u), id, false))
		switch name {
		case "d":
			put(b.PutQueued(id, store.Queued{Priority: 0.5}))
		case "e":
			put(b.PutFate(id, store.Fate{State: "code", Reason: "404"}))
		case "f":
			put(b.PutFate(id, store.Fate{State: "duplicate", Page: 1}))
		default:
			record := &store.Page{Number: uint64(id), ID: id, URL: u, ContentType: "text/html", Parent: float64(id) / 10,
				Relevant: name == "b", Checksum: []byte(strings.Repeat(name, 16))}
			put(b.PutFate(id, store.Fate{State: "ok", Page: uint64(id)}),
				b.PutPage(record, s.Compress([]byte("<title>"+name+"</title>"))))
		}
	}
	put(b.PutCounts(&store.Counts{URLs: 6, Pages: 3, Relevant: 1, States: map[string]uint64{"ok": 3, "code": 1, "duplicate": 1}}))
	put(b.Commit())
	return s
}

// enter takes marks in as if so many pages were stored.
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

// TestReplay: a resumed crawl is shown pages and marks in the order of the crawl: marks after
// the pages that were stored before them, those of one moment together, a page of a later
// time not yet with its mark. Of a URL that was marked twice the last word alone is left.
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
			onTopic, marked := saidPeople(book, id)
			if got := fmt.Sprint(onTopic, marked); got != want {
				t.Errorf("%s: URL %d is %s, want %s", name, id, got, want)
			}
		}
	}
}

// TestReplayToNobody: a scorer that does not learn is shown nothing, nor is there anything to
// show of a new crawl; what people said counts all the same.
func TestReplayToNobody(t *testing.T) {
	s := past(t)
	if err := Put(s, []Mark{{URL: "http://b.test/", OnTopic: false}}, 1); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		scorer Scorer
		pages  uint64
	}{{forgetful{}, 3}, {&learner{}, 0}} {
		b := NewBook(s, nil)
		if learned, err := b.Replay(c.scorer, c.pages); learned || err != nil {
			t.Errorf("%T, %d pages: learned %v, %v", c.scorer, c.pages, learned, err)
		}
		if onTopic, marked := saidPeople(b, 2); onTopic || !marked {
			t.Errorf("%T: marked %v, on topic %v; want a no", c.scorer, marked, onTopic)
		}
	}
}

// TestPut: the last word of a person decides, and the totals follow; one URL that cannot be
// marked refuses all of them, and says what to do.
func TestPut(t *testing.T) {
	s := past(t)
	relevant := func() uint64 {
		counts, err := s.Counts()
		if err != nil {
			t.Fatal(err)
		}
		return counts.Relevant
	}
	for _, c := range []struct {
		marks []Mark
		want  uint64 // relevant pages then
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

// TestRefusedInTurn: a URL that ended between Read and Enter refuses the marks; that is the
// asker's error and not the crawl's.
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
	if err := errors.Join(batch.PutFate(4, store.Fate{State: "code"}), batch.Commit()); err != nil {
		t.Fatal(err)
	}
	counts, err := s.Counts()
	if err != nil {
		t.Fatal(err)
	}
	refused, broken := b.enter(ids, marks, &counts, time.UnixMilli(1))
	if !errors.Is(refused, store.ErrNoPage) || broken != nil {
		t.Errorf("refused %v, broken %v; want that there is no page", refused, broken)
	}
	if _, marked := saidPeople(b, 1); marked || counts.Relevant != 1 {
		t.Errorf("a mark of a refused request stays: %v, %d relevant", marked, counts.Relevant)
	}
}
