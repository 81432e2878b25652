package eval

import (
	"path/filepath"
	"strings"
	"testing"

	"fossick/internal/page"
	"fossick/store"
)

// markedStore has two pages per class; a mark contradicts the label of the first of each.
func markedStore(t *testing.T) *store.Store {
	t.Helper()
	bank, goal := "<p>loan loan deposit branch", "<p>goal ball beach"
	s := fill(t, filepath.Join(t.TempDir(), "s"), "banking", []fakePage{
		{url: "http://a.example/banking/1", body: bank, relevant: true, label: "banking"}, {url: "http://a.example/banking/2", body: bank + " x", relevant: true, label: "banking"},
		{url: "http://a.example/sport/1", body: goal, label: "sport"}, {url: "http://a.example/sport/2", body: goal + " x", label: "sport"},
	})
	t.Cleanup(func() { closed(t, s) })
	counts, err := s.Counts()
	if err != nil {
		t.Fatal(err)
	}
	b := s.Batch()
	for id, onTopic := range map[store.ID]bool{1: false, 3: true} {
		if err := b.Mark(id, store.Mark{OnTopic: onTopic, At: 7}, &counts); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	return s
}

func verdicts(c *Crawl) (s string) {
	for _, r := range c.Relevant() {
		s += map[bool]string{true: "y", false: "n"}[r]
	}
	return s
}

// TestMarksOverruleModels: a mark overrules crawl, judge and refine, but no truth.
func TestMarksOverruleModels(t *testing.T) {
	s := markedStore(t)
	c := load(t, s)
	if got := verdicts(c); got != "nyyn" {
		t.Errorf("by the crawl: %s, want nyyn", got)
	}
	judge := func(p *page.Page) Verdict {
		return Verdict{Relevant: strings.Contains(p.Text, "loan"), Known: true}
	}
	if err := c.judgeByModel(t.Context(), s, labelSource{Kind: byModel, Name: "j", Target: "banking"}, judge, 2); err != nil {
		t.Fatal(err)
	}
	if got := verdicts(c); got != "nyyn" {
		t.Errorf("by a judge: %s, want nyyn", got)
	}
	c.judgeByTruth(truthOf("banking", 2))
	if got := verdicts(c); got != "yynn" {
		t.Errorf("by a truth: %s, want yynn", got)
	}
	r, err := Refine(t.Context(), s, RefineOptions{Topic: "banking", Model: "m", Threshold: 0.5, Workers: 2,
		Classify: func(p *page.Page) Classified {
			if strings.Contains(p.Text, "loan") {
				return Classified{Score: 0.9, Rest: "sport"}
			}
			return Classified{Score: 0.1, Rest: "sport"}
		}})
	if err != nil || r.Kept != 2 || r.PerClass["banking"] != 2 || r.PerClass["sport"] != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	for n, want := range map[uint64]store.Label{
		1: {Label: "sport", Score: 0, Kept: false, Model: "m", Rule: "marked no by a person; the model: banking 0.9 ≥ 0.5"},
		3: {Label: "banking", Score: 1, Kept: true, Model: "m", Rule: "marked yes by a person; the model: banking 0.1 < 0.5"},
		4: {Label: "sport", Score: 0.1, Kept: false, Model: "m", Rule: "banking 0.1 < 0.5"},
	} {
		if got, err := s.Label(n); err != nil || *got != want {
			t.Errorf("page %d: %+v, %v; want %+v", n, got, err, want)
		}
	}
}
