package main

import (
	"hash/fnv"
	"io"

	"fossick/eval/webstats"
	"fossick/internal/page"
	"fossick/store"
	"fossick/store/change"
)

// estimatorOf returns the model of change rates that has learned from all pages of a store.
func estimatorOf(s *store.Store) (*change.Model, error) {
	var failed error
	var looks []change.Interval
	model := change.Learn(func(yield func(change.Page) bool) {
		for p, err := range watchedPages(s) {
			if err != nil {
				failed = err
				return
			}
			looks = looksOf(looks[:0], p.Visits)
			if len(looks) > 0 && !yield(ratesPage(p, looks)) {
				return
			}
		}
	})
	return model, failed
}

// estimated is of about how many pages the rate is asked for, for tables: an estimate takes
// some 40 µs.
const estimated = 100_000

// rateOf returns what estimates the rates of a store's pages, of all or of a draw that is
// the same each time.
func rateOf(s *store.Store, pages uint64) (func(*webstats.Watched) (change.Estimate, bool), error) {
	rate, err := estimatorOf(s)
	if err != nil {
		return nil, err
	}
	oneOf := max(1, pages/estimated)
	var looks []change.Interval
	return func(p *webstats.Watched) (change.Estimate, bool) {
		h := fnv.New64a()
		_, _ = io.WriteString(h, p.URL) // a hash takes all
		if h.Sum64()%oneOf != 0 {
			return change.Estimate{}, false
		}
		looks = looksOf(looks[:0], p.Visits)
		return rate.Estimate(ratesPage(p, looks)), true
	}, nil
}

func ratesPage(p *webstats.Watched, looks []change.Interval) change.Page {
	return change.Page{Host: page.Host(p.URL), Group: change.Group{Kind: p.Kind, Depth: p.Depth, Site: page.Site(p.URL)}, Visits: looks}
}

// looksOf appends to dst the times between two visits that found a page's text, whether it
// had changed, and how long ago by Last-Modified. That of the visit that stored a page is not
// kept. An advert's change makes it later than the text's: such hosts contradict themselves,
// and the estimator does not believe them.
func looksOf(dst []change.Interval, visits []change.Visit) []change.Interval {
	last, modified := visits[0].At, int64(0)
	for i := range visits[1:] {
		v := &visits[1+i]
		if !change.Downloaded(v.State) {
			continue
		}
		days := float64(v.At-last) / millisADay
		look := change.Interval{Days: days, Changed: textChanged(v)}
		if v.Modified != 0 || v.Change.Changed() { // else as before
			modified = v.Modified
		}
		if look.Told = modified != 0; look.Told {
			look.Age = float64(v.At-modified*1000) / millisADay
		}
		dst = append(dst, look)
		last = v.At
	}
	return dst
}

const millisADay = 24 * 60 * 60 * 1000

// textChanged says whether a visit found another main text, as far as one looked.
func textChanged(v *change.Visit) bool { return v.Change == change.Text || v.Change == change.Unsure }
