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
	Longest   float64 // days between two visits to a page, but for a crowd; 0: some may get none
	Rand      *rand.Rand
}

// Scheduler says which page is next. It belongs to one goroutine. It takes 60 bytes a page,
// 56 a host.
type Scheduler struct {
	policy  Policy
	longest float64
	budget  float64
	queue   *queue
	state   []state
	meter   meter
	rand    *rand.Rand
	limits  []float64 // visits a day, by host; nil: none
	prices  []float64 // by host
	price   float64
	dearer  float64 // times the price, in a crowd
	// patience is how late (days) pages are that happen to be due together: some √n fetches.
	patience float64
	learner  *learner // nil: the policy goes by one rate
	pooled   evidence // of all pages of unknown rate
	visits   int
	replan   int // so many visits after which rates are shared out again
}

// state is what is known of a page.
type state struct {
	last     float64 // days
	weight   float32
	rate     float32 // changes a day; NaN: not known
	every    float32 // days between two visits, as planned
	evidence evidence
	signals  bool
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
	if least := float64(len(pages)) / o.Longest; o.Longest < 0 || math.IsNaN(o.Longest) || o.Longest > 0 && least > o.Budget {
		return nil, fmt.Errorf("to visit %d pages at least every %g days takes more than %g fetches a day; allow a longer time, or a budget of %.0f",
			len(pages), o.Longest, o.Budget, math.Ceil(least))
	}
	s := &Scheduler{
		policy: policy, longest: o.Longest, budget: o.Budget, limits: limits, rand: o.Rand,
		state: make([]state, len(pages)), meter: meter{every: 1 / o.Budget, next: now}, price: 1, dearer: 1,
		patience: 2 * math.Sqrt(float64(len(pages))) / o.Budget,
	}
	if s.rand == nil {
		s.rand = rand.New(rand.NewPCG(1, 0))
	}
	due, host := make([]float64, len(pages)), make([]int32, len(pages))
	for i, p := range pages {
		s.state[i] = state{last: p.Last, weight: float32(p.Weight), rate: float32(p.Rate), signals: p.Signals && policy.chance != nil}
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

// limits returns how many visits a day fit into the rests of each host.
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
// again: +Inf where nothing is to come but the end of a fetch, or a signal. O(log n).
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
	if s.queue.due[page] > now || p.signals {
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

// As many visits as there are pages, all of them late by muchLate intervals or more, make
// visits e^adapting times dearer. On draws 1000 to 1004 of the made-up web, with 20,000 pages,
// 4 and 30 do the same but for .0004; a price below the planned one makes uniform visits uneven.
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
		if !p.signals && math.IsNaN(float64(p.rate)) {
			p.evidence.add(gap, changed)
			s.pooled.add(gap, changed)
			if s.learner != nil && p.evidence.visits == 1 {
				s.learner.note(int32(page), s.rand)
			}
		}
		if !p.signals { // whose last is when it was first known
			p.last = at
		}
	}
	if every := s.interval(page); !p.signals && !(math.IsInf(float64(every), 0) && !math.IsNaN(float64(p.rate))) {
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
	if !p.signals {
		p.every = s.interval(page)
	}
}

// chance is that the next visit of a page succeeds, 1/256 at least.
func (p *state) chance() float64 { return 1 - float64(p.failing)/256 }

// Missed notes that the fetch of a page came to nothing. Its turn comes again after as long
// as if it had been visited.
func (s *Scheduler) Missed(page int, at float64) { s.end(page, at) }

// end gives a page its next turn.
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

// dueAfter is when a page is due again.
func dueAfter(at float64, every float32) float64 {
	if math.IsInf(float64(every), 0) {
		return never
	}
	return at + float64(every)
}

// Rest makes a host rest until a time (days) at least.
func (s *Scheduler) Rest(host int, until float64) { s.queue.hold(int32(host), until) }

// Signal notes that a page told of a change, which was at a time (days). A policy that does
// not listen to signals, or to this page's, does nothing.
func (s *Scheduler) Signal(page int, at float64) {
	p := &s.state[page]
	if !p.signals {
		return
	}
	p.evidence.changed[0]++
	p.evidence.unchanged = float32(at - p.last)
	chance := s.policy.chance(s.priceOf(page), s.rate(page), float64(p.weight))
	if !p.flying && s.rand.Float64() < chance {
		s.queue.set(int32(page), at)
	}
}

// News notes that a page has changed, as somebody says who is believed. A page with Signals
// takes it for one; another is due at once where that is worth it to a policy that listens.
func (s *Scheduler) News(page int, at float64) {
	p := &s.state[page]
	switch {
	case p.signals:
		s.Signal(page, at)
	case s.policy.chance == nil || p.flying || s.queue.due[page] <= at:
	case s.rand.Float64() < s.policy.chance(s.priceOf(page)*s.dearer, s.rate(page), float64(p.weight)):
		s.queue.set(int32(page), at)
	}
}

// Spend takes a fetch that is for no page off the budget.
func (s *Scheduler) Spend(now float64) { s.meter.spend(now) }

// priceOf returns the price of a visit at a page's host.
func (s *Scheduler) priceOf(page int) float64 {
	if s.limits == nil {
		return s.prices[0]
	}
	return s.prices[s.queue.host[page]]
}
