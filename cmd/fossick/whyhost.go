package main

import (
	"errors"
	"fmt"
	"time"

	"fossick/page"
	"fossick/store"
)

// story tells of a URL of the queue, or of one that was asked for on behalf of a
// host, as robots.txt and sitemaps are.
func story(s *store.Store, u string) (*whyResult, error) {
	life, err := s.Life(u)
	if err == nil {
		r := tell(life)
		h, err := s.Host(page.Host(u))
		r.tellNext(life, h, time.Now())
		r.Verdict = verdictOf(life, r)
		return r, errors.Join(err, r.tellRank(s))
	}
	if !errors.Is(err, store.ErrUnknown) {
		return nil, err
	}
	r, hostErr := tellExchanges(s, u)
	if hostErr != nil {
		return nil, hostErr
	}
	if len(r.Visits) == 0 {
		return nil, err
	}
	r.Verdict = fmt.Sprintf("Asked for on behalf of a host, and no page of the crawl: %s.", r.Reasons[0])
	return r, nil
}

// tellExchanges turns the exchanges with a host for one URL into an answer; it has
// no visits when there were none.
func tellExchanges(s *store.Store, u string) (*whyResult, error) {
	r := &whyResult{URL: u, State: "none", Score: whyScore{Terms: []store.Term{}}, Visits: []visit{}}
	for x, err := range s.ExchangesOf(page.Host(u)) {
		if err != nil {
			return nil, err
		}
		if x.URL != u || x.For == store.ForAddress {
			continue
		}
		if len(r.Visits) == 0 {
			r.Times.Found, r.Via = at(x.Start), store.Via(x.For)
			r.Reasons = append(r.Reasons, purposeText(x))
		}
		r.State = x.State
		fetched := at(x.Start)
		r.Times.Fetched = &fetched
		r.Visits = append(r.Visits, visit{at(x.Start), float64(x.Millis) / 1000, x.State, x.Code, x.Error})
		for _, text := range []string{x.Note, x.Location} {
			if text != "" {
				r.Reasons = append(r.Reasons, fmt.Sprintf("%s: %s", x.State, text))
			}
		}
	}
	return r, nil
}

func purposeText(x store.HostExchange) string {
	owner := x.Host
	if x.Owner != "" {
		owner = x.Owner
	}
	if x.For == store.ForSitemap {
		return "it is a sitemap, named by robots.txt or a sitemap of " + owner
	}
	return "it has the rules (robots.txt) of " + owner
}
