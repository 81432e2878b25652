package story

import (
	"fmt"
	"time"

	"fossick/crawler/fetch"
	"fossick/internal/printable"
	"fossick/internal/terminal"
	"fossick/store"
)

// tellNext says when a URL may be visited next. That is when its host has
// rested while it waits, else by the estimate that the journal keeps. It also
// says when the host is silent.
func (r *Story) tellNext(l *store.Life, h *store.Host, now time.Time) {
	if l.Fate != nil && l.Fate.Next != 0 {
		r.Times.Next = utc(time.UnixMilli(l.Fate.Next))
	}
	if l.Queued == nil {
		return
	}
	switch n := l.Queued.Excused; {
	case n > 0 && n == len(l.Visits) && l.Visits[n-1].State == string(fetch.StateOK):
		r.Reasons = append(r.Reasons, "fossick repair removed its lost page; it will be fetched again, and its earlier visits do not count")
	case n > 0:
		r.Reasons = append(r.Reasons, fmt.Sprintf("%d of its visits do not count, because the host or this machine's network was down then", n))
	}
	if h.Silent > 0 {
		r.Reasons = append(r.Reasons, printable.Sprintf("its host gave no answer to the last %d requests, since %s",
			h.Silent, at(h.SilentSince).Format(time.DateTime)))
	}
	if rest := at(h.Next); rest.After(now) {
		r.Times.Next = utc(rest)
		r.tellRest(h, rest)
	}
}

// Rest is a rest that is longer than the crawl's delay makes it.
type Rest struct {
	Host    string    `json:"host"` // that asked for it, and that alone rests
	For     string    `json:"for"`  // Retry-After, Crawl-delay or back-off
	Seconds float64   `json:"seconds"`
	Until   time.Time `json:"until"`
}

// tellRest says until when the host rests, who asked for that, and for how long.
func (r *Story) tellRest(h *store.Host, until time.Time) {
	reason, length := "its host rests until "+until.Format(time.DateTime), time.Duration(h.RestMillis)*time.Millisecond
	switch h.RestFor {
	case store.RestForRetryAfter:
		reason += fmt.Sprintf(": %s asked for %s in an answer (Retry-After)", h.Name, atLength(length))
	case store.RestForCrawlDelay:
		reason += fmt.Sprintf(": %s asks for %s after each request in its robots.txt (Crawl-delay)", h.Name, atLength(length))
	case store.RestForFailures:
		reason += fmt.Sprintf(": the last requests to %s failed, %d in a row (back-off of %s)", h.Name, h.Failures, atLength(length))
	}
	r.Reasons = append(r.Reasons, reason)
	if h.RestFor != "" {
		r.Rest = &Rest{h.Name, h.RestFor, length.Seconds(), until}
	}
}

// atLength writes a time that may be a year.
func atLength(d time.Duration) string {
	if d >= 48*time.Hour {
		return fmt.Sprintf("%d days", int(d.Hours()/24))
	}
	return terminal.Brief(d)
}

// utc returns a time for JSON: null when there is none.
func utc(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC().Truncate(time.Second)
	return &t
}
