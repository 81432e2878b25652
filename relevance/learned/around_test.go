package learned

import (
	"fmt"
	"testing"

	"fossick/internal/page"
	"fossick/models/features"
)

// TestLearnedAround: of two links whose own words nobody knows, the one that
// stands among words of pages on topic, which pages at large do not have, is
// better. What came with the page says what is read from the link.
func TestLearnedAround(t *testing.T) {
	share := map[string]float64{"fern": 0.01, "spore": 0.01, "street": 0.4, "citi": 0.4}
	background := NewBackground(func(yield func(string, float64) bool) {
		for w, s := range share {
			yield(w, s)
		}
	})
	silent := func(features.Doc) float64 { return 0.5 }
	text := "fern and spore by street or city"
	p := &page.Page{URL: "http://p.test/", Text: text, Lang: "en", Links: []page.Link{
		{URL: "http://t.test/1", Anchor: "x", Context: "fern and spore"}, {URL: "http://t.test/2", Anchor: "x", Context: "street or city"},
		{URL: "http://t.test/3", Anchor: "x"},
	}}
	crawl := func() *Scorer {
		l := New(silent, Options{Cut: 0.5, Background: background})
		for n := range 10 {
			l.ScorePage(&page.Page{URL: fmt.Sprintf("http://p%d.test/", n), Text: text, Lang: "en"}, 0.9)
		}
		return l
	}
	l := crawl()
	l.ScorePage(p, 0.9)
	s := l.ScoreLinks(nil, p, 0.9)
	if s[0] < 1.2*s[1] || s[1] < s[2] {
		t.Errorf("%v for a link among words of the topic, among common ones, among none; want each better than the next", s)
	}
	r := newWordReader()
	words := func(text string) []token { return append([]token(nil), r.tokens.Append(nil, text, "en")...) }
	around := &Around{}
	for _, link := range p.Links {
		around.Wanted = append(around.Wanted, true)
		around.Judged = append(around.Judged, 0.5)
		around.Words = append(around.Words, words(link.Context)...)
		around.Ends = append(around.Ends, len(around.Words))
	}
	l = crawl()
	l.ScoreWords(p, 0.9, words(text), around)
	for i, got := range l.ScoreLinks(nil, p, 0.9) {
		if got != s[i] {
			t.Errorf("link %d: %v by what came with the page, %v as read from the link", i, got, s[i])
		}
	}
}
