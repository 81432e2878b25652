package story

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"fossick/internal/cli"
	"fossick/store"
	"fossick/store/change"
)

// TestNext: the story tells when a URL may be visited next, and what its host does.
func TestNext(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	ended := &store.Life{Outcome: &store.Outcome{State: "code", Next: now.Add(30 * 24 * time.Hour).UnixMilli()}}
	waits := &store.Life{Queued: &store.Queued{Visits: 2, Excused: 1}}
	busy := &store.Host{Silent: 4, SilentSince: now.Add(-time.Hour).UnixMilli(), Next: now.Add(time.Minute).UnixMilli()}
	for _, tc := range []struct {
		l       *store.Life
		h       *store.Host
		next    time.Time
		reasons []string
	}{
		{ended, busy, now.Add(30 * 24 * time.Hour), nil},
		{&store.Life{Outcome: &store.Outcome{State: "trap"}}, busy, time.Time{}, nil},
		{waits, &store.Host{Next: now.Add(-time.Minute).UnixMilli()}, time.Time{}, []string{
			"1 of its visits do not count, because the host or this machine's network was down then"}},
		{&store.Life{Queued: &store.Queued{Visits: 1, Excused: 1}, Visits: []store.Visit{{State: "ok"}}}, &store.Host{}, time.Time{}, []string{
			"fossick repair removed its lost page; it will be fetched again, and its earlier visits do not count"}},
		{&store.Life{Queued: &store.Queued{}}, busy, now.Add(time.Minute), []string{
			"its host gave no answer to the last 4 requests, since 2026-11-21 11:00:00", "its host rests until 2026-11-21 12:01:00"}},
		{&store.Life{Queued: &store.Queued{}}, &store.Host{Name: "a.test:80", Next: now.Add(time.Hour).UnixMilli(), RestFor: store.RestForRetryAfter, RestMillis: 365 * 24 * 3_600_000},
			now.Add(time.Hour), []string{"its host rests until 2026-11-21 13:00:00: a.test:80 asked for 365 days in an answer (Retry-After)"}},
		{&store.Life{Queued: &store.Queued{}}, &store.Host{Name: "a.test:80", Next: now.Add(time.Hour).UnixMilli(), RestFor: store.RestForCrawlDelay, RestMillis: 3_600_000},
			now.Add(time.Hour), []string{"its host rests until 2026-11-21 13:00:00: a.test:80 asks for 1h after each request in its robots.txt (Crawl-delay)"}},
		{&store.Life{Queued: &store.Queued{}}, &store.Host{Name: "a.test:80", Failures: 4, Next: now.Add(time.Second).UnixMilli(), RestFor: store.RestForFailures, RestMillis: 8000},
			now.Add(time.Second), []string{"its host rests until 2026-11-21 12:00:01: the last requests to a.test:80 failed, 4 in a row (back-off of 8s)"}},
	} {
		r := &Story{}
		r.tellNext(tc.l, tc.h, now)
		if got := r.Times.Next; got == nil != tc.next.IsZero() || got != nil && !got.Equal(tc.next) || !slices.Equal(r.Reasons, tc.reasons) {
			t.Errorf("%+v: next %v, %q; want %v, %q", tc.l, got, r.Reasons, tc.next, tc.reasons)
		}
		if rest := r.Rest; (rest != nil) != (tc.h.RestFor != "") || rest != nil && (rest.Host != tc.h.Name || rest.Seconds*1000 != float64(tc.h.RestMillis) || !rest.Until.Equal(tc.next)) {
			t.Errorf("%+v: rest %+v", tc.h, rest)
		}
	}
}

// TestRendered: the story tells once what a browser made of a page that is not kept.
func TestRendered(t *testing.T) {
	did := &store.Rendering{NowWords: 7}
	for _, reason := range []string{"same content as a page that is stored", did.String() + ": the page is not kept"} {
		r := tell(&store.Life{Visits: []store.Visit{{Start: 1e12}}, Outcome: &store.Outcome{State: "duplicate", Reason: reason, Rendering: did}}, "")
		if told := strings.Count(strings.Join(r.Reasons, "\n"), did.String()); told != 1 {
			t.Errorf("told %d times in %q", told, r.Reasons)
		}
	}
}

// TestRefreshed: the story tells what later visits have brought.
func TestRefreshed(t *testing.T) {
	l := &store.Life{
		Visits:  []store.Visit{{Start: 1e12}, {Start: 2e12, Was: []byte{0xab, 0xcd}}, {Start: 2e12 + 1000, Change: change.Text}, {Start: 3e12, State: "code", Code: 404}},
		Outcome: &store.Outcome{State: "code", Page: 7, Stored: true}, Page: &store.Page{Number: 7, At: 2e12},
	}
	r := tell(l, "")
	for _, want := range []string{
		"its content had changed by 2033-05-18 03:33:20: the checksum was abcd before",
		"its content had changed by 2033-05-18 03:33:21, the main text too",
		"page 7 is stored in its version of 2033-05-18 03:33:20",
	} {
		found := false
		for _, reason := range r.Reasons {
			found = found || reason == want
		}
		if !found {
			t.Errorf("%q\nis not among %q", want, r.Reasons)
		}
	}
}

