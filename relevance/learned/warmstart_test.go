package learned

import (
	"math"
	"testing"

	"fossick/internal/page"
	"fossick/models"
)

// warmStartModel was trained on 4 pages about herons and 12 others; all pages' titles have
// "page", those of two herons' "amber", which is a word of the tests' webs too.
func warmStartModel() *models.Model {
	return &models.Model{
		Classes:    []string{"other", "herons"},
		Terms:      []string{"heron", "title:heron", "the"},
		ClassPages: [][]int32{{1, 0, 12}, {3, 2, 4}},
		Titles: map[string][]models.TitleWord{"herons": {
			{Word: "amber", Lang: "en", Pages: 2, Others: 3}, {Word: "herons", Lang: "en", Pages: 2}, {Word: "page", Lang: "en", Pages: 4, Others: 12}}},
		Card: models.Card{Pages: 16, PerClass: map[string]int{"other": 12, "herons": 4}},
	}
}

func TestWarmStart(t *testing.T) {
	v := newVocabulary()
	l := NewWarmStart(warmStartModel(), 1)
	v.take(l)
	if l.worth() != 4 {
		t.Errorf("it counts for %v pages, want 4", l.worth())
	}
	for _, test := range []struct {
		word         string
		pages, links float32
	}{
		{"heron", 3, 2 * titleLinks}, // the stem of herons
		{"the", 4, 0},
		{"title:heron", 0, 0}, // no word of a page
		{"amber", 0, titleLinks},
		{"page", 0, 0}, // as often elsewhere
		{"other", 0, 0},
	} {
		w := v.words.find(tokenOf(test.word))
		if w.page != (record{test.pages, test.pages}) || w.link != (record{test.links, test.links}) {
			t.Errorf("%s: on pages %v, in links %v; want %v and %v, all on topic", test.word, w.page, w.link, test.pages, test.links)
		}
	}
	var found [maxEndings]token
	for _, e := range endings(found[:0], "herons") {
		if w := v.words.find(e); w.link.pages != 2*titleLinks {
			t.Error("the ending of a title's word is not known from it")
		}
	}
}

// TestWarmStartIsBounded: many training pages count for no more than maxWarmStart.
func TestWarmStartIsBounded(t *testing.T) {
	m := warmStartModel()
	m.Card.PerClass["herons"], m.Card.Pages, m.ClassPages[1][0] = 1000, 1012, 500
	v := newVocabulary()
	l := NewWarmStart(m, 1)
	v.take(l)
	w := v.words.find(tokenOf("heron"))
	if l.worth() != maxWarmStart || math.Abs(float64(w.page.pages)-maxWarmStart/2) > 1e-3 {
		t.Errorf("1,000 pages count for %v, half of them for %v; want %d and half of it", l.worth(), w.page.pages, maxWarmStart)
	}
}

// TestNoLesson: a model of an earlier format teaches nothing, and neither does one that
// does not say how many pages it had.
func TestNoLesson(t *testing.T) {
	old, unknown := warmStartModel(), warmStartModel()
	old.ClassPages, old.Titles, unknown.Card.PerClass = nil, nil, nil
	for _, m := range []*models.Model{old, unknown} {
		l := NewWarmStart(m, 1)
		if l != nil || l.worth() != 0 {
			t.Errorf("a warm start of %v pages, want none", l.worth())
		}
	}
}

// TestWarmStartBeforeTheCrawl: of two links that the crawl knows nothing of, the one whose
// word stands in titles of training pages on topic comes first.
func TestWarmStartBeforeTheCrawl(t *testing.T) {
	for _, test := range []struct {
		start *WarmStart
		tells bool
	}{{nil, false}, {NewWarmStart(warmStartModel(), 1), true}} {
		l := New(goldJudge, Options{Cut: 0.5, WarmStart: test.start})
		l.ScorePage(&page.Page{URL: "http://p.test/", Text: "start"}, 0.9)
		s := l.ScoreLinks(nil, &page.Page{URL: "http://p.test/", Links: []page.Link{
			{URL: "http://t.test/1", Anchor: "Granite"}, {URL: "http://t.test/2", Anchor: "Herons"}}}, 0.9)
		if (s[1] > s[0]) != test.tells {
			t.Errorf("start %v: scores %v of a word it does not have and one it has, want the second higher: %v", test.start != nil, s, test.tells)
		}
	}
}
