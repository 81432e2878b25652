package control

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"fossick/crawler"
	"fossick/internal/page"
	"fossick/internal/testkit"
	"fossick/store"
)

// curious asks what it was told to ask.
type curious struct {
	crawler.Scorer
	questions []crawler.Question
	asked     []int // how many each time
}

func (*curious) Mark([]crawler.Marked) {}

func (*curious) Rescore(uint64) (float64, bool) { return 0, false }

func (c *curious) Ask(n int) []crawler.Question {
	c.asked = append(c.asked, n)
	return c.questions[:min(n, len(c.questions))]
}

func (*curious) Explain(string) (crawler.Score, bool) {
	return crawler.Score{Terms: []store.Term{
		{Name: "start", Value: -9}, {Name: "words", Value: 2, Note: "good ones"}, {Name: "host", Value: -1, Note: "a bad one"}, {Name: "place", Value: 1},
	}}, true
}

const asker = "http://a.test/"

// askedStore has one page, which links to URLs: one waits, one has failed, one is unknown.
func askedStore(t *testing.T) *store.Store {
	t.Helper()
	s := testkit.Call(store.Create(t.TempDir(), store.Info{Topic: "gold"})).Must(t)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	b := s.Batch()
	defer b.Cancel()
	body := `<title>Mines</title><p>Of old <a href=/failed>one</a> and <a href=/unknown>two</a>, the deep <a href=/waits>gold ` + "\x1b" + `mine</a> of the north.`
	record := &store.Page{Number: 1, ID: 1, URL: asker, ContentType: "text/html", Checksum: []byte(strings.Repeat("a", 16))}
	errs := []error{b.PutOutcome(1, store.Outcome{State: "ok", Page: 1}), b.PutPage(record, s.Compress([]byte(body))),
		b.PutQueued(2, store.Queued{Priority: 0.5}), b.PutOutcome(3, store.Outcome{State: "code", Reason: "404"})}
	for i, path := range []string{"", "waits", "failed"} {
		id := store.ID(i + 1)
		errs = append(errs, b.PutDiscovery(id, store.Discovery{URL: asker + path}), b.PutSeen(store.HashURL(asker+path), id, false))
	}
	errs = append(errs, b.PutCounts(&store.Counts{URLs: 3, Pages: 1, States: map[string]uint64{"ok": 1, "code": 1}}), b.Commit())
	testkit.Must(t, errors.Join(errs...))
	return s
}

// TestQuestions: a person is asked about stored pages, and about URLs that wait with what is
// known of them; what no crawl will ask for is passed over, and others asked for instead.
func TestQuestions(t *testing.T) {
	s := askedStore(t)
	of := func(path string) crawler.Question {
		return crawler.Question{URL: asker, Link: page.Key(asker + path), Probability: 0.25, Reach: 0.125}
	}
	c := &curious{questions: []crawler.Question{of("failed"), of("unknown"), {URL: asker + "waits"}, of("gone"), of("waits"), {URL: asker, Probability: 0.75}}}
	got := testkit.Call(questions(s, page.NewNormalizer(nil), c, "", 2)).Must(t)
	if want := "[2 4 8]"; fmt.Sprint(c.asked) != want || len(got) != 2 {
		t.Fatalf("asked for %v questions, want %s: %+v", c.asked, want, got)
	}
	link, stored := got[0], got[1]
	want := Link{Text: "gold mine", Page: asker, Title: "Mines"}
	if link.URL != asker+"waits" || link.Link == nil || *link.Link != want || !strings.Contains(link.Text, "the deep") || link.Title != "" {
		t.Errorf("%+v, %+v, want %+v", link, link.Link, want)
	}
	const why = "not fetched yet; on topic with probability 0.25; the links to 12 % of the next URLs share words with it; for it: words (good ones); against it: host (a bad one)"
	if link.Why != why {
		t.Errorf("why %q, want %q", link.Why, why)
	}
	if lines := strings.Join(link.Lines(), "\n"); !strings.HasPrefix(lines, `linked as "gold mine" on http://a.test/, Mines`) {
		t.Errorf("shown as %q", lines)
	}
	if stored.URL != asker || stored.Link != nil || stored.Title != "Mines" || !strings.HasPrefix(stored.Why, "on topic with probability 0.75") || strings.Contains(stored.Why, "for it") {
		t.Errorf("%+v", stored)
	}
	if none, err := questions(s, page.NewNormalizer(nil), &curious{}, "", 3); err != nil || none == nil || len(none) != 0 {
		t.Errorf("of nothing: %#v, %v", none, err)
	}
}

