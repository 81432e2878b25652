package eval

import (
	"fmt"
	"math"
	"testing"
)

func TestSightings(t *testing.T) {
	page := func(relevant bool) Page { return Page{Score: 0.5, Verdict: Verdict{Relevant: relevant}} }
	a := &Crawl{Pages: []Page{page(true), page(true)}, Trail: &crawlTrail{Thin: 1, Steps: []Step{
		{Key: 1, Page: 0, Start: true, Links: []uint64{3, 5, 9}}, {Key: 3, Page: 1},
	}, Waiting: []waitingURL{{Key: 9, Promise: 0.5}}}}
	b := &Crawl{Pages: []Page{page(true), page(true), page(false)}, Trail: &crawlTrail{Thin: 1, Steps: []Step{
		{Key: 5, Page: 0, Start: true}, {Key: 6, Page: 1, Start: true}, {Key: 7, Page: 2, Start: true, Links: []uint64{7}},
	}}}
	crawls := []*Crawl{a, b}
	got := newReplay(crawls).sightings(crawls, map[uint64]float64{9: 0.25})
	// a fetched 1 and 3 and links to 5, all relevant, and to 9. Of b's start pages 5 and 6 are
	// relevant; a links to 5. b links only to itself, so it encountered only its start pages.
	if want := (sighting{3.25, 2, 1}); got[0] != want {
		t.Errorf("first crawl: got %+v, want %+v", got[0], want)
	}
	if want := (sighting{2, 1, 0}); got[1] != want {
		t.Errorf("second crawl: got %+v, want %+v", got[1], want)
	}
	// Each crawl encountered the start page that both share.
	c := &Crawl{Pages: []Page{page(true), page(true)}, Trail: &crawlTrail{Thin: 1, Steps: []Step{
		{Key: 1, Page: 0, Start: true}, {Key: 8, Page: 1, Start: true},
	}}}
	crawls = []*Crawl{a, c}
	if got, want := newReplay(crawls).sightings(crawls, map[uint64]float64{9: 0.25})[0], (sighting{2.25, 2, 1}); got != want {
		t.Errorf("a start page in common: got %+v, want %+v", got, want)
	}
	// With Thin 2, each key kept counts twice. A start page that failed, or whose key is not
	// kept, does not count.
	crawls = []*Crawl{a, b}
	for _, crawl := range crawls {
		crawl.Trail.Thin = 2
		for i := range crawl.Trail.Steps {
			step := &crawl.Trail.Steps[i]
			step.Key *= 2
			for k := range step.Links {
				step.Links[k] *= 2
			}
		}
		for i := range crawl.Trail.Waiting {
			crawl.Trail.Waiting[i].Key *= 2
		}
		crawl.Trail.Steps = append(crawl.Trail.Steps, Step{Key: 40, Page: -1, Start: true}, Step{Key: 41, Page: 0, Start: true})
	}
	got = newReplay(crawls).sightings(crawls, map[uint64]float64{18: 0.25})
	if got[0] != (sighting{6.5, 2, 1}) || got[1] != (sighting{4, 1, 0}) {
		t.Errorf("of every other key: %+v", got)
	}
}

// TestStartPagesAlone: crawls that missed all of each other's start pages saw less than half the web.
func TestStartPagesAlone(t *testing.T) {
	var crawls []*Crawl
	for first := uint64(1); first <= 101; first += 100 {
		c := &Crawl{Trail: &crawlTrail{Thin: 1}}
		for k := range uint64(20) { // ten start pages, and ten off topic that the first one links to
			s := Step{Key: first + k, Page: int(k), Start: k < 10, Promise: 0.5}
			if k == 0 {
				s.Links = []uint64{first + 10, first + 11, first + 12, first + 13, first + 14, first + 15, first + 16, first + 17, first + 18, first + 19}
			}
			c.Trail.Steps = append(c.Trail.Steps, s)
			c.Pages = append(c.Pages, Page{Score: 0.5, Verdict: Verdict{Relevant: k < 10}})
		}
		crawls = append(crawls, c)
	}
	p, ok := frontier(crawls)
	if !ok || p.Seen != 20 || p.Size < 40 || p.CI[1] < 100 {
		t.Errorf("%+v, %v; ten of ten start pages were missed, so there must be many more than the 20 found", p, ok)
	}
}

