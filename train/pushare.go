package train

import (
	"context"
	"fmt"
	"math"
	"slices"

	"fossick/models"
)

// above returns, for each given page in rising order, the part of the pool that scores
// at least as much in the run where the page is a spy.
func (p *pu) above() []float64 {
	var parts []float64
	for k, r := range p.runs {
		pool := make([]float64, 0, len(p.pool))
		for _, i := range p.pool {
			pool = append(pool, r.scores[i])
		}
		slices.Sort(pool)
		for _, i := range p.given {
			if p.spyOf[i] == k {
				below, _ := slices.BinarySearch(pool, r.scores[i])
				parts = append(parts, float64(len(pool)-below)/float64(len(pool)))
			}
		}
	}
	slices.Sort(parts)
	return parts
}

// leastSpies is the part of the given pages that must rank above a place for estimate to
// look there: the best few say how lucky they are.
const leastSpies = 0.4

// share is the part of the pool that is on topic: the mean of what the last two rounds
// said. A round that takes too few is followed by one that takes too many.
func (p *pu) share() float64 {
	last := p.shares[max(0, len(p.shares)-2):]
	return (last[0] + last[len(last)-1]) / 2
}

// estimate says, by the held-out scores at hand, which part of the pool is on
// topic (mixture proportion).
func (p *pu) estimate() float64 { return shareOf(p.above()) }

// shareOf is estimate by the spies' places, rising. Let recall be the part of the spies
// above a place of the ranking. They are like the pool's pages on topic, so the pool
// has at least share · recall of its pages above it. The rest above is off
// topic. So
//
//	share ≤ min_k above(k) / (k/(n + 1))
//
// over the places of the spies, with equality where nothing off topic ranks so
// high (Blanchard, Lee and Scott 2010; Garg and others 2021).
func shareOf(above []float64) float64 {
	n := float64(len(above))
	least := 1.0
	for k, part := range above {
		if recall := float64(k+1) / (n + 1); recall >= leastSpies {
			least = min(least, part/recall)
		}
	}
	return least
}

// cut returns the margin from which on a page is on topic. It is that which as
// many pages reach, given ones and the pool's, as are on topic by share. So
// precision and recall are even. It lies half way between two pages. The scores are of
// classifiers that did not know the page: the finished one ranks the pages that it was
// trained on so that too few others would pass.
func (p *pu) cut(scores []float64) float64 {
	on := p.share()*float64(len(p.pool)) + float64(len(p.given))
	order := ranked(slices.Concat(p.given, p.pool), scores)
	found := min(len(order)-1, max(1, int(math.Round(on))))
	return (scores[order[found-1]] + scores[order[found]]) / 2
}

// labelled returns the pages that have a label in the end.
func (p *pu) labelled() (pages []int) {
	for i, use := range p.use {
		if use {
			pages = append(pages, i)
		}
	}
	return pages
}

// model makes the model of all pages that have a label.
func (p *pu) model(ctx context.Context) (*models.Model, error) {
	l := p.how.learner
	f, err := l.fit(ctx, p.c, p.labelled(), p.opt.fitting())
	if err != nil {
		return nil, err
	}
	m := f.model(p.c, l.name(), p.opt)
	m.Calibration = p.calibration()
	at := p.halves(p.cut(p.scores))
	m.Calibration.Apply(at)
	m.Thresholds = at
	m.Domain = p.c.domain(f, m, &heldOut{})
	m.Card.Pages = len(p.given) + len(p.pool)
	m.Card.PerClass = map[string]int{p.opt.Topic: len(p.given), p.c.classes[1-p.topic]: len(p.pool)}
	m.Card.Settings["unlabelled_pages"] = fmt.Sprint(len(p.pool))
	m.Card.Settings["unlabelled_on_topic"] = fmt.Sprintf("%.4f", p.share())
	return m, nil
}

// halves returns the scores of both classes that have a margin.
func (p *pu) halves(margin float64) []float64 {
	s := make([]float64, 2)
	s[p.topic], s[1-p.topic] = margin/2, -margin/2
	return s
}

// calibration makes margins m probabilities σ(a m + b). No page is known to be off
// topic, but the pool is a mixture: with the logistic loss the risk over its pages is,
// up to a constant (du Plessis, Niu and Sugiyama 2015),
//
//	mean_pool ln(1 + e^(a m + b)) − share · mean_given (a m + b)
//
// At its least, which Newton's steps find, the pool's probabilities sum up to what is
// on topic by share.
func (p *pu) calibration() models.Calibration {
	var scale, spread float64
	for _, i := range p.pool {
		scale += math.Abs(p.scores[i]) / float64(len(p.pool))
	}
	if scale == 0 {
		scale = 1 // no words: all scores are zero
	}
	share := min(max(p.share(), 0.5/float64(len(p.pool))), 0.99)
	for _, i := range p.given {
		spread += p.scores[i] / scale / float64(len(p.given))
	}
	loss := func(a, b float64) float64 {
		sum := calibrationRidge*a*a - share*(a*spread+b)
		for _, i := range p.pool {
			sum += softplus(a*p.scores[i]/scale+b) / float64(len(p.pool))
		}
		return sum
	}
	a, b := 1.0, math.Log(share/(1-share))
	for range calibrationSteps {
		ga, gb := 2*calibrationRidge*a-share*spread, -share
		haa, hab, hbb := 2*calibrationRidge, 0.0, 1e-9
		for _, i := range p.pool {
			x := p.scores[i] / scale
			q := 1 / (1 + math.Exp(-(a*x + b)))
			n := float64(len(p.pool))
			ga, gb = ga+q*x/n, gb+q/n
			q *= 1 - q
			haa, hab, hbb = haa+q*x*x/n, hab+q*x/n, hbb+q/n
		}
		det := haa*hbb - hab*hab
		if !(det > 0) {
			break
		}
		da, db := (hbb*ga-hab*gb)/det, (haa*gb-hab*ga)/det
		step := 1.0
		for before := loss(a, b); step > 1e-6 && !(loss(a-step*da, b-step*db) <= before); {
			step /= 2
		}
		a, b = a-step*da, b-step*db
	}
	cal := models.Calibration{Scale: max(a, leastScale) / scale, Offset: p.halves(b)}
	return cal
}

// Of calibration: the cost of a²; Newton's steps; the least a, for a page that is more
// like the topic is never less probable.
const (
	calibrationRidge = 1e-5
	calibrationSteps = 40
	leastScale       = 0.1
)

func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }
