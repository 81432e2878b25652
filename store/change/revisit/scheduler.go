package revisit

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Options say how a Scheduler works.
type Options struct {
	Policy string  // a name of Policies
	Budget float64 // fetches a day, > 0
	// HostRests has the days that each host rests after a visit, ≥ 0. Without it hosts take
	// requests at any time, many at once.
	HostRests []float64
	Rand      *rand.Rand
}

// Scheduler says which page is next. It belongs to one goroutine. It takes 60 bytes a page,
// 56 a host.
type Scheduler struct {
	policy crawlPolicy
	budget float64
	queue  *queue
	state  []state
	meter  meter
	rand   *rand.Rand
	limits []float64 // visits a day, by host; nil: none
	prices []float64 // by host
	price  float64
	dearer float64 // times the price, in a crowd
	// patience is how late (days) pages are that happen to be due together: some √n fetches.
	patience float64
	learner  *learner // nil: the policy goes by one rate
	pooled   evidence // of all pages of unknown rate
	visits   int
	replan   int // so many visits after which rates are shared out again
}

type state struct {
	last     float64 // days
	weight   float32
	rate     float32 // changes a day; NaN: not known
	every    float32 // days between two visits, as planned
	evidence evidence
	flying   bool
	failing  uint8 // 256ths of the chance that the next visit fails
}

// New returns a scheduler of pages that begins at a time, now. Where a page's rate is NaN it is
// learned from visits. Errors say what of pages or options is wrong.
func New(pages []Page, now float64, o Options) (*Scheduler, error) {
	policy, err := byName(o.Policy)
	if err != nil {
		return nil, err
	}
	limits, err := limits(o.HostRests)
	if err != nil {
		return nil, err
	}
	if err := check(pages, o.Budget, limits); err != nil {
		return nil, err
	}
	s := &Scheduler{
		policy: policy, budget: o.Budget, limits: limits, rand: o.Rand,
		state: make([]state, len(pages)), meter: meter{every: 1 / o.Budget, next: now}, price: 1, dearer: 1,
		patience: 2 * math.Sqrt(float64(len(pages))) / o.Budget,
	}
	if s.rand == nil {
		s.rand = rand.New(rand.NewPCG(1, 0))
	}
	due, host := make([]float64, len(pages)), make([]int32, len(pages))
	for i, p := range pages {
		s.state[i] = state{last: p.Last, weight: float32(p.Weight), rate: float32(p.Rate)}
		if limits != nil {
			host[i] = int32(p.Host)
		}
		due[i] = math.Inf(-1)
	}
	if policy.learns {
		s.learner = newLearner()
	}
	s.queue = newQueue(due, host, o.HostRests)
	s.plan(now)
	return s, nil
}

func limits(rests []float64) ([]float64, error) {
	if rests == nil {
		return nil, nil
	}
	limits := make([]float64, len(rests))
	for h, rest := range rests {
		if !(rest >= 0) || math.IsInf(rest, 0) {
			return nil, fmt.Errorf("host %d: a rest of %v days; it must be 0 or more", h, rest)
		}
		limits[h] = 1 / rest
	}
	return limits, nil
}

// Next returns the page to fetch now (days), which is then in flight until Visited or Missed.
// Its host is neither fetched from nor resting. Without one it returns −1, and when to ask
// again: +Inf where nothing is to come but the end of a fetch. O(log n).
func (s *Scheduler) Next(now float64) (page int, again float64) {
	if now < s.meter.next {
		return -1, s.meter.next
	}
	p, again := s.queue.first(now)
	for p >= 0 && s.postponed(p, now) {
		p, again = s.queue.first(now)
	}
	if p < 0 {
		return -1, again
	}
	s.adapt((now - s.queue.due[p] - s.patience) / float64(s.state[p].every))
	s.queue.take(p)
	s.state[p].flying = true
	s.meter.spend(now)
	return int(p), now
}

// postponed says whether a page that was due is not, at the price of now; it is put off then.
func (s *Scheduler) postponed(page int32, now float64) bool {
	p := &s.state[page]
	if s.queue.due[page] > now {
		return false
	}
	every := s.interval(int(page))
	due := dueAfter(p.last, every)
	if due <= now || due == never { // no crowd lasts
		return false
	}
	p.every = every
	s.queue.set(page, due)
	return true
}

// interval is how long after a visit a page is due again, at the price of now; of one that gets
// no visits at that price, at the price planned.
func (s *Scheduler) interval(page int) float32 {
	price := s.priceOf(page)
	visits := s.demand(page, price*s.dearer)
	if visits == 0 {
		visits = s.demand(page, price)
	}
	return float32(1 / visits)
}

