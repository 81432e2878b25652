package story

import (
	"fmt"
	"math"
	"time"

	"fossick/crawler/fetch"
	"fossick/internal/cli"
	"fossick/internal/report"
	"fossick/internal/stats"
	"fossick/store"
)

// Wait is a wait for better links that involved a URL.
type wait struct {
	Since   time.Time `json:"since"`
	Seconds float64   `json:"seconds"`
	Refused bool      `json:"refused"` // it was free and passed over; else it was awaited
	Price   *float64  `json:"price"`   // least priority of a link to take
	Best    *float64  `json:"best"`    // of the awaited links; null where only other agents had them
	Free    *float64  `json:"free"`    // of the free links
	Hosts   int       `json:"hosts"`   // with links worth the price, when refused; 0 where only other agents had them

	kept store.Wait
}

// Price is the least value of a link that a running crawl takes.
type Price struct {
	Value    *float64 `json:"value"`    // null for any
	Priority float64  `json:"priority"` // of the URL
	Below    bool     `json:"below"`    // it is passed over
	Wait     *wait    `json:"wait"`     // that it was involved in so far
}

func waitOf(w *store.Wait) *wait {
	if w == nil {
		return nil
	}
	r := &wait{Since: at(w.Since), Seconds: float64(w.Millis) / 1000, Refused: w.Refused, Price: stats.Known(w.Price), Best: stats.Known(w.Best), Free: stats.Known(w.Free), Hosts: w.Hosts, kept: *w}
	if r.elsewhere() {
		r.Best = nil
	}
	return r
}

// elsewhere reports that other agents had the better links.
func (w *wait) elsewhere() bool { return w.Refused && w.Hosts == 0 }

// tell describes the wait; be is "was", or "is" while it lasts.
func (w *wait) tell(be string) []string {
	if w == nil {
		return nil
	}
	k, since, long := &w.kept, w.Since.Format(time.TimeOnly), cli.Brief(time.Duration(w.Seconds*float64(time.Second)))
	if !w.Refused {
		return []string{fmt.Sprintf("the crawl waited %s from %s on for it or an equally good link: its priority of %.3g was at least the price of %.3g, and the best free link had %.3g",
			long, since, k.Best, k.Price, k.Free)}
	}
	better := fmt.Sprintf("at %s, the best with %.3g", report.Count(w.Hosts, "host"), k.Best)
	if w.elsewhere() {
		better = "with other agents"
	}
	return []string{fmt.Sprintf("it %s free from %s on, and the crawl held it back for %s: its priority of %.3g was below the price of %.3g, because better links waited %s",
		be, since, long, k.Free, k.Price, better)}
}

// tellFile says how the expected size of a file lowers its priority.
func tellFile(f *store.FilePrice) []string {
	if f == nil {
		return nil
	}
	return []string{fmt.Sprintf("a large file: a .%s of this host is expected to have %.1f MiB, so that it costs as much as %.1f pages, by which its priority is divided", f.Kind, float64(f.Bytes)/(1<<20), 1/f.Share)}
}

// Standing compares a queued URL with the price of a running crawl, which takes no link below
// it. wait is the wait that involved the URL so far, file what lowers its priority.
func (r *Story) Standing(price float64, wait *store.Wait, file *store.FilePrice) {
	if r.State != "none" || r.Times.Ended != nil || r.Score.Value == nil {
		return
	}
	p := &Price{Priority: r.priority, Wait: waitOf(wait)}
	if r.Now != nil && r.Now.Value != nil {
		p.Priority = *r.Now.Value
	}
	if file != nil {
		p.Priority *= file.Share
		r.Reasons = append(r.Reasons, tellFile(file)...)
	}
	r.Price = p
	if !math.IsInf(price, 0) {
		p.Value, p.Below = &price, p.Priority < price
	}
	r.Reasons = append(r.Reasons, p.Wait.tell("is")...)
	switch {
	case p.Below:
		why := fmt.Sprintf("the crawl waits for better links: its priority of %.3g is below the price of %.3g now", p.Priority, price)
		r.Reasons = append(r.Reasons, why)
		r.Verdict = verdictWaiting + " in the queue: " + why + "."
	case p.Value != nil:
		r.Reasons = append(r.Reasons, fmt.Sprintf("its priority of %.3g is at least the price of %.3g now: it is fetched in its turn, when its host is free", p.Priority, price))
	}
}

// tellNext gives the next visit: the end of the host's rest for a waiting URL, else the
// journal's estimate. It also says when the host is silent.
func (r *Story) tellNext(l *store.Life, h *store.Host, now time.Time) {
	if l.Outcome != nil && l.Outcome.Next != 0 {
		r.Times.Next = utc(time.UnixMilli(l.Outcome.Next))
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
		r.Reasons = append(r.Reasons, cli.Sprintf("its host gave no answer to the last %d requests, since %s",
			h.Silent, at(h.SilentSince).Format(time.DateTime)))
	}
	if rest := at(h.Next); rest.After(now) {
		r.Times.Next = utc(rest)
		r.tellRest(h, rest)
	}
}

// Rest is a rest longer than the crawl's delay.
type rest struct {
	Host    string    `json:"host"` // that caused it, and alone rests
	For     string    `json:"for"`  // Retry-After, Crawl-delay or back-off
	Seconds float64   `json:"seconds"`
	Until   time.Time `json:"until"`
}

// tellRest gives the end, the cause and the length of the host's rest.
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
		r.Rest = &rest{h.Name, h.RestFor, length.Seconds(), until}
	}
}

// atLength writes a duration of up to a year.
func atLength(d time.Duration) string {
	if d >= 48*time.Hour {
		return fmt.Sprintf("%d days", int(d.Hours()/24))
	}
	return cli.Brief(d)
}

// utc returns a time for JSON; null for none.
func utc(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC().Truncate(time.Second)
	return &t
}
