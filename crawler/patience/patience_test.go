package patience

import (
	"math"
	"testing"
	"time"

	"fossick/frontier"
)

// links returns so many links from each priority, each at a party of its own or all at one.
func links(one bool, priorities ...float64) (all []frontier.Waiting) {
	for _, p := range priorities {
		for range 20 {
			party := frontier.Host(1)
			if !one {
				party = frontier.Host(len(all) + 1)
			}
			all = append(all, frontier.Waiting{Priority: p, Party: party})
		}
	}
	return all
}

// TestPrice: worked by hand from the rule of docs/patience.md.
func TestPrice(t *testing.T) {
	any := math.Inf(-1)
	for _, c := range []struct {
		name   string
		opt    Options
		budget Budget
		links  []frontier.Waiting
		want   float64
	}{
		{"fewer links than pages for them", Options{Factor: 3}, Budget{Pages: 960}, links(true, .9, .8, .7), any},
		{"ranks: the 33rd of one host", Options{Factor: 3}, Budget{Pages: 512}, links(true, .9, .8), .8},
		{"ranks: the last pages", Options{Factor: 3}, Budget{Pages: 1}, links(true, .9, .8), .9},
		{"a tenth of the harvest is no loss", Options{Factor: 3, Chances: true}, Budget{Pages: 1, Harvest: .5}, links(true, .9, .8), .9 - .05},
		// Forty hosts have good links: a third is 14, and the tenth of 0 is nothing.
		{"a third of the hosts", Options{Factor: 3, Chances: true}, Budget{Pages: 1}, links(false, .9, .8, .1), .9},
		{"two thirds of the hosts", Options{Factor: 1.5, Chances: true}, Budget{Pages: 1}, links(false, .9, .8, .1), .8},
		{"hosts with poor links do not count", Options{Factor: 1.5, Chances: true}, Budget{Pages: 1}, links(false, .9, .1, .1), .9},
		{"by ranks they do", Options{Factor: 1.5}, Budget{Pages: 1}, links(false, .9, .1, .1), .1},
		{"in time", Options{Factor: 3}, Budget{Pages: 50, Fetched: 50, Elapsed: time.Minute, Whole: 2 * time.Minute}, links(true, .9, .8), .9},
		{"an eighth late: four times the window", Options{Factor: 3}, Budget{Pages: 93, Fetched: 7, Elapsed: 8 * time.Second, Whole: 100 * time.Second}, links(true, .9, .8), .8},
		{"late for good", Options{Factor: 3}, Budget{Pages: 90, Fetched: 10, Elapsed: time.Minute, Whole: 2 * time.Minute}, links(true, .9, .8), any},
	} {
		got := New(c.opt).Price(c.budget, func(dst []frontier.Waiting, n int) []frontier.Waiting {
			return append(dst, c.links[:min(n, len(c.links))]...)
		})
		if math.Abs(got-c.want) > 1e-12 && got != c.want {
			t.Errorf("%s: price %g, want %g", c.name, got, c.want)
		}
	}
}