// TestPrintVisits: what is odd about an answer is told, also of one that was taken.
func TestPrintVisits(t *testing.T) {
	r := tell(&store.Life{Visits: []store.Visit{
		{State: "connect_error", Error: "refused"}, {State: "ok", Code: 200, Error: "gzip without its trailer"}, {State: "ok", Code: 200}}}, "")
	var b strings.Builder
	r.Print(&b, false)
	for _, want := range []string{", connect_error: refused\n", ", ok (200): gzip without its trailer\n", ", ok (200)\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, &b)
		}
	}
}

func TestVerdict(t *testing.T) {
	next := time.Now().Add(time.Hour)
	page := &store.Page{Number: 7, Label: "other", Probability: 0.976, Rule: "onion +0.07, cloth +0.07, craft +0.06, attic +0.04 → other"}
	bare := &store.Page{Number: 7, Score: 0.431}
	ok := &store.Outcome{State: "ok"}
	asked := []visit{{State: "code", Code: 404}}
	for _, tc := range []struct {
		name, want string
		style      cli.Style
		l          store.Life
		r          Story
	}{
		{"dropped", "Dropped by refine: banking 0.00509 < 0.299, for onion +0.07, cloth +0.07, craft +0.06.", cli.Red,
			store.Life{Outcome: ok, Page: page, Label: &store.Label{Rule: page.Rule + "; banking 0.00509 < 0.299"}}, Story{Visits: asked}},
		{"kept", "Kept by refine: banking 0.8 ≥ 0.299, for loan > 0.5 and bank > 0.1.", cli.Green,
			store.Life{Outcome: ok, Page: page, Label: &store.Label{Kept: true, Rule: "loan > 0.5 and bank > 0.1 → banking (12/13); banking 0.8 ≥ 0.299"}}, Story{Visits: asked}},
		{"kept by a person", "Kept by refine: marked yes by a person.", cli.Green,
			store.Life{Outcome: ok, Page: page, Mark: &store.Mark{OnTopic: true}, Label: &store.Label{Kept: true, Rule: "x; y"}}, Story{Visits: asked}},
		{"fetched", "Fetched as page 7: other by the crawl's model (0.976), for onion +0.07, cloth +0.07, craft +0.06.", cli.Green,
			store.Life{Outcome: ok, Page: page}, Story{Visits: asked}},
		{"fetched without a model", "Fetched as page 7: its relevance is 0.431.", cli.Green, store.Life{Outcome: ok, Page: bare}, Story{Visits: asked}},
		{"waits", "Waiting in the queue: better URLs go first; it waits with priority 0.25.", cli.Yellow, store.Life{Queued: &store.Queued{Priority: 0.25}}, Story{Reasons: []string{"found"}, place: "priority 0.25"}},
		{"rests", "Waiting in the queue: its host rests until noon.", cli.Yellow,
			store.Life{Queued: &store.Queued{}}, Story{Times: times{Next: &next}, Reasons: []string{"found", "its host rests until noon"}}},
		{"again", "Waiting in the queue: to be tried again, with priority 0.5.", cli.Yellow, store.Life{Queued: &store.Queued{Visits: 1, Priority: 0.5}}, Story{place: "priority 0.5"}},
		{"skipped", "Not fetched (trap): a calendar.", cli.Red, store.Life{Outcome: &store.Outcome{State: "trap", Reason: "a calendar"}}, Story{}},
		{"an error code", "Not kept (code): the server answered with 404.", cli.Red, store.Life{Outcome: &store.Outcome{State: "code"}}, Story{Visits: asked}},
		{"a repetition", "Not kept (duplicate): same content as a page that is stored: http://a.test/.", cli.Red,
			store.Life{Outcome: &store.Outcome{State: "duplicate", Reason: "same content as a page that is stored"}, Page: &store.Page{URL: "http://a.test/"}}, Story{Visits: asked}},
	} {
		tc.r.Verdict = verdict(&tc.l, &tc.r)
		if tc.r.Verdict != tc.want || tc.r.style() != tc.style {
			t.Errorf("%s: %q in %q, want\n %q in %q", tc.name, tc.r.Verdict, tc.r.style(), tc.want, tc.style)
		}
	}
}

func TestHeaviestTerms(t *testing.T) {
	var terms []store.Term
	for i, name := range strings.Fields("probability expected a b c d e f g h i") {
		terms = append(terms, store.Term{Name: name, Value: float64(i%4) - 1.5, Note: "x"})
	}
	print := func(all bool) string {
		var out bytes.Buffer
		printTerms(&out, terms, all)
		var names []string
		for line := range strings.Lines(out.String()) {
			names = append(names, strings.Fields(line)[0])
		}
		return strings.Join(names, " ")
	}
	if got, want := print(false), "probability expected b c f g a and"; got != want {
		t.Errorf("prints %s, want %s", got, want)
	}
	if got, want := print(true), "probability expected a b c d e f g h i"; got != want {
		t.Errorf("with --all prints %s, want %s", got, want)
	}
	if terms = terms[:7]; print(false) != print(true) {
		t.Errorf("few terms: %s, want all in their order", print(false))
	}
}

