package cluster

import (
	"slices"
	"time"

	"fossick/store"
)

// hands are partitions that come and go. The member's mutex guards them.
type hands struct {
	coming  map[uint16]*coming
	leaving []leaving
	epochs  map[uint16]uint64 // of the parts that own has seen
}

// coming is a partition that this member owns and may not fetch from yet, or no more.
type coming struct {
	from   AgentID   // the agent whose state of it must come first; "" when none must
	dead   bool      // from is: its keeper may send its state on, until then
	until  time.Time // when it has rested
	leaves bool      // it is being released: links to it are the next owner's
	held   bool      // it is written down, with its state from a replica
}

// leaving is a partition that is to be released.
type leaving struct {
	partition partition
	epoch     uint64
}

// over says whether the partition may be fetched from.
func (c *coming) over() bool { return c.held && !c.leaves && !c.awaits() }

// awaits says whether a state or a rest must come first, before a fetch or a release.
func (c *coming) awaits() bool { return c.from != "" && !c.dead || time.Now().Before(c.until) }

const (
	// awaitDead bounds the wait for the state of a dead owner, which its keeper may send on.
	// Without it URLs may be fetched again, and none is forgotten.
	awaitDead = time.Minute
	// drainEvery is the time between two looks at the fetches under way.
	drainEvery = 20 * time.Millisecond
)

// own notes the partitions gained, lost and passed; see ownChanged.
func (m *Member) own(gained []holding, lost, passed []partition) {
	gone := parts(slices.Concat(lost, passed))
	m.mu.Lock()
	for _, h := range gained {
		c := &coming{until: time.Now().Add(h.Wait)}
		if h.From != m.opt.Protocol.ID && !h.Taken {
			c.from = h.From
		}
		m.coming[uint16(h.Partition)], m.epochs[uint16(h.Partition)] = c, h.Epoch
	}
	for _, p := range gone {
		delete(m.coming, p)
	}
	m.mu.Unlock()
	m.do(func() error {
		if err := m.hold(gained, gone); err != nil || len(lost) == 0 {
			return err
		}
		lost := parts(lost)
		if err := m.agent.HandOver(m.ctx, lost); err != nil { // the new owners may not know all of it
			return err
		}
		return m.agent.Back(m.ctx, func(part uint16) bool { return slices.Contains(lost, part) })
	})
	m.do(m.settle)
}

func parts(partitions []partition) (parts []uint16) {
	for _, p := range partitions {
		parts = append(parts, uint16(p))
	}
	return parts
}

// hold writes down the owned partitions. It takes over their state from replicas first, so that
// a member that ends in between does so when it comes back.
func (m *Member) hold(gained []holding, gone []uint16) error {
	if err := m.adopt(gained); err != nil {
		return err
	}
	h, err := store.OutboxOf(m.opt.Crawl.Store).Holdings()
	if err != nil {
		return err
	}
	for _, epochs := range []*map[uint16]uint64{&h.Held, &h.Past} {
		if *epochs == nil {
			*epochs = map[uint16]uint64{}
		}
	}
	if h.Awaits == nil {
		h.Awaits = map[uint16]string{}
	}
	for _, p := range gone {
		h.Past[p] = max(h.Past[p], h.Held[p])
		delete(h.Held, p)
		delete(h.Awaits, p)
	}
	m.mu.Lock()
	for _, g := range gained {
		p := uint16(g.Partition)
		h.Known = max(h.Known, g.Epoch)
		_, had := h.Held[p]
		h.Held[p] = g.Epoch
		delete(h.Past, p)
		c := m.coming[p]
		if c == nil { // it has gone again
			continue
		}
		if waited := AgentID(h.Awaits[p]); g.From == m.opt.Protocol.ID && waited != "" { // before it started again
			c.from = waited
		} else if had && waited == "" { // it has arrived already, and the coordinator did not know
			c.from = ""
		}
		if c.from != "" {
			h.Awaits[p] = string(c.from)
		} else {
			delete(h.Awaits, p)
		}
	}
	m.mu.Unlock()
	if err := m.agent.Hold(m.ctx, h); err != nil {
		return err
	}
	m.mu.Lock()
	for _, g := range gained {
		if c := m.coming[uint16(g.Partition)]; c != nil {
			c.held = true
		}
	}
	m.mu.Unlock()
	return m.whenKept(func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.allowed.Epoch = max(m.allowed.Epoch, h.Known)
	})
}

