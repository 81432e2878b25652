package hosts

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"time"

	"fossick/crawler/fetch"
	"fossick/store"
)

// Silent reports that an exchange brought no HTTP: no name, no connection or no header.
func Silent(r *fetch.Response) bool {
	switch r.State {
	case fetch.StateNoIP, fetch.StateConnectError, fetch.StateConnectTimeout, fetch.StateHeaderTimeout, fetch.StateHeaderError:
		return r.Code == 0
	}
	return false
}

// broken reports that an exchange failed in transit, before or after the header.
func broken(r *fetch.Response) bool {
	return Silent(r) || r.State == fetch.StateBodyError || r.State == fetch.StateBodyTimeout
}

func noSuchHost(r *fetch.Response) bool { return errors.Is(r.Err, fetch.ErrNoSuchHost) }

// Transient reports whether another try may bring another answer.
func Transient(r *fetch.Response) bool {
	switch r.State {
	case fetch.StateConnectError, fetch.StateConnectTimeout, fetch.StateHeaderError, fetch.StateHeaderTimeout,
		fetch.StateBodyError, fetch.StateBodyTimeout, fetch.StateNoIP:
		return true
	case fetch.StateCode:
		switch r.Code {
		case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway,
			http.StatusServiceUnavailable, http.StatusGatewayTimeout,
			520, 521, 522, 523, 524: // from a proxy such as Cloudflare that cannot reach the server
			return true
		}
	}
	return false
}

// ownFault reports whether an exchange failed because this machine or process has no more
// files or memory for connections. The host is not to blame.
func ownFault(r *fetch.Response) bool {
	if r.Err == nil {
		return false
	}
	for _, lack := range [...]syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM} {
		if errors.Is(r.Err, lack) {
			return true
		}
	}
	// A resolver that could not open its socket says so only in the text of the error.
	return strings.Contains(r.Err.Error(), syscall.EMFILE.Error()) || strings.Contains(r.Err.Error(), syscall.ENFILE.Error())
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// maxVisits is the number of exchanges a URL gets, and of failures the first contact with a
// host may have.
const maxVisits = 3

// freeRetries and retryShare bound the repeated requests at a host, so that one which always
// fails is not asked three times for each URL.
const (
	freeRetries = 10
	retryShare  = 2 // at most one in so many requests
)

// health is the state of one host. Of the record it owns Failures, Retries, Promised, Silent,
// Closed and their times.
type health struct {
	Record *store.Host
	Site   string // registrable domain

	Verdict string // state in which every URL of the host ends; "" while it may answer
	Why     string // the reason for Verdict

	tries    int       // failed first contacts
	misses   []Miss    // failures of pages since the host last answered
	probedAt time.Time // when the last probe failed
}

func newHealth(record *store.Host, site string) health {
	h := health{Record: record, Site: site}
	h.judgeSilence()
	return h
}

// Lived reports whether the host ever answered.
func (h *health) Lived() bool { return h.Record.RobotsCode != 0 }

// Newcomer reports whether the host has not answered yet, or no longer answers.
func (h *health) Newcomer() bool { return !h.Lived() || h.Record.Silent > 0 }

// Probed reports whether the host is asked only for its robots.txt.
func (h *health) Probed() bool { return h.Lived() && h.Record.Silent >= closeAfter }

// Met records that the first contact succeeded.
func (h *health) Met() { h.tries = 0 }

// LastTry reports whether the next failure of the first contact is the last.
func (h *health) LastTry() bool { return h.tries+1 >= maxVisits }

// CountFirst counts a failure of the first contact.
func (h *health) CountFirst() {
	h.Record.Failures++
	h.tries++
}

// FailedFirst reports whether the first contact is tried again. The host gets its verdict
// after maxVisits failures, or at once when its name does not exist. A host that answered
// before gets more patience: see Network.FailedProbe.
func (h *health) FailedFirst(r *fetch.Response, what string) (again bool) {
	if h.tries < maxVisits && Transient(r) && !noSuchHost(r) {
		return true
	}
	h.Verdict, h.Why = string(r.State), what
	if r.Err != nil {
		h.Why = fmt.Sprintf("%s: %v", what, r.Err)
	}
	return false
}

