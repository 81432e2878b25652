package cluster

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"fossick/crawler"
	"fossick/crawler/frontier"
)

// TestWorth: the price from members' reports is near that of one crawl with all their links.
func TestWorth(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 20))
	byPriority := func(a, b frontier.Waiting) int { return cmp.Compare(b.Priority, a.Priority) }
	for round := range 200 {
		chances, shift, scale := round%2 == 0, 0., 1.
		if !chances { // by order alone, priorities are of any sign and size
			shift, scale = -1, math.Pow(10, float64(round%16))
		}
		var union []frontier.Waiting
		var reports []report
		members, shape := 1+rng.IntN(8), 1+3*rng.Float64()
		for m := range members {
			var links []frontier.Waiting
			for range rng.IntN(300) {
				links = append(links, frontier.Waiting{Priority: scale * (shift + math.Pow(rng.Float64(), shape)), Party: frontier.Host(1000*m + rng.IntN(30))})
			}
			slices.SortFunc(links, byPriority)
			union = append(union, links...)
			reports = append(reports, report{Pages: 50, Relevant: 20, Best: survey(links)})
		}
		slices.SortFunc(union, byPriority)
		opt := crawler.PatienceOptions{Factor: 3, Chances: chances}
		want := crawler.NewPatience(opt).Price(crawler.Budget{Pages: 1000 - 50*members, Harvest: .4}, func(dst []frontier.Waiting, n int) []frontier.Waiting {
			return append(dst, union[:min(n, len(union))]...)
		})
		w := worth{keeper: crawler.NewPatience(opt), most: 1000}
		if got := w.price(reports); math.Abs(got-want) > .1*scale || math.IsInf(got, -1) != math.IsInf(want, -1) {
			t.Errorf("%d links at %d members: price %.3f, want %.3f", len(union), members, got, want)
		}
	}
}

// TestWorthOfBudget, by hand: 160 of 660 pages are left, so the price is that of link 10 of 1,024
// with priorities from 1 to 0. A tenth of the harvest, 150 of 500 pages, is subtracted.
func TestWorthOfBudget(t *testing.T) {
	best := []surveyPoint{{Links: 1, Parties: 1, Priority: 1}, {Links: 1024, Parties: 1024}}
	w := worth{keeper: crawler.NewPatience(crawler.PatienceOptions{Factor: 1e6, Chances: true}), most: 660}
	got := w.price([]report{{Pages: 400, Relevant: 130, Best: best}, {Pages: 100, Relevant: 20}})
	if want := 1 - 10./1023 - 0.03; !(math.Abs(got-want) <= 1e-9) {
		t.Errorf("price %v, want %v", got, want)
	}
}

// TestWorthless: invalid reports do no harm, and nobody waits for ever.
func TestWorthless(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := worth{keeper: crawler.NewPatience(crawler.PatienceOptions{Factor: 3})}
		for _, best := range [][]surveyPoint{nil, {{Links: -1}}, {{Links: math.MaxInt, Parties: 1, Priority: .5}}, {{Links: 8, Parties: -3, Priority: .5}}, {{Links: 2, Parties: 9, Priority: .5}, {Links: 1, Parties: 1}}} {
			w.price([]report{{Best: best}})
		}
		some := []report{{Pages: 7, Best: []surveyPoint{{Links: 1, Parties: 1, Priority: .9}, {Links: 100, Parties: 40, Priority: .5}}}}
		if p := w.price(some); p < .5 {
			t.Errorf("price %g", p)
		}
		time.Sleep(crawler.LongestWait)
		if p := w.price(some); !math.IsInf(p, -1) {
			t.Errorf("price %g though no page came", p)
		}
		infinite := []report{{Pages: 8, Best: []surveyPoint{{Links: 1, Parties: 1, Priority: math.Inf(1)}, {Links: 2, Parties: 2, Priority: math.Inf(1)}, {Links: 100, Parties: 40, Priority: math.Inf(-1)}}}}
		if p := w.price(infinite); math.IsNaN(p) {
			t.Error("infinite priorities have no price")
		}
	})
}