// came ends the wait for a partition's state, if it was to come from that agent.
func (h *hands) came(part uint16, from AgentID) {
	if c := h.coming[part]; c != nil && c.from == from {
		c.from, c.until = "", time.Now()
	}
}

// mourn bounds the wait for the state that dead agents had.
func (h *hands) mourn(lives func(AgentID) bool) {
	for _, c := range h.coming {
		if c.from != "" && !c.dead && !lives(c.from) {
			c.dead, c.until = true, time.Now().Add(awaitDead)
		}
	}
}

// hurry has settle look once the wait for a partition is over.
func (m *Member) hurry() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mourn(m.lives)
	for _, c := range m.coming {
		if c.over() || c.leaves && c.from != "" && !c.awaits() {
			m.jobs = append(m.jobs, m.settle)
			signal(m.wake)
			return
		}
	}
}

// settle begins to fetch from partitions whose wait is over, and releases those that are ready.
func (m *Member) settle() error {
	if err := m.letGo(); err != nil {
		return err
	}
	var parts []uint16
	m.mu.Lock()
	for part, c := range m.coming {
		if c.over() {
			parts = append(parts, part)
			delete(m.coming, part)
		}
	}
	m.mu.Unlock()
	if len(parts) == 0 {
		return nil
	}
	return m.agent.Gain(m.ctx, func(part uint16) bool { return slices.Contains(parts, part) })
}

// release begins to release a partition. It waits for the state of the owner before: the next
// owner takes what it gets from here for the whole. Partitions go together, as each release
// reads the whole store.
func (m *Member) release(p partition, epoch uint64) {
	m.mu.Lock()
	c := &coming{leaves: true} // until it comes again, or has passed
	if was := m.coming[uint16(p)]; was != nil && was.from != "" {
		c.from, c.dead, c.until = was.from, was.dead, was.until
	}
	m.coming[uint16(p)] = c
	m.leaving = append(m.leaving, leaving{p, epoch})
	m.mu.Unlock()
	m.do(m.letGo)
}

// handedOver says whether the state of a partition is on its way to the next owner.
func (m *Member) handedOver(p partition) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.coming[uint16(p)]
	return c != nil && c.leaves && !slices.ContainsFunc(m.leaving, func(l leaving) bool { return l.partition == p })
}

// ready takes the partitions that may be released now.
func (h *hands) ready() (now []leaving) {
	h.leaving = slices.DeleteFunc(h.leaving, func(l leaving) bool {
		c := h.coming[uint16(l.partition)]
		if c != nil && c.awaits() {
			return false
		}
		if c != nil {
			c.from = ""
		}
		now = append(now, l)
		return true
	})
	return now
}

// letGo releases partitions: it waits for the fetches under way, and sends the state on.
func (m *Member) letGo() error {
	m.mu.Lock()
	all := m.ready()
	m.mu.Unlock()
	if len(all) == 0 {
		return nil
	}
	for {
		n, err := m.agent.UnderWay(m.ctx)
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		select {
		case <-m.ctx.Done():
			return nil
		case <-time.After(drainEvery):
		}
	}
	var parts []uint16
	for _, l := range all {
		parts = append(parts, uint16(l.partition))
	}
	if err := m.agent.HandOver(m.ctx, parts); err != nil {
		return err
	}
	return m.whenKept(func() {
		for _, l := range all {
			m.post(releasedEvent(l))
		}
	})
}
