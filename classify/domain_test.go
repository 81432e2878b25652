package classify

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"fossick/internal/testkit"
	"fossick/models"
	"fossick/models/features"
)

// domainModel has a domain of two common words, one of which is a term.
func domainModel(m *models.Model) *models.Model {
	m.Extractor.Analyzer.KeepStop = true
	if m.Vote != nil {
		for _, member := range m.Vote.Members {
			member.Model.Extractor = m.Extractor
		}
	}
	m.Card.PerClass = map[string]int{"banking": 3, "other": 1}
	m.Domain = &models.Domain{
		Words: []string{"the", "loan"}, Shares: []float32{1, 0.5},
		LeastFamiliar: 0.2, LeastForeign: 0.25, LeastWords: 2, Languages: []string{"de", "en"},
	}
	return m
}

// TestDomain: a page that is familiar and has enough known words gets its own label, else that of the
// prior, with the reason.
func TestDomain(t *testing.T) {
	for name, m := range map[string]*models.Model{"linear": linear(), "tree": tree(), "rules": rules(), "network": network(), "vote": vote()} {
		c := testkit.Call(New(domainModel(m))).Must(t)
		for _, test := range []struct {
			what    string
			doc     features.Doc
			unknown string
		}{
			{"known", features.Doc{Text: "The loan"}, ""},
			{"the least", features.Doc{Text: "The loan a b c d e zebra yak okapi gnu emu"}, ""}, // 1.5/6: single letters are no words
			{"one word", features.Doc{Text: "The the the"}, "too few common words, 1 of 2"},
			{"no word", features.Doc{Text: "zebra yak"}, "no known word"},
			{"nothing", features.Doc{}, "no word"},
			{"other words", features.Doc{Text: "the loan zebra yak okapi gnu emu ibex", Lang: "de"}, "words unlike those of the training pages, 0.188 of 0.200"},
			{"a language", features.Doc{Text: "the loan zebra yak okapi gnu emu ibex", Lang: "nl"}, "language nl, trained on de, en"},
			{"a language with known words", features.Doc{Text: "the loan", Lang: "nl"}, ""},
			{"a language, less foreign", features.Doc{Text: "the loan zebra yak okapi gnu emu", Lang: "nl"}, "language nl, trained on de, en"},
			{"title", features.Doc{Title: "The loan"}, ""},
			{"description", features.Doc{Description: "The loan", Text: strings.Repeat("zebra ", 6)}, "words unlike those of the training pages, 0.188 of 0.200"},
		} {
			r, why := c.ClassifyAndExplain(test.doc)
			if r.Unknown != test.unknown {
				t.Errorf("%s, %s: unknown %q, want %q", name, test.what, r.Unknown, test.unknown)
			}
			if test.unknown == "" {
				continue
			}
			// Three quarters of the training pages are of banking, whose threshold is ½.
			if r.Label != "other" || r.Score < 0.5 || r.Score > 0.5001 || !(r.Probs[0] < 0.5) || why != test.unknown+" → other" {
				t.Errorf("%s, %s: %+v, %q", name, test.what, r, why)
			}
			if why := c.ExplainFor(test.doc, "banking"); why != test.unknown+" → other" {
				t.Errorf("%s, %s: banking: %q", name, test.what, why)
			}
		}
	}
}

// TestDoubt: with few known words, a topic must exceed its threshold by the standard error. Mortgage adds 4
// to log odds of −1, loan 1; the error of both is √17.
func TestDoubt(t *testing.T) {
	for _, test := range []struct {
		what    string
		text    string
		least   int
		cut     float64
		unknown string
	}{
		{"a probability of 1", "the mortgage loan", 2, 1, "few known words, 2, so the label may be chance: log odds 3963.3 ± 4123.1 beyond the threshold's"},
		{"one word", "the mortgage", 1, 0.5, "few known words, 1, so the label may be chance: log odds 3.0 ± 4.0 beyond the threshold's"},
		{"one word, far ahead", "the mortgage", 1, 0.2, ""},
		{"two words of one", "the mortgage loan", 1, 0.5, ""},
		{"two words of two", "the mortgage loan", 2, 0.5, "few known words, 2, so the label may be chance: log odds 4.0 ± 4.1 beyond the threshold's"},
		{"one word, by odds that the calibration adds", "the mortgage", 1, 0.4, ""},
		{"one word of odds that it takes", "the mortgage", 1, 0.1, "few known words, 1, so the label may be chance: log odds 3.2 ± 4.0 beyond the threshold's"},
		{"not on topic", "the garden", 1, 0.5, ""},
		{"nothing asked", "the mortgage", 0, 0.5, ""},
	} {
		m := domainModel(linear())
		m.Domain.LeastWords, m.Domain.LeastTerms, m.Thresholds[0] = 1, test.least, test.cut
		switch test.cut {
		case 1:
			m.Calibration.Scale *= 1000
		case 0.4: // 3 + 2 − ln ⅔ is beyond 4
			m.Calibration.Offset = []float64{1, -1}
		case 0.1: // 3 − 2 + ln 9 is not
			m.Calibration.Offset = []float64{-1, 1}
		}
		c := testkit.Call(New(m)).Must(t)
		doc := features.Doc{Text: test.text}
		r, why := c.ClassifyAndExplain(doc)
		if r.Unknown != test.unknown {
			t.Errorf("%s: unknown %q, want %q", test.what, r.Unknown, test.unknown)
		}
		if on := r.Probs[0] >= test.cut; on == (test.unknown != "" || test.what == "not on topic") {
			t.Errorf("%s: %v of %v, %s", test.what, r.Probs[0], test.cut, why)
		}
		var reading Reading
		if read, _ := c.Read(&reading, doc, 0, slices.Values([]Part{})); read.Unknown != r.Unknown || read.Label != r.Label {
			t.Errorf("%s: read %+v, classified %+v", test.what, read, r)
		}
	}
}

// TestDomainOfTexts: short texts such as links' are judged whatever the domain, whose words do not count.
func TestDomainOfTexts(t *testing.T) {
	plain := testkit.Call(New(linear())).Must(t)
	m := domainModel(linear())
	c := testkit.Call(NewReading(m, features.Also{Number: func(string) uint32 { return 1 }})).Must(t)
	for _, text := range []string{"", "mortgage", "the mortgage", "the the garden loans"} {
		d := features.Doc{Text: text}
		want := plain.Score(d, "banking")
		words, _ := c.ScoreWords(d, 0, nil)
		if got := c.Score(d, "banking"); got != want || words != want {
			t.Errorf("%q: %v and %v, want %v", text, got, words, want)
		}
	}
	var r Reading
	page := features.Doc{Text: "zebra mortgage yak", Lang: "en"}
	result, why := c.Read(&r, page, 0, slices.Values([]Part{{Text: "the mortgage"}}))
	if result.Unknown == "" || !strings.HasPrefix(why, result.Unknown) || r.Parts[0] != plain.Score(features.Doc{Text: "the mortgage"}, "banking") {
		t.Errorf("read: %+v, %q, parts %v", result, why, r.Parts)
	}
}

// ExampleResult shows a page that the model cannot judge.
func ExampleResult() {
	c, err := New(domainModel(linear()))
	if err != nil {
		panic(err)
	}
	r := c.Classify(features.Doc{Text: "Нарежьте лук кубиками", Lang: "ru"})
	fmt.Printf("%s: %s", r.Label, r.Unknown)
	// Output: other: language ru, trained on de, en
}
