package cluster

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"fossick/internal/wire"
)

// lease is the time during which others must count this agent as alive, from the sending of the
// last accepted heartbeat. Others wait half a lease longer, so clock rates may differ by a tenth,
// and no common time is needed.
type lease struct {
	every       time.Duration
	incarnation uint64
	seq         uint64
	revision    uint64
	sent        time.Duration
	accepted    time.Duration // when the last accepted heartbeat was sent
	until       time.Duration
	next        time.Duration
	joined      bool // this incarnation has begun to send heartbeats
	pending     bool
	unsure      bool // the key must be read before the next heartbeat
	last        heartbeat
	acked       uint64 // Report.Epoch of the last accepted heartbeat: the state that others know this agent has
	confirmed   bool   // a heartbeat of this incarnation was surely accepted
	run         uint64 // revision of the first accepted heartbeat, unique to this run of the agent
}

func (l *lease) soon() { l.next = 0 }

func (n *node) beat(now time.Duration) {
	l := &n.lease
	if !l.joined || l.pending || l.unsure || now < l.next {
		return
	}
	n.giveBack()
	l.seq++
	l.sent, l.pending, l.next = now, true, now+l.every
	h := heartbeat{
		Version: wireVersion, Incarnation: l.incarnation, Seq: l.seq, Leaving: n.leaving, Prefers: n.opt.Prefers && !n.leaving, Known: n.known,
		Released: listed(n.owned.released), Returned: n.ledger.returned, Report: n.report, Place: n.opt.Place,
	}
	if n.owned.table == nil { // the coordinator rebuilds a lost table from this
		h.Held = listed(n.owned.past)
	}
	h.Report.Head = h.Report.Head[:min(len(h.Report.Head), mostHead)]
	l.last = h
	n.do(swapValue{agentKeys + string(n.opt.ID), wire.Encode(h), l.revision})
}

func (n *node) beaten(now time.Duration, revision uint64) {
	n.lease.pending = false
	if revision == 0 {
		n.lease.unsure = true
		return
	}
	n.lease.accept(revision, n.opt.Lease)
	n.lease.confirmed = true
	n.view.others[n.opt.ID] = &other{revision: revision, beat: n.lease.last, changed: now}
}

func (l *lease) accept(revision uint64, length time.Duration) {
	l.revision = revision
	l.accepted, l.acked = l.sent, l.last.Report.Epoch
	if l.run == 0 {
		l.run = revision
	}
	l.until = max(l.until, l.sent+length)
}

// seeSelf checks whether an unconfirmed heartbeat arrived, and whether this agent was marked as
// dead.
func (n *node) seeSelf(now, asked time.Duration, v Value) {
	l := &n.lease
	if l.pending {
		return
	}
	if v.Revision == 0 {
		if !l.joined || l.revision > 0 && asked > l.accepted {
			n.join(now, 1, 0) // no value yet, or all values were lost
		}
		l.unsure = false
		return
	}
	h, err := decodeHeartbeat(v.Bytes)
	if err != nil { // not written by an agent of this crawl: overwrite it
		l.unsure = false
		n.join(now, max(l.incarnation, 1), v.Revision)
		return
	}
	n.ledger.returned = max(n.ledger.returned, h.Returned)
	if !l.joined {
		n.join(now, h.Incarnation+1, v.Revision)
		return
	}
	if v.Revision < l.revision {
		return // read before our own later write
	}
	l.unsure = false
	switch {
	case h.Incarnation >= l.incarnation && (h.Dead || !l.confirmed):
		n.join(now, h.Incarnation+1, v.Revision) // if unconfirmed: ours, or that of an earlier process
	case h.Incarnation > l.incarnation:
		n.do(stop{errTwice})
	case h.Incarnation < l.incarnation:
		l.revision = v.Revision
	case h.Seq == l.seq:
		l.accept(v.Revision, n.opt.Lease)
	default:
		l.revision = v.Revision
	}
}

// join begins a new incarnation, which owns none of the earlier one's partitions.
func (n *node) join(now time.Duration, incarnation, revision uint64) {
	l := &n.lease
	l.incarnation, l.revision = max(incarnation, l.incarnation+1), revision
	l.joined, l.unsure, l.confirmed, l.until = true, false, false, 0
	l.soon()
	n.view.everybody, n.view.since = true, now // all values may be lost, the table too
	n.owned.lapse()
	n.allow()
}

