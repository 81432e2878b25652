package cluster

import (
	"crypto/sha256"
	"encoding/binary"
	"fossick/internal/page"
	"maps"
	"slices"
	"sync"
	"time"
)

// ownership holds the partitions that this agent owns by the newest table read.
type ownership struct {
	table    *table
	gone     *table // the last table, once the exchange has lost its values
	revision uint64
	parts    map[partition]ownedPart
	released map[partition]uint64
	open     map[partition]uint64 // released, or held by an earlier incarnation; not known to be taken over
	past     map[partition]uint64 // last epoch of every partition ever held
	keeper   AgentID
	kept     bool // the engine knows the keeper
}

type ownedPart struct {
	epoch     uint64
	rested    time.Duration // when no request of the last owner can still run
	wanted    bool          // another agent shall own it next
	releasing bool
}

func (h *ownership) version() uint64 {
	if h.table == nil {
		return 0
	}
	return h.table.version
}

func (h *ownership) owner(p partition) (AgentID, uint64) {
	if h.table == nil {
		return "", 0
	}
	e := h.table.entries[p]
	return e.owner, e.epoch
}

// members returns the agents of the table, or of the lost table.
func (h *ownership) members() map[AgentID]member {
	switch {
	case h.table != nil:
		return h.table.members
	case h.gone != nil:
		return h.gone.members
	}
	return nil
}

func listed(epochs map[partition]uint64) (all []release) {
	for _, p := range slices.Sorted(maps.Keys(epochs)) {
		all = append(all, release{Partition: p, Epoch: epochs[p]})
	}
	return all
}

// lapse treats all owned partitions as owned by an earlier incarnation.
func (h *ownership) lapse() {
	for p, had := range h.parts {
		h.open[p] = had.epoch
	}
	clear(h.parts)
	clear(h.released)
}

// seeTable handles a table. One older than before comes from an exchange that lost its values;
// the coordinator then writes a newer one.
func (n *node) seeTable(now, asked time.Duration, v Value) {
	h := &n.owned
	if v.Revision == 0 {
		if h.table == nil || asked > n.coord.wrote {
			n.tableLost(now)
		}
		return
	}
	if v.Revision == h.revision {
		n.coord.missing = n.coord.missing && h.table == nil // stay missing if the table was unreadable
		return
	}
	n.coord.missing = false
	t, err := decodeTable(v.Bytes)
	if err == nil && len(t.entries) != n.opt.parts {
		err = errWire
	}
	switch {
	case err != nil && n.view.foreign:
		n.do(stop{err})
	case err != nil: // not written by an agent of this crawl: overwrite it like a lost one
		n.tableLost(now)
		h.revision = v.Revision
	case h.table != nil && v.Revision < h.revision && asked <= n.coord.wrote: // read before our own later write
	default:
		h.revision = v.Revision
		n.adopt(now, t)
	}
}

// tableLost starts the wait until no agent's lease can still rely on the lost table.
func (n *node) tableLost(now time.Duration) {
	o, h := &n.coord, &n.owned
	if o.missing {
		return
	}
	o.missing, o.since = true, now
	if h.table != nil {
		h.gone = h.table
	}
	h.table, h.revision = nil, 0
}

func (n *node) adopt(now time.Duration, t *table) {
	h := &n.owned
	before := h.table
	h.table = t
	if t.version < n.known {
		return // do not trust it until the coordinator knows what this agent knows
	}
	n.known = t.version
	ours := t.members[n.opt.ID].incarnation == n.lease.incarnation && n.lease.joined
	var gained []holding
	var lost []partition
	for i, e := range t.entries {
		p := partition(i)
		had, has := h.parts[p]
		if h.released[p] != 0 && h.released[p] != e.epoch {
			delete(h.released, p)
		}
		switch {
		case e.owner != n.opt.ID || !ours:
			if has {
				delete(h.parts, p)
				lost = append(lost, p)
			}
			continue
		case h.released[p] == e.epoch:
			continue
		case !has || had.epoch != e.epoch:
			g := n.opt.holding(p, e)
			h.past[p] = e.epoch
			had = ownedPart{epoch: e.epoch, rested: now + g.Wait}
			gained = append(gained, g)
			delete(h.open, p)
			n.in.begin(p)
		}
		had.wanted = e.next != ""
		h.parts[p] = had
	}
	if len(gained)+len(lost) > 0 {
		n.do(ownChanged{gained: gained, lost: lost})
	}
	if before != nil && ours {
		for _, id := range slices.Sorted(maps.Keys(before.members)) {
			if _, lives := t.members[id]; !lives && before.members[id].keeper == n.opt.ID {
				n.do(replicaOwnerDied{id})
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

// holding describes a gained partition. An owner that did not release it may have begun a last
// fetch.
func (o Protocol) holding(p partition, e entry) holding {
	h := holding{Partition: p, Epoch: e.epoch, From: e.from, Taken: e.taken}
	if e.taken && o.defect != noRest {
		h.Wait = o.Longest
	}
	return h
}

// releaseRested releases wanted partitions once all requests of earlier owners are over, of which
// the next owner does not know.
func (n *node) releaseRested(now time.Duration) {
	h := &n.owned
	for _, p := range slices.Sorted(maps.Keys(h.parts)) {
		if had := h.parts[p]; had.wanted && !had.releasing && now >= had.rested {
			had.releasing = true
			h.parts[p] = had
			n.do(releasePartition{p, had.epoch})
		}
	}
}

func (n *node) released(ev releasedEvent) {
	h, ok := n.owned.parts[ev.partition]
	if !ok || h.epoch != ev.epoch || !h.releasing {
		return
	}
	delete(n.owned.parts, ev.partition)
	n.owned.released[ev.partition], n.owned.open[ev.partition] = ev.epoch, ev.epoch
	n.lease.soon()
}

// settle decides for each formerly owned partition whether another agent has taken it over.
func (n *node) settle() {
	h := &n.owned
	if h.table == nil || h.table.version < n.known {
		return
	}
	var lost, passed []partition
	for _, p := range slices.Sorted(maps.Keys(h.open)) {
		e := h.table.entries[p]
		o := n.view.others[e.owner]
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

// partitions is the number of parts of the web: enough for a thousand agents.
const partitions = 1024

type partition uint16

// partitionOf returns the partition of a site (page.Site) or a page's checksum. With SHA-256
// nobody can choose names that all fall into one partition.
func partitionOf(name string) partition {
	sum := sha256.Sum256([]byte(name))
	return partition(binary.BigEndian.Uint16(sum[:]) % partitions)
}

// sites caches the partitions of hosts. Safe for concurrent use.
type sites struct {
	mu    sync.Mutex // guards hosts
	hosts page.Recent[uint16]
}

const rememberedHosts = 1 << 15

func newSites() *sites { return &sites{hosts: page.NewRecent[uint16](rememberedHosts)} }

// PartOf returns the partition that tracks the pages with a checksum.
func (*sites) PartOf(checksum []byte) uint16 { return uint16(partitionOf(string(checksum))) }

// Part returns the partition of a URL's site.
func (s *sites) Part(url string) uint16 {
	host := page.Key(page.HostName(url))
	s.mu.Lock()
	part, known := s.hosts.Get(host)
	s.mu.Unlock()
	if known {
		return part
	}
	part = uint16(partitionOf(page.Site(url)))
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.hosts.Get(host); !known {
		s.hosts.Put(host, part)
	}
	return part
}
