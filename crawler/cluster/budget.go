package cluster

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"fossick/internal/wire"
)

// ledger holds an agent's page grants and returns. Both only rise; their difference is what the
// agent may store.
type ledger struct {
	pending  bool
	unsure   bool // a write failed or its result is unknown: read the budget first
	failed   time.Duration
	revision uint64
	wrote    time.Duration
	value    budgetValue
	plan     budgetValue
	next     time.Duration

	returned int64
	lowered  bool  // the engine got a lower limit, so that the rest can be given back
	from, to int64 // the engine's limits before and after
	allowed  allowPages
}

func (n *node) seeBudget(asked time.Duration, v Value) {
	l := &n.ledger
	if v.Revision == 0 {
		if asked > l.wrote {
			l.revision = 0
		}
		return
	}
	if v.Revision == l.revision || v.Revision < l.revision && asked <= l.wrote {
		return // unchanged, or read before our own later write; a lower revision otherwise means that all values were lost
	}
	l.revision = v.Revision
	value, err := decodeBudget(v.Bytes)
	if err != nil {
		return // not written by an agent of this crawl: keep the last budget, and overwrite this one
	}
	l.value = value
	n.allow()
}

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

func (n *node) allow() {
	l := &n.ledger
	a := allowPages{max(0, l.value.Grants[n.opt.ID]-l.returned), l.value.Price}
	if l.revision == 0 {
		return
	}
	if n.opt.maxPages == 0 {
		a.pages = math.MaxInt64
	} else if l.lowered {
		a.pages = l.to
	}
	if a != l.allowed {
		l.allowed = a
		n.do(a)
	}
	if l.value.Ended != "" && n.ended == "" {
		n.ended = l.value.Ended
		n.do(endCrawl{n.ended})
	}
}

