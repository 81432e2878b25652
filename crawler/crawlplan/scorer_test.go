package crawlplan

import (
	"strings"
	"testing"

	"fossick/crawler"
	"fossick/relevance"
)

var _ crawler.Marker = (*learnedScorer)(nil)

// TestTable builds each policy by keywords alone: those that need a model say so.
func TestTable(t *testing.T) {
	k, err := relevance.NewKeywords([]string{"bee", "hive"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range Names() {
		p, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := p.Scorer(Input{Keywords: k, Rho: DefaultRho, Threshold: DefaultThreshold})
		if name == "learned" {
			if err == nil || !strings.Contains(err.Error(), "--model") {
				t.Errorf("%s without a model: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := p.Ordering(s); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if want := map[bool]float64{true: DefaultThreshold}[strings.HasPrefix(name, "paper")]; p.Threshold() != want {
			t.Errorf("%s drops links below %v, want %v", name, p.Threshold(), want)
		}
		if _, err := p.Scorer(Input{}); err == nil || !strings.Contains(err.Error(), "--keywords") {
			t.Errorf("%s of nothing: %v", name, err)
		}
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text string
		rho  float64 // -1: none
		err  string
	}{
		{"shark", -1, ""},
		{"paper", -1, ""},
		{"paper:0.5", 0.5, ""},
		{"paper-mean:0", 0, ""},
		{"shark:0.5", 0, "only paper"},
		{"paper:x", 0, "only paper"},
		{"sharks", 0, "choose one of shark, hits, ache"},
	} {
		p, rho, err := Parse(c.text)
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %s", c.text, err, c.err)
			}
		case err != nil || !strings.HasPrefix(c.text, p.Name) || (rho == nil) != (c.rho < 0) || rho != nil && *rho != c.rho:
			t.Errorf("%s: %s, %v, %v", c.text, p.Name, rho, err)
		}
	}
}
