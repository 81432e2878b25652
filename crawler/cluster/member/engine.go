package member

import (
	"fmt"

	"fossick/crawler"
	"fossick/crawler/cluster"
	"fossick/store"
)

// Recover is as cluster.Engine says, as are the methods that follow.
func (m *Member) Recover() (r cluster.Recovered, err error) {
	out := store.OutboxOf(m.opt.Crawl.Store)
	r.Cursors, r.Outbox = map[cluster.Stream]uint64{}, map[cluster.Partition]cluster.Span{}
	for h, err := range out.Cursors() {
		if err != nil {
			return r, err
		}
		if h.Part != store.KeeperPart {
			r.Cursors[cluster.Stream{From: cluster.AgentID(h.Sender), Partition: cluster.Partition(h.Part)}] = h.Number
		}
	}
	for s, err := range out.Spans() {
		if err != nil {
			return r, err
		}
		if s.Part != store.KeeperPart {
			r.Outbox[cluster.Partition(s.Part)] = cluster.Span{First: s.First, Last: s.Last}
		}
	}
	held, err := out.Holdings()
	r.Known = held.Known
	r.Held, r.Past = partitions(held.Held), partitions(held.Past)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.allowed.Epoch = held.Known
	return r, err
}

func partitions(parts map[uint16]uint64) map[cluster.Partition]uint64 {
	epochs := map[cluster.Partition]uint64{}
	for p, epoch := range parts {
		epochs[cluster.Partition(p)] = epoch
	}
	return epochs
}

// Report says how the crawl goes.
func (m *Member) Report() cluster.Report {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := &m.load.Counts
	r := m.allowed
	r.Pages, r.Relevant, r.Requests = int64(n.Pages), int64(n.Relevant), int64(n.Requests)
	r.Waiting, r.InFlight, r.Outbox = int64(m.load.Waiting), int64(m.load.Busy), int64(m.load.Unsent)
	r.Moves = n.Requests + n.URLs + n.Parcels + m.taken + uint64(m.load.Busy)
	r.Lost = int64(n.States[crawler.StateLost])
	r.Workers, r.Rate = m.opt.Crawl.Workers, m.rate
	r.Pace = m.pace.perSecond(r.Workers)
	r.Head, r.Each = m.ahead.head()
	r.Best = m.ahead.best
	on := len(m.jobs) > 0 // what is on its way will bring URLs
	for _, c := range m.coming {
		on = on || !c.leaves
	}
	if on {
		r.InFlight++
	}
	return r
}

// Outbox returns parcels that wait.
func (m *Member) Outbox(p cluster.Partition, after uint64, bytes int) (parcels []cluster.Parcel, err error) {
	for parcel, err := range store.OutboxOf(m.opt.Crawl.Store).Parcels(uint16(p), after) {
		if err != nil {
			return nil, err
		}
		if bytes -= len(parcel.Data); bytes < 0 && len(parcels) > 0 {
			break
		}
		parcels = append(parcels, cluster.Parcel{Number: parcel.Number, Bytes: parcel.Data})
	}
	return parcels, nil
}

// Trim drops parcels that were committed elsewhere.
func (m *Member) Trim(p cluster.Partition, upto uint64) {
	m.do(func() error { return m.agent.Trim(m.ctx, uint16(p), upto) })
}

// Take commits parcels.
func (m *Member) Take(d cluster.Delivery) {
	m.do(func() error {
		if m.handedOver(d.Partition) {
			m.node.Taken(d, false) // the next owner gets it
			return nil
		}
		from := crawler.Delivery{Sender: string(d.From), Part: uint16(d.Partition)}
		for _, p := range d.Parcels {
			from.Parcels = append(from.Parcels, store.Parcel{Part: from.Part, Number: p.Number, Data: p.Bytes})
		}
		_, whole, err := m.agent.Receive(m.ctx, from)
		if err == nil {
			err = m.kept(func() { m.node.Taken(d, true) })
		}
		if err != nil {
			m.node.Taken(d, false)
			return fmt.Errorf("links from agent %s: %w", d.From, err)
		}
		m.mu.Lock()
		m.taken++
		m.mu.Unlock()
		if whole != "" {
			return m.arrived(uint16(d.Partition), cluster.AgentID(whole))
		}
		return nil
	})
}

// Allow sets what may be spent.
func (m *Member) Allow(pages int64, price float64) {
	m.do(func() error {
		_, err := m.agent.Allow(m.ctx, crawler.Allowance{Pages: uint64(max(0, pages)), Price: price, Workers: m.opt.Crawl.Workers})
		m.mu.Lock()
		defer m.mu.Unlock()
		m.allowed.Allowed = pages
		return err
	})
}

// End ends the crawl.
func (m *Member) End(why string) {
	stop := map[string]crawler.Stop{
		cluster.EndedEmpty: crawler.StopEmpty, cluster.EndedPages: crawler.StopMaxPages, cluster.EndedHarvest: crawler.StopMinHarvest,
	}[why]
	m.mu.Lock()
	m.ending = true
	m.mu.Unlock()
	m.do(func() error { return m.agent.Finish(m.ctx, stop) })
}
