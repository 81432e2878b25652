package team

import (
	"context"
	"math"
	"time"

	"fossick/cluster/shares"
	"fossick/crawler"
)

// share divides what is left of the budget.
func (t *Team) share(ctx context.Context, slow bool) error {
	reports, spent := make([]shares.Report, len(t.agents)), uint64(0)
	for i, a := range t.agents {
		var err error
		if a.load, err = a.Load(ctx, headLinks*t.whole.Workers); err != nil {
			return err
		}
		spent += a.load.Spent
		reports[i] = shares.Report{Spent: a.load.Spent, Busy: a.load.Busy, Head: a.head()}
		t.count(a)
	}
	most := uint64(1) << 62
	if t.whole.MaxPages > 0 {
		most = t.whole.MaxPages
	}
	t.reachOut(reports, slow)
	given := shares.Divide(most-min(most, spent), t.whole.Workers, t.reach, reports)
	price, err := t.pricer.least(ctx, t.agents, most-min(most, spent))
	if err != nil {
		return err
	}
	for i := range given {
		given[i].Price = max(given[i].Price, price)
	}
	t.waits(price)
	return t.allow(ctx, most, given)
}

// waits notes how the crawl waits for better links.
func (t *Team) waits(price float64) {
	var busy int
	free := math.Inf(-1)
	for _, a := range t.agents {
		busy += a.load.Busy
		for _, priority := range a.load.Head {
			if priority < price {
				free = max(free, priority)
				break // the best first
			}
		}
	}
	p := t.pricer.waits(busy < t.whole.Workers && !math.IsInf(free, -1), free)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.patience = p
}

// head is what the agent has to offer: nothing now and then, while it does not use what it
// may spend, so that others may.
func (a *agent) head() []float64 {
	now := time.Now()
	switch {
	case a.load.Busy > 0 || a.load.Spent >= a.allowed:
		a.unused = time.Time{}
	case a.unused.IsZero():
		a.unused = now
	case now.Sub(a.unused) > keeps:
		a.unused = time.Time{}
		return nil
	}
	return a.load.Head
}

// reachOut looks at more links while workers have nothing to do: the best ones may be of
// newcomers that wait for their turn, or of hosts that rest. In one crawl an idle worker takes
// the best link that is free.
func (t *Team) reachOut(reports []shares.Report, slow bool) {
	busy := 0
	for _, r := range reports {
		busy += r.Busy
	}
	if slow && 4*busy < 3*t.whole.Workers {
		t.reach = min(max(2*t.reach, t.whole.Workers), farthest*t.whole.Workers)
	} else {
		t.reach /= 2
	}
}

// allow tells the agents their shares, first those that get no more than they had: what
// these have spent meanwhile, others may not.
func (t *Team) allow(ctx context.Context, most uint64, given []shares.Share) error {
	var more []int
	for i, a := range t.agents {
		if given[i].Pages > a.allowed {
			more = append(more, i)
		} else if err := a.may(ctx, given[i]); err != nil {
			return err
		}
	}
	for _, i := range more {
		others := uint64(0)
		for k, a := range t.agents {
			if k != i {
				others += a.allowed
			}
		}
		s := given[i]
		s.Pages = min(s.Pages, most-min(most, others))
		if err := t.agents[i].may(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// may sets what an agent may spend.
func (a *agent) may(ctx context.Context, s shares.Share) (err error) {
	a.allowed, err = a.Allow(ctx, crawler.Allowance{Pages: s.Pages, Price: s.Price, Workers: s.Workers})
	return err
}

// count has the harvest count an agent's new pages.
func (t *Team) count(a *agent) {
	a.relevant = min(a.relevant, a.load.Counts.Relevant) // of one that was dropped
	for ; a.pages < a.load.Counts.LastPage(); a.pages++ {
		relevant := a.relevant < a.load.Counts.Relevant
		if relevant {
			a.relevant++
		}
		t.harvest.Count(relevant)
	}
	next := t.harvest.Estimate()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next = next
}
