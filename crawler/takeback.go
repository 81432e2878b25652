package crawler

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"fossick/store"
)

// miss is a failure that was counted and may turn out to have been nobody's.
type miss struct {
	at     time.Time // begin of the exchange
	host   string    // name:port
	url    string    // any of the host
	id     store.ID  // of the URL it was counted for; 0 when for the host alone
	queued store.Queued
	silent bool // counted as an exchange without an answer
	page   bool // counted as a visit of the URL
	first  bool // counted as a failure of first contact; see failHost
	ended  bool // no failure: the URL ended by the verdict on its host
}

func (c *Crawler) missOf(o *outcome) miss {
	m := miss{at: o.resp.Start, host: o.asked().Name, url: o.target, silent: silent(o.resp)}
	m.page, m.first = o.task == taskPage, o.task == taskAddress || o.task == taskRobots
	if o.id != 0 {
		m.id, m.queued = o.id, o.queued
		if m.page {
			m.queued.Visits++
		}
	}
	return m
}

// excuse takes back what was counted against URLs: their exchanges stay in the
// journal and count no more, and those that ended by them wait again.
func (c *Crawler) excuse(b *store.Batch, misses []miss) error {
	for _, m := range slices.Backward(misses) { // the last one of a URL knows its place best
		if m.id == 0 {
			continue
		}
		if err := c.excuseURL(b, m); err != nil {
			return fmt.Errorf("%s: taking back a failure: %w", m.url, err)
		}
	}
	return nil
}

func (c *Crawler) excuseURL(b *store.Batch, m miss) error {
	counted := 0
	if m.page {
		counted = 1
	}
	q, err := b.Queued(m.id)
	if err == nil {
		if counted == 0 {
			return nil
		}
		q.Excused++
		return c.putQueued(b, m.id, q)
	}
	if !errors.Is(err, store.ErrUnknown) {
		return err
	}
	fate, err := b.Fate(m.id)
	if err != nil {
		return err
	}
	if c.counts.States[fate.State]--; c.counts.States[fate.State] == 0 {
		delete(c.counts.States, fate.State)
	}
	q = m.queued
	q.Excused += counted
	c.places.put(m.id, q)
	birth, err := c.store.Birth(m.id)
	if err != nil {
		return err
	}
	c.frontier.Push(c.item(m.id, c.frontier.Host(m.host), birth.URL, q.Priority))
	return b.Revive(m.id, q)
}

// takeBack undoes what was counted while an outage of our network built up.
func (c *Crawler) takeBack() error {
	misses := c.network.undo
	if len(misses) == 0 {
		return nil
	}
	c.network.undo = nil
	b := c.store.Batch()
	defer func() { b.Cancel() }()
	for _, m := range slices.Backward(misses) {
		if b.Size() > store.MaxBatchBytes {
			if err := c.finish(b); err != nil {
				return err
			}
			b = c.store.Batch()
		}
		if err := c.excuseHost(b, m); err != nil {
			return err
		}
		if err := c.excuse(b, []miss{m}); err != nil {
			return err
		}
	}
	return c.finish(b)
}

// excuseHost takes back what was counted against a host.
func (c *Crawler) excuseHost(b *store.Batch, m miss) error {
	if m.ended {
		return nil
	}
	h, err := c.host(m.host, m.url)
	if err != nil {
		return err
	}
	h.Failures = max(0, h.Failures-1)
	if m.silent {
		h.Silent = max(0, h.Silent-1)
	}
	if h.Silent == 0 {
		h.SilentSince = 0
	}
	if m.first {
		h.tries = max(0, h.tries-1)
	}
	h.Closed, h.ClosedUntil, h.verdict, h.why = "", 0, "", ""
	h.misses = nil
	return c.putHost(b, h)
}

// logEnded keeps that a URL ends by the verdict on its host, while nobody answers.
func (c *Crawler) logEnded(j *job) {
	if n := &c.network; len(n.sites) > 0 {
		n.log(miss{host: j.host.Name, url: j.birth.URL, id: j.id, queued: j.queued, ended: true})
	}
}
