package cluster

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"fossick/internal/wire"
)

// ledger holds how many pages an agent may store, and how many it gave back. Grants and
// returns only rise; their difference is how many pages the store may have.
type ledger struct {
	pending  bool // a budget is on its way
	unsure   bool // a write failed, or its result is unknown: read the budget first
	failed   time.Duration
	revision uint64
	wrote    time.Duration
	value    budgetValue
	plan     budgetValue
	next     time.Duration

	returned int64
	lowered  bool  // the engine has a lower limit, so that the rest can be given back
	from, to int64 // limits before and after
	told     allowPages
}

// granted returns how many pages an agent was ever granted.
func (l *ledger) granted(id AgentID) int64 { return l.value.Grants[id] }

// seeBudget handles a budget that was read.
func (n *node) seeBudget(asked time.Duration, v Value) {
	l := &n.ledger
	if v.Revision == 0 {
		if asked > l.wrote {
			l.revision = 0
		}
		return
	}
	if v.Revision == l.revision || v.Revision < l.revision && asked <= l.wrote {
		return // unchanged, or read before our own later write; otherwise all values were lost
	}
	value, err := decodeBudget(v.Bytes)
	if err != nil { // no agent of this crawl wrote it: keep the last budget read, and overwrite this one
		l.revision = v.Revision
		return
	}
	l.revision, l.value = v.Revision, value
	n.allow()
}

// budgetWritten handles the result of the swap of the budget.
func (n *node) budgetWritten(now time.Duration, revision uint64) {
	l := &n.ledger
	l.pending = false
	if revision == 0 {
		l.unsure, l.failed = true, now
	} else {
		l.revision, l.value, l.wrote = revision, l.plan, now
		n.allow()
	}
}

// allow tells the engine its limit and price if they have changed.
func (n *node) allow() {
	l := &n.ledger
	a := allowPages{max(0, l.granted(n.opt.ID)-l.returned), l.value.Price}
	if l.revision == 0 {
		return
	}
	if n.opt.MaxPages == 0 {
		a.pages = math.MaxInt64
	} else if l.lowered {
		a.pages = l.to
	}
	if a != l.told {
		l.told = a
		n.do(a)
	}
	if l.value.Ended != "" && n.ended == "" {
		n.ended = l.value.Ended
		n.do(endCrawl{n.ended})
	}
}

// giveBack returns pages that the agent cannot use, so that others may store them. First it
// lowers the limit of the engine; pages begun meanwhile stay with the agent.
func (n *node) giveBack() {
	l, r := &n.ledger, n.report
	if n.opt.MaxPages == 0 || l.revision == 0 {
		return
	}
	if l.lowered {
		if r.Allowed != l.to {
			return
		}
		l.returned += max(0, l.from-max(l.to, r.Pages+r.InFlight))
		l.lowered = false
		n.allow()
		return
	}
	limit := l.granted(n.opt.ID) - l.returned
	useless := r.Waiting == 0 || len(r.Head) > 0 && r.Head[0] < l.value.Price
	if useless && !l.value.Plenty && r.InFlight == 0 && limit > r.Pages {
		l.lowered, l.from, l.to = true, limit, r.Pages
		n.allow()
	}
}

// divide writes the next budget, every third of a lease.
func (c coordinator) divide(now time.Duration) {
	l := &c.ledger
	if l.pending || l.unsure || now < l.next || c.office.pending != 0 {
		return
	}
	l.next = now + c.lease.every
	v := budgetValue{Version: wireVersion, Grants: maps.Clone(l.value.Grants)}
	if v.Grants == nil {
		v.Grants = map[AgentID]int64{}
	}
	v.Ended = c.endedWhy(now)
	v.Price = max(c.price(now), c.waits(now))
	if c.opt.MaxPages > 0 && v.Ended == "" {
		v.Plenty = c.grant(now, v.Grants)
	}
	if l.revision != 0 && v.Ended == l.value.Ended && v.Price == l.value.Price && v.Plenty == l.value.Plenty && maps.Equal(v.Grants, l.value.Grants) {
		return
	}
	l.pending, l.plan = true, v
	c.do(swapValue{budgetKey, wire.Encode(v), l.revision})
}

// living returns the agents that are alive, sorted.
func (c coordinator) living(now time.Duration) []AgentID {
	return slices.DeleteFunc(slices.Clone(c.sight.ids()), func(id AgentID) bool {
		return c.sight.others[id].revision == 0 || c.gone(now, id) && id != c.opt.ID
	})
}

// offer is a number of links of one priority that an agent could fetch soon.
type offer struct {
	agent    AgentID
	priority float64
	links    int64
}