// TestWaits: the story tells when and for what a crawl waited, also of one that is running.
func TestWaits(t *testing.T) {
	left := &store.Wait{Since: 1_000_000, Millis: 12_300, Refused: true, Price: 0.21, Best: 0.87, Free: 0.031, Hosts: 3}
	others := &store.Wait{Since: 1_000_000, Millis: 12_300, Refused: true, Price: -7, Free: -12}
	old := &store.Wait{Since: 1_000_000, Millis: 12_300, Refused: true, Price: math.Inf(-1), Free: 0.031} // as agents wrote it once
	awaited := &store.Wait{Since: 1_000_000, Millis: 1900, Price: 0.21, Best: 0.87, Free: 0.031}
	const (
		wasLeft   = "it was free from 00:16:40 on, and the crawl held it back for 12.3s: its priority of 0.031 was below the price of 0.21, because better links waited at 3 hosts, the best with 0.87"
		isLeft    = "it is free from 00:16:40 on, and the crawl held it back for 12.3s: its priority of 0.031 was below the price of 0.21, because better links waited at 3 hosts, the best with 0.87"
		wasTheirs = "it was free from 00:16:40 on, and the crawl held it back for 12.3s: its priority of -12 was below the price of -7, because better links waited with other agents"
		wasOld    = "it was free from 00:16:40 on, and the crawl held it back for 12.3s: its priority of 0.031 was below the price of -Inf, because better links waited with other agents"
		wasBest   = "the crawl waited 1.9s from 00:16:40 on for it or an equally good link: its priority of 0.87 was at least the price of 0.21, and the best free link had 0.031"
	)
	for want, w := range map[string]*store.Wait{wasLeft: left, wasBest: awaited, wasTheirs: others, wasOld: old} {
		r := tell(&store.Life{Visits: []store.Visit{{Start: 1e9, State: "ok", Wait: w}}}, "")
		if all := strings.Join(r.Reasons, "\n"); !strings.Contains(all, want) || r.Visits[0].Wait == nil || r.Visits[0].Wait.Refused != w.Refused {
			t.Errorf("%s\nis not told by %+v:\n%s", want, r.Visits[0].Wait, all)
		}
		if _, err := json.Marshal(r); err != nil {
			t.Errorf("%s: %v", want, err)
		}
	}
	queued := &store.Life{Queued: &store.Queued{Priority: 0.04}}
	now := 0.03
	for _, c := range []struct {
		life  *store.Life
		now   *float64
		price float64
		wait  *store.Wait
		below bool
		want  string // "" when nothing is said
	}{
		{queued, &now, 0.21, left, true, isLeft},
		{queued, nil, 0.21, nil, true, "the crawl waits for better links: its priority of 0.04 is below the price of 0.21 now"},
		{queued, &now, 0.01, nil, false, "its priority of 0.03 is at least the price of 0.01 now: it is fetched in its turn, when its host is free"},
		{queued, &now, math.Inf(-1), nil, false, ""},
	} {
		r := tell(c.life, "")
		told := len(r.Reasons)
		if c.now != nil {
			r.Now = &Score{Value: c.now}
		}
		r.Standing(c.price, c.wait, nil)
		all := strings.Join(r.Reasons, "\n")
		if r.Price == nil || r.Price.Below != c.below || !strings.Contains(all, c.want) || c.want == "" && len(r.Reasons) != told {
			t.Errorf("price %g: %+v\n%s\nwant below: %v, %q", c.price, r.Price, all, c.below, c.want)
		}
		if strings.HasPrefix(r.Verdict, "Waiting in the queue: the crawl waits") != c.below {
			t.Errorf("price %g: verdict %q", c.price, r.Verdict)
		}
	}
	file := &store.FilePrice{Kind: "pdf", Bytes: 3 << 20, Share: .4}
	was := "a .pdf of this host is expected to have 3.0 MiB, so that it costs as much as 2.5 pages"
	waiting := tell(queued, "")
	waiting.Standing(.03, nil, file)
	for _, r := range []*Story{waiting, tell(&store.Life{Visits: []store.Visit{{Start: 1e9, State: "ok", File: file}}}, "")} {
		if all := strings.Join(r.Reasons, "\n"); !strings.Contains(all, was) {
			t.Errorf("%q is not told:\n%s", was, all)
		}
	}
	if !waiting.Price.Below || math.Abs(waiting.Price.Priority-.016) > 1e-9 {
		t.Errorf("a file's priority of .04 in the queue, divided by 2.5, stands as %+v", waiting.Price)
	}
	ended := tell(&store.Life{Outcome: &store.Outcome{State: "ok"}}, "")
	if ended.Standing(0.5, nil, nil); ended.Price != nil {
		t.Errorf("a URL that waits no more: %+v", ended.Price)
	}
}
