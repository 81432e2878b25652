package hosts

import (
	"time"

	"fossick/crawler/fetch"
)

// crawlDelay is what the robots.txt of h asks for, 0 for nothing.
func (t *Table) crawlDelay(h *Host) time.Duration {
	if h.Rules == nil {
		return 0
	}
	delay, _ := h.Rules.CrawlDelay(t.opt.Agent)
	return delay
}

// RestOf returns what is due to h after an exchange.
func (t *Table) RestOf(h *Host, r *fetch.Response) Rest {
	due := t.opt.Delay.of(h.Failures, r, t.network.took(r), t.crawlDelay(h))
	if t.opt.Fold != nil && h.Address != "" {
		due.Address = time.Duration(float64(due.Address) * t.opt.Fold(h.Address))
		due.Host = max(due.Host, due.Address)
	}
	return due
}

// Release lets h and its address rest after an exchange and remembers until when. The
// pause between two probes is no rest that is due to the host: it ends with the session.
func (t *Table) Release(h *Host, due Rest) {
	now := t.opt.Now()
	h.RestFor, h.RestMillis = due.Reason, due.Wish.Milliseconds()
	if due.Host > 0 {
		h.Next = now.Add(due.Host).UnixMilli()
	}
	var until time.Time
	if due.Address > 0 {
		until = now.Add(due.Address)
	}
	t.frontier.Done(h.Party, until)
	switch own := max(due.Host, h.Health.pause()); {
	case h.Failures > 0:
		t.frontier.RestInDoubt(h.Party, now.Add(own))
	case own > due.Address:
		t.frontier.Rest(h.Party, now.Add(own))
	}
}

// RestAtLeast has a host rest as another agent of the crawl knows that it has to: until when,
// what asked for it, and for how many milliseconds.
func (t *Table) RestAtLeast(h *Host, until time.Time, why string, wish int64) {
	if until.UnixMilli() <= h.Next {
		return
	}
	h.Next, h.RestFor, h.RestMillis = until.UnixMilli(), why, wish
	t.frontier.Rest(h.Party, until)
}

// HoldBack lets a host wait that was leased and not asked, and nobody with it.
func (t *Table) HoldBack(h *Host, until time.Time) {
	t.frontier.Done(h.Party, time.Time{})
	t.frontier.Rest(h.Party, until)
}

// ReleaseUnasked lets a host rest whose robots.txt another one was asked for.
func (t *Table) ReleaseUnasked(h *Host) { t.Release(h, t.opt.Delay.After(0, 0, 0, 0)) }
