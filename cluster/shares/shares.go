// Package shares divides what a crawl may spend among the agents that make it.
//
// In: how each agent stands, and the priorities of the best links that wait there. Out: how
// many pages each may store, at what price, by how many workers. So the agents together
// take the links that one crawl would. Start with Divide.
package shares

import (
	"cmp"
	"math"
	"slices"
)

// Report is how an agent stands.
type Report struct {
	Spent uint64    // pages that it has stored, and those under way
	Busy  int       // exchanges under way
	Head  []float64 // the best priorities that wait, of hosts that are free soon, the best first
}

// Share is what an agent may spend.
type Share struct {
	Pages   uint64  // that it may have stored, those of Report.Spent included
	Price   float64 // priority that a link must have
	Workers int     // exchanges at a time
}

// Divide gives out what is left of the budget, as far as it is needed until the next time:
// about ahead pages are stored by then. They go where the best links are, and as many more by
// turns, for links may come. With less than ahead links in all heads there is no price. The
// pages given out are never more than are left.
func Divide(left uint64, workers, ahead int, reports []Report) []Share {
	shares := make([]Share, len(reports))
	if len(reports) == 0 {
		return shares
	}
	ahead = max(ahead, workers)
	n := int(min(left, uint64(ahead)))
	waiting := merge(reports)
	price := math.Inf(-1)
	if len(waiting) > ahead { // of as many as may be tried, for not every link brings a page
		price = waiting[ahead-1].priority
	}
	for i, r := range reports {
		shares[i] = Share{Pages: r.Spent, Price: price}
	}
	for _, w := range waiting[:min(n, len(waiting))] {
		shares[w.agent].Pages++
	}
	spread(int(min(left-uint64(min(n, len(waiting))), uint64(ahead))), shares)
	for _, w := range waiting[:min(workers, len(waiting))] {
		shares[w.agent].Workers++
	}
	for i := range shares { // so that who finds a link need not wait for the next time
		shares[i].Workers = max(shares[i].Workers, 1)
	}
	if idle := workers - len(waiting); idle > 0 {
		for i := range shares {
			shares[i].Workers += (idle + i) / len(shares)
		}
	}
	return shares
}

// spread gives out pages one by one.
func spread(pages int, shares []Share) {
	for i := range max(0, pages) {
		shares[i%len(shares)].Pages++
	}
}

// waiting is a link that waits at an agent, the turn-th best there.
type waiting struct {
	priority    float64
	agent, turn int
}

// merge returns all links, the best first, those of equal worth by turns.
func merge(reports []Report) (all []waiting) {
	for i, r := range reports {
		for turn, p := range r.Head {
			all = append(all, waiting{p, i, turn})
		}
	}
	slices.SortFunc(all, func(a, b waiting) int {
		return cmp.Or(cmp.Compare(b.priority, a.priority), a.turn-b.turn, a.agent-b.agent)
	})
	return all
}
