package cluster

import (
	"slices"
	"time"

	"fossick/store"
)

// handovers holds the partitions that this member gains and releases. The member's mutex guards it.
type handovers struct {
	arriving map[uint16]*arriving
	leaving  []leaving
	epochs   map[uint16]uint64 // last epoch of each part seen by own
}

// arriving is an owned partition that must not be fetched from now.
type arriving struct {
	from   AgentID   // the agent whose state must arrive first; "" if none
	dead   bool      // from is dead; its keeper may still send its state, until then
	until  time.Time // end of the partition's rest, or of the wait for a dead agent's state
	leaves bool      // being released: links to it belong to the next owner
	stored bool      // recorded in the store, with any state from a replica
}

type leaving struct {
	partition partition
	epoch     uint64
}

func (c *arriving) over() bool { return c.stored && !c.leaves && !c.awaits() }

// awaits reports whether a state or a rest must come before a fetch or a release.
func (c *arriving) awaits() bool { return c.from != "" && !c.dead || time.Now().Before(c.until) }

const (
	// awaitDead limits the wait for a dead owner's state. Without it URLs may be fetched again
	// but none is lost.
	awaitDead = time.Minute
	// drainEvery is how often to check whether the fetches under way have ended.
	drainEvery = 20 * time.Millisecond
)

func (m *Member) own(gained []holding, lost, passed []partition) {
	gone := parts(slices.Concat(lost, passed))
	m.mu.Lock()
	for _, h := range gained {
		c := &arriving{until: time.Now().Add(h.Wait)}
		if h.From != m.opt.Protocol.ID && !h.Taken {
			c.from = h.From
		}
		m.arriving[uint16(h.Partition)], m.epochs[uint16(h.Partition)] = c, h.Epoch
	}
	for _, p := range gone {
		delete(m.arriving, p)
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

// hold records the owned partitions, after taking over their state from replicas. So a member
// killed in between repeats this.
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
		c := m.arriving[p]
		if c == nil { // lost again
			continue
		}
		if waited := AgentID(h.Awaits[p]); g.From == m.opt.Protocol.ID && waited != "" { // waited before its restart
			c.from = waited
		} else if had && waited == "" { // the state had arrived, unknown to the coordinator
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
		if c := m.arriving[uint16(g.Partition)]; c != nil {
			c.stored = true
		}
	}
	m.mu.Unlock()
	return m.whenReplicated(func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.allowed.Epoch = max(m.allowed.Epoch, h.Known)
	})
}

func (h *handovers) stateArrived(part uint16, from AgentID) {
	if c := h.arriving[part]; c != nil && c.from == from {
		c.from, c.until = "", time.Now()
	}
}

// limitWaits limits the wait for the state of agents that died.
func (h *handovers) limitWaits(lives func(AgentID) bool) {
	for _, c := range h.arriving {
		if c.from != "" && !c.dead && !lives(c.from) {
			c.dead, c.until = true, time.Now().Add(awaitDead)
		}
	}
}

// settleSoon queues settle once the wait for a partition is over.
func (m *Member) settleSoon() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.limitWaits(m.lives)
	for _, c := range m.arriving {
		if c.over() || c.leaves && c.from != "" && !c.awaits() {
			m.jobs = append(m.jobs, m.settle)
			signal(m.wake)
			return
		}
	}
}

// settle starts fetching from partitions whose wait is over, and releases those that are ready.
func (m *Member) settle() error {
	if err := m.releaseReady(); err != nil {
		return err
	}
	var parts []uint16
	m.mu.Lock()
	for part, c := range m.arriving {
		if c.over() {
			parts = append(parts, part)
			delete(m.arriving, part)
		}
	}
	m.mu.Unlock()
	if len(parts) == 0 {
		return nil
	}
	return m.agent.Gain(m.ctx, func(part uint16) bool { return slices.Contains(parts, part) })
}

// release starts to release a partition. The previous owner's state must arrive first, as the
// next owner takes what it receives for complete. Partitions go together, as each release reads
// the whole store.
func (m *Member) release(p partition, epoch uint64) {
	m.mu.Lock()
	c := &arriving{leaves: true} // until the partition is gained again, or has passed
	if was := m.arriving[uint16(p)]; was != nil && was.from != "" {
		c.from, c.dead, c.until = was.from, was.dead, was.until
	}
	m.arriving[uint16(p)] = c
	m.leaving = append(m.leaving, leaving{p, epoch})
	m.mu.Unlock()
	m.do(m.releaseReady)
}

func (m *Member) handedOver(p partition) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.arriving[uint16(p)]
	return c != nil && c.leaves && !slices.ContainsFunc(m.leaving, func(l leaving) bool { return l.partition == p })
}

// ready removes and returns the partitions that can be released now.
func (h *handovers) ready() (now []leaving) {
	h.leaving = slices.DeleteFunc(h.leaving, func(l leaving) bool {
		c := h.arriving[uint16(l.partition)]
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

// releaseReady releases the ready partitions: it waits for the fetches under way, and sends the state
// on.
func (m *Member) releaseReady() error {
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
	return m.whenReplicated(func() {
		for _, l := range all {
			m.post(releasedEvent(l))
		}
	})
}