// TestLikelihood, by hand: a crawl encountered 4.5 pages of a population of 19, so each start page
// has the chance (4.5+½)/20; it saw three of four. Three such crawls weigh 3/2 of one.
func TestLikelihood(t *testing.T) {
	one := sighting{met: 4.5, starts: 4, seen: 3}
	for _, c := range []struct {
		all  []sighting
		size float64
		want float64
	}{
		{nil, 19, 0},
		{[]sighting{one}, 19, 3*math.Log(0.25) + math.Log(0.75)},
		{[]sighting{one, one}, 19, 2 * (3*math.Log(0.25) + math.Log(0.75))},
		{[]sighting{one, one, one}, 19, 1.5 * (3*math.Log(0.25) + math.Log(0.75))},
		{[]sighting{{met: 100, starts: 2, seen: 1}}, 10, math.Log(1-1e-6) + math.Log(1e-6)}, // more encountered than exist: nearly certain
		{[]sighting{{starts: 1, seen: 1}}, 1e9, math.Log(1e-6)},
	} {
		checkNear(t, fmt.Sprint(c), logLikelihood(c.all, c.size), c.want)
	}
}

func TestPosterior(t *testing.T) {
	// Small populations, against an integral on a grid two hundred times finer.
	for _, c := range []struct {
		seen           float64
		all            []sighting
		median, lo, hi float64
	}{
		{0, []sighting{{1, 10, 0}}, 10.8131, 2.7132, 254.578},
		{3, []sighting{{4, 10, 2}, {3, 5, 1}, {2, 6, 1}}, 6.7559, 1.2874, 31.3102},
	} {
		median, ci := posterior(c.seen, 2, 0.5, c.all)
		for _, v := range [][2]float64{{median, c.median}, {ci[0], c.lo}, {ci[1], c.hi}} {
			if !(math.Abs(v[0]/v[1]-1) <= 0.02) {
				t.Errorf("%v: got %g, want %g", c.all, v[0], v[1])
			}
		}
	}
	const seen, unseen, spread = 100, 100, 0.4
	// Without start pages: Student's t with 3 degrees, 3.1824 at 97.5 %.
	median, ci := posterior(seen, unseen, spread, nil)
	for _, v := range []struct{ got, want float64 }{
		{median, unseen}, {ci[0], 101*math.Exp(-3.1824*spread) - 1}, {ci[1], 101*math.Exp(3.1824*spread) - 1},
	} {
		if !(math.Abs(v.got-v.want) <= 0.03*v.want) {
			t.Errorf("no start pages: got %.1f, want %.1f", v.got, v.want)
		}
	}
	// A crawl links to 150 of about 200 relevant pages. 15 of 20 start pages encountered agrees
	// with that; 1 of 20 means thousands more.
	agrees, _ := posterior(seen, unseen, spread, []sighting{{150, 20, 15}})
	if agrees < 0.7*unseen || agrees > 1.4*unseen {
		t.Errorf("start pages that agree moved the estimate from %d to %.0f", unseen, agrees)
	}
	more, wide := posterior(seen, unseen, spread, []sighting{{150, 20, 1}})
	if more < 5*unseen || wide[1] < 1500 {
		t.Errorf("1 of 20 start pages came across: got %.0f %v, want many times %d", more, wide, unseen)
	}
	all, _ := posterior(seen, unseen, spread, []sighting{{150, 20, 20}})
	if all > agrees || all < 0.5*unseen {
		t.Errorf("20 of 20: got %.0f, want below %.0f, and no fewer than half of what the frontier says", all, agrees)
	}
	if none, ci := posterior(0, 0, spread, nil); none < 0 || ci[0] < 0 || math.IsNaN(ci[1]) {
		t.Errorf("nothing unseen: got %g %v", none, ci)
	}
}
