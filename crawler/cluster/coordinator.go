package cluster

import (
	"slices"
	"time"

	"fossick/internal/wire"
)

// coordination is the coordinator's role: to write the table and the budget, and to mark agents as
// dead. If two agents act as coordinator, only one can write.
type coordination struct {
	pending uint64 // version of a table whose swap is under way; 0: none
	plan    *table
	fencing map[AgentID]bool // agents whose keys are being marked as dead

	unsure  bool // a table was refused, or the result is unknown: read it first
	failed  time.Duration
	wrote   time.Duration // when the last table written by this agent was accepted
	missing bool
	since   time.Duration // when the table was first seen missing

	end ending
}

// coordinate does the coordinator's work if this agent is or can become it. The last reading must
// have covered all agents, as a table may be newer than what is known of its members.
func (n *node) coordinate(now time.Duration) {
	o := &n.coord
	if !n.view.looked || !n.view.all || !n.leased(now) || n.ended != "" {
		return
	}
	t := n.owned.table
	switch {
	case o.pending != 0 || o.unsure:
	case t == nil:
		if o.missing && (n.opt.Fresh && n.known == 0 || now-o.since >= n.opt.Lease*3/2) {
			n.write(n.spread(now, n.anew(now)))
		}
	case t.coordinator != n.opt.ID:
		if n.gone(now, t.coordinator) || n.prefers() && !n.view.others[t.coordinator].beat.Prefers {
			n.write(n.spread(now, t.clone()))
		}
	default:
		n.fence(now)
		n.write(n.spread(now, t.clone()))
		n.divide(now)
	}
}

// prefers reports whether others know that this agent wants the role and stays.
func (n *node) prefers() bool {
	return n.lease.confirmed && n.lease.last.Prefers && !n.leaving
}

func (n *node) write(t *table) {
	if t == nil {
		return
	}
	if t.coordinator != n.opt.ID {
		t.coordinator = n.opt.ID
		t.term++
		n.coord.end = ending{}
	}
	n.coord.pending, n.coord.plan = t.version, t
	n.do(swapValue{tableKey, t.encode(), n.owned.revision})
}

func (n *node) tableWritten(now time.Duration, revision uint64) {
	t := n.coord.plan
	n.coord.pending, n.coord.plan = 0, nil
	if revision == 0 {
		n.coord.unsure, n.coord.failed = true, now
		return
	}
	n.coord.missing, n.coord.wrote = false, now
	n.owned.revision = revision
	n.adopt(now, t)
}

// fence marks silent agents as dead. The swap fails if the agent has written its key since.
func (n *node) fence(now time.Duration) {
	for _, id := range n.view.ids() {
		o := n.view.others[id]
		if id == n.opt.ID || o.beat.Dead || o.revision == 0 || n.coord.fencing[id] || now < o.fence || !o.silent(n.opt.Lease) {
			continue
		}
		n.coord.fencing[id], o.fence = true, now+n.lease.every
		dead := o.beat
		dead.Dead = true
		n.do(swapValue{agentKeys + string(id), wire.Encode(dead), o.revision})
	}
}

// anew returns a table for an exchange without one. Partitions return to their owner with the
// highest epoch, so agents that all restart with an empty exchange go on from their stores.
func (n *node) anew(now time.Duration) *table {
	t := &table{members: map[AgentID]member{}, entries: make([]entry, n.opt.parts)}
	for i := range t.entries { // an owner unknown here may have begun a fetch
		t.entries[i].taken = !n.opt.Fresh
	}
	living := n.living(now)
	for _, id := range living {
		for _, h := range n.view.others[id].beat.Held {
			if int(h.Partition) < len(t.entries) && h.Epoch > t.entries[h.Partition].epoch {
				t.entries[h.Partition] = entry{owner: id, epoch: h.Epoch, from: id, taken: !n.opt.Fresh}
			}
		}
	}
	n.bequeath(t, living)
	return t
}

// bequeath gives partitions of absent agents to their keepers by the lost table, since these
// agents send no heartbeat. If an owner had not taken over its predecessor's state, the
// predecessor's keeper gets them.
func (n *node) bequeath(t *table, living []AgentID) {
	was := n.owned.gone
	if was == nil {
		return
	}
	next := n.known // no keeper has the state of this epoch
	for _, id := range n.view.ids() {
		next = max(next, n.view.others[id].beat.Known)
	}
	for i, e := range was.entries {
		if t.entries[i].epoch >= e.epoch {
			continue // a living agent claims it
		}
		from := e.owner
		if o := n.view.others[e.owner]; slices.Contains(living, e.owner) || o != nil && o.beat.Seq > 0 && o.beat.Report.Epoch < e.epoch {
			from = e.from
		}
		if from == "" || slices.Contains(living, from) {
			continue
		}
		keeper := was.members[from].keeper
		if !slices.Contains(living, keeper) {
			keeper = ""
		}
		t.entries[i] = entry{owner: keeper, epoch: next + 1, from: from, taken: true}
	}
}

