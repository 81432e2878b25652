package monitor

import (
	"fmt"
	"io"
	"slices"

	"fossick/crawler"
	"fossick/crawler/fetch"
	"fossick/internal/cli"
	"fossick/store"
)

// failedStart is a start page that gave no page.
type failedStart struct {
	URL    string `json:"url"`
	State  string `json:"state"`
	Reason string `json:"reason"`
}

// StartPage is the outcome of a start page; state and reason are those of its redirects' final target.
type StartPage struct {
	failedStart
	OnTopic      *bool   `json:"on_topic"`      // null without a page
	RedirectedTo *string `json:"redirected_to"` // null without redirects
}

// Answered reports whether the start page gave a page.
func (p *StartPage) Answered() bool {
	return slices.Contains([]string{string(fetch.StateOK), string(fetch.StateNotModified), string(fetch.StateDuplicate)}, p.State)
}

// maxHops bounds the redirects followed here; a crawl follows ten.
const maxHops = 20

// StartPageOf returns a start page's outcome from the store that has it; ended is false while it waits.
func StartPageOf(stores []*store.Store, url string) (p StartPage, ended bool) {
	p.URL = url
	at := url
	for range maxHops {
		s, l := endedIn(stores, at)
		if l == nil {
			return p, false
		}
		p.failedStart = failedStart{url, l.Outcome.State, reasonOf(l)}
		if l.Page != nil {
			p.OnTopic = &l.Page.Relevant
		}
		n := len(l.Visits)
		if l.Outcome.State != string(fetch.StateRedirect) || n == 0 || l.Visits[n-1].Location == 0 {
			return p, true
		}
		to, err := s.URLs().Discovery(l.Visits[n-1].Location)
		if err != nil {
			return p, true
		}
		at = to.URL
		p.RedirectedTo = &at
	}
	return p, true
}

// reasonOf returns why a URL has no page; "" when it has one.
func reasonOf(l *store.Life) string {
	if n := len(l.Visits); l.Outcome.Reason == "" && l.Outcome.State != string(fetch.StateOK) && n > 0 && l.Visits[n-1].Code != 0 {
		return fmt.Sprintf("it answered %d", l.Visits[n-1].Code)
	}
	return l.Outcome.Reason
}

// endedIn returns the record of an ended URL and the store that has it.
func endedIn(stores []*store.Store, u string) (*store.Store, *store.Life) {
	for _, s := range stores {
		if l, err := s.URLs().Life(u); err == nil && l.Outcome != nil && l.Outcome.Reason != crawler.Reason {
			return s, l
		}
	}
	return nil, nil
}

const mostStarts = 1000

const startsATime = 50

// Starts monitors the outcomes of a crawl's start pages. Not safe for concurrent use.
type Starts struct {
	stores  []*store.Store
	urls    []string
	waiting []string // in the order to check
	failed  []failedStart
	ended   uint64 // ended URLs of the crawl at the last complete check
}

// WatchStarts monitors the first mostStarts start pages of the crawl in these stores.
func WatchStarts(seeds []string, stores ...*store.Store) *Starts {
	s := &Starts{stores: stores, urls: slices.Clone(seeds[:min(len(seeds), mostStarts)])}
	s.Failed()
	return s
}

// Show returns the start pages that failed since the last call.
func (s *Starts) Show(p crawler.Progress) []failedStart {
	var ended uint64
	for _, n := range p.Counts.States {
		ended += n
	}
	if ended == s.ended {
		return nil
	}
	if len(s.waiting) <= startsATime {
		s.ended = ended // else the next call checks the rest
	}
	return s.look(startsATime)
}

func (s *Starts) look(n int) []failedStart {
	had := len(s.failed)
	for range min(n, len(s.waiting)) {
		url := s.waiting[0]
		s.waiting = s.waiting[1:]
		switch p, ended := StartPageOf(s.stores, url); {
		case !ended:
			s.waiting = append(s.waiting, url)
		case !p.Answered():
			s.failed = append(s.failed, p.failedStart)
		}
	}
	return s.failed[had:]
}

// Known returns the failures seen so far, of all sessions.
func (s *Starts) Known() []failedStart { return slices.Clip(s.failed) }

// Failed checks all start pages again and returns the failed ones, in seed order.
func (s *Starts) Failed() []failedStart {
	s.waiting, s.failed = slices.Clone(s.urls), []failedStart{}
	s.look(len(s.urls))
	return s.Known()
}

const startsPrinted = 20

func printFailures(w io.Writer, failed []failedStart) {
	for i, f := range failed {
		if i == startsPrinted {
			cli.Fprintf(w, "  and %d more; --json has them all\n", len(failed)-i)
			return
		}
		cli.Fprintf(w, "  %s: %s, %s\n", f.URL, f.State, cli.Cut(f.Reason, 300))
	}
}
