package learned

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"fossick/internal/page"
	"fossick/models/features"
)

// goldPage is a page about gold mines, films or neither. The judge knows gold, but not these two kinds.
func goldPage(kind string, n int, links ...page.Link) *page.Page {
	text := map[string]string{
		"mine": "gold ore shaft miner tunnel pickaxe", "film": "gold actor scene camera cinema director", "none": "rain weather cloud",
	}[kind]
	return &page.Page{URL: fmt.Sprintf("http://%s%d.test/", kind, n), Text: fmt.Sprintf("%s number%d", text, n), Links: links}
}

// goldCrawl has scored ten pages of each kind, which all link to one target per kind.
func goldCrawl() *Scorer {
	l := New(goldJudge, Options{Cut: 0.5})
	for n := range 10 {
		for _, kind := range []string{"mine", "film", "none"} {
			p := goldPage(kind, n, page.Link{URL: "http://target.test/" + kind, Anchor: "see " + kind})
			l.ScoreLinks(nil, p, l.ScorePage(p, goldJudge(page2doc(p))).Value)
		}
	}
	return l
}

func target(l *Scorer, kind string) float64 {
	s, _ := l.Rescore(page.Key("http://target.test/" + kind))
	return s
}

// markFilms labels n film pages.
func markFilms(l *Scorer, n int, onTopic bool) {
	var said []Marked
	for i := range n {
		p := goldPage("film", i)
		said = append(said, Marked{URL: p.URL, Page: p, OnTopic: onTopic})
	}
	l.Mark(said)
}

// TestMarksGeneralise checks that labels of a kind change similar pages and links, and little else.
func TestMarksGeneralise(t *testing.T) {
	l := goldCrawl()
	film, mine := target(l, "film"), target(l, "mine")
	if math.Abs(film-mine) > 0.05 {
		t.Fatalf("before: film %g, mine %g", film, mine)
	}
	markFilms(l, 5, false)
	value := func(kind string, n int) float64 {
		p := goldPage(kind, n)
		return l.ScorePage(p, goldJudge(page2doc(p))).Value
	}
	for _, test := range []struct {
		what            string
		got, least, top float64
	}{
		{"a new film page", value("film", 99), 0, 0.5},
		{"a new mine page", value("mine", 99), 0.8, 1},
		{"a new page of nothing", value("none", 99), 0, 0.1},
		{"the target of films", target(l, "film"), 0, film / 1.7},
	} {
		if test.got < test.least || test.got > test.top {
			t.Errorf("%s: %g, want from %g to %g", test.what, test.got, test.least, test.top)
		}
	}
	if fell, other := math.Log(film/target(l, "film")), math.Log(mine/target(l, "mine")); other > fell/5 {
		t.Errorf("the target of films fell by %g, that of mines by %g: more than a fifth", fell, other)
	}
	for url, want := range map[string][2]float64{"http://film0.test/": {0, 0}, "http://film9.test/": {0, 0.5}, "http://mine9.test/": {0.8, 1}} {
		if s, ok := l.Explain(url); !ok || s.Value < want[0] || s.Value > want[1] {
			t.Errorf("%s: %v %v, want %v", url, s, ok, want)
		}
	}
	s, _ := l.Explain("http://film9.test/")
	if note := fmt.Sprint(s.Terms); !strings.Contains(note, "5 pages marked by people added to the log-odds, most for") || strings.Contains(note, "gold") {
		t.Errorf("film 9 is explained by %s", note)
	}
}

// TestMarksOtherWay labels pages on topic that the judge rejects.
func TestMarksOtherWay(t *testing.T) {
	l := goldCrawl()
	before := target(l, "none")
	var said []Marked
	for i := range 5 {
		p := goldPage("none", i)
		said = append(said, Marked{URL: p.URL, Page: p, OnTopic: true})
	}
	l.Mark(said)
	p := goldPage("none", 99)
	if got := l.ScorePage(p, 0.05).Value; got < 0.5 {
		t.Errorf("a new page like those marked yes: %g", got)
	}
	if after := target(l, "none"); after < 2*before {
		t.Errorf("the target: %g, before %g", after, before)
	}
}

// TestMarkOfWhatWaits checks that a label puts a queued URL first or last, and decides when it is fetched.
func TestMarkOfWhatWaits(t *testing.T) {
	l := goldCrawl()
	l.Mark([]Marked{{URL: "http://target.test/film", OnTopic: true}, {URL: "http://target.test/mine"}})
	if film, mine := target(l, "film"), target(l, "mine"); film != 1 || mine != 0 {
		t.Errorf("film %g, mine %g, want 1 and 0", film, mine)
	}
	if fix := l.labels.fix; fix == nil || fix.labels != 0 || fix.links != 2 || fix.surprise != 0 {
		t.Errorf("the correction of two links: %+v", fix)
	}
	p := goldPage("mine", 99)
	p.URL = "http://target.test/mine"
	if s := l.ScorePage(p, 0.95); s.Value != 0 {
		t.Errorf("the page: %+v", s)
	}
	if l.labels.fix.labels != 1 || l.labels.fix.links != 1 {
		t.Errorf("the correction did not learn from it: %+v", l.labels.fix)
	}
	// A page fetched after the person looked.
	l.Mark([]Marked{{URL: "http://film7.test/"}})
	if s, _ := l.Explain("http://film7.test/"); s.Value != 0 || l.labels.fix.labels != 2 {
		t.Errorf("a page that had come meanwhile: %+v, of %d marks", s, l.labels.fix.labels)
	}
	// A link found later to a URL that was labelled while unknown.
	l.Mark([]Marked{{URL: "http://later.test/", OnTopic: true}})
	if s := l.ScoreLinks(nil, linked("http://p.test/", "http://later.test/", "x"), 0); s[0] != 1 {
		t.Errorf("a link to what was marked yes: %v", s)
	}
}

