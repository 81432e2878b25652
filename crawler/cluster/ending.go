package cluster

import (
	"math"
	"time"
)

// ending is how a coordinator knows that the crawl is over.
type ending struct {
	rounds int      // in which all agents were idle and had not moved
	all    []idling // in the last of them, by agent
	newest uint64   // revision of a heartbeat in it
	marks  []mark   // of the last pages, for the harvest
}

// idling is an agent that had nothing to do.
type idling struct {
	agent       AgentID
	incarnation uint64
	moves       uint64
	table       uint64
}

// mark is how far the crawl was.
type mark struct{ pages, relevant int64 }

// idleRounds makes an end. Agents report at different times, so a parcel could be where nobody
// has looked yet. If all heartbeats of the second round were accepted after the first, then those
// of the third were written after it. Who had not moved by then was idle at its end, all at once,
// with all parcels acknowledged.
const idleRounds = 3

// endedWhy says why the crawl is over; nothing while it is not.
func (c coordinator) endedWhy(now time.Duration) string {
	switch {
	case c.ledger.value.Ended != "":
		return c.ledger.value.Ended
	case c.allIdle(now):
		return EndedEmpty
	case c.opt.MaxPages > 0 && c.spent(now) >= c.opt.MaxPages && c.settled(now):
		return EndedPages
	case c.poor(now):
		return EndedHarvest
	}
	return ""
}

// allIdle counts the rounds.
func (c coordinator) allIdle(now time.Duration) bool {
	e := &c.office.end
	all, oldest, newest, ok := c.idlers(now)
	switch {
	case !ok:
		e.rounds, e.all = 0, nil
	case !equal(all, e.all):
		e.rounds, e.all, e.newest = 1, all, newest
	case oldest > e.newest:
		e.rounds++
		e.newest = newest
	}
	return e.rounds >= idleRounds
}

func equal(a, b []idling) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// idlers returns all living agents if each has nothing to do, has seen the newest table and
// has what it owns by that.
func (c coordinator) idlers(now time.Duration) (all []idling, oldest, newest uint64, ok bool) {
	t := c.hand.table
	oldest = math.MaxUint64
	for _, id := range c.living(now) {
		o := c.sight.others[id]
		b := o.beat
		if !b.Report.idle() || b.Known != t.version || t.members[id].incarnation != b.Incarnation {
			return nil, 0, 0, false
		}
		all = append(all, idling{id, b.Incarnation, b.Report.Moves, b.Known})
		oldest, newest = min(oldest, o.revision), max(newest, o.revision)
	}
	for _, e := range t.entries {
		o := c.sight.others[e.owner]
		if o == nil || e.next != "" || c.gone(now, e.owner) && e.owner != c.opt.ID || o.beat.Report.Epoch < e.epoch {
			return nil, 0, 0, false
		}
	}
	return all, oldest, newest, len(all) > 0
}

// settled says whether nothing is under way by what the living reported last: a parcel may say
// that a page is a duplicate, and its place in the budget free.
func (c coordinator) settled(now time.Duration) bool {
	for _, id := range c.living(now) {
		if r := &c.sight.others[id].beat.Report; r.InFlight > 0 || r.Outbox > 0 {
			return false
		}
	}
	return true
}

// spent returns how many pages the whole has, with those that the dead may have.
func (c coordinator) spent(now time.Duration) (pages int64) {
	living := map[AgentID]bool{}
	for _, id := range c.living(now) {
		living[id] = true
		pages += c.sight.others[id].beat.Report.Pages
	}
	for id, g := range c.ledger.value.Grants {
		if !living[id] {
			if o := c.sight.others[id]; o != nil {
				g -= o.beat.Returned
			}
			pages += g
		}
	}
	return pages
}

// poor says whether the last pages of all agents were worth too little: the upper end of
// Wilson's one-sided 99 % interval of their harvest is below the least.
func (c coordinator) poor(now time.Duration) bool {
	if c.opt.MinHarvest <= 0 {
		return false
	}
	var m mark
	for _, o := range c.sight.others {
		m.pages += o.beat.Report.Pages
		m.relevant += o.beat.Report.Relevant
	}
	e := &c.office.end
	if k := len(e.marks); k == 0 || m.pages > e.marks[k-1].pages {
		e.marks = append(e.marks, m)
	}
	window := int64(c.opt.HarvestPages)
	for len(e.marks) > 1 && m.pages-e.marks[1].pages >= window {
		e.marks = e.marks[1:]
	}
	first := e.marks[0]
	if m.pages-first.pages < window {
		return false
	}
	return upper(m.relevant-first.relevant, m.pages-first.pages) < c.opt.MinHarvest
}

// upper returns the upper end of Wilson's one-sided 99 % interval of k of n.
func upper(k, n int64) float64 {
	const z = 2.326
	share, size := float64(k)/float64(n), float64(n)
	spread := z * math.Sqrt(share*(1-share)/size+z*z/(4*size*size))
	return (share + z*z/(2*size) + spread) / (1 + z*z/size)
}