// Retry reports whether a failed URL is tried again after so many visits that count. Why is
// set where the failure alone does not explain a no.
func (h *health) Retry(r *fetch.Response, visits int) (again bool, why string) {
	last := visits >= maxVisits
	switch {
	case last && Silent(r) && h.Probed():
		// The next request, for robots.txt, tells whether the URL or the host is to blame. If
		// that succeeds, the URL has one more try.
		h.Record.Promised++
		return true, ""
	case last:
		return false, ""
	case h.Record.Retries+h.Record.Promised >= freeRetries+h.Record.Requests/retryShare:
		why = fmt.Sprintf("not retried: %d of the %d requests to the host were retries", h.Record.Retries, h.Record.Requests)
		if more := h.Record.Promised; more > 0 {
			why += fmt.Sprintf(", and %d more are to come", more)
		}
		return false, why
	}
	h.Record.Promised++
	return true, ""
}

// Retried counts a repeated request; an excused URL keeps its promised try.
func (h *health) Retried(excused bool) {
	h.Record.Retries++
	if !excused {
		h.Record.Promised = max(h.Record.Promised, 1) - 1
	}
}

// Forgive undoes a failure that was counted against the host.
func (h *health) Forgive(m Miss) {
	h.Record.Failures = max(0, h.Record.Failures-1)
	if m.Silent {
		h.Record.Silent = max(0, h.Record.Silent-1)
	}
	if h.Record.Silent == 0 {
		h.Record.SilentSince = 0
	}
	if m.Page {
		h.Record.Promised = max(h.Record.Promised, 1) - 1
	}
	if m.First {
		h.tries = max(0, h.tries-1)
	}
	h.open()
	h.misses = nil
}

// open withdraws the verdict.
func (h *health) open() {
	h.Record.Closed, h.Record.ClosedUntil, h.Verdict, h.Why = "", 0, "", ""
}

func (t *Table) crawlDelay(h *Host) time.Duration {
	if h.Rules == nil {
		return 0
	}
	delay, _ := h.Rules.CrawlDelay(t.opt.Agent)
	return delay
}

// RestOf returns the rest that h is due after an exchange.
func (t *Table) RestOf(h *Host, r *fetch.Response) Rest {
	due := t.opt.Delay.of(h.Failures, r, t.network.took(r), t.crawlDelay(h))
	if t.opt.Fold != nil && h.Address != "" {
		due.Address = time.Duration(float64(due.Address) * t.opt.Fold(h.Address))
		due.Host = max(due.Host, due.Address)
	}
	return due
}

// Release starts the rest of h and of its address after an exchange, and records its end. The
// pause between two probes is not recorded: it ends with the session.
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

// RestAtLeast applies a rest that another agent of the crawl reported: its end, its reason,
// and its milliseconds.
func (t *Table) RestAtLeast(h *Host, until time.Time, why string, wish int64) {
	if until.UnixMilli() <= h.Next {
		return
	}
	h.Next, h.RestFor, h.RestMillis = until.UnixMilli(), why, wish
	t.frontier.Rest(h.Party, until)
}

// HoldBack lets a leased host wait that was not asked; its address does not rest.
func (t *Table) HoldBack(h *Host, until time.Time) {
	t.frontier.Done(h.Party, time.Time{})
	t.frontier.Rest(h.Party, until)
}

// ReleaseUnasked releases a host whose robots.txt redirected to another host.
func (t *Table) ReleaseUnasked(h *Host) { t.Release(h, t.opt.Delay.After(0, 0, 0, 0)) }

// A rest has two parts. The load delay (--delay, or a multiple of the exchange's time) is due
// to the machine: all hosts at its address rest. A delay that the host asked for, or that its
// failures caused, binds the host alone. Otherwise a host could block others for a year
// through a shared address.

// Rest is the rest due after an exchange.
type Rest struct {
	Host    time.Duration // of the host, for all reasons
	Address time.Duration // of its address, for load alone
	Reason  string        // of store's RestFor, where Host is longer than the load delay
	Wish    time.Duration // the rest that the reason asks for
}

