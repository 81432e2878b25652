package member

import (
	"slices"
	"time"

	"fossick/crawler/cluster"
	"fossick/store"
)

// hands are partitions that come and go. The member's mutex guards them.
type hands struct {
	coming  map[uint16]*coming
	leaving []leaving
	epochs  map[uint16]uint64 // of the parts that Own has heard of
}

// coming is a partition that this member owns and may not ask yet, or no more.
type coming struct {
	from   cluster.AgentID // whose knowledge of it is to come first; "" when nobody's is
	dead   bool            // from is: its keeper may send on its knowledge, not beyond until
	until  time.Time       // when it has rested
	leaves bool            // it is being let go: links to it are the next owner's
	held   bool            // it is written down, with what is known of it from a replica
}

// over says whether the partition may be asked from now on.
func (c *coming) over() bool { return c.held && !c.leaves && !c.awaits() }

// awaits says whether something is waited for before it is asked, or let go.
func (c *coming) awaits() bool { return c.from != "" && !c.dead || time.Now().Before(c.until) }

const (
	// longest is how long the knowledge of a dead owner is waited for: its keeper may send it
	// on. Without it URLs may be asked for again, and are not forgotten.
	longest = time.Minute
	// drained is how often it is asked whether anything is under way.
	drained = 20 * time.Millisecond
)

// Own is as cluster.Engine says.
func (m *Member) Own(gained []cluster.Holding, lost, passed []cluster.Partition) {
	m.mu.Lock()
	for _, h := range gained {
		c := &coming{until: time.Now().Add(h.Wait)}
		if h.From != "" && h.From != m.opt.Protocol.ID && !h.Taken {
			c.from = h.From
		}
		m.coming[uint16(h.Partition)], m.epochs[uint16(h.Partition)] = c, h.Epoch
	}
	for _, p := range slices.Concat(lost, passed) {
		delete(m.coming, uint16(p))
	}
	m.mu.Unlock()
	m.do(func() error {
		if err := m.hold(gained, slices.Concat(lost, passed)); err != nil {
			return err
		}
		if len(lost) == 0 {
			return nil
		}
		if err := m.agent.HandOver(m.ctx, partsOf(lost)); err != nil { // who owns them now may not know all of it
			return err
		}
		return m.agent.Back(m.ctx, func(part uint16) bool { return slices.Contains(lost, cluster.Partition(part)) })
	})
	m.do(m.settle)
}

func partsOf(partitions []cluster.Partition) (parts []uint16) {
	for _, p := range partitions {
		parts = append(parts, uint16(p))
	}
	return parts
}

// hold writes down what is owned. What a replica has of it is taken in first, so that a
// member that ends in between does so when it comes back.
func (m *Member) hold(gained []cluster.Holding, gone []cluster.Partition) error {
	if err := m.adopt(gained); err != nil {
		return err
	}
	h, err := holdings(m.opt.Crawl.Store)
	if err != nil {
		return err
	}
	for _, p := range partsOf(gone) {
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
		if waited := cluster.AgentID(h.Awaits[p]); g.From == m.opt.Protocol.ID && waited != "" { // before it started again
			c.from = waited
		} else if had && waited == "" { // it has arrived already: the coordinator had not heard so
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
	return m.kept(func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.allowed.Epoch = max(m.allowed.Epoch, h.Known)
	})
}

// holdings are what is written down, as maps that can be written to.
func holdings(s *store.Store) (h store.Holdings, err error) {
	h, err = store.OutboxOf(s).Holdings()
	for _, epochs := range []*map[uint16]uint64{&h.Held, &h.Past} {
		if *epochs == nil {
			*epochs = map[uint16]uint64{}
		}
	}
	if h.Awaits == nil {
		h.Awaits = map[uint16]string{}
	}
	return h, err
}

// arrived says that all that the last owner knew of a partition is here.
func (m *Member) arrived(part uint16, from cluster.AgentID) error {
	m.mu.Lock()
	m.came(part, from)
	m.mu.Unlock()
	return m.settle()
}

// came ends the wait for a partition's knowledge, if it was waited for from there.
func (h *hands) came(part uint16, from cluster.AgentID) {
	if c := h.coming[part]; c != nil && c.from == from {
		c.from, c.until = "", time.Now()
	}
}

// mourn bounds the wait for what the dead knew.
func (h *hands) mourn(lives func(cluster.AgentID) bool) {
	for _, c := range h.coming {
		if c.from != "" && !c.dead && !lives(c.from) {
			c.dead, c.until = true, time.Now().Add(longest)
		}
	}
}

// hurry looks whether the wait for a partition is over.
func (m *Member) hurry() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mourn(m.node.Lives)
	for _, c := range m.coming {
		if c.over() || c.leaves && c.from != "" && !c.awaits() {
			m.jobs = append(m.jobs, m.settle)
			select {
			case m.wake <- struct{}{}:
			default:
			}
			return
		}
	}
}

// settle begins to ask for URLs of partitions that are waited for no more, and lets those go that
// are to go.
func (m *Member) settle() error {
	if err := m.letGo(); err != nil {
		return err
	}
	var parts []uint16
	m.mu.Lock()
	for part, c := range m.coming {
		if c.over() {
			parts = append(parts, part)
		}
	}
	for _, part := range parts {
		delete(m.coming, part)
	}
	m.mu.Unlock()
	if len(parts) == 0 {
		return nil
	}
	return m.agent.Gain(m.ctx, func(part uint16) bool { return slices.Contains(parts, part) })
}

// Release is as cluster.Engine says. What is to be let go meanwhile goes together, as each time
// the whole store is read. It waits for what the owner before knows: the next one takes what it
// gets from here for all that there is.
func (m *Member) Release(p cluster.Partition, epoch uint64) {
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

// leaving is a partition that is to be let go.
type leaving struct {
	partition cluster.Partition
	epoch     uint64
}

// handedOver says whether what is known of a partition is on its way to the next owner.
func (m *Member) handedOver(p cluster.Partition) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.coming[uint16(p)]
	return c != nil && c.leaves && !slices.ContainsFunc(m.leaving, func(l leaving) bool { return l.partition == p })
}

// ready takes what may be let go by now.
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
		case <-time.After(drained):
		}
	}
	var parts []uint16
	for _, l := range all {
		parts = append(parts, uint16(l.partition))
	}
	if err := m.agent.HandOver(m.ctx, parts); err != nil {
		return err
	}
	return m.kept(func() {
		for _, l := range all {
			m.node.Released(l.partition, l.epoch)
		}
	})
}
