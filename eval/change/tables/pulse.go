package tables

import (
	"maps"
	"slices"

	"fossick/store/change"
)

// pulse counts visits by time, in parts of a second as long as there are few.
type pulse struct {
	width int64 // milliseconds; 0 before the first visit
	by    map[int64]part
}

// part is a part of the time.
type part struct {
	at              int64 // its begin; Unix milliseconds, or since the first
	visits, changed int64
}

// mostParts is how many parts are told; mostKept bounds those in memory.
const (
	mostParts = 60
	mostKept  = 4096
)

func (p *pulse) add(v *change.Visit) {
	if p.width == 0 {
		p.width, p.by = 1000, map[int64]part{}
	}
	p.count(v.At/p.width, part{visits: 1, changed: one(v.Change == change.Text || v.Change == change.Unsure)})
	for len(p.by) > mostKept {
		p.coarsen()
	}
}

func (p *pulse) count(k int64, n part) {
	had := p.by[k]
	p.by[k] = part{visits: had.visits + n.visits, changed: had.changed + n.changed}
}

// coarsen doubles the parts.
func (p *pulse) coarsen() {
	fine := p.by
	p.width, p.by = 2*p.width, make(map[int64]part, len(fine)/2)
	for k, n := range fine {
		p.count(k/2, n)
	}
}

// parts returns some sixty parts at most that had visits, by time since the first.
func (p *pulse) parts() (all []part) {
	for {
		keys := slices.Sorted(maps.Keys(p.by))
		if len(keys) == 0 {
			return nil
		}
		if keys[len(keys)-1]-keys[0] >= mostParts {
			p.coarsen()
			continue
		}
		for _, k := range keys {
			n := p.by[k]
			n.at = (k - keys[0]) * p.width
			all = append(all, n)
		}
		return all
	}
}
