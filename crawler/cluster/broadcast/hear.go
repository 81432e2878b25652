package broadcast

import "fossick/crawler/cluster"

// Hear takes in a message, and returns the items in it that were not heard before.
func (b *Broadcast) Hear(from cluster.AgentID, bytes []byte) (items [][]byte, err error) {
	m, err := decode(bytes)
	if err != nil {
		return nil, err
	}
	p := b.peers[from]
	if p == nil {
		p = &peer{}
		b.peers[from] = p
	}
	switch {
	case m.Run < p.run: // it was long on its way
		return nil, nil
	case m.Run > p.run: // which knows nothing of us yet
		*p = peer{run: m.Run, before: p.before || p.heard > 0}
	}
	if m.To != b.run {
		p.owes = true // it is to learn of this run
		return nil, nil
	}
	b.acknowledged(p, m.Heard)
	if len(m.Items) == 0 {
		return nil, nil
	}
	p.owes = true
	p.heard = max(p.heard, m.Floor)
	if m.After > p.heard {
		return nil, nil // what comes before is on its way, or lost
	}
	for i, it := range m.Items {
		if m.After+uint64(i)+1 <= p.heard {
			continue
		}
		p.heard++
		if len(it.Bytes) > 0 && !(it.Old && p.before) {
			items = append(items, it.Bytes)
		}
	}
	return items, nil
}

// acknowledged drops from a peer's queue what it has heard.
func (b *Broadcast) acknowledged(p *peer, heard uint64) {
	if n := heard - p.acked; heard > p.acked && n <= uint64(len(p.queue)) {
		p.queue, p.acked, p.since = p.queue[n:], heard, b.round
	}
}
