package tables

import (
	"sort"

	"fossick/change"
)

// rounds counts how often pages could be had: by the paper's S(n), for which a page that was
// not asked in a round was not downloaded in it, and step by step.
type rounds struct {
	began []int64 // of the rounds that have ended
	end   int64   // of the last of them
	pages change.Downloads
	seeds change.Downloads

	// steps[a][b] counts visits that ended in b after one that ended in a; 1 is a download.
	steps [2][2]int64
}

func newRounds(all []Round) *rounds {
	r := &rounds{}
	for _, one := range all {
		if one.Ended != 0 {
			r.began, r.end = append(r.began, one.Began), one.Ended
		}
	}
	r.pages, r.seeds = make(change.Downloads, len(r.began)+1), make(change.Downloads, len(r.began)+1)
	return r
}

func (r *rounds) add(p *Page) {
	downloads, last := 0, -1
	had := -1 // what the visit before came to
	for i := range p.Visits[1:] {
		v := &p.Visits[1+i]
		got := 0
		if change.Downloaded(v.State) {
			got = 1
		}
		if had >= 0 {
			r.steps[had][got]++
		}
		had = got
		if n := r.roundOf(v.At); n > last && got == 1 {
			downloads, last = downloads+1, n
		}
	}
	if len(r.began) > 0 && p.Visits[0].At < r.began[0] { // one that is newer had no chance in all of them
		r.pages[downloads]++
		if p.Seed {
			r.seeds[downloads]++
		}
	}
}

// roundOf returns the number of the round in which a visit began, -1 for none.
func (r *rounds) roundOf(at int64) int {
	if at > r.end {
		return -1
	}
	return sort.Search(len(r.began), func(i int) bool { return r.began[i] > at }) - 1
}

// step is the chance that one visit ends as the one before, where that ended in a.
func (r *rounds) step(a int) *float64 {
	all := r.steps[a][0] + r.steps[a][1]
	if all == 0 {
		return nil
	}
	share := float64(r.steps[a][a]) / float64(all)
	return &share
}

// chance is one that may not be known.
func chance(x float64, ok bool) *float64 {
	if !ok {
		return nil
	}
	return &x
}