// view holds what an agent knows of the others.
type view struct {
	others map[AgentID]*other
	sorted []AgentID // keys of others, as ids last sorted them
	asking bool
	asked  time.Duration // when the values were last requested
	keys   []string      // requested keys; nil: all
	next   time.Duration
	looked bool
	all    bool   // the last reading was of all keys
	newer  uint64 // newest table version named by other agents

	foreign bool // an agent of another version takes part

	everybody bool // all agents must be read, by a request no earlier than since
	since     time.Duration
}

type other struct {
	revision uint64
	beat     heartbeat
	changed  time.Duration // when its key was first seen with this revision
	seen     time.Duration // when its key was last read
	fence    time.Duration // after a failed attempt: when it may next be marked as dead
}

// see handles agents' keys. An agent with a missing or unreadable key counts as dead in time.
func (s *view) see(now time.Duration, values map[string]Value) {
	for id, o := range s.others {
		key := agentKeys + string(id)
		if s.keys != nil && !slices.Contains(s.keys, key) {
			continue
		}
		o.seen = now
		if _, there := values[key]; !there {
			o.revision = 0 // no swap can overwrite it
		}
	}
	for key, v := range values {
		name, isAgent := strings.CutPrefix(key, agentKeys)
		id := AgentID(name)
		if o := s.others[id]; !isAgent || id.Check() != nil || o != nil && o.revision == v.Revision {
			continue
		}
		h, err := decodeHeartbeat(v.Bytes)
		if err == nil {
			s.others[id] = &other{revision: v.Revision, beat: h, changed: now, seen: now}
		}
		s.foreign = s.foreign || errors.Is(err, errVersion)
	}
}

func (s *view) leaves(id AgentID) bool {
	o := s.others[id]
	return o != nil && o.beat.Leaving && o.beat.Report.Outbox == 0
}

// silent reports whether an agent's lease has surely ended.
func (o *other) silent(lease time.Duration) bool { return o.seen-o.changed >= lease+lease/2 }

func (s *view) ids() []AgentID {
	if len(s.sorted) != len(s.others) { // agents are never removed
		s.sorted = slices.Sorted(maps.Keys(s.others))
	}
	return s.sorted
}

// gone reports whether an agent is marked as dead or surely will be.
func (n *node) gone(now time.Duration, id AgentID) bool {
	o := n.view.others[id]
	if o == nil { // only the table names it: its key was lost or never read
		n.view.others[id] = &other{changed: now}
		return false
	}
	return o.beat.Dead || o.silent(n.opt.Lease)
}

func (n *node) living(now time.Duration) []AgentID {
	return slices.DeleteFunc(slices.Clone(n.view.ids()), func(id AgentID) bool {
		return n.view.others[id].revision == 0 || n.gone(now, id) && id != n.opt.ID
	})
}

func (n *node) onlyOne(now time.Duration) bool {
	return !slices.ContainsFunc(n.view.ids(), func(id AgentID) bool { return id != n.opt.ID && !n.gone(now, id) })
}

func (n *node) askSometimes(now time.Duration) {
	s := &n.view
	if s.asking || now < s.next {
		return
	}
	s.asking, s.asked, s.next, s.keys = true, now, now+n.lease.every/2, needed(n, now)
	n.do(askValues{s.keys})
}

// needed returns the keys to read, nil for all. Only the coordinator, and an agent that may have
// to replace it, reads all. So the cost of reading does not grow with the square of the number of
// agents.
func needed(n *node, now time.Duration) []string {
	s, t := &n.view, n.owned.table
	if s.everybody || t == nil || t.coordinator == n.opt.ID || n.opt.Prefers || n.lease.unsure || n.coord.unsure || n.ledger.unsure || len(n.owned.open) > 0 {
		return nil
	}
	c, self := s.others[t.coordinator], s.others[n.opt.ID]
	if self == nil || c == nil || self.revision == 0 || c.revision == 0 || c.beat.Dead || c.beat.Leaving || now-c.changed >= n.opt.Lease {
		return nil
	}
	keys := []string{agentKeys + string(n.opt.ID), agentKeys + string(t.coordinator), budgetKey}
	if max(n.known, s.newer, c.beat.Known) > t.version {
		keys = append(keys, tableKey)
	}
	return keys
}