const (
	minAutoRest  = 2 * time.Second
	autoRestFold = 10
	backOffBase  = time.Second
	backOffMax   = 10 * time.Minute
	// ownFaultRest is the rest of a host after a fault of this machine; without it the crawl
	// would spin.
	ownFaultRest = time.Second
	// addressRestMost bounds an address's rest where it follows the exchange's time. A host
	// that drips its answers must not block its neighbours for ten minutes.
	addressRestMost = 10 * minAutoRest
)

// Delay sets the rest of a host after each exchange.
type Delay struct {
	Fixed bool          // else automatic: max(2 s, 10 × the exchange), after paper E2
	Rest  time.Duration // when fixed
	Fold  float64       // when fixed: the rest is at least so many times the exchange
	Off   bool          // no host rests: the web is in memory
}

func (d Delay) byTime() bool { return !d.Off && (!d.Fixed || d.Fold > 0) }

// Load returns the rest after an exchange by --delay alone.
func (d Delay) Load(took time.Duration) time.Duration {
	if d.Fixed || d.Off {
		return max(d.Rest, time.Duration(d.Fold*float64(took)))
	}
	return max(minAutoRest, autoRestFold*took)
}

// After returns the rest after an exchange that took so long, at a host with so many failures
// in a row that asks for crawlDelay and retryAfter. The longest of these and of the delay
// holds.
func (d Delay) After(failures int, took, crawlDelay, retryAfter time.Duration) Rest {
	if d.Off {
		return Rest{}
	}
	load := d.Load(took)
	r := Rest{Host: load, Address: load}
	if d.byTime() {
		r.Address = min(load, max(d.Rest, addressRestMost))
	}
	r.ask(crawlDelay, store.RestForCrawlDelay)
	r.ask(backOff(failures), store.RestForFailures)
	r.ask(retryAfter, store.RestForRetryAfter)
	return r
}

// ask extends the host's rest to a wish.
func (r *Rest) ask(wish time.Duration, reason string) {
	if wish > r.Host {
		r.Host, r.Wish, r.Reason = wish, wish, reason
	}
}

// of returns the rest after r; after a fault of this machine the rest is short. Several
// requests for one page are due several delays.
func (d Delay) of(failures int, r *fetch.Response, took, crawlDelay time.Duration) Rest {
	requests := time.Duration(1 + r.Further)
	d.Rest, crawlDelay = d.Rest*requests, crawlDelay*requests
	due := d.After(failures, took, crawlDelay, r.RetryAfter)
	if ownFault(r) && !d.Off {
		due.Host = max(due.Host, ownFaultRest)
	}
	return due
}

// Millis returns the host's rest and its own part of it, in milliseconds.
func (r Rest) Millis() (host, own int64) {
	host = r.Host.Milliseconds()
	return host, host - r.Address.Milliseconds()
}

// backOff returns the least rest after so many failures in a row; it doubles each time.
func backOff(failures int) time.Duration {
	if failures == 0 {
		return 0
	}
	if failures > 10 {
		return backOffMax
	}
	return min(backOffBase<<(failures-1), backOffMax)
}

// Records hold wall-clock times. If a clock ran ahead and was corrected, they lie in the
// future; the rules below keep hosts from resting or staying closed for years.

// clockSlack is the tolerated difference between clocks.
const clockSlack = time.Minute

// RestLeft returns the rest that a record still demands. If the record's robots.txt lies in
// the future, so does its last exchange, by at least as much; the rest is then at most a day
// too long.
func RestLeft(h *store.Host, now time.Time) time.Duration {
	if asked := time.UnixMilli(h.RobotsAt); asked.Sub(now) > clockSlack {
		now = asked
	}
	return time.UnixMilli(h.Next).Sub(now)
}

// stoppedFor returns how long the process did not run between two looks at the clock. The
// monotonic clock stands still while the machine sleeps; the wall clock goes on. A wall clock
// set ahead looks like a stop, which does no harm.
func stoppedFor(last, now time.Time) time.Duration {
	return max(now.Sub(last), now.Round(0).Sub(last.Round(0)))
}
