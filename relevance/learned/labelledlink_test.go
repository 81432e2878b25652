package learned

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"fossick/internal/page"
)

// linkCrawl has shown pages to a scorer, each with a link to a mine and to a film, which the
// judge takes for one: it knows gold.
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

// TestLabelledLinks: what a person says of URLs that wait moves those whose links are like
// theirs, and the explanation says so.
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

// counted are the numbers of a scorer that a label of a link changes, but for the weights.
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

// TestLabelledLinkIsTakenBack: once the page has come it alone counts, as if it had been
// labelled then; a label that is changed leaves nothing of the first.
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
