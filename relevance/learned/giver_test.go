package learned

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"fossick/internal/page"
)

// part returns the page with those of its links that go to one of so many agents.
func part(p *page.Page, agents, agent int, giver []byte) *page.Page {
	some := &page.Page{URL: p.URL, Lang: p.Lang, Excerpt: &page.Excerpt{Of: len(p.Links), Giver: giver}}
	for i, l := range p.Links {
		if i%agents == agent {
			some.Links, some.Excerpt.Places = append(some.Links, l), append(some.Excerpt.Places, i)
		}
	}
	return some
}

// TestGiversAcross: where a page's links go to three agents, each knows of it, and of what
// its other links turned out to be, what one scorer would that had them all.
func TestGiversAcross(t *testing.T) {
	const agents = 3
	one := New(goldJudge, Options{Cut: .5})
	var told [agents]*Scorer
	for i := range told {
		told[i] = New(goldJudge, Options{Cut: .5})
		told[i].Share(everything)
	}
	rng := rand.New(rand.NewPCG(4, 20))
	for n := range 40 {
		hub := &page.Page{URL: fmt.Sprintf("http://hub%d.test/", n), Text: "sand"}
		for i := range 3 * agents {
			hub.Links = append(hub.Links, page.Link{URL: fmt.Sprintf("http://t%d.test/%d", i%agents, 9*n+i), Anchor: "link"})
		}
		worth := rng.Float64()
		one.ScorePage(hub, worth)
		one.ScoreLinks(nil, hub, worth)
		giver := told[n%agents].ScorePage(hub, worth).Giver
		for k, l := range told {
			if k != n%agents {
				l.ScoreLinks(nil, part(hub, agents, k, giver), .9) // what it is introduced as holds
			} else {
				l.ScoreLinks(nil, hub, worth)
			}
		}
		for i, link := range hub.Links[:2*agents] { // the others wait
			target := &page.Page{URL: link.URL, Text: "sand"}
			one.ScorePage(target, worth)
			told[i%agents].ScorePage(target, worth)
		}
	}
	var sums [agents]*Sums
	for k, l := range told {
		sums[k] = l.Learned()
	}
	for k, l := range told {
		for j, s := range sums {
			if j == k {
				continue
			}
			again, err := UnpackSums(s.Pack())
			if err != nil {
				t.Fatal(err)
			}
			l.Hear(again)
		}
	}
	for n := range 40 {
		for i := 2 * agents; i < 3*agents; i++ {
			url := fmt.Sprintf("http://t%d.test/%d", i%agents, 9*n+i)
			var want, got featureVector
			whole, _ := one.links.waiting.Get(page.Key(url))
			one.model.features(&want, whole, nil)
			l := told[i%agents]
			e, ok := l.links.waiting.Get(page.Key(url))
			if !ok {
				t.Fatalf("%s waits nowhere", url)
			}
			l.model.features(&got, e, nil)
			for _, f := range []int{featMeanParent, featHub, featNear, featEarly, featHops} {
				if math.Abs(want[f]-got[f]) > .02 {
					t.Errorf("%s: feature %d is %.3f, for one scorer %.3f", url, f, got[f], want[f])
				}
			}
		}
	}
}

// TestGiversUnread: what cannot be read of another agent's page says nothing of it.
func TestGiversUnread(t *testing.T) {
	for _, b := range [][]byte{nil, {1}, {0, 0, 192, 127, 1, 1}, {0, 0, 0, 64, 1, 1}} {
		s := &source{hops: 1}
		if s.introduce(b, true); s.scored || s.hops != 0 {
			t.Errorf("%v: %+v", b, s)
		}
	}
}
