package eval

import (
	"maps"
	"math"
	"slices"
)

const methodFrontier = "frontier (links and labels, logistic) and iChao on in-links"

// frontierSpread is the standard deviation of ln(true/estimated) of the relevant
// pages not found, beyond what the formulas say: with it nine intervals in ten or
// more hold the truth on each of the corpora wikispeedia, webkb and debdocs. See
// docs/eval.md.
const frontierSpread = 0.65

// Frontier estimates how many relevant pages there are, from what the crawls
// know: S that they found, those among the URLs that wait, and those that no
// fetched page links to.
//
//	N = S + Σ_{u waits} P(u relevant) + max(0, U − S₀)
//
// P is a logistic model of what links, labels and priorities said of each URL
// before it was fetched, fitted on those that were (fitLogistic). U estimates the
// relevant pages to which no fetched page links, with links for captures: iChao
// of f₁…f₄, the relevant pages to which one to four fetched pages link, expected
// ones among those that wait. S₀ of them were found, start pages mostly.
//
// The interval takes ln of the unseen for normal, with the variance of the
// formulas and frontierSpread². ok is false when the crawls have no trail, or
// nothing was found or could be learnt.
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
	m := fitLogistic(r.examples)
	keys := slices.Sorted(maps.Keys(r.waiting)) // sums of floats want one order
	xs := make([][parts]float64, len(keys))
	for i, key := range keys {
		w := r.waiting[key]
		xs[i] = describe(r.evidence[key], w.Priority, r.hosts[w.Host], r.all)
	}
	waiting, variance := m.sum(len(xs), func(i int) *[parts]float64 { return &xs[i] })
	unlinked, unlinkedVariance := r.unlinked(func(i int) float64 { return m.probability(&xs[i]) }, keys)
	scale := float64(r.thin)
	unseen := scale * (waiting + unlinked)
	variance = scale * scale * (variance + unlinkedVariance)

	seen := r.all.relevant
	spread := math.Sqrt(variance/((unseen+1)*(unseen+1)) + frontierSpread*frontierSpread)
	factor := math.Exp(z95 * spread)
	return Population{
		Size: seen + unseen, Seen: int(seen), Method: methodFrontier,
		CI: Interval{seen + max(0, (unseen+1)/factor-1), seen + (unseen+1)*factor - 1},
	}, true
}

// unlinked estimates how many relevant pages no fetched page links to, beyond
// those that were found all the same. probability(i) is of the i-th key.
func (r *replay) unlinked(probability func(i int) float64, keys []uint64) (n, variance float64) {
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
	for i, key := range keys {
		count(r.evidence[key], probability(i))
	}
	n, variance = ichao(f[1], f[2], f[3], f[4])
	if n <= found {
		return 0, 0
	}
	return n - found, variance
}