// class asks about its pages in order, and answers are kept.
type class struct {
	pages []string
	said  []Label
	fail  error
}

func (c *class) Ask(_ context.Context, n int) (asked []Asked, err error) {
	for _, u := range c.pages {
		if !slices.ContainsFunc(c.said, func(l Label) bool { return l.URL == u }) && len(asked) < n {
			asked = append(asked, Asked{URL: u, Why: "because", Title: "\x1b[31m" + u, Text: "text"})
		}
	}
	return asked, nil
}

func (c *class) Label(_ context.Context, labels []Label) (LabelAnswer, error) {
	if c.fail != nil {
		return LabelAnswer{}, c.fail
	}
	c.said = append(c.said, labels...)
	return LabelAnswer{Labels: labels, Running: true, Learned: true}, nil
}

func TestInterview(t *testing.T) {
	boom := errors.New("boom")
	for _, c := range []struct {
		name, keys string
		count      int
		fail       error
		want       string // labels
		skipped    int
		err        error
	}{
		{name: "one key a page", keys: "yns", count: 3, want: "a yes, b no", skipped: 1},
		{name: "a skipped page is not asked again", keys: "s sYN", count: 5, want: "d yes, e no", skipped: 3},
		{name: "other keys mean nothing", keys: "x1\ry", count: 1, want: "a yes"},
		{name: "q ends", keys: "yqyy", count: 9, want: "a yes"},
		{name: "so does Ctrl-C", keys: "y\x03y", count: 9, want: "a yes"},
		{name: "and the end of input", keys: "n", count: 9, want: "a no"},
		{name: "no page is left", keys: "yyyyyyyyyy", count: 9, want: "a yes, b yes, c yes, d yes, e yes"},
		{name: "what fails is told", keys: "y", count: 9, fail: boom, err: boom},
	} {
		t.Run(c.name, func(t *testing.T) {
			of := &class{pages: []string{"a", "b", "c", "d", "e"}, fail: c.fail}
			keys := strings.NewReader(c.keys)
			var out strings.Builder
			v := Interview{Examiner: of, Count: c.count, Key: keys.ReadByte, Out: &out}
			r, err := v.Hold(t.Context())
			if !errors.Is(err, c.err) || err != nil && c.err == nil {
				t.Fatal(err)
			}
			var said []string
			for _, l := range of.said {
				said = append(said, l.URL+" "+l.Label)
			}
			if got := strings.Join(said, ", "); got != c.want || r.Skipped != c.skipped || len(r.Labels) != len(of.said) {
				t.Errorf("%q, %d skipped, %d labels; want %q, %d", got, r.Skipped, len(r.Labels), c.want, c.skipped)
			}
			if strings.Contains(out.String(), "\x1b") {
				t.Errorf("a page's words drive the terminal: %q", out.String())
			}
		})
	}
}

func TestInterviewFails(t *testing.T) {
	boom := errors.New("boom")
	v := Interview{Examiner: &class{pages: []string{"a"}}, Count: 1, Key: func() (byte, error) { return 0, boom }, Out: io.Discard}
	if r, err := v.Hold(t.Context()); !errors.Is(err, boom) || len(r.Labels) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}