// offers returns all agents' best links, best first; of equals, by agent.
func (c coordinator) offers(now time.Duration) (all []offer) {
	for _, id := range c.living(now) {
		r := c.sight.others[id].beat.Report
		for _, priority := range r.Head {
			all = append(all, offer{id, priority, max(1, int64(r.Each))})
		}
	}
	slices.SortStableFunc(all, func(a, b offer) int { return cmp.Compare(b.priority, a.priority) })
	return all
}

// horizon is the greatest age of what an agent relies on: a heartbeat, a budget, a reading.
func (c coordinator) horizon() time.Duration { return 3 * c.lease.every }

// takes returns how many links an agent can fetch within the horizon.
func (c coordinator) takes(r *Report) int64 {
	return max(int64(r.Workers), int64(r.Pace*c.horizon().Seconds()))
}

// price returns the priority above which there is enough for all workers until the next price
// has reached everybody; -Inf when there is not. Priorities are of any sign: those of
// breadth-first are below 0.
func (c coordinator) price(now time.Duration) float64 {
	var wanted int64
	for _, id := range c.living(now) {
		wanted += c.takes(&c.sight.others[id].beat.Report)
	}
	all := c.offers(now)
	for i := range max(0, len(all)-1) {
		if wanted -= all[i].links; wanted <= 0 {
			return all[i].priority
		}
	}
	return math.Inf(-1)
}

// waits returns the priority below which agents skip links because better ones wait; -Inf
// when they skip none.
func (c coordinator) waits(now time.Duration) float64 {
	if c.opt.Price == nil {
		return math.Inf(-1)
	}
	var all []Report
	for _, id := range c.living(now) {
		all = append(all, c.sight.others[id].beat.Report)
	}
	return c.opt.Price(all)
}

// free returns how many pages can still be granted. Pages granted to an agent count as spent
// even if it is dead: it may only be frozen, and come back with its store.
func (c coordinator) free(grants map[AgentID]int64) int64 {
	free := c.opt.MaxPages
	for id, g := range grants {
		o := c.sight.others[id]
		if o == nil {
			free -= g
			continue
		}
		spent := g - o.beat.Returned
		switch {
		case c.opt.plant == deadAreFree && o.beat.Dead:
			spent = o.beat.Report.Pages
		case c.opt.plant == returnsTwice:
			spent -= o.beat.Returned
		}
		free -= spent
	}
	return free
}

// leastExchange is the assumed time of a fetch until one has been measured.
const leastExchange = 100 * time.Millisecond

// plentyShare limits what all agents together hold for links that they may yet find: a
// sixteenth of the pages left. A crawl may end short by as much when they die.
const plentyShare = 16

// grant raises the grants of the agents with the best links. While many pages are left, an
// agent gets the most that it can fetch until the next grant reaches it, so that none waits
// for one. Later it gets what its reports say that it fetches. At the end, when the pages do
// not suffice for all, each page goes to the best link that has none yet.
func (c coordinator) grant(now time.Duration, grants map[AgentID]int64) (plenty bool) {
	living := c.living(now)
	outstanding, most := map[AgentID]int64{}, map[AgentID]int64{}
	for _, id := range living {
		b := c.sight.others[id].beat
		grants[id] = max(grants[id], b.Returned+b.Report.Pages) // a store that had pages before
		outstanding[id] = grants[id] - b.Returned - b.Report.Pages
	}
	free := max(0, c.free(grants)) // below 0 when a store had unknown pages; grants never fall
	for _, id := range living {
		r := &c.sight.others[id].beat.Report
		fastest := 2 * c.takes(r)
		if r.Pace == 0 {
			fastest = int64(r.Workers) * int64(c.horizon()/leastExchange)
		}
		ahead := min(fastest, free/int64(plentyShare*len(living)))
		most[id] = max(ahead, min(r.Waiting, max(int64(2*r.Workers), int64(r.Rate*c.horizon().Seconds()))))
		plenty = plenty || ahead >= int64(2*r.Workers)
	}
	covered := map[AgentID]int64{}
	for _, o := range c.offers(now) {
		covered[o.agent] += o.links
		more := max(0, min(covered[o.agent], most[o.agent])-outstanding[o.agent])
		more = min(more, free)
		grants[o.agent] += more
		outstanding[o.agent] += more
		free -= more
	}
	for _, id := range living { // all its hosts rest: it may begin when one is free
		r := c.sight.others[id].beat.Report
		if free > 0 && len(r.Head) == 0 && outstanding[id] == 0 && most[id] > 0 {
			grants[id]++
			outstanding[id]++
			free--
		}
	}
	wanted := int64(0)
	for id := range most {
		wanted += max(0, most[id]-outstanding[id])
	}
	if wanted == 0 || free < 2*wanted {
		return plenty
	}
	for id := range most { // an agent can fetch more than the links in its report
		grants[id] += max(0, most[id]-outstanding[id])
	}
	return plenty
}
