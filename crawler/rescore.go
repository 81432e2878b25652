package crawler

import (
	"math"
	"sync/atomic"

	"fossick/graph/orders"
)

// rescorer is a scorer that changes its scores of waiting URLs.
type rescorer interface {
	// Rescore is that of Rescorer.
	Rescore(key uint64) (score float64, known bool)
}

// beginner is a Scorer of several topics whose priorities change their kind with the first
// lesson.
type beginner interface {
	// Begun returns how many topics have had their first lesson.
	Begun() int
}

// passes schedules the passes that rescore the queue.
type passes struct {
	AtOnce int // URLs that are rescored in one turn

	scorer       rescorer // nil if no pass is ever due
	ordering     orders.Ordering
	foreignPages atomic.Uint64 // pages of other agents that the scorer has learned from

	begun int    // topics past their first lesson when the last pass began
	last  uint64 // pages when the last pass began
	going bool   // a pass goes on part by part
	upTo  uint64 // pages when its last part was done

	partial int     // passes over the best since the last one over all
	from    float64 // least priority of the best, by that one
	spread  *spread // of the priorities, during a pass over all; else nil
}

// newPasses returns the passes of a queue. There are none unless scorer is a rescorer and the
// ordering goes by scores.
func newPasses(scorer any, ordering orders.Ordering) *passes {
	p := &passes{AtOnce: atOnce, ordering: ordering}
	if s, ok := scorer.(rescorer); ok && orders.ByScore(ordering) {
		p.scorer = s
	}
	return p
}

const (
	// atOnce is how many URLs are rescored in one turn, in some 10 ms.
	atOnce = 20_000
	// aPage is how many URLs of a longer queue are rescored per stored page: five times the
	// rate that ends a pass before the next is due. It counts pages and not time, so that the
	// order is deterministic.
	aPage = 500

	// A lesson lifts few URLs from far behind to the head of the queue. So after youngPages
	// pages only every fourth pass covers all URLs, and the others the best quarter.
	fullPass   = 4
	bestShare  = 0.25
	youngPages = 100
)

// after is how many pages a scorer may learn from before the next pass: few in a small queue,
// and so many in a large one that the work per page stays bounded. The bound is 200 URLs a
// page up to 8,000 URLs, and near 100 beyond or on disk. As a page teaches less in a grown crawl, the
// crawl first grows by a sixteenth or 100 pages.
func after(queue int, pages uint64, onDisk bool) int {
	grown := int(min(pages/16, 100))
	if onDisk {
		return max(10, grown, queue/100)
	}
	return max(10, grown, queue/200, queue/100-40)
}

// Received counts pages of other agents that the scorer has learned from. It is safe for
// concurrent use.
func (p *passes) Received(pages uint64) { p.foreignPages.Add(pages) }

// due returns how many URLs to rescore now, and whether these are all; 0 for none. The queue
// calls Priority for each, and Done at the end of the pass.
func (p *passes) due(pages uint64, queue int, onDisk bool) (urls int, whole bool) {
	pages += p.foreignPages.Load()
	switch {
	case p.scorer == nil:
	case p.going:
		n := int(pages - p.upTo)
		p.upTo = pages
		return n * aPage, false
	case int(pages-p.last) < after(queue, pages, onDisk):
	case queue <= p.AtOnce:
		p.begin(pages)
		return queue, true
	default:
		p.begin(pages)
		p.upTo, p.going = pages, true
	}
	return 0, false
}

// Begin begins a pass over all URLs; false if there are no passes. It changes the frontier
// alone, because a resumed crawl rescores at once.
func (p *passes) Begin(pages uint64) bool {
	if p.scorer == nil {
		return false
	}
	p.begin(pages + p.foreignPages.Load())
	p.all()
	return true
}

// firstLesson reports that a topic has had its first lesson since the last pass, so that old
// and new priorities are of different kinds.
func (p *passes) firstLesson() bool { return p.topicsBegun() > p.begun }

func (p *passes) topicsBegun() int {
	if b, ok := p.scorer.(beginner); ok {
		return b.Begun()
	}
	return 0
}

// Done ends a pass.
func (p *passes) Done() {
	p.going = false
	if p.spread != nil {
		p.from, p.spread = p.spread.best(bestShare), nil
	}
}

// begin begins a pass: over all, or over the best alone.
func (p *passes) begin(pages uint64) {
	p.last, p.going, p.begun = pages, false, p.topicsBegun()
	p.partial++
	if pages < youngPages || p.partial >= fullPass {
		p.all()
	}
}

// all extends the pass to all URLs.
func (p *passes) all() { p.spread, p.partial = new(spread), 0 }

// asks reports whether the present pass covers a URL of this priority.
func (p *passes) asks(was float64) bool { return p.spread != nil || !(was < p.from) }

// Priority is the new priority of a waiting URL in the present pass; false if it keeps the old
// one.
func (p *passes) Priority(key uint64, was float64) (now float64, known bool) {
	if !p.asks(was) {
		return 0, false
	}
	score, known := p.scorer.Rescore(key)
	if now = was; known {
		now = p.ordering.Priority(orders.Link{Score: score})
	}
	if p.spread != nil {
		p.spread.add(now)
	}
	return now, known
}

// spread is a histogram of priorities. Its bins are the exponent and three bits of the
// fraction, steps of an eighth at most.
type spread struct {
	counts [1 << 14]uint32
	n      int
}

// bin is the bin of a priority; all priorities up to 0 are in bin 0.
func (s *spread) bin(priority float64) int {
	if !(priority > 0) {
		return 0
	}
	return int(math.Float64bits(priority) >> 49)
}

func (s *spread) add(priority float64) {
	s.counts[s.bin(priority)]++
	s.n++
}

// best returns the priority above which about the given share of the priorities lies, as near
// as the bins allow; minus infinity for all.
func (s *spread) best(share float64) float64 {
	left := int(share * float64(s.n))
	for i := len(s.counts) - 1; i > 0; i-- {
		if left -= int(s.counts[i]); left <= 0 && s.counts[i] > 0 {
			return math.Float64frombits(uint64(i) << 49)
		}
	}
	return math.Inf(-1)
}
