package eval

import (
	"maps"
	"math"
	"slices"
)

const methodFrontier = "frontier (logistic), iChao on in-links, start pages"

// frontierSpread is the scale of ln(true/estimated) of the relevant pages not
// found, beyond what the formulas say. It was chosen so that about nine
// intervals in ten hold the truth. See docs/eval.md.
const frontierSpread = 0.5

// Frontier estimates how many relevant pages there are, from what the crawls
// know. It adds S that they found, those among the URLs that wait, and those
// that no fetched page links to.
//
//	N = S + Σ_{u waits} P(u relevant) + max(0, U − S₀)
//
// P is a logistic model of what links, labels and priorities said of each URL
// before it was fetched, fitted on those that were (fitLogistic). U estimates
// the relevant pages to which no fetched page links, with links for captures.
// It is iChao of f₁…f₄, the relevant pages to which one to four fetched pages
// link, with those expected among the waiting. S₀ of them were found, start
// pages mostly.
//
// What the crawls came across of each other's start pages, which no crawl's
// preference chose, then corrects N and gives the interval (posterior). ok is false
// when the crawls have no trail, or nothing was found or could be learnt.
func Frontier(crawls []*Crawl) (p Population, ok bool) {
	for _, c := range crawls {
		if c.Trail == nil {
			return Population{}, false
		}
	}
	r := newReplay(crawls)
	if len(crawls) == 0 || r.all.relevant == 0 || len(r.examples) == 0 {
		return Population{}, false
	}
	m := fitLogistic(r.examples, newPrior(!slices.ContainsFunc(crawls, func(c *Crawl) bool { return !c.Probabilities })))
	keys := sortedKeys(r.waiting)
	xs, probability := make([][parts]float64, len(keys)), make(map[uint64]float64, len(keys))
	for i, key := range keys {
		w := r.waiting[key]
		xs[i] = describe(r.evidence[key], w.Promise, r.hosts[w.Host], r.all)
		probability[key] = m.probability(&xs[i])
	}
	waiting, variance := m.sum(len(xs), func(i int) *[parts]float64 { return &xs[i] })
	unlinked, unlinkedVariance := r.unlinked(probability)
	scale := float64(r.thin)
	unseen := scale * (waiting + unlinked)
	variance = scale * scale * (variance + unlinkedVariance)

	seen := r.all.relevant
	spread := math.Sqrt(variance/((unseen+1)*(unseen+1)) + frontierSpread*frontierSpread)
	median, ci := posterior(seen, unseen, spread, r.sightings(crawls, probability))
	return Population{Size: seen + median, Seen: int(seen), Method: methodFrontier, CI: Interval{seen + ci[0], seen + ci[1]}}, true
}

// sortedKeys returns the keys in one order, which sums of floats want.
func sortedKeys[V any](m map[uint64]V) []uint64 { return slices.Sorted(maps.Keys(m)) }

// unlinked estimates how many relevant pages no fetched page links to, beyond
// those that were found all the same. probability is that of the URLs that wait.
func (r *replay) unlinked(probability map[uint64]float64) (n, variance float64) {
	var f [5]float64
	count := func(e evidence, p float64) {
		if k := int(e.parents); k < len(f) {
			f[k] += p
		}
	}
	found := 0.0
	for key, relevant := range r.fetched {
		if e, linked := r.evidence[key]; relevant && linked {
			count(e, 1)
		} else if relevant && key%r.thin == 0 {
			found++
		}
	}
	for _, key := range sortedKeys(probability) {
		count(r.evidence[key], probability[key])
	}
	n, variance = ichao(f[1], f[2], f[3], f[4])
	if n <= found {
		return 0, 0
	}
	return n - found, variance
}
