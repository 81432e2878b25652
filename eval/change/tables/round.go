package tables

import (
	"slices"
	"sort"

	"fossick/store/change"
)

// rounds counts how often pages could be had: by the paper's S(n), for which a page that was
// not asked in a round was not downloaded in it, and step by step.
type rounds struct {
	ended []Round // those that have
	pages change.Downloads
	seeds change.Downloads
	asked []RoundAsked

	// steps[a][b] counts visits that ended in b after one that ended in a; 1 is a download.
	steps [2][2]int64
}

// RoundAsked is what a round asked for, and got: start pages, and all pages, start pages among
// them (paper E, table 7).
type RoundAsked struct {
	SeedsRequested  int64 `json:"seeds_requested"`
	SeedsDownloaded int64 `json:"seeds_downloaded"`
	PagesRequested  int64 `json:"pages_requested"`
	PagesDownloaded int64 `json:"pages_downloaded"`
}

func newRounds(all []Round) *rounds {
	r := &rounds{}
	for _, one := range all {
		if one.Ended != 0 {
			r.ended = append(r.ended, one)
		}
	}
	r.pages, r.seeds = make(change.Downloads, len(r.ended)+1), make(change.Downloads, len(r.ended)+1)
	r.asked = make([]RoundAsked, len(r.ended))
	return r
}

// add counts a page, and says whether it was downloaded in each round.
func (r *rounds) add(p *Page) bool {
	downloads, last, asked := 0, -1, -1 // rounds
	had := -1                           // what the visit before came to
	seed := one(p.Seed)
	all := p.Visits
	if len(p.Tried) > 0 {
		all = slices.Concat(p.Tried, p.Visits)
	}
	for i := range all {
		v := &all[i]
		got := 0
		if change.Downloaded(v.State) {
			got = 1
		}
		if had >= 0 {
			r.steps[had][got]++
		}
		if i > len(p.Tried) { // else it may be another try of the same round
			had = got
		}
		n := r.roundOf(v.At)
		if n > asked {
			asked = n
			r.asked[n].SeedsRequested += seed
			r.asked[n].PagesRequested++
		}
		if n > last && got == 1 {
			downloads, last = downloads+1, n
			r.asked[n].SeedsDownloaded += seed
			r.asked[n].PagesDownloaded++
		}
	}
	if len(r.ended) == 0 || all[0].At >= r.ended[0].Began { // one that is newer had no chance in all of them
		return false
	}
	r.pages[downloads]++
	r.seeds[downloads] += int(seed)
	return downloads == len(r.ended)
}

// roundOf returns the number of the round in which a visit began, -1 for none.
func (r *rounds) roundOf(at int64) int {
	n := sort.Search(len(r.ended), func(i int) bool { return r.ended[i].Began > at }) - 1
	if n >= 0 && at > r.ended[n].Ended {
		return -1
	}
	return n
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
