package team

import (
	"context"

	"fossick/crawler"
	"fossick/crawler/cluster/sites"
	"fossick/store"
)

// carry empties an agent's outbox, and says whether there was anything in it.
func (t *Team) carry(ctx context.Context, a *agent) (any bool, err error) {
	if a.load.Counts.Parcels == a.parcels && a.parcels > 0 {
		return false, nil
	}
	for part, err := range store.OutboxOf(a.store).Parts() {
		if err != nil {
			return false, err
		}
		any = true
		if err := t.deliver(ctx, a, part); err != nil {
			return false, err
		}
	}
	a.parcels = a.load.Counts.Parcels
	return any, nil
}

// deliver takes an agent's parcels for a part to who has it.
func (t *Team) deliver(ctx context.Context, from *agent, part uint16) error {
	to, d, size := t.agents[int(part)%len(t.agents)], crawler.Delivery{Sender: from.name, Part: part}, 0
	send := func() error {
		taken, _, err := to.Receive(ctx, d)
		if err != nil {
			return err
		}
		d.Parcels, size = d.Parcels[:0], 0
		return from.Trim(ctx, part, taken)
	}
	for p, err := range store.OutboxOf(from.store).Parcels(part, 0) {
		if err != nil {
			return err
		}
		d.Parcels = append(d.Parcels, p)
		if size += len(p.Data); size < deliveryBytes {
			continue
		}
		if err := send(); err != nil {
			return err
		}
	}
	if len(d.Parcels) == 0 {
		return nil
	}
	return send()
}

// share is what one of so many agents has of the web.
type share struct {
	*sites.Sites
	agents, number int
}

// Part is as crawler.sites says. There are as many parts as agents, so that all of a page's
// links to one agent go there together.
func (s share) Part(url string) uint16 { return uint16(int(s.Sites.Part(url)) % s.agents) }

// Mine is as crawler.sites says; parts of stores that an earlier version made may be any.
func (s share) Mine(part uint16) bool { return int(part)%s.agents == s.number }

// Held is as crawler.sites says.
func (s share) Held(part uint16) bool { return s.Mine(part) }

// Ours is as crawler.sites says.
func (s share) Ours(part uint16) bool { return s.Mine(part) }
