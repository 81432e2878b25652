package cluster

import (
	"slices"
	"time"
)

// movingShare of an agent's fair part of the partitions may be on their way to it at a time.
// What moves rests, so few move at once.
const movingShare = 4

// spreading is a table in the making.
type spreading struct {
	n       *node
	now     time.Duration
	t       *table
	changed bool
	able    []AgentID       // who may be given partitions, sorted
	load    map[AgentID]int // partitions that each will have
}

// spread returns the next table, with what the coordinator knows of the agents: who came
// back, who died, what was let go, and evenly. Nil: it is as it should be. It changes t.
func (c coordinator) spread(now time.Duration, t *table) *table {
	s := spreading{n: c.node, now: now, t: t, changed: t.version == 0 || t.coordinator != c.opt.ID, load: map[AgentID]int{}}
	known := max(t.version, c.known)
	s.changed = s.changed || c.known > t.version
	for _, id := range c.sight.ids() {
		o := c.sight.others[id]
		known = max(known, o.beat.Known)
		s.changed = s.changed || o.beat.Known > t.version
		if id != c.opt.ID && c.gone(now, id) || o.revision == 0 {
			continue
		}
		if !o.beat.Leaving && !(id == c.opt.ID && c.leaving) {
			s.able = append(s.able, id)
		}
	}
	t.version = known + 1
	s.enrol()
	s.owners()
	for _, e := range t.entries {
		s.load[e.heir()]++
	}
	s.give()
	s.balance()
	s.keepers()
	if !s.changed {
		return nil
	}
	return t
}

// heir returns who has the partition when all that is under way is done.
func (e entry) heir() AgentID {
	if e.next != "" {
		return e.next
	}
	return e.owner
}

// enrol gives members the incarnation that they live in. What an agent owned before it came
// back it owns anew, and goes on from its own state if it has taken in the last owner's.
func (s *spreading) enrol() {
	for _, id := range s.n.sight.ids() {
		o := s.n.sight.others[id]
		incarnation := o.beat.Incarnation
		if id == s.n.opt.ID {
			incarnation = s.n.lease.incarnation
		} else if s.n.gone(s.now, id) || o.revision == 0 {
			continue
		}
		m, was := s.t.members[id]
		if was && m.incarnation >= incarnation {
			continue
		}
		m.incarnation = incarnation
		s.t.members[id] = m
		s.changed = true
		for i := range s.t.entries {
			if e := &s.t.entries[i]; e.owner == id {
				e.from, e.epoch = s.source(*e), s.t.version
			}
		}
	}
}

// source returns whose state of a partition is the newest: its owner's, or that of the one
// before, when the owner died before it had that.
func (s *spreading) source(e entry) AgentID {
	if o := s.n.sight.others[e.owner]; o == nil || o.beat.Report.Epoch < e.epoch {
		return e.from
	}
	return e.owner
}

// owners takes in what was let go, and takes over from the dead.
func (s *spreading) owners() {
	let := map[release]AgentID{}
	for id, o := range s.n.sight.others {
		for _, r := range o.beat.Released {
			if o.beat.Incarnation == s.t.members[id].incarnation {
				let[r] = id
			}
		}
	}
	if h := &s.n.hand; s.n.lease.joined {
		for p, epoch := range h.released {
			let[release{Partition: p, Epoch: epoch}] = s.n.opt.ID
		}
	}
	for id := range s.t.members {
		if o := s.n.sight.others[id]; o != nil && o.beat.Dead && id != s.n.opt.ID && s.now-o.changed >= s.n.opt.Grace {
			s.takeOver(id)
		}
	}
	for i := range s.t.entries {
		e := &s.t.entries[i]
		if e.owner == "" || let[release{Partition: Partition(i), Epoch: e.epoch}] != e.owner {
			continue
		}
		e.from, e.taken = e.owner, false
		e.owner, e.next, e.epoch = e.next, "", s.t.version
		if !slices.Contains(s.able, e.owner) {
			e.owner = ""
		}
		s.changed = true
	}
}

// takeOver frees the partitions of a dead member; its keeper has them, if it lives.
func (s *spreading) takeOver(id AgentID) {
	keeper := s.t.members[id].keeper
	if !slices.Contains(s.able, keeper) {
		keeper = ""
	}
	for i := range s.t.entries {
		if e := &s.t.entries[i]; e.owner == id {
			e.owner, e.from, e.taken, e.next, e.epoch = keeper, s.source(*e), true, "", s.t.version
		}
	}
	delete(s.t.members, id)
	s.changed = true
}

// give finds owners for what has none.
func (s *spreading) give() {
	for i := range s.t.entries {
		e := &s.t.entries[i]
		if e.next != "" && !slices.Contains(s.able, e.next) {
			s.load[e.next]--
			e.next = s.least()
			if e.next == "" {
				e.next = e.owner // nobody else; who lets go may have it again
			}
			s.load[e.next]++
			s.changed = true
		}
		if e.owner != "" || len(s.able) == 0 {
			continue
		}
		s.load[""]--
		e.owner, e.epoch = s.least(), s.t.version
		s.load[e.owner]++
		s.changed = true
	}
}

// least returns who has the fewest partitions, the first of several.
func (s *spreading) least() AgentID {
	best := AgentID("")
	for _, id := range s.able {
		if best == "" || s.load[id] < s.load[best] {
			best = id
		}
	}
	return best
}

// balance lets partitions go from who has more than a fair part, or leaves, to who has least.
// Those with two too many go first, so that no more move than have to.
func (s *spreading) balance() {
	if len(s.able) == 0 {
		return
	}
	moving := 0
	for _, e := range s.t.entries {
		if e.next != "" {
			moving++
		}
	}
	fair := len(s.t.entries) / len(s.able)
	for _, most := range []int{fair + 1, fair} {
		for i := range s.t.entries {
			e := &s.t.entries[i]
			if moving >= max(1, len(s.t.entries)/movingShare) {
				return
			}
			to := s.least()
			full := s.load[e.owner] > most && s.load[to] < min(most, s.load[e.owner]-1)
			if e.next != "" || to == e.owner || !s.obeys(e.owner) || !full && slices.Contains(s.able, e.owner) {
				continue
			}
			e.next = to
			s.load[e.owner]--
			s.load[to]++
			moving++
			s.changed = true
		}
	}
}

// obeys says whether an agent lives, to let go what it owns.
func (s *spreading) obeys(id AgentID) bool {
	o := s.n.sight.others[id]
	return id == s.n.opt.ID || o != nil && o.revision != 0 && !s.n.gone(s.now, id)
}

// keepers names who keeps each member's replica: the next one in order, for as long as it
// lives. Who has left as it should needs none: nobody is to hold its pages for lost.
func (s *spreading) keepers() {
	for id, m := range s.t.members {
		over := s.n.sight.leaves(id) && !slices.ContainsFunc(s.t.entries, func(e entry) bool { return e.owner == id || e.next == id })
		if m.keeper != id && slices.Contains(s.able, m.keeper) && !over {
			continue
		}
		keeper := AgentID("")
		for _, other := range s.able {
			if !over && other != id && (keeper == "" || keeper < id && other > id) {
				keeper = other
			}
		}
		if keeper != m.keeper {
			m.keeper = keeper
			s.t.members[id] = m
			s.changed = true
		}
	}
}
