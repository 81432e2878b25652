package story

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"fossick/internal/terminal"
	"fossick/store"
)

func TestVerdict(t *testing.T) {
	next := time.Now().Add(time.Hour)
	page := &store.Page{Number: 7, Label: "other", Probability: 0.976, Rule: "onion +0.07, cloth +0.07, craft +0.06, attic +0.04 → other"}
	bare := &store.Page{Number: 7, Score: 0.431}
	ok := &store.Fate{State: "ok"}
	asked := []Visit{{State: "code", Code: 404}}
	for _, tc := range []struct {
		name, want string
		style      terminal.Style
		l          store.Life
		r          Story
	}{
		{"dropped", "Dropped by refine: banking 0.00509 < 0.299, for onion +0.07, cloth +0.07, craft +0.06.", terminal.Red,
			store.Life{Fate: ok, Page: page, Label: &store.Label{Rule: page.Rule + "; banking 0.00509 < 0.299"}}, Story{Visits: asked}},
		{"kept", "Kept by refine: banking 0.8 ≥ 0.299, for loan > 0.5 and bank > 0.1.", terminal.Green,
			store.Life{Fate: ok, Page: page, Label: &store.Label{Kept: true, Rule: "loan > 0.5 and bank > 0.1 → banking (12/13); banking 0.8 ≥ 0.299"}}, Story{Visits: asked}},
		{"kept by a person", "Kept by refine: marked yes by a person.", terminal.Green,
			store.Life{Fate: ok, Page: page, Mark: &store.Mark{OnTopic: true}, Label: &store.Label{Kept: true, Rule: "x; y"}}, Story{Visits: asked}},
		{"fetched", "Fetched as page 7: other by the crawl's model (0.976), for onion +0.07, cloth +0.07, craft +0.06.", terminal.Green,
			store.Life{Fate: ok, Page: page}, Story{Visits: asked}},
		{"fetched without a model", "Fetched as page 7: its relevance is 0.431.", terminal.Green, store.Life{Fate: ok, Page: bare}, Story{Visits: asked}},
		{"waits", "Waiting in the queue: better URLs go first; it waits with priority 0.25.", terminal.Yellow, store.Life{Queued: &store.Queued{Priority: 0.25}}, Story{Reasons: []string{"found"}, place: "priority 0.25"}},
		{"rests", "Waiting in the queue: its host rests until noon.", terminal.Yellow,
			store.Life{Queued: &store.Queued{}}, Story{Times: Times{Next: &next}, Reasons: []string{"found", "its host rests until noon"}}},
		{"again", "Waiting in the queue: to be tried again, with priority 0.5.", terminal.Yellow, store.Life{Queued: &store.Queued{Visits: 1, Priority: 0.5}}, Story{place: "priority 0.5"}},
		{"skipped", "Not fetched (trap): a calendar.", terminal.Red, store.Life{Fate: &store.Fate{State: "trap", Reason: "a calendar"}}, Story{}},
		{"an error code", "Not kept (code): the server answered with 404.", terminal.Red, store.Life{Fate: &store.Fate{State: "code"}}, Story{Visits: asked}},
		{"a repetition", "Not kept (duplicate): same content as a page that is stored: http://a.test/.", terminal.Red,
			store.Life{Fate: &store.Fate{State: "duplicate", Reason: "same content as a page that is stored"}, Page: &store.Page{URL: "http://a.test/"}}, Story{Visits: asked}},
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
