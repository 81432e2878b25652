package main

import (
	"fmt"

	"fossick/store"
)

// failure is a start page that came to nothing.
type failure struct{ url, what string }

// seedsTold is how many start pages failures speaks of.
const seedsTold = 5

// failures tells what became of the first start pages.
func failures(s *store.Store, seeds []string) (all []failure) {
	for _, u := range seeds[:min(len(seeds), seedsTold)] {
		l, err := s.Life(u)
		if err != nil || l.Fate == nil {
			continue // it still waits: the crawl was stopped before it could begin
		}
		what := l.Fate.State + " " + l.Fate.Reason
		if n := len(l.Visits); n > 0 && l.Visits[n-1].Code != 0 {
			what = fmt.Sprintf("%s, it answered %d", what, l.Visits[n-1].Code)
		}
		all = append(all, failure{u, what})
	}
	return all
}
