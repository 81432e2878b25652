package learned

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// Sight is what is seen of a waiting target, or of a page as it arrives: material to learn an Order from.
// Nothing in it names a web.
type Sight struct {
	Key      uint64    // page.Key
	Crawl    []float32 // state of the crawl
	Features []float32 // of the target, or of the page
	Odds     float32   // log-odds by the present weights
}

// Sights returns the n best waiting targets and n others drawn at random.
func (l *Scorer) Sights(n int, rng *rand.Rand) []Sight {
	l.mu.Lock()
	defer l.mu.Unlock()
	type target struct {
		key  uint64
		e    *evidence
		odds float64
	}
	var all []target
	for key, e := range l.links.waiting.All() {
		if e.parents > 0 {
			all = append(all, target{key, e, logit(inside(l.model.promise(e, nil)))})
		}
	}
	slices.SortFunc(all, func(a, b target) int { return cmp.Or(cmp.Compare(b.odds, a.odds), cmp.Compare(a.key, b.key)) })
	best := min(n, len(all))
	rest := all[best:]
	rng.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	crawl := slices.Clone(l.model.state[:])
	var out []Sight
	for _, t := range all[:min(len(all), 2*n)] {
		out = append(out, Sight{t.key, crawl, l.model.sight(t.e), float32(t.odds)})
	}
	return out
}

// sight is what is seen of a target.
func (m *linkModel) sight(e *evidence) []float32 {
	var x featureVector
	m.features(&x, e, nil)
	return floats32(x[:])
}

// PageSight is what was seen of the last page that was not a start page. The first call makes the scorer
// record it, and returns nothing.
func (l *Scorer) PageSight() Sight {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watch = true
	return l.arrived
}

func floats32(x []float64) []float32 {
	out := make([]float32, len(x))
	for i, v := range x {
		out[i] = float32(v)
	}
	return out
}