// TestMarkChanged checks that the last label counts and the first leaves no trace.
func TestMarkChanged(t *testing.T) {
	l, never := goldCrawl(), goldCrawl()
	markFilms(l, 5, false)
	markFilms(l, 5, true)
	markFilms(never, 5, true)
	for _, kind := range []string{"film", "mine", "none"} {
		if a, b := target(l, kind), target(never, kind); math.Abs(a-b) > 1e-4 {
			t.Errorf("%s: no and then yes gives %g, yes %g", kind, a, b)
		}
	}
	if math.Abs(float64(l.model.base.all.pages-never.model.base.all.pages)) > 1e-3 || math.Abs(float64(l.model.base.all.onTopic-never.model.base.all.onTopic)) > 1e-2 {
		t.Errorf("%+v, want %+v", l.model.base.all, never.model.base.all)
	}
}

// TestNoMarksNoChange checks that no label terms appear without labels.
func TestNoMarksNoChange(t *testing.T) {
	l := goldCrawl()
	for _, term := range spelled(t, l.ScorePage(goldPage("film", 99), 0.95)) {
		if term.Name == "marked" || term.Name == "marks" && term.Value != 0 {
			t.Errorf("%+v", term)
		}
	}
}

// TestHistory checks that old pages are forgotten and can still be labelled.
func TestHistory(t *testing.T) {
	l := New(goldJudge, Options{Cut: 0.5})
	l.history.limit = 50
	for n := range 100 {
		l.ScorePage(goldPage("film", n), 0.95)
	}
	if l.history.words > 50 || len(l.history.pages) == 0 || l.history.pages[len(l.history.pages)-1].key != page.Key("http://film99.test/") {
		t.Errorf("%d words of %d pages", l.history.words, len(l.history.pages))
	}
	markFilms(l, 5, false)
	if s := l.ScorePage(goldPage("film", 200), 0.95); s.Value > 0.8 { // all anchors are film pages
		t.Errorf("a new film page: %g", s.Value)
	}
}

// page2doc is a page as the judge reads it.
func page2doc(p *page.Page) features.Doc { return features.Doc(p.Fields()) }

// TestMarksBeside labels pages while others are scored, for the race detector, and checks that no label is
// lost.
func TestMarksBeside(t *testing.T) {
	l := goldCrawl()
	var all sync.WaitGroup
	for part := range 4 {
		all.Go(func() {
			for n := range 20 {
				p := goldPage("mine", 1000*(part+1)+n, page.Link{URL: "http://target.test/mine", Anchor: "see"})
				l.ScoreLinks(nil, p, l.ScorePage(p, 0.95).Value)
				l.Rescore(page.Key("http://target.test/film"))
				l.Explain("http://film3.test/")
			}
		})
	}
	for n := range 8 {
		all.Go(func() { p := goldPage("film", n); l.Mark([]Marked{{URL: p.URL, Page: p}}) })
	}
	all.Wait()
	if l.labels.fix.labels != 8 || l.labels.stale {
		t.Errorf("the correction is of %d marks, want 8", l.labels.fix.labels)
	}
	if s, _ := l.Explain("http://film9.test/"); s.Value > 0.5 {
		t.Errorf("film 9: %v", s)
	}
}

// linkCrawl has scored pages with links to a mine and a film each, which the judge cannot distinguish.
func linkCrawl() *Scorer {
	l := New(goldJudge, Options{Cut: 0.5})
	for n := range 10 {
		p := goldPage("mine", n,
			page.Link{URL: fmt.Sprintf("http://shafts.test/%d", n), Anchor: "gold shaft"},
			page.Link{URL: fmt.Sprintf("http://scenes.test/%d", n), Anchor: "gold scene"})
		l.ScoreLinks(nil, p, l.ScorePage(p, 0.9).Value)
	}
	return l
}

func (l *Scorer) ofLink(url string) float64 {
	p, _ := l.Promise(page.Key(url))
	return p
}