// movingShare: at most a quarter of the partitions move at once, as they rest while they move.
const movingShare = 4

type spreading struct {
	*node
	now     time.Duration
	t       *table
	changed bool
	able    []AgentID       // agents that may receive partitions, sorted
	load    map[AgentID]int // number of partitions of each agent, once all moves are done
}

// spread changes t into the next table, or returns nil if nothing changes.
func (n *node) spread(now time.Duration, t *table) *table {
	s := spreading{node: n, now: now, t: t, changed: t.version == 0 || t.coordinator != n.opt.ID || n.known > t.version, load: map[AgentID]int{}}
	known := max(t.version, n.known)
	for _, id := range n.view.ids() {
		o := n.view.others[id]
		known = max(known, o.beat.Known)
		s.changed = s.changed || o.beat.Known > t.version
		if s.alive(id) && o.revision != 0 && !o.beat.Leaving && !(id == n.opt.ID && n.leaving) {
			s.able = append(s.able, id)
		}
	}
	t.version = known + 1
	s.enrol()
	s.owners()
	for _, e := range t.entries {
		heir := e.owner // owner after the moves under way
		if e.next != "" {
			heir = e.next
		}
		s.load[heir]++
	}
	s.give()
	s.balance()
	s.keepers()
	if !s.changed {
		return nil
	}
	return t
}

func (s *spreading) alive(id AgentID) bool { return id == s.opt.ID || !s.gone(s.now, id) }

// enrol updates members' incarnations. An agent that came back owns its partitions anew, from its
// own state if that was complete.
func (s *spreading) enrol() {
	for _, id := range s.view.ids() {
		o := s.view.others[id]
		incarnation := o.beat.Incarnation
		if id == s.opt.ID {
			incarnation = s.lease.incarnation
		} else if !s.alive(id) || o.revision == 0 {
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

// source returns the agent with the newest state of a partition: its owner, or the predecessor if
// the owner died before it had taken that over.
func (s *spreading) source(e entry) AgentID {
	if o := s.view.others[e.owner]; o == nil || o.beat.Report.Epoch < e.epoch {
		return e.from
	}
	return e.owner
}

func (s *spreading) owners() {
	let := map[release]AgentID{}
	for id, o := range s.view.others {
		for _, r := range o.beat.Released {
			if o.beat.Incarnation == s.t.members[id].incarnation {
				let[r] = id
			}
		}
	}
	if s.lease.joined {
		for _, r := range listed(s.owned.released) {
			let[r] = s.opt.ID
		}
	}
	for id := range s.t.members {
		if o := s.view.others[id]; o != nil && o.beat.Dead && id != s.opt.ID && s.now-o.changed >= s.opt.Grace {
			s.takeOver(id)
		}
	}
	for i := range s.t.entries {
		e := &s.t.entries[i]
		if e.owner == "" || let[release{Partition: partition(i), Epoch: e.epoch}] != e.owner {
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

// takeOver gives a dead member's partitions to its keeper if alive, or to nobody.
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

func (s *spreading) give() {
	for i := range s.t.entries {
		e := &s.t.entries[i]
		if e.next != "" && !slices.Contains(s.able, e.next) {
			s.load[e.next]--
			e.next = s.least()
			if e.next == "" {
				e.next = e.owner // no other agent: the owner may have it again
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

// least returns the agent with the fewest partitions, the first by name on a tie.
func (s *spreading) least() AgentID {
	best := AgentID("")
	for _, id := range s.able {
		if best == "" || s.load[id] < s.load[best] {
			best = id
		}
	}
	return best
}

// balance moves partitions to the agents with the fewest. It takes first from agents two above a
// fair share, so that it moves no more than needed.
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

func (s *spreading) obeys(id AgentID) bool {
	o := s.view.others[id]
	return id == s.opt.ID || o != nil && o.revision != 0 && s.alive(id)
}

// keepers names the keeper of each member's replica, the next agent by name, for as long as it
// lives. An agent that leaves with nothing left needs none.
func (s *spreading) keepers() {
	for id, m := range s.t.members {
		over := s.view.leaves(id) && !slices.ContainsFunc(s.t.entries, func(e entry) bool { return e.owner == id || e.next == id })
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
