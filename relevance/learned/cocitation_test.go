package learned

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"fossick/internal/page"
)

// list is a page with links to the numbers given.
func list(from string, to ...int) *page.Page {
	p := &page.Page{URL: from}
	for _, n := range to {
		p.Links = append(p.Links, page.Link{URL: fmt.Sprintf("http://t.test/%d", n), Anchor: "x"})
	}
	return p
}

// TestLearnedSisters: pages whose other links lead to known pages on topic, fetched before the page or
// after it, vouch for the rest of their links. They vouch most for those that stand beside the known
// ones.
func TestLearnedSisters(t *testing.T) {
	for _, late := range []bool{false, true} {
		l := New(goldJudge, Options{Cut: 0.5})
		fetch := func() {
			for n := range 8 { // even ones are on topic
				l.ScorePage(&page.Page{URL: fmt.Sprintf("http://t.test/%d", n)}, float64(1-n%2))
			}
		}
		if !late {
			fetch()
		}
		show := func(p *page.Page) {
			l.ScorePage(p, 0.5)
			l.ScoreLinks(nil, p, 0.5)
		}
		show(list("http://good.test/", 0, 2, 4, 100))
		show(list("http://bad.test/", 1, 3, 5, 101))
		var mixed []int
		mixed = append(mixed, 0, 102, 2) // beside what is on topic
		for n := range 20 {
			mixed = append(mixed, 1000+n)
		}
		show(list("http://mixed.test/", append(mixed, 1, 103, 3)...))
		if late {
			fetch()
		}
		score := func(n int) float64 {
			s, known := l.Rescore(page.Key(fmt.Sprintf("http://t.test/%d", n)))
			if !known {
				t.Fatalf("target %d is not known", n)
			}
			return s
		}
		if good, bad := score(100), score(101); good <= bad {
			t.Errorf("fetched late %v: %v for a link of a hub on topic, %v of one off topic, want more", late, good, bad)
		}
		if on, off := score(102), score(103); on <= off {
			t.Errorf("fetched late %v: %v beside links on topic, %v beside links off topic, want more", late, on, off)
		}
	}
}

// TestNear holds near against its definition: each known link of the first pages that name a target
// weighs one over its distance in places, up to nearBy.
func TestNear(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		e := &evidence{}
		var weight, onTopic float64
		for n := range 1 + rng.IntN(maxSources+3) {
			s := &source{turns: make([]uint8, rng.IntN(30))}
			at := rng.IntN(40)
			e.add(&inLink{at: placeOf(at)}, s, 0.5)
			for k := range s.turns {
				if rng.IntN(2) == 0 {
					continue
				}
				p := rng.Float64()
				s.turned(placeOf(k), p)
				if d := math.Abs(float64(k - at)); n < maxSources && d > 0 && d <= nearBy {
					weight += 1 / d
					onTopic += p / d
				}
			}
		}
		r := e.near()
		if math.Abs(float64(r.pages)-weight) > 1e-4 || math.Abs(float64(r.onTopic)-onTopic) > 0.005*(weight+1) {
			t.Fatalf("near = %v, want weight %v with %v of it on topic", r, weight, onTopic)
		}
	}
}

// TestNoVoiceTwice: a link that a page repeats, or that leads to itself, says nothing of the page.
func TestNoVoiceTwice(t *testing.T) {
	l := New(goldJudge, Options{Cut: 0.5})
	l.ScorePage(list("http://t.test/1"), 1)
	p := list("http://t.test/2", 1, 1, 2, 3)
	l.ScorePage(p, 1)
	l.ScoreLinks(nil, p, 1)
	e, ok := l.links.waiting.Peek(page.Key("http://t.test/3"))
	if !ok || len(e.named()) != 1 {
		t.Fatal("target 3 has no source")
	}
	if r := e.named()[0].followed; r.pages != 1 || r.onTopic != 1 {
		t.Errorf("%v pages of its links are known, %v on topic, want the one, once", r.pages, r.onTopic)
	}
}

// TestMarkedSisters: what people say of a page changes what its sister links say, of pages that named
// it before it was fetched and after.
func TestMarkedSisters(t *testing.T) {
	l := New(goldJudge, Options{Cut: 0.5})
	show := func(p *page.Page) {
		l.ScorePage(p, 0.5)
		l.ScoreLinks(nil, p, 0.5)
	}
	show(list("http://before.test/", 0, 100))
	fetched := list("http://t.test/0")
	l.ScorePage(fetched, 1)
	show(list("http://after.test/", 0, 101))
	l.Mark([]Marked{{URL: fetched.URL, Page: fetched}})
	show(list("http://later.test/", 0, 102))
	for n := 100; n < 103; n++ {
		e, _ := l.links.waiting.Peek(page.Key(fmt.Sprintf("http://t.test/%d", n)))
		if s := e.named()[0]; s.followed.onTopic != 0 || s.turns[0] != turnOf(0) {
			t.Errorf("%d: %v pages of its sisters on topic, the one beside it %d; want none, and %d", n, s.followed.onTopic, s.turns[0], turnOf(0))
		}
	}
}
