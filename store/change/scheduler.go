package change

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// SchedulerOptions are the settings of a Scheduler.
type SchedulerOptions struct {
	Policy string  // Name of one of Policies
	Budget float64 // fetches per day, > 0
	// HostRests is the days that each host rests after a visit, ≥ 0; nil means no limits.
	HostRests []float64
	Rand      *rand.Rand
}

// Scheduler decides which page is next, for one goroutine. It takes 60 bytes per page, 64 per host.
type Scheduler struct {
	policy crawlPolicy
	budget float64
	queue  *queue
	state  []state
	meter  meter
	rand   *rand.Rand
	limits []float64 // visits per day, by host; nil: none
	prices []float64 // by host
	price  float64
	dearer float64 // factor on the price during a crowd of due pages
	// patience is the usual lateness (days) when pages happen to be due together: some √n fetches.
	patience float64
	learner  *learner  // nil: the policy uses a single rate
	pooled   visitSums // of all pages with unknown rate
	visits   int
	replan   int // number of visits at which to plan again
}

type state struct {
	last     float64 // days
	weight   float32
	rate     float32 // changes per day; NaN if unknown
	every    float32 // planned days between two visits
	evidence visitSums
	flying   bool
	failing  uint8 // probability that the next visit fails, in 256ths
}

// NewScheduler returns a scheduler of pages that starts at now (days). A rate of NaN is learned from visits.
func NewScheduler(pages []Copy, now float64, o SchedulerOptions) (*Scheduler, error) {
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

// Next returns the page to fetch now (days), which is then in flight until Visited or Missed. Its
// host is neither being fetched from nor resting. If there is none it returns −1 and when to ask
// again; +Inf if that depends on the end of a fetch. O(log n).
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

// postponed reports whether a due page is not due at the present price, and reschedules it.
func (s *Scheduler) postponed(page int32, now float64) bool {
	p := &s.state[page]
	if s.queue.due[page] > now {
		return false
	}
	every := s.interval(int(page))
	due := dueAfter(p.last, every)
	if due <= now || due == never { // a crowd does not last for ever
		return false
	}
	p.every = every
	s.queue.set(page, due)
	return true
}

// interval returns the days between visits to a page at the present or else the planned price.
func (s *Scheduler) interval(page int) float32 {
	price := s.priceOf(page)
	visits := s.demand(page, price*s.dearer)
	if visits == 0 {
		visits = s.demand(page, price)
	}
	return float32(1 / visits)
}

// adapt raises the price if the page taken was late, by the given number of its intervals, and
// lowers it down to the planned price if it was early. So when too many pages are due, those wait
// that lose least.
func (s *Scheduler) adapt(late float64) {
	step := adapting / float64(len(s.state))
	s.dearer = min(max(s.dearer*math.Exp(step*min(max(late/muchLate, -1), 1)), 1), dearest)
}

// After as many visits as pages, all late by muchLate intervals, the price is e^adapting times
// higher.
const (
	adapting = 12
	muchLate = 0.1
	dearest  = 100
)

// Visited notes that a page was fetched and whether it had changed since the last visit. It also
// counts visits that Next did not ask for. O(log n), except when it plans again.
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

// Expect sets the probability, in (0,1], that the next visit of a page succeeds; it is 1 at first.
// A visit is worth that much less, so the page gets fewer. Call it before Visited or Missed.
func (s *Scheduler) Expect(page int, chance float64) {
	p := &s.state[page]
	failing := uint8(min(max(256*(1-chance), 0), math.MaxUint8))
	if failing == p.failing {
		return
	}
	p.failing = failing
	p.every = s.interval(page)
}

// chance returns the probability that the next visit of a page succeeds, at least 1/256.
func (p *state) chance() float64 { return 1 - float64(p.failing)/256 }

// Missed notes that the fetch of a page failed. Its next turn comes as after a visit.
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

// Rest makes a host rest at least until a time (days).
func (s *Scheduler) Rest(host int, until float64) { s.queue.hold(int32(host), until) }

// News notes that a trusted source announced a change of a page. Under a policy that learns, the
// page is due at once if a visit, worth weight/rate, is worth the price.
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

// plan divides the budget among the pages and sets their due times, in a few passes of O(n).
func (s *Scheduler) plan(now float64) {
	if s.learner != nil {
		s.learner.fit(func(page int32) visitSums { return s.state[page].evidence })
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
		if p.failing > 0 && s.queue.due[i] > now { // its last visit may have been missed, so p.last gives no due time
			continue
		}
		if !p.flying {
			s.queue.due[i] = spread(i, now, s.queue.due[i], dueAfter(p.last, p.every), p.every)
		}
	}
	s.queue.rebuild()
	s.replan = s.next()
}

// planned is the tolerance of all visits to the budget, as the logarithm of their ratio.
const planned = 1e-3

// spread returns when a page is due. An overdue page gets its visit within one interval, each at
// another moment to avoid a crowd, but not later than it was due before.
func spread(i int, now, was, due float64, every float32) float64 {
	if due >= now {
		return due
	}
	_, phase := math.Modf(float64(i) * math.Phi) // multiples of the golden ratio are evenly distributed
	if due = now + phase*float64(every); was > math.Inf(-1) {
		due = min(due, was)
	}
	return due
}

// next returns the number of visits at which to plan again if rates are learned.
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
	price /= p.chance() // the worth of a visit is multiplied by the chance that it succeeds
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

// rarest is the number of mean intervals between visits to a page that nearly always fails.
const rarest = 16

// rarely returns that in days, long enough for its host to serve all its pages.
func (s *Scheduler) rarely(i int) float64 {
	days := float64(len(s.state)) / s.budget
	if s.limits != nil {
		h := s.queue.hosts[s.queue.host[i]]
		days = max(days, float64(h.end-h.first)*h.rest)
	}
	return rarest * days
}

// rate returns a page's changes per day: known, else estimated, else pooled over all pages; before
// the first visit, one change between two visits.
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
