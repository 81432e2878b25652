package crawler

import (
	"errors"
	"fmt"
	"slices"

	"fossick/crawler/health"
	"fossick/crawler/journal"
	"fossick/store"
)

// A pardon takes failures back that package health holds for nobody's, in one batch.
type pardon struct {
	c *Crawler
	b journal.Batch
}

// urls takes back what was counted against URLs: their exchanges stay in the
// journal and count no more, and those that ended by them wait again.
func (p pardon) urls(misses []health.Miss) error {
	for _, m := range slices.Backward(misses) { // the last one of a URL knows its place best
		if m.ID == 0 {
			continue
		}
		if err := p.url(m); err != nil {
			return fmt.Errorf("%s: taking back a failure: %w", m.URL, err)
		}
	}
	return nil
}

func (p pardon) url(m health.Miss) error {
	c, b := p.c, p.b
	counted := 0
	if m.Page {
		counted = 1
	}
	q, err := b.Queued(m.ID)
	if err == nil {
		if counted == 0 {
			return nil
		}
		q.Excused++
		return b.Queue(m.ID, q)
	}
	if !errors.Is(err, store.ErrUnknown) {
		return err
	}
	state, err := b.Ended(m.ID)
	if err != nil {
		return err
	}
	c.totals.reopened(state)
	q = m.Queued
	q.Excused += counted
	birth, err := c.journal.Birth(m.ID)
	if err != nil {
		return err
	}
	c.frontier.Push(c.item(m.ID, c.frontier.Host(m.Host), birth.URL, q.Priority))
	return b.Requeue(store.HashURL(birth.URL), m.ID, q)
}

// takeBack undoes what was counted while an outage of our network built up.
func (c *Crawler) takeBack() error {
	misses := c.network.TakeBack()
	if len(misses) == 0 {
		return nil
	}
	b := c.journal.Batch()
	defer func() { b.Cancel() }()
	for _, m := range slices.Backward(misses) {
		if b.Full() {
			if err := c.finish(b); err != nil {
				return err
			}
			b = c.journal.Batch()
		}
		if err := (pardon{c, b}).host(m); err != nil {
			return err
		}
		if err := (pardon{c, b}).urls([]health.Miss{m}); err != nil {
			return err
		}
	}
	return c.finish(b)
}

// host takes back what was counted against a host.
func (p pardon) host(m health.Miss) error {
	if m.Ended {
		return nil
	}
	h, err := p.c.hosts.get(m.Host, m.URL)
	if err != nil {
		return err
	}
	h.health.Forgive(m)
	return p.c.hosts.put(p.b, h)
}

// logEnded keeps that a URL ends by the verdict on its host, while nobody answers.
func (c *Crawler) logEnded(j *job) {
	c.network.Ended(health.Miss{Host: j.host.Name, URL: j.birth.URL, ID: j.id, Queued: j.queued})
}
