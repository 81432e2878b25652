package train

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"fossick/models"
)

// ranked returns pages, the most probable first, of equal ones the earlier.
func (p *pu) ranked(pages []int) []int {
	order := slices.Clone(pages)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.scores[b], p.scores[a]) })
	return order
}

// above returns, for each given page as it ranks among the given, the part of the
// pool that scores at least as much.
func (p *pu) above() []float64 {
	pool := make([]float64, 0, len(p.pool))
	for _, i := range p.pool {
		pool = append(pool, -p.scores[i])
	}
	slices.Sort(pool)
	given := make([]float64, 0, len(p.given))
	for _, i := range p.given {
		given = append(given, -p.scores[i])
	}
	slices.Sort(given)
	part := make([]float64, len(given))
	for k, s := range given {
		n, _ := slices.BinarySearchFunc(pool, s, func(v, s float64) int {
			if v <= s {
				return -1
			}
			return 1
		})
		part[k] = float64(n) / float64(len(pool))
	}
	return part
}

// leastSpies is the part of the given pages that must rank above a place for estimate to
// look there: the best few say how lucky they are.
const leastSpies = 0.4

// share is the part of the pool that is on topic: the median of what the rounds said.
// The first are too high, for their classifiers hardly know the topic. Later ones get
// too low, for pages once taken for off topic teach that they are.
func (p *pu) share() float64 {
	all := slices.Sorted(slices.Values(p.shares))
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

// estimate says, by the held-out scores at hand, which part of the pool is on
// topic (mixture proportion). Let recall be the part of the given pages above a
// place of the ranking. They are like the pool's pages on topic, so the pool
// has at least share · recall of its pages above it. The rest above is off
// topic. So
//
//	share ≤ min_k above(k) / (k/(n + 1))
//
// over the places of the given pages, with equality where nothing off topic ranks so
// high (Blanchard, Lee and Scott 2010; Garg and others 2021).
func (p *pu) estimate() float64 {
	above := p.above()
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
// precision and recall are even. It lies half way between two pages. Recall is
// the part of the given pages above the margin, precision
//
//	on · recall / found
//
// on being the pages on topic and found all that are above; both are estimates.
func (p *pu) cut() (margin, precision, recall float64) {
	on := p.share()*float64(len(p.pool)) + float64(len(p.given))
	order := p.ranked(slices.Concat(p.given, p.pool))
	found := min(len(order)-1, max(1, int(math.Round(on))))
	margin = (p.scores[order[found-1]] + p.scores[order[found]]) / 2
	k := 0
	for _, i := range p.given {
		if p.scores[i] >= margin {
			k++
		}
	}
	recall = float64(k) / float64(len(p.given))
	return margin, min(1, on*recall/float64(found)), recall
}

// model makes the model of all pages that have a label.
func (p *pu) model(ctx context.Context) (*models.Model, error) {
	var labelled []int
	for i, use := range p.use {
		if use {
			labelled = append(labelled, i)
		}
	}
	l := p.how.learner
	f, err := l.fit(ctx, p.c, labelled, p.opt.fitting())
	if err != nil {
		return nil, err
	}
	m := f.model(p.c, l.name(), p.opt)
	var scores [][]float64
	var y []int
	for _, i := range labelled {
		s := make([]float64, 2)
		s[p.topic], s[1-p.topic] = p.scores[i]/2, -p.scores[i]/2
		scores, y = append(scores, s), append(y, p.c.y[i])
	}
	m.Calibration = calibrate(scores, y)
	margin, _, _ := p.cut()
	at := make([]float64, 2)
	at[p.topic], at[1-p.topic] = margin/2, -margin/2
	m.Calibration.Apply(at)
	m.Thresholds = at
	m.Card.Pages = len(p.given) + len(p.pool)
	m.Card.PerClass = map[string]int{p.opt.Topic: len(p.given), p.c.classes[1-p.topic]: len(p.pool)}
	m.Card.Settings["unlabelled_pages"] = fmt.Sprint(len(p.pool))
	m.Card.Settings["unlabelled_on_topic"] = fmt.Sprintf("%.4f", p.share())
	return m, nil
}

// told sums up.
func (p *pu) told() *PU {
	r := &PU{Given: len(p.given), Pool: len(p.pool), Share: p.share()}
	for _, i := range p.pool {
		switch {
		case p.use[i] && p.c.y[i] == p.topic:
			r.Taken++
		case p.use[i]:
			r.Reliable++
		}
	}
	_, r.Precision, r.Recall = p.cut()
	if r.Precision+r.Recall > 0 {
		r.F1 = 2 * r.Precision * r.Recall / (r.Precision + r.Recall)
	}
	return r
}
