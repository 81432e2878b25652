package hosts

import (
	"time"

	"fossick/crawler/fetch"
	"fossick/internal/page"
	"fossick/store"
	"fossick/store/change"
)

// Bounds of memory, some 12 MB. Of a host that is forgotten the record is read again when it
// is asked for next; of a URL its visits.
const (
	urlsKept    = 16_384 // at least, twice as many at most
	hostsKept   = 8_192
	waitsKept   = 16_384
	mostPending = 10_000
)

// Book is what a crawl knows of the chances of visits. It belongs to the crawl's owner.
type Book struct {
	predictor *change.Predictor
	// pending are exchanges without an answer since the last answer of anybody: if our own
	// network is down they say nothing of hosts.
	pending []change.Attempt
	waits   page.Recent[float64] // by page.Key, the chances of URLs that wait for another try
	waiting bool                 // some URL has been in waits
	failed  bool                 // some visit failed, in this session or before
	unsaved int                  // failures since Kept
}

// NewChances returns a book that knows what paper E found, and nothing else.
func NewChances() *Book {
	return &Book{
		predictor: change.NewPredictor(change.PredictorOptions{URLs: urlsKept, Hosts: hostsKept}),
		waits:     page.NewRecent[float64](waitsKept),
	}
}

// visitOf is what an exchange for a page was, as a visit; false where it says nothing of the
// next one.
func visitOf(host, url string, r *fetch.Response) (change.Attempt, bool) {
	o, ok := change.OutcomeOf(string(r.State), r.Code)
	return change.Attempt{URL: url, Host: host, At: r.Start, Outcome: o}, ok
}

// Learn takes in how an exchange for a page ended, unless it is excused, and puts into the
// host's record what is to be kept of the host.
func (b *Book) Learn(h *store.Host, url string, r *fetch.Response) {
	v, ok := visitOf(h.Name, url, r)
	if !ok {
		return
	}
	b.recall(h)
	if Silent(r) {
		if len(b.pending) < mostPending {
			b.pending = append(b.pending, v)
		}
		return
	}
	for _, earlier := range b.pending {
		b.learn(earlier)
	}
	b.pending = b.pending[:0]
	b.learn(v)
	if b.failed {
		h.Chances = b.predictor.KeptHost(h.Name)
	}
}

func (b *Book) learn(v change.Attempt) {
	b.predictor.Learn(v)
	if v.Outcome != change.OK {
		b.failed = true
		b.unsaved++
	}
}

// TakeBack forgets what failed while our own network was down.
func (b *Book) TakeBack() { b.pending = b.pending[:0] }

// Retry is the chance that a URL whose exchange has just failed has a success at a time.
// The URL has it until it is tried again, or for good.
func (b *Book) Retry(host, url string, r *fetch.Response, at time.Time) float64 {
	chance := 0.
	if v, ok := visitOf(host, url, r); ok && Silent(r) { // it is not learned yet
		chance = b.predictor.ChanceAfter(v, at)
	} else {
		chance = b.predictor.Chance(url, host, at)
	}
	b.wait(page.Key(url), chance)
	return chance
}

func (b *Book) wait(key uint64, chance float64) {
	b.waiting = true
	if _, known := b.waits.Get(key); known {
		b.waits.Update(key, chance)
	} else {
		b.waits.Put(key, chance)
	}
}

// Any says whether any URL waits for another try.
func (b *Book) Any() bool { return b.waiting }

// Of is the chance of a URL that waits, by its page.Key; 1 of one that has not failed.
func (b *Book) Of(key uint64) float64 {
	if !b.waiting {
		return 1
	}
	if chance, known := b.waits.Peek(key); known {
		return chance
	}
	return 1
}

// Pardon takes back that a URL waits for another try: its failure was nobody's.
func (b *Book) Pardon(key uint64) { b.waits.Remove(key) }

// Waits has a URL that failed in an earlier session wait for another try.
func (b *Book) Waits(url string, visits []store.Visit, at time.Time) {
	b.wait(page.Key(url), b.of(url, page.Host(url), visits, at))
}

// Revisit is the chance that a page that was visited before is had at a time; 1 where no
// visit of its host failed. The visits, in the order of time, are asked for only where one
// did.
func (b *Book) Revisit(url string, visits func() ([]store.Visit, error), at time.Time) (float64, error) {
	if !b.failed {
		return 1, nil
	}
	host := page.Host(url)
	if b.predictor.Flawless(host) {
		return 1, nil
	}
	all, err := visits()
	if err != nil {
		return 1, err
	}
	return b.of(url, host, all, at), nil
}

// Next is Revisit for a visit that comes as long after the last one as that came after the
// one before, a day after a first one.
func (b *Book) Next(url string, visits func() ([]store.Visit, error)) (float64, error) {
	if !b.failed || b.predictor.Flawless(page.Host(url)) {
		return 1, nil
	}
	all, err := visits()
	if err != nil || len(all) == 0 {
		return 1, err
	}
	last := time.UnixMilli(all[len(all)-1].Start)
	at := last.Add(24 * time.Hour)
	if n := len(all); n > 1 {
		at = last.Add(time.Duration(all[n-1].Start-all[n-2].Start) * time.Millisecond)
	}
	return b.of(url, page.Host(url), all, at), nil
}

// of is the chance of a URL with these visits.
func (b *Book) of(url, host string, visits []store.Visit, at time.Time) float64 {
	var all []change.Attempt
	for i := range visits {
		v := &visits[i]
		if o, ok := change.OutcomeOf(v.State, v.Code); ok {
			all = append(all, change.Attempt{URL: url, Host: host, At: time.UnixMilli(v.Start), Outcome: o})
		}
	}
	return b.predictor.ChanceOf(all, host, at)
}
