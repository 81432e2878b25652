package revisit

import "math/rand/v2"

// learner knows of pages what visits told, and what pages are like of which it knows more: the
// population from which their rates come, of any shape (empirical Bayes). It begins with all
// magnitudes alike.
//
// A page's visits are those worth their price in expectation over what its rate may be.
// That explores by itself: a page which may be slow is worth its look.
type learner struct {
	population belief
	sample     []int32 // visited pages that stand for all
	seen       int     // pages visited
}

// What the population is estimated from, and how.
const (
	sampled = 4096
	steps   = 40  // of expectation and maximisation, from the last estimate on
	alike   = 1.0 // pages' worth of all magnitudes alike
)

func newLearner() *learner {
	l := &learner{}
	for k := range l.population {
		l.population[k] = 1.0 / rates
	}
	return l
}

// note takes a page that was visited for the first time into the sample, or leaves it, so that
// each visited page has the same chance.
func (l *learner) note(page int32, rng *rand.Rand) {
	l.seen++
	if len(l.sample) < sampled {
		l.sample = append(l.sample, page)
	} else if at := rng.IntN(l.seen); at < sampled {
		l.sample[at] = page
	}
}

// fit estimates the population anew: the chances of rates under which the sample's visits are
// most likely to have found what they did.
func (l *learner) fit(of func(page int32) evidence) {
	if len(l.sample) == 0 {
		return
	}
	flat := belief{}
	for k := range flat {
		flat[k] = 1
	}
	likely := make([]belief, len(l.sample))
	for i, page := range l.sample {
		likely[i] = flat.times(of(page))
	}
	for range steps {
		l.population = step(l.population, likely)
	}
}

// step is one of expectation and maximisation.
func step(population belief, likely []belief) (next belief) {
	for k := range next {
		next[k] = alike / rates
	}
	for i := range likely {
		var b belief
		sum := 0.0
		for k := range b {
			b[k] = population[k] * likely[i][k]
			sum += b[k]
		}
		for k := range b {
			next[k] += b[k] / sum
		}
	}
	for k := range next {
		next[k] /= float64(len(likely)) + alike
	}
	return next
}

// visits returns the visits a day of a page at a price.
func (l *learner) visits(price, weight float64, e evidence) float64 {
	b := l.population
	if e.visits > 0 {
		b = b.times(e)
	}
	return b.visits(price, weight)
}
