package cluster

import (
	"maps"
	"slices"
	"time"
)

// hand holds the partitions that an agent owns by the newest table that it has read.
type hand struct {
	table    *table
	gone     *table // the last one, when the exchange has lost its values
	revision uint64
	held     map[Partition]held
	released map[Partition]uint64 // by partition, the released epoch
	open     map[Partition]uint64 // released, or held by an earlier incarnation, and not known to be taken over
	past     map[Partition]uint64 // every partition ever held, with its last epoch
	keeper   AgentID
	kept     bool // keeper is known
}

type held struct {
	epoch     uint64
	rested    time.Duration // when no request of the last owner can still run
	wanted    bool          // by another agent
	releasing bool
}

func (h *hand) version() uint64 {
	if h.table == nil {
		return 0
	}
	return h.table.version
}

// owner returns the owner of a partition and its epoch; none without a table.
func (h *hand) owner(p Partition) (AgentID, uint64) {
	if h.table == nil {
		return "", 0
	}
	e := h.table.entries[p]
	return e.owner, e.epoch
}

// members are the agents of the table, or of the last one where it was lost.
func (h *hand) members() map[AgentID]member {
	switch {
	case h.table != nil:
		return h.table.members
	case h.gone != nil:
		return h.gone.members
	}
	return nil
}

// releases returns the released partitions, sorted.
func (h *hand) releases() []release { return listed(h.released) }

// holds returns every partition ever held, from which a lost table is made again; nothing
// while there is a table. Released partitions are included: the next owner may not know yet
// that it owns them.
func (h *hand) holds() []release {
	if h.table != nil {
		return nil
	}
	return listed(h.past)
}

func listed(epochs map[Partition]uint64) (all []release) {
	for _, p := range slices.Sorted(maps.Keys(epochs)) {
		all = append(all, release{Partition: p, Epoch: epochs[p]})
	}
	return all
}

// lapse marks all owned partitions as owned by an earlier incarnation.
func (h *hand) lapse() {
	for p, had := range h.held {
		h.open[p] = had.epoch
	}
	clear(h.held)
	clear(h.released)
}

// letGo handles that the engine has released a partition.
func (n *node) letGo(ev releasedEvent) {
	h, ok := n.hand.held[ev.partition]
	if !ok || h.epoch != ev.epoch || !h.releasing {
		return
	}
	delete(n.hand.held, ev.partition)
	n.hand.released[ev.partition], n.hand.open[ev.partition] = ev.epoch, ev.epoch
	n.lease.soon()
}

// seeTable handles a table that was read. A table older than one read before comes from an
// exchange that lost its values; the coordinator then writes one newer than any agent knows.
func (n *node) seeTable(now, asked time.Duration, v Value) {
	h := &n.hand
	if v.Revision == 0 {
		if h.table != nil && asked <= n.office.wrote {
			return
		}
		n.office.lost(now, h)
		return
	}
	if v.Revision == h.revision {
		n.office.missing = n.office.missing && h.table == nil // as for an unreadable table
		return
	}
	n.office.missing = false
	t, err := decodeTable(v.Bytes)
	if err == nil && len(t.entries) != n.opt.parts {
		err = errWire
	}
	if err != nil && n.sight.foreign {
		n.do(stop{err})
		return
	}
	if err != nil { // no agent of this crawl wrote it: overwrite it, as if it were lost
		n.office.lost(now, h)
		h.revision = v.Revision
		return
	}
	if h.table != nil && v.Revision < h.revision && asked <= n.office.wrote {
		return // read before our own later write
	}
	h.revision = v.Revision
	n.adopt(now, t)
}

// adopt makes a table the newest one.
func (n *node) adopt(now time.Duration, t *table) {
	h := &n.hand
	if t.version < n.known {
		h.table = t
		return // do not trust it before the coordinator knows what this agent knows
	}
	before := h.table
	h.table = t
	n.known = max(n.known, t.version)
	ours := t.members[n.opt.ID].incarnation == n.lease.incarnation && n.lease.joined
	var gained []Holding
	var lost []Partition
	for i, e := range t.entries {
		p := Partition(i)
		had, has := h.held[p]
		if h.released[p] != 0 && h.released[p] != e.epoch {
			delete(h.released, p)
		}
		switch {
		case e.owner != n.opt.ID || !ours:
			if has {
				delete(h.held, p)
				lost = append(lost, p)
			}
			continue
		case h.released[p] == e.epoch:
			continue
		case !has || had.epoch != e.epoch:
			g := n.opt.holding(p, e)
			h.past[p] = e.epoch
			had = held{epoch: e.epoch, rested: now + g.Wait}
			gained = append(gained, g)
			delete(h.open, p)
			n.in.begin(p)
		}
		had.wanted = e.next != ""
		h.held[p] = had
	}
	if len(gained)+len(lost) > 0 {
		n.do(ownChanged{gained: gained, lost: lost})
	}
	if before != nil && ours {
		for _, id := range slices.Sorted(maps.Keys(before.members)) {
			if _, lives := t.members[id]; !lives && before.members[id].keeper == n.opt.ID {
				n.do(keptDied{id})
			}
		}
	}
	if keeper := t.members[n.opt.ID].keeper; ours && (keeper != h.keeper || !h.kept) {
		h.keeper, h.kept = keeper, true
		n.do(keeperNamed{keeper})
	}
	n.out.share = n.opt.share(len(t.members))
	n.out.route(now, t)
}

// settle decides for each partition owned before whether another agent has taken it over.
func (n *node) settle() {
	h := &n.hand
	if h.table == nil || h.table.version < n.known {
		return
	}
	var lost, passed []Partition
	for _, p := range slices.Sorted(maps.Keys(h.open)) {
		e := h.table.entries[p]
		o := n.sight.others[e.owner]
		switch {
		case e.owner == n.opt.ID || e.owner == "":
			continue
		case e.taken || e.from != n.opt.ID:
			lost = append(lost, p)
		case o != nil && o.beat.Report.Epoch >= e.epoch:
			passed = append(passed, p)
		default:
			continue
		}
		delete(h.open, p)
	}
	if len(lost)+len(passed) > 0 {
		n.do(ownChanged{lost: lost, passed: passed})
	}
}

// releaseRested makes the engine release partitions that others are to own, but not before
// every request of an earlier owner is over: the next owner does not know of those.
func (n *node) releaseRested(now time.Duration) {
	h := &n.hand
	for _, p := range slices.Sorted(maps.Keys(h.held)) {
		if had := h.held[p]; had.wanted && !had.releasing && now >= had.rested {
			had.releasing = true
			h.held[p] = had
			n.do(releasePartition{p, had.epoch})
		}
	}
}

// holding describes a partition that this agent now owns. An owner that did not release it
// may have begun a fetch at the end of its lease.
func (o Options) holding(p Partition, e entry) Holding {
	h := Holding{Partition: p, Epoch: e.epoch, From: e.from, Taken: e.taken}
	if e.taken {
		h.Wait = o.Longest
	}
	if o.plant == noRest {
		h.Wait = 0
	}
	return h
}
