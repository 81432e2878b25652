package main

import (
	"hash/fnv"
	"io"

	"fossick/eval/change/tables"
	"fossick/internal/page"
	"fossick/store"
	"fossick/store/change"
	"fossick/store/change/rates"
)

// estimatorOf returns the estimator of change rates that has learned from all pages of a
// store.
func estimatorOf(s *store.Store) (*rates.Estimator, error) {
	var failed error
	var looks []rates.Interval
	model := rates.Learn(func(yield func(rates.Page) bool) {
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
	if failed != nil {
		return nil, failed
	}
	return rates.New("", model)
}

// estimated is of about how many pages the rate is asked for, for tables: an estimate takes
// some 40 µs.
const estimated = 100_000

// rateOf returns what estimates the rates of a store's pages, of all or of a draw that is
// the same each time.
func rateOf(s *store.Store, pages uint64) (func(*tables.Page) (rates.Estimate, bool), error) {
	rate, err := estimatorOf(s)
	if err != nil {
		return nil, err
	}
	oneOf := max(1, pages/estimated)
	var looks []rates.Interval
	return func(p *tables.Page) (rates.Estimate, bool) {
		h := fnv.New64a()
		_, _ = io.WriteString(h, p.URL) // a hash takes all
		if h.Sum64()%oneOf != 0 {
			return rates.Estimate{}, false
		}
		looks = looksOf(looks[:0], p.Visits)
		return rate.Estimate(ratesPage(p, looks)), true
	}, nil
}

func ratesPage(p *tables.Page, looks []rates.Interval) rates.Page {
	return rates.Page{Host: page.Host(p.URL), Group: rates.Group{Kind: p.Kind, Depth: p.Depth, Site: page.Site(p.URL)}, Visits: looks}
}

// looksOf appends to dst the times between two visits that found a page's text, whether it
// had changed, and how long ago by Last-Modified. That of the visit that stored a page is not
// kept. An advert's change makes it later than the text's: such hosts contradict themselves,
// and the estimator does not believe them.
func looksOf(dst []rates.Interval, visits []change.Visit) []rates.Interval {
	last, modified := visits[0].At, int64(0)
	for i := range visits[1:] {
		v := &visits[1+i]
		if !change.Downloaded(v.State) {
			continue
		}
		days := float64(v.At-last) / millisADay
		look := rates.Interval{Days: days, Changed: textChanged(v)}
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
