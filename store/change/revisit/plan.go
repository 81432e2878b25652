package revisit

import "math"

// plan shares the budget among the pages, by what is known of them, and lets each page be due
// by its share. O(n), a few times.
func (s *Scheduler) plan(now float64) {
	if s.learner != nil {
		s.learner.fit(func(page int32) evidence { return s.state[page].evidence })
	}
	shares := newShares(len(s.state), func(i int) int { return int(s.queue.host[i]) }, s.limits, s.demand)
	shares.enough = planned
	common, prices := shares.solve(s.budget, s.price, s.prices)
	s.price = max(common.hi, lowestPrice)
	s.prices = s.prices[:0]
	for _, p := range prices {
		s.prices = append(s.prices, p.hi)
	}
	shares.each(prices, func(i int, visits float64) {
		p := &s.state[i]
		if p.every = float32(1 / visits); p.signals { // visits come by signals
			p.every = float32(s.longest)
			if s.longest == 0 {
				p.every = float32(math.Inf(1))
			}
		}
	})
	for i := range s.state {
		p := &s.state[i]
		if p.failing > 0 && s.queue.due[i] > now { // its last visit may have been missed: that is no time to go by
			continue
		}
		if !p.flying {
			s.queue.due[i] = spread(i, now, s.queue.due[i], dueAfter(p.last, p.every), p.every)
		}
	}
	s.queue.rebuild()
	s.replan = s.next()
}

// planned is how near the pages' visits come to the budget, as the logarithm of their ratio.
const planned = 1e-3

// spread returns when a page is due. One that should have had a visit by now gets it within
// its interval, each page at another moment, so that there is no crowd; one that had been
// promised one keeps the promise.
func spread(i int, now, was, due float64, every float32) float64 {
	if due >= now {
		return due
	}
	_, phase := math.Modf(float64(i) * math.Phi) // the golden ratio's multiples lie evenly
	if due = now + phase*float64(every); was > math.Inf(-1) {
		due = min(due, was)
	}
	return due
}

// next returns the number of visits at which to plan again: where rates are learned, after a
// tenth more of them, not more than all pages, not less than a sixty-fourth.
func (s *Scheduler) next() int {
	n := len(s.state)
	if !s.learns() {
		return math.MaxInt
	}
	return s.visits + min(max(s.visits/4, n/64, 1), max(n/2, 1))
}

// learns says whether some page's rate is not known.
func (s *Scheduler) learns() bool {
	for i := range s.state {
		if math.IsNaN(float64(s.state[i].rate)) {
			return true
		}
	}
	return false
}

// demand returns the visits a day that a page gets when one costs price.
func (s *Scheduler) demand(i int, price float64) float64 {
	p := &s.state[i]
	weight := float64(p.weight)
	visits := 0.0
	price /= p.chance() // a visit is worth what it brings, times the chance that it does
	switch {
	case p.signals:
		rate := s.rate(i)
		visits = rate * s.policy.chance(price, rate, weight)
	case s.learner != nil && math.IsNaN(float64(p.rate)):
		visits = s.learner.visits(price, weight, p.evidence)
	default:
		visits = s.policy.rate(price, s.rate(i), weight)
	}
	if s.longest > 0 {
		visits = max(visits, 1/s.longest)
	}
	if p.failing > 0 {
		visits = max(visits, 1/s.rarely(i))
	}
	return visits
}

// rarest is after how many mean intervals a page is looked at again that is hardly to be had:
// else nobody would see that it came back.
const rarest = 16

// rarely is that in days, and so long that its host has room for all it has.
func (s *Scheduler) rarely(i int) float64 {
	days := float64(len(s.state)) / s.budget
	if s.limits != nil {
		h := s.queue.hosts[s.queue.host[i]]
		days = max(days, float64(h.end-h.first)*h.rest)
	}
	return rarest * days
}

// rate returns a page's changes a day: those known, else those estimated, else what all pages
// together have. Before the first visit that is one change between two visits.
func (s *Scheduler) rate(i int) float64 {
	p := &s.state[i]
	switch {
	case !math.IsNaN(float64(p.rate)):
		return float64(p.rate)
	case p.signals:
		return float64((p.evidence.changed[0] + 0.5) / (p.evidence.unchanged + 1))
	case p.evidence.visits > 0:
		return p.evidence.rate()
	case s.pooled.visits > 0:
		return s.pooled.rate()
	}
	return s.budget / float64(len(s.state))
}
