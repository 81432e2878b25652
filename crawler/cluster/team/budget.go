package team

import (
	"context"
	"math"
	"slices"
	"time"

	"fossick/crawler"
	"fossick/crawler/cluster/shares"
)

// share divides what is left of the budget.
func (t *Team) share(ctx context.Context, slow bool) error {
	t.turn = (t.turn + 1) % len(t.agents)
	agents := slices.Concat(t.agents[t.turn:], t.agents[:t.turn])
	reports, spent := make([]shares.Report, len(agents)), uint64(0)
	for i, a := range agents {
		var err error
		if a.load, err = a.Load(ctx, headLinks*t.whole.Workers); err != nil {
			return err
		}
		spent += a.load.Spent
		reports[i] = shares.Report{Spent: a.load.Spent, Busy: a.busy(), Head: a.head()}
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
	return allow(ctx, agents, given, crawler.Allowance{Pages: most, Workers: t.whole.Workers})
}

// busy counts the agent's workers that are.
func (a *agent) busy() int { return a.load.Busy - a.load.Slow }

// waits notes how the crawl waits for better links.
func (t *Team) waits(price float64) {
	var busy int
	free := math.Inf(-1)
	for _, a := range t.agents {
		busy += a.busy()
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
	case a.load.Busy > 0 || a.load.Spent >= a.allowed.Pages || a.allowed.Workers == 0:
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

// allow tells the agents their shares of the whole: first what they have less of than before,
// as others may not have what these have spent meanwhile. So there is never more than the
// whole under way.
func allow(ctx context.Context, agents []*agent, given []shares.Share, whole crawler.Allowance) (err error) {
	for i, a := range agents {
		s := given[i]
		less := crawler.Allowance{Pages: min(s.Pages, a.allowed.Pages), Price: s.Price, Workers: min(s.Workers, a.allowed.Workers)}
		if a.allowed, err = a.Allow(ctx, less); err != nil {
			return err
		}
		whole.Pages -= min(whole.Pages, a.allowed.Pages)
		whole.Workers -= a.allowed.Workers
	}
	for i, a := range agents {
		had := a.allowed
		more := crawler.Allowance{Pages: given[i].Pages, Price: given[i].Price, Workers: given[i].Workers}
		more.Pages = max(had.Pages, min(more.Pages, had.Pages+whole.Pages))
		more.Workers = max(had.Workers, min(more.Workers, had.Workers+whole.Workers))
		if more == had {
			continue
		}
		if a.allowed, err = a.Allow(ctx, more); err != nil {
			return err
		}
		whole.Pages -= more.Pages - had.Pages
		whole.Workers -= more.Workers - had.Workers
	}
	return nil
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