// giveBack returns pages that the agent cannot use. It lowers the engine's limit first; pages of
// fetches begun before stay with the agent.
func (n *node) giveBack() {
	l, r := &n.ledger, n.report
	if n.opt.maxPages == 0 || l.revision == 0 {
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
	limit := l.value.Grants[n.opt.ID] - l.returned
	useless := r.Waiting == 0 || len(r.Head) > 0 && r.Head[0] < l.value.Price
	if useless && !l.value.Plenty && r.InFlight == 0 && limit > r.Pages {
		l.lowered, l.from, l.to = true, limit, r.Pages
		n.allow()
	}
}

func (n *node) divide(now time.Duration) {
	l := &n.ledger
	if l.pending || l.unsure || now < l.next || n.coord.pending != 0 {
		return
	}
	l.next = now + n.lease.every
	v := budgetValue{Version: wireVersion, Grants: map[AgentID]int64{}}
	maps.Copy(v.Grants, l.value.Grants)
	v.Ended = n.endedWhy(now)
	v.Price = n.price(now)
	if n.opt.price != nil {
		v.Price = max(v.Price, n.opt.price(n.reports(now)))
	}
	if n.opt.maxPages > 0 && v.Ended == "" {
		v.Plenty = n.grant(now, v.Grants)
	}
	if l.revision != 0 && v.Ended == l.value.Ended && v.Price == l.value.Price && v.Plenty == l.value.Plenty && maps.Equal(v.Grants, l.value.Grants) {
		return
	}
	l.pending, l.plan = true, v
	n.do(swapValue{budgetKey, wire.Encode(v), l.revision})
}

func (n *node) reports(now time.Duration) (all []report) {
	for _, id := range n.living(now) {
		all = append(all, n.view.others[id].beat.Report)
	}
	return all
}

// offer is a number of links of one priority that an agent can fetch soon.
type offer struct {
	agent    AgentID
	priority float64
	links    int64
}

// offers returns the best links of all agents, best first, ties by agent.
func (n *node) offers(now time.Duration) (all []offer) {
	for _, id := range n.living(now) {
		r := n.view.others[id].beat.Report
		for _, priority := range r.Head {
			all = append(all, offer{id, priority, max(1, int64(r.Each))})
		}
	}
	slices.SortStableFunc(all, func(a, b offer) int { return cmp.Compare(b.priority, a.priority) })
	return all
}

// horizon is the greatest age of facts that an agent acts on.
func (n *node) horizon() time.Duration { return 3 * n.lease.every }

// takes returns how many links an agent can fetch within the horizon.
func (n *node) takes(r *report) int64 {
	return max(int64(r.Workers), int64(r.Pace*n.horizon().Seconds()))
}

// price returns the priority above which there are enough links for all workers until the next
// price, or -Inf. Priorities may be negative, as in breadth-first.
func (n *node) price(now time.Duration) float64 {
	var wanted int64
	for _, r := range n.reports(now) {
		wanted += n.takes(&r)
	}
	all := n.offers(now)
	for i := range max(0, len(all)-1) {
		if wanted -= all[i].links; wanted <= 0 {
			return all[i].priority
		}
	}
	return math.Inf(-1)
}

// free returns how many pages can still be granted. A dead agent's grants count as spent: it may
// only be frozen, and come back.
func (n *node) free(grants map[AgentID]int64) int64 {
	free := n.opt.maxPages
	for id, g := range grants {
		o := n.view.others[id]
		if o == nil {
			free -= g
			continue
		}
		spent := g - o.beat.Returned
		switch {
		case n.opt.defect == deadAreFree && o.beat.Dead:
			spent = o.beat.Report.Pages
		case n.opt.defect == returnsTwice:
			spent -= o.beat.Returned
		}
		free -= spent
	}
	return free
}

const (
	// leastExchange is the assumed duration of a fetch until one has been measured.
	leastExchange = 100 * time.Millisecond
	// plentyShare limits the unused pages of all agents to a sixteenth of those left. A crawl may
	// end short by that many if agents die.
	plentyShare = 16
)

// grant raises the grants of agents with the best links: while many pages are left, to the most
// that they can fetch before the next grant arrives; later to what they do fetch. When pages are
// short, they go to the best links.
func (n *node) grant(now time.Duration, grants map[AgentID]int64) (plenty bool) {
	living := n.living(now)
	outstanding, most := map[AgentID]int64{}, map[AgentID]int64{}
	for _, id := range living {
		b := n.view.others[id].beat
		grants[id] = max(grants[id], b.Returned+b.Report.Pages) // for a store that already had pages
		outstanding[id] = grants[id] - b.Returned - b.Report.Pages
	}
	free := max(0, n.free(grants)) // negative when a store had unknown pages; grants never fall
	for _, id := range living {
		r := &n.view.others[id].beat.Report
		fastest := 2 * n.takes(r)
		if r.Pace == 0 {
			fastest = int64(r.Workers) * int64(n.horizon()/leastExchange)
		}
		ahead := min(fastest, free/int64(plentyShare*len(living)))
		most[id] = max(ahead, min(r.Waiting, max(int64(2*r.Workers), int64(r.Rate*n.horizon().Seconds()))))
		plenty = plenty || ahead >= int64(2*r.Workers)
	}
	covered := map[AgentID]int64{}
	for _, o := range n.offers(now) {
		covered[o.agent] += o.links
		more := max(0, min(covered[o.agent], most[o.agent])-outstanding[o.agent])
		more = min(more, free)
		grants[o.agent] += more
		outstanding[o.agent] += more
		free -= more
	}
	wanted := int64(0)
	for _, id := range living {
		r := n.view.others[id].beat.Report
		if free > 0 && len(r.Head) == 0 && outstanding[id] == 0 && most[id] > 0 { // all its hosts rest: one page lets it start when a host is free
			grants[id]++
			outstanding[id]++
			free--
		}
		wanted += max(0, most[id]-outstanding[id])
	}
	if wanted == 0 || free < 2*wanted {
		return plenty
	}
	for id := range most { // agents can fetch more links than their reports list
		grants[id] += max(0, most[id]-outstanding[id])
	}
	return plenty
}

type ending struct {
	rounds int      // successive rounds in which all agents were idle and unchanged
	all    []idling // agents in the last round
	newest uint64   // highest revision of a heartbeat in it
	marks  []mark   // for the harvest of the last pages
}

type idling struct {
	agent       AgentID
	incarnation uint64
	moves       uint64
	table       uint64
}

type mark struct{ pages, relevant int64 }

// idleRounds is how many idle rounds end a crawl, as one round could miss a parcel. If all
// heartbeats of the second round were accepted after the first, those of the third were written
// after it. An agent that is unchanged by then was idle when the first round ended. So all were
// idle at once, with all parcels acknowledged.
const idleRounds = 3

func (n *node) endedWhy(now time.Duration) string {
	switch {
	case n.ledger.value.Ended != "":
		return n.ledger.value.Ended
	case n.allIdle(now):
		return endedEmpty
	case n.opt.maxPages > 0 && n.spent(now) >= n.opt.maxPages && n.settled(now):
		return endedPages
	case n.poor():
		return endedHarvest
	}
	return ""
}

func (n *node) allIdle(now time.Duration) bool {
	e := &n.coord.end
	all, oldest, newest, ok := n.idlers(now)
	switch {
	case !ok:
		e.rounds, e.all = 0, nil
	case !slices.Equal(all, e.all):
		e.rounds, e.all, e.newest = 1, all, newest
	case oldest > e.newest:
		e.rounds++
		e.newest = newest
	}
	return e.rounds >= idleRounds
}

// idlers returns all living agents if each is idle, and has the newest table and its partitions'
// state.
func (n *node) idlers(now time.Duration) (all []idling, oldest, newest uint64, ok bool) {
	t := n.owned.table
	oldest = math.MaxUint64
	for _, id := range n.living(now) {
		o := n.view.others[id]
		b := o.beat
		if !b.Report.idle() || b.Known != t.version || t.members[id].incarnation != b.Incarnation {
			return nil, 0, 0, false
		}
		all = append(all, idling{id, b.Incarnation, b.Report.Moves, b.Known})
		oldest, newest = min(oldest, o.revision), max(newest, o.revision)
	}
	for _, e := range t.entries {
		o := n.view.others[e.owner]
		if o == nil || e.next != "" || n.gone(now, e.owner) && e.owner != n.opt.ID || o.beat.Report.Epoch < e.epoch {
			return nil, 0, 0, false
		}
	}
	return all, oldest, newest, len(all) > 0
}

// settled reports whether nothing is under way: a parcel may reveal a duplicate, which frees a
// page.
func (n *node) settled(now time.Duration) bool {
	return !slices.ContainsFunc(n.reports(now), func(r report) bool { return r.InFlight > 0 || r.Outbox > 0 })
}

// spent returns how many pages all agents have, including those that dead agents may have.
func (n *node) spent(now time.Duration) (pages int64) {
	living := map[AgentID]bool{}
	for _, id := range n.living(now) {
		living[id] = true
		pages += n.view.others[id].beat.Report.Pages
	}
	for id, g := range n.ledger.value.Grants {
		if living[id] {
			continue
		}
		if o := n.view.others[id]; o != nil {
			g -= o.beat.Returned
		}
		pages += g
	}
	return pages
}

// poor reports whether the harvest of the last pages is surely below minHarvest, by upper.
func (n *node) poor() bool {
	if n.opt.minHarvest <= 0 {
		return false
	}
	var m mark
	for _, o := range n.view.others {
		m.pages += o.beat.Report.Pages
		m.relevant += o.beat.Report.Relevant
	}
	e := &n.coord.end
	if k := len(e.marks); k == 0 || m.pages > e.marks[k-1].pages {
		e.marks = append(e.marks, m)
	}
	for len(e.marks) > 1 && m.pages-e.marks[1].pages >= n.opt.harvestPages {
		e.marks = e.marks[1:]
	}
	first := e.marks[0]
	pages := m.pages - first.pages
	return pages >= n.opt.harvestPages && upper(m.relevant-first.relevant, pages) < n.opt.minHarvest
}

// upper returns the upper end of Wilson's one-sided 99 % interval of k out of n.
func upper(k, n int64) float64 {
	const z = 2.326
	share, size := float64(k)/float64(n), float64(n)
	spread := z * math.Sqrt(share*(1-share)/size+z*z/(4*size*size))
	return (share + z*z/(2*size) + spread) / (1 + z*z/size)
}
