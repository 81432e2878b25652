package story

import (
	"fmt"

	"fossick/internal/page"
	"fossick/store"
)

// ofHost turns the exchanges with a host for one URL into an answer; it has
// no visits when there were none.
func ofHost(s *store.Store, u string) (*Story, error) {
	r := &Story{URL: u, State: "none", Score: Score{Terms: []store.Term{}}, Visits: []Visit{}}
	for x, err := range s.Exchanges(page.Host(u)) {
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
		r.Visits = append(r.Visits, Visit{at(x.Start), float64(x.Millis) / 1000, x.State, x.Code, x.Error, nil})
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
	switch x.For {
	case store.ForSitemap:
		return "it is a sitemap, named by robots.txt or a sitemap of " + owner
	case store.ForTDMRep:
		return "it has the reservations (tdmrep.json) of " + owner
	}
	return "it has the rules (robots.txt) of " + owner
}