// TestLabelledLinks checks that labels of queued URLs move similar links and appear in explanations.
func TestLabelledLinks(t *testing.T) {
	l := linkCrawl()
	scene, shaft := l.ofLink("http://scenes.test/9"), l.ofLink("http://shafts.test/9")
	var said []Marked
	for n := range 3 {
		said = append(said, Marked{URL: fmt.Sprintf("http://scenes.test/%d", n)})
	}
	l.Mark(said)
	if after := l.ofLink("http://scenes.test/9"); after > scene/2 {
		t.Errorf("a link like those labelled no: %g, before %g", after, scene)
	}
	fell := func(before float64, url string) float64 { return logit(before) - logit(l.ofLink(url)) }
	if fell(shaft, "http://shafts.test/9") > fell(scene, "http://scenes.test/9")/2 {
		t.Errorf("the other links: %g, before %g", l.ofLink("http://shafts.test/9"), shaft)
	}
	p := goldPage("film", 1)
	if note := fmt.Sprint(l.ScorePage(p, 0.9).Terms); !strings.Contains(note, "3 links marked by people") {
		t.Errorf("a page with their words is explained by %s", note)
	}
	said[0].OnTopic, said[1].OnTopic, said[2].OnTopic = true, true, true
	l.Mark(said)
	if after := l.ofLink("http://scenes.test/9"); after < scene {
		t.Errorf("after a change of mind: %g, before all %g", after, scene)
	}
}

// counted returns the counts that a link's label changes.
func (l *Scorer) counted() map[string]record {
	all := map[string]record{}
	for key, r := range l.links.places.All() {
		all[fmt.Sprint("place ", key)] = *r
	}
	for key, e := range l.links.waiting.All() {
		for i, s := range e.named() {
			all[fmt.Sprint("source ", i, " of ", key)] = s.followed
		}
	}
	for _, w := range l.model.words.words.young {
		all[fmt.Sprint("word ", w.token)] = w.link
	}
	return all
}

// TestLabelledLinkIsTakenBack checks that a fetched page replaces its link's label, and a changed label
// leaves no trace.
func TestLabelledLinkIsTakenBack(t *testing.T) {
	const url = "http://scenes.test/3"
	fetch := func(l *Scorer) {
		p := goldPage("film", 3)
		p.URL = url
		l.ScorePage(p, 0.9)
	}
	for name, label := range map[string][2]func(l *Scorer){
		"fetched later": {
			func(l *Scorer) { l.Mark([]Marked{{URL: url}}); fetch(l) },
			func(l *Scorer) { fetch(l); l.Mark([]Marked{{URL: url}}) },
		},
		"changed": {
			func(l *Scorer) { l.Mark([]Marked{{URL: url, OnTopic: true}}); l.Mark([]Marked{{URL: url}}) },
			func(l *Scorer) { l.Mark([]Marked{{URL: url}}) },
		},
	} {
		a, b := linkCrawl(), linkCrawl()
		label[0](a)
		label[1](b)
		got, want := a.counted(), b.counted()
		for _, key := range slices.Sorted(maps.Keys(want)) {
			if math.Abs(float64(got[key].pages-want[key].pages)) > 0.01 || math.Abs(float64(got[key].onTopic-want[key].onTopic)) > 0.01 {
				t.Errorf("%s: %s has %+v, want %+v", name, key, got[key], want[key])
			}
		}
	}
}

// TestUnmark: labels that were taken back leave scores and speed of learning as without them.
func TestUnmark(t *testing.T) {
	crawled := func() *Scorer {
		l := New(goldJudge, Options{Cut: 0.5, Share: 0.01}) // the prior is in force without labels
		for n := range 10 {
			for _, kind := range []string{"mine", "film", "none"} {
				p := goldPage(kind, n, page.Link{URL: "http://target.test/" + kind, Anchor: "see " + kind}, page.Link{URL: "http://beside.test/", Anchor: "beside"}, page.Link{URL: "http://mine0.test/", Anchor: "first"})
				l.ScoreLinks(nil, p, l.ScorePage(p, goldJudge(page2doc(p))).Value)
			}
		}
		return l
	}
	plain, l := crawled(), crawled()
	film := goldPage("film", 0)
	said := []Marked{{URL: film.URL, Page: film}, {URL: "http://target.test/film", OnTopic: true}}
	state := func(l *Scorer) (all []float64) {
		for _, kind := range []string{"mine", "film", "none"} {
			all = append(all, target(l, kind), l.history.find(page.Key(goldPage(kind, 0).URL)).now)
		}
		beside, _ := l.Rescore(page.Key("http://beside.test/"))
		return append(all, beside, l.model.weights.covariance[0][0], float64(len(l.labels.said)+len(l.labels.pages)+len(l.labels.links)))
	}
	near := func(a, b []float64) bool {
		return slices.EqualFunc(a, b, func(a, b float64) bool { return math.Abs(a-b) < 1e-5 })
	}
	for range 3 {
		l.Mark(said)
		if near(state(l), state(plain)) {
			t.Fatal("the labels change nothing")
		}
		for _, m := range said {
			m.Gone, m.Page = true, nil
			l.Mark([]Marked{m, m})
		}
		if got, want := state(l), state(plain); !near(got, want) {
			t.Errorf("after the labels were taken back %v, want %v", got, want)
		}
	}
}
