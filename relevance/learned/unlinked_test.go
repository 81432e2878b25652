package learned

import (
	"testing"

	"fossick/internal/page"
	"fossick/models/features"
	"fossick/relevance"
)

func TestLearnedScoreUnlinked(t *testing.T) {
	byURL := func(d features.Doc) float64 { return goldJudge(features.Doc{Title: d.Title + d.URL, Text: d.Text}) }
	crawled := func(probability float64) *Scorer {
		l := New(byURL, Options{Cut: 0.5})
		for _, u := range []string{"http://h.test/1", "http://h.test/2", "http://h.test/3"} {
			l.ScorePage(&page.Page{URL: u}, probability)
		}
		return l
	}
	good, poor := crawled(0.9), crawled(0.1)
	for _, test := range []struct {
		name         string
		better, than float64
	}{
		{"a host on topic", good.ScoreUnlinked("http://h.test/x"), poor.ScoreUnlinked("http://h.test/x")},
		{"an unknown host to a poor one", poor.ScoreUnlinked("http://new.test/x"), poor.ScoreUnlinked("http://h.test/x")},
		{"a URL on topic", poor.ScoreUnlinked("http://h.test/gold"), poor.ScoreUnlinked("http://h.test/x")},
		{"a link by a page as good", good.ScoreLinks(nil, linked("http://h.test/1", "http://h.test/x", ""), 0.9)[0], good.ScoreUnlinked("http://h.test/x")},
	} {
		if test.better <= test.than || test.better > 1 || test.than < 0 {
			t.Errorf("%s: %v and %v; want the first above, both in [0,1]", test.name, test.better, test.than)
		}
	}
	if _, known := good.Rescore(page.Key("http://h.test/y")); known {
		t.Error("the scorer remembers a URL that it knows nothing of")
	}
}

func TestPaperScoreUnlinked(t *testing.T) {
	k, err := relevance.NewKeywords([]string{"gold"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := relevance.NewPaper(k, 0.3)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := p.ScoreUnlinked(0.58), relevance.Degree(0, 1, 0.3, 0.58); got != want {
		t.Errorf("got %v, want %v as eq. 1 has it for a page without words", got, want)
	}
}