// adapt makes visits dearer where the page taken was late by so many of its intervals, and
// cheaper again, down to the price planned, where it was early. So a crowd of pages that are
// due makes those wait that lose least.
func (s *Scheduler) adapt(late float64) {
	step := adapting / float64(len(s.state))
	s.dearer = min(max(s.dearer*math.Exp(step*min(max(late/muchLate, -1), 1)), 1), dearest)
}

// As many visits as there are pages, all of them late by muchLate intervals or more, make visits
// e^adapting times dearer.
const (
	adapting = 12
	muchLate = 0.1
	dearest  = 100
)

// Visited notes that a page was fetched, and whether it had changed since the last time. A
// visit that Next did not ask for counts too. O(log n), but for the visits after which
// rates are shared out again.
func (s *Scheduler) Visited(page int, at float64, changed bool) {
	p := &s.state[page]
	if gap := at - p.last; gap > 0 {
		if math.IsNaN(float64(p.rate)) {
			p.evidence.add(gap, changed)
			s.pooled.add(gap, changed)
			if s.learner != nil && p.evidence.visits == 1 {
				s.learner.note(int32(page), s.rand)
			}
		}
		p.last = at
	}
	if every := s.interval(page); !math.IsInf(float64(every), 0) || math.IsNaN(float64(p.rate)) {
		p.every = every
	}
	s.end(page, at)
	if s.visits++; s.visits >= s.replan {
		s.plan(at)
	}
}

// Expect notes with what chance the next visit of a page succeeds, in (0,1]; at first that is
// 1. Its visits are worth so much less, and it gets fewer. What a visit found, Visited or
// Missed tells after it.
func (s *Scheduler) Expect(page int, chance float64) {
	p := &s.state[page]
	failing := uint8(min(max(256*(1-chance), 0), math.MaxUint8))
	if failing == p.failing {
		return
	}
	p.failing = failing
	p.every = s.interval(page)
}

// chance is that the next visit of a page succeeds, 1/256 at least.
func (p *state) chance() float64 { return 1 - float64(p.failing)/256 }

// Missed notes that the fetch of a page came to nothing. Its turn comes again after as long
// as if it had been visited.
func (s *Scheduler) Missed(page int, at float64) { s.end(page, at) }

func (s *Scheduler) end(page int, at float64) {
	p := &s.state[page]
	due := dueAfter(at, p.every)
	if p.flying {
		p.flying = false
		s.queue.done(int32(page), at, due)
		return
	}
	s.queue.set(int32(page), due)
}

func dueAfter(at float64, every float32) float64 {
	if math.IsInf(float64(every), 0) {
		return never
	}
	return at + float64(every)
}

// Rest makes a host rest until a time (days) at least.
func (s *Scheduler) Rest(host int, until float64) { s.queue.hold(int32(host), until) }

// News notes that a page has changed, as a trusted source says. Under a policy that learns it is
// due at once where a visit, worth weight/rate, is worth the price.
func (s *Scheduler) News(page int, at float64) {
	p := &s.state[page]
	if !s.policy.learns || p.flying || s.queue.due[page] <= at {
		return
	}
	if float64(p.weight) > s.priceOf(page)*s.dearer*s.rate(page) {
		s.queue.set(int32(page), at)
	}
}

// Spend takes a fetch that is for no page off the budget.
func (s *Scheduler) Spend(now float64) { s.meter.spend(now) }

func (s *Scheduler) priceOf(page int) float64 {
	if s.limits == nil {
		return s.prices[0]
	}
	return s.prices[s.queue.host[page]]
}

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
		s.state[i].every = float32(1 / visits)
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

func (s *Scheduler) learns() bool {
	for i := range s.state {
		if math.IsNaN(float64(s.state[i].rate)) {
			return true
		}
	}
	return false
}

func (s *Scheduler) demand(i int, price float64) float64 {
	p := &s.state[i]
	weight := float64(p.weight)
	visits := 0.0
	price /= p.chance() // a visit is worth what it brings, times the chance that it does
	switch {
	case s.learner != nil && math.IsNaN(float64(p.rate)):
		visits = s.learner.visits(price, weight, p.evidence)
	default:
		visits = s.policy.rate(price, s.rate(i), weight)
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
	case p.evidence.visits > 0:
		return p.evidence.rate()
	case s.pooled.visits > 0:
		return s.pooled.rate()
	}
	return s.budget / float64(len(s.state))
}
