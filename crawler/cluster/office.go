package cluster

import (
	"slices"
	"time"

	"fossick/internal/wire"
)

// office is the coordinator's role: to write the table and the budget, and to say who is
// dead. Two that both hold themselves for the coordinator cannot both write.
type office struct {
	pending uint64 // version of a table on its way; 0: none
	plan    *table
	fencing map[AgentID]bool // keys that are being marked as dead

	unsure  bool          // a table was refused, or nobody knows; look first
	failed  time.Duration // when
	wrote   time.Duration // when the last table of this agent was accepted
	missing bool          // there is no table
	since   time.Duration // as seen first

	end ending
}

// lost takes in that there is no table. Another may be written when the lease of all who
// may still go by one is over.
func (o *office) lost(now time.Duration, h *hand) {
	if !o.missing {
		o.missing, o.since = true, now
		if h.table != nil {
			h.gone = h.table
		}
		h.table, h.revision = nil, 0
	}
}

// coordinator is a node in that role.
type coordinator struct{ *node }

// coordinate does what a coordinator does, if this agent is the one, or can become it. It has
// just seen everybody: else a table may be newer than what it knows of those in it.
func (c coordinator) coordinate(now time.Duration) {
	o := &c.office
	if !c.sight.looked || !c.sight.all || !c.leased(now) || c.ended != "" {
		return
	}
	t := c.hand.table
	switch {
	case o.pending != 0 || o.unsure:
		return
	case t == nil:
		if o.missing && (c.opt.Fresh && c.known == 0 || now-o.since >= c.opt.Lease*3/2) {
			c.write(now, c.spread(now, c.anew(now)))
		}
		return
	case t.coordinator != c.opt.ID:
		if c.gone(now, t.coordinator) || c.prefers() && !c.sight.others[t.coordinator].beat.Prefers {
			c.write(now, c.spread(now, t.clone()))
		}
		return
	}
	c.fence(now)
	if next := c.spread(now, t.clone()); next != nil {
		c.write(now, next)
	}
	c.divide(now)
}

// anew returns a table for an exchange that has none: who held a partition last, by its epoch,
// has it again. So agents that all start again, with an empty exchange, go on from their stores.
func (c coordinator) anew(now time.Duration) *table {
	t := &table{members: map[AgentID]member{}, entries: make([]entry, c.opt.parts)}
	for i := range t.entries { // an owner that nobody here knows of may have begun a fetch
		t.entries[i].taken = !c.opt.Fresh
	}
	living := c.living(now)
	for _, id := range living {
		for _, h := range c.sight.others[id].beat.Held {
			if int(h.Partition) < len(t.entries) && h.Epoch > t.entries[h.Partition].epoch {
				t.entries[h.Partition] = entry{owner: id, epoch: h.Epoch, from: id, taken: !c.opt.Fresh}
			}
		}
	}
	c.bequeath(t, living)
	return t
}

// bequeath gives the keepers of those who are not there what these had by the table that was
// lost: an agent that was down when the exchange lost its values is not heard of. What the
// owner had not got yet is its last owner's.
func (c coordinator) bequeath(t *table, living []AgentID) {
	was := c.hand.gone
	if was == nil {
		return
	}
	next := c.known // no keeper has the state of this epoch
	for _, id := range c.sight.ids() {
		next = max(next, c.sight.others[id].beat.Known)
	}
	for i, e := range was.entries {
		if t.entries[i].epoch >= e.epoch {
			continue // who lives claims it
		}
		from := e.owner
		if o := c.sight.others[e.owner]; slices.Contains(living, e.owner) || o != nil && o.beat.Seq > 0 && o.beat.Report.Epoch < e.epoch {
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

// prefers says whether others know that this agent wants the role, and stays.
func (c coordinator) prefers() bool {
	return c.lease.confirmed && c.lease.last.Prefers && !c.leaving
}

// onlyOne says whether nobody else lives.
func (n *node) onlyOne(now time.Duration) bool {
	return !slices.ContainsFunc(n.sight.ids(), func(id AgentID) bool { return id != n.opt.ID && !n.gone(now, id) })
}

// gone says whether an agent has been marked as dead, or is surely to be.
func (n *node) gone(now time.Duration, id AgentID) bool {
	o := n.sight.others[id]
	if o == nil { // named by the table alone: its key was lost, or never read
		n.sight.others[id] = &other{changed: now}
		return false
	}
	return o.beat.Dead || o.silent(n.opt.Lease)
}

// fence marks those as dead that fell silent. Only if their key has not changed since, so none
// of their heartbeats was accepted after the one that was seen.
func (c coordinator) fence(now time.Duration) {
	for _, id := range c.sight.ids() {
		o := c.sight.others[id]
		if id == c.opt.ID || o.beat.Dead || o.revision == 0 || c.office.fencing[id] || now < o.fence || !o.silent(c.opt.Lease) {
			continue
		}
		c.office.fencing[id], o.fence = true, now+c.lease.every
		dead := o.beat
		dead.Dead = true
		c.do(swapValue{agentKeys + string(id), wire.Encode(dead), o.revision})
	}
}

// write swaps the table.
func (c coordinator) write(now time.Duration, t *table) {
	if t == nil {
		return
	}
	if t.coordinator != c.opt.ID {
		t.coordinator = c.opt.ID
		t.term++
		c.office.end = ending{}
	}
	c.office.pending, c.office.plan = t.version, t
	c.do(swapValue{tableKey, t.encode(), c.hand.revision})
}

// tableWritten takes in how the swap of the table ended.
func (n *node) tableWritten(now time.Duration, revision uint64) {
	t := n.office.plan
	n.office.pending, n.office.plan = 0, nil
	if revision == 0 {
		n.office.unsure, n.office.failed = true, now
		return
	}
	n.office.missing, n.office.wrote = false, now
	n.hand.revision = revision
	n.adopt(now, t)
}
