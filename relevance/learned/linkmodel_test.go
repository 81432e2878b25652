package learned

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"fossick/internal/page"
	"fossick/models"
)

// TestUndersampling checks that in a grown crawl half of the pages off topic count twice and half not at
// all.
func TestUndersampling(t *testing.T) {
	off := func(crawl float32) (sum, pages float64) {
		for n := range 2000 {
			c := wordWeight(crawl, page.Key(fmt.Sprintf("http://t.test/%d", n)), 0.01)
			if sum += c; c > 0 {
				pages++
			}
		}
		return sum, pages
	}
	if sum, pages := off(undersampleFrom - 1); sum != 2000 || pages != 2000 {
		t.Errorf("a young crawl counts the words of 2,000 pages as those of %v, %v of them", sum, pages)
	}
	if sum, pages := off(undersampleFrom); math.Abs(sum-2000) > 200 || math.Abs(pages-1000) > 100 {
		t.Errorf("a grown crawl counts the words of 2,000 pages as those of %v, %v of them", sum, pages)
	}
	for n := range 20 {
		if c := wordWeight(undersampleFrom, uint64(n), undersampleBelow); c != 1 {
			t.Errorf("the words of a page that may be on topic count %v times", c)
		}
	}
}

// TestUndersampledLabelled checks that a label sets a page's word counts, however they counted before.
func TestUndersampledLabelled(t *testing.T) {
	for _, counted := range []float64{0, 1, 2} {
		l := New(goldJudge, Options{Cut: 0.5})
		const word = token(7)
		p := &pastPage{words: []token{word}, now: 0.05, weight: 1, counted: counted, host: &record{}, folder: &record{}, source: &source{}}
		l.model.words.learnPage([]token{word}, 0.5, 3) // by other pages
		if counted > 0 {
			l.model.words.learnPage(p.words, p.now, counted)
		}
		l.recount(p, 1, 5)
		w := l.model.words.words.find(word)
		if math.Abs(float64(w.page.pages)-8) > 1e-6 || math.Abs(float64(w.page.onTopic)-6.5) > 1e-6 {
			t.Errorf("counted %v times before: %+v, want 8 pages, 6.5 on topic", counted, w.page)
		}
	}
}

// TestLogisticLearns checks learning from a known model with two nearly equal features.
func TestLogisticLearns(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	var m logistic
	m.begin(&Order{spread: flat(0.1)}, 1)
	truth := m
	truth.weight[featHost] += 1.5
	truth.weight[featHub] -= 1
	truth.weight[featNear] += 0.5
	first, late, best := 0.0, 0.0, 0.0
	const pages = 4000
	for i := range pages {
		x := featureVector{featBias: 1, featMeanParent: 3 * rng.Float64()}
		x[featHost], x[featLinkWord] = rng.NormFloat64(), rng.NormFloat64()
		x[featHub] = rng.NormFloat64()
		x[featNear] = x[featHub] + rng.NormFloat64()/4
		x[featAway] = 0.1 * rng.Float64()
		y := 0.0
		if rng.Float64() < truth.probability(&x) {
			y = 1
		}
		loss := func(m *logistic) float64 { return -math.Log(1 - math.Abs(y-m.probability(&x))) }
		switch {
		case i < 200:
			first += loss(&m) - loss(&truth)
		case i >= pages/2:
			late += loss(&m)
			best += loss(&truth)
		}
		m.learn(&x, y)
	}
	if late > best*1.02 {
		t.Errorf("log loss %.4f a page, the truth's %.4f; over the first 200 it was %.4f above", late/pages*2, best/pages*2, first/200)
	}
	if m.weight[featHub] >= 0 || m.weight[featNear] <= 0 {
		t.Errorf("weights of hubs %.2f, of links beside %.2f: what goes with both is not told apart", m.weight[featHub], m.weight[featNear])
	}
	steady, x := m, featureVector{featBias: 1, featHost: 1, featLabels: -2}
	steady.scale(steadied)
	was := steady.weight
	m.learn(&x, 1)
	steady.learn(&x, 1)
	if slow, fast := steady.weight[featHost]-was[featHost], m.weight[featHost]-was[featHost]; slow <= 0 || slow > fast/5 {
		t.Errorf("a page adds %.4g to a steadied model's weight and %.4g to the other's", slow, fast)
	}
	if steady.weight[featLabels] != 0 {
		t.Errorf("what people say has weight %v more", steady.weight[featLabels])
	}
}

func flat(v float64) (x featureVector) {
	for i := range x {
		x[i] = v
	}
	return x
}

// warmStartModel was trained on 4 pages about herons and 12 others; every title has "page", and two
// herons' titles have "amber", which the test webs use too.
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
		{"title:heron", 0, 0}, // not a word of a page
		{"amber", 0, titleLinks},
		{"page", 0, 0}, // as frequent in other titles
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

// TestWarmStartIsBounded checks that many training pages count at most maxWarmStart.
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

// TestNoLesson checks that models without page counts give no warm start.
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

// TestWarmStartBeforeTheCrawl checks that of two unknown links the one with a word of training titles
// comes first.
func TestWarmStartBeforeTheCrawl(t *testing.T) {
	for _, test := range []struct {
		start *WarmStart
		tells bool
	}{{nil, false}, {NewWarmStart(warmStartModel(), 1), true}} {
		l := New(goldJudge, Options{Cut: 0.5, WarmStart: test.start})
		l.ScorePage(&page.Page{URL: "http://p.test/", Text: "start"}, 0.9)
		s := l.ScoreLinks(nil, &page.Page{URL: "http://p.test/", Links: []page.Link{
			{URL: "http://t.test/1", Anchor: "Granite"}, {URL: "http://t.test/2", Anchor: "Herons"}}}, 0.9)
		if (s[1] > 1.2*s[0]) != test.tells {
			t.Errorf("start %v: scores %v of a word it does not have and one it has, want the second clearly higher: %v", test.start != nil, s, test.tells)
		}
	}
}
