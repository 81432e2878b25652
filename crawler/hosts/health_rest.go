package hosts

import (
	"time"

	"fossick/crawler/fetch"
	"fossick/store"
)

// A rest has two parts. What load makes due, --delay or some times what the exchange
// took, is due to the machine: all hosts at its address rest. What the host asked for,
// or its failures did, binds the host alone. Else one could put others to rest for a
// year: by an address shared with them, or said to be.

// Rest is what is due after an exchange.
type Rest struct {
	Host    time.Duration // of the host that was asked, for all reasons
	Address time.Duration // of its address: for load, and no longer
	Reason  string        // of store's RestFor, where Host is longer than load makes it
	Wish    time.Duration // the rest that the reason asks for
}

const (
	minAutoRest  = 2 * time.Second
	autoRestFold = 10
	backOffBase  = time.Second
	backOffMax   = 10 * time.Minute
	// ownFaultRest is how long a host rests when we could not ask it: the crawl would
	// spin otherwise, as nobody makes room meanwhile.
	ownFaultRest = time.Second
	// addressRestMost is the longest rest of an address where it goes by the
	// time that exchanges took. If one host there drips its answers, the others
	// have a turn after this and not after ten minutes.
	addressRestMost = 10 * minAutoRest
)

// Delay is the rest of a host after each exchange.
type Delay struct {
	Fixed bool          // else automatic: max(2 s, 10 × the exchange), after paper E2
	Rest  time.Duration // when fixed
	Fold  float64       // the rest is at least so many times what the exchange took, when fixed
	Off   bool          // nobody rests for any reason: the web is in memory
}

// byTime says whether rests go by the time that exchanges take.
func (d Delay) byTime() bool { return !d.Off && (!d.Fixed || d.Fold > 0) }

// Load is the rest after an exchange that took so long, by --delay alone.
func (d Delay) Load(took time.Duration) time.Duration {
	if d.Fixed || d.Off {
		return max(d.Rest, time.Duration(d.Fold*float64(took)))
	}
	return max(minAutoRest, autoRestFold*took)
}

// After returns what is due after an exchange that took so long, with a host that failed
// so often in a row and asks for delay and retryAfter. The host rests by the longest of
// all these and of the delay.
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

// ask makes the host's rest as long as something asks for.
func (r *Rest) ask(wish time.Duration, reason string) {
	if wish > r.Host {
		r.Host, r.Wish, r.Reason = wish, wish, reason
	}
}

// of is After for an exchange that is over. A host that we could not ask rests a little.
func (d Delay) of(failures int, r *fetch.Response, took, crawlDelay time.Duration) Rest {
	due := d.After(failures, took, crawlDelay, r.RetryAfter)
	if ownFault(r) && !d.Off {
		due.Host = max(due.Host, ownFaultRest)
	}
	return due
}

// Millis returns the rest of the host, and what of it is its alone, in milliseconds.
func (r Rest) Millis() (host, own int64) {
	host = r.Host.Milliseconds()
	return host, host - r.Address.Milliseconds()
}

// backOff returns the least rest of a host after so many failures in a row: it
// doubles each time.
func backOff(failures int) time.Duration {
	if failures == 0 {
		return 0
	}
	if failures > 10 {
		return backOffMax
	}
	return min(backOffBase<<(failures-1), backOffMax)
}
