package hosts

import (
	"fmt"
	"time"

	"fossick/crawler/fetch"
	"fossick/graph/orders"
	"fossick/internal/page"
	"fossick/store"
	"fossick/store/change"
)

// Bounds of memory, about 12 MB. A forgotten host is read again from its record.
const (
	urlsKept    = 16_384 // at least; twice as many at most
	hostsKept   = 8_192
	waitsKept   = 16_384
	mostPending = 10_000
)

// Chances predicts whether a visit succeeds. It belongs to the crawl's owner.
type Chances struct {
	predictor *change.Predictor
	// pending holds the unanswered exchanges since the last answer of any host. If our own
	// network is down, they say nothing about hosts.
	pending []change.Attempt
	waits   page.Recent[float64] // by page.Key, the chances of URLs that wait for another try
	waiting bool                 // some URL has been in waits
	failed  bool                 // some visit failed, in this session or before
	unsaved int                  // failures since Kept
}

// NewChances returns chances with paper E's figures alone.
func NewChances() *Chances {
	return &Chances{
		predictor: change.NewPredictor(change.PredictorOptions{URLs: urlsKept, Hosts: hostsKept}),
		waits:     page.NewRecent[float64](waitsKept),
	}
}

// visitOf returns an exchange as a visit; false where it says nothing about the next one.
func visitOf(host, url string, r *fetch.Response) (change.Attempt, bool) {
	o, ok := change.OutcomeOf(string(r.State), r.Code)
	return change.Attempt{URL: url, Host: host, At: r.Start, Outcome: o}, ok
}

// Learn records the outcome of an exchange that is not excused, and updates the host's record.
func (b *Chances) Learn(h *store.Host, url string, r *fetch.Response) {
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

func (b *Chances) learn(v change.Attempt) {
	b.predictor.Learn(v)
	if v.Outcome != change.OK {
		b.failed = true
		b.unsaved++
	}
}

// TakeBack forgets the failures from while our own network was down.
func (b *Chances) TakeBack() { b.pending = b.pending[:0] }

// Retry returns the chance that a URL which has just failed succeeds at a time. The chance
// holds until the URL is tried again.
func (b *Chances) Retry(host, url string, r *fetch.Response, at time.Time) float64 {
	chance := 0.
	if v, ok := visitOf(host, url, r); ok && Silent(r) { // not learned yet
		chance = b.predictor.ChanceAfter(v, at)
	} else {
		chance = b.predictor.Chance(url, host, at)
	}
	b.wait(page.Key(url), chance)
	return chance
}

func (b *Chances) wait(key uint64, chance float64) {
	b.waiting = true
	if _, known := b.waits.Get(key); known {
		b.waits.Set(key, chance)
	} else {
		b.waits.Put(key, chance)
	}
}

// Any reports whether any URL waits for another try.
func (b *Chances) Any() bool { return b.waiting }

// Of returns the chance of the URL with this page.Key; 1 if it has not failed.
func (b *Chances) Of(key uint64) float64 {
	if !b.waiting {
		return 1
	}
	if chance, known := b.waits.Peek(key); known {
		return chance
	}
	return 1
}

// Pardon removes a URL whose failure was excused.
func (b *Chances) Pardon(key uint64) { b.waits.Remove(key) }

// Waits marks a URL that failed in an earlier session as waiting.
func (b *Chances) Waits(url string, visits []store.Visit, at time.Time) {
	b.wait(page.Key(url), b.of(url, page.Host(url), visits, at))
}

// Revisit returns the chance that a known page is fetched at a time; 1 where no visit of its
// host failed. It asks for the visits, in order of time, only where one did.
func (b *Chances) Revisit(url string, visits func() ([]store.Visit, error), at time.Time) (float64, error) {
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

// Next is Revisit at the time of the next visit: the last interval after the last visit, or a
// day after the first.
func (b *Chances) Next(url string, visits func() ([]store.Visit, error)) (float64, error) {
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

func (b *Chances) of(url, host string, visits []store.Visit, at time.Time) float64 {
	var all []change.Attempt
	for i := range visits {
		v := &visits[i]
		if o, ok := change.OutcomeOf(v.State, v.Code); ok {
			all = append(all, change.Attempt{URL: url, Host: host, At: time.UnixMilli(v.Start), Outcome: o})
		}
	}
	return b.predictor.ChanceOf(all, host, at)
}

// Lower returns the priority of a URL that waits for another try: its value times its chance
// of success. In an ordering by links the priority falls by the chance of a failure, in steps
// of equal priorities, so that the URL comes after its equals.
func Lower(o orders.Ordering, priority, chance float64) float64 {
	switch {
	case chance >= 1:
		return priority
	case !orders.ByScore(o):
		return priority - (1-chance)*orders.Width(o)
	case priority > 0:
		return priority * chance
	}
	return priority / chance
}

// Raise undoes Lower.
func Raise(o orders.Ordering, priority, chance float64) float64 {
	switch {
	case chance >= 1:
		return priority
	case !orders.ByScore(o):
		return priority + (1-chance)*orders.Width(o)
	case priority > 0:
		return priority / chance
	}
	return priority * chance
}

// often is the number of failures between records of the shared weights. A kill loses at most
// these; hosts' own records are never behind.
const often = 256

// LoadChances returns the chances in a store, for its readers.
func LoadChances(s *store.Store) (*Chances, error) {
	b := NewChances()
	if err := b.Restore(s); err != nil {
		return nil, err
	}
	for h, err := range s.Hosts() {
		if err != nil {
			return nil, err
		}
		b.Recall(h)
	}
	return b, nil
}

// Restore reads the shared weights from a store. Unreadable ones are learned anew.
func (b *Chances) Restore(s *store.Store) error {
	kept, err := store.Chances(s)
	if err != nil {
		return fmt.Errorf("the learned failure rates cannot be read: %w", err)
	}
	if kept == nil {
		return nil
	}
	b.failed = true
	_ = b.predictor.Restore(kept) // from another build: paper E's figures stay
	return nil
}

// Recall reads a host's record.
func (b *Chances) Recall(h *store.Host) {
	if len(h.Chances) > 0 {
		b.failed = true
		b.recall(h)
	}
}

func (b *Chances) recall(h *store.Host) {
	if len(h.Chances) > 0 {
		_ = b.predictor.RestoreHost(h.Name, h.Chances) // from another build: the host starts anew
	}
}

// Due reports whether the shared weights should be recorded; last, at the end of a session.
func (b *Chances) Due(last bool) bool { return b.unsaved >= often || last && b.unsaved > 0 }

// Kept returns the record of the shared weights.
func (b *Chances) Kept() []byte {
	b.unsaved = 0
	return b.predictor.Kept()
}
