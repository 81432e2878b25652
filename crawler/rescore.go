package crawler

import (
	"math"
	"sync/atomic"

	"fossick/graph/orders"
)

// rescoreScorer is one that changes its mind about URLs that wait.
type rescoreScorer interface {
	// Rescore returns the present score of a waiting URL, named by its page.Key;
	// false when the scorer knows nothing of it.
	Rescore(key uint64) (score float64, known bool)
}

// A beginner is a Scorer with topics whose priorities are of another kind before the first
// lesson than after.
type beginner interface {
	// Begun returns how many topics have had their first lesson.
	Begun() int
}

// passes is how far the queue has heard of what the scorer has learned.
type passes struct {
	AtOnce int // URLs that are rescored in one turn; New says how many

	scorer   rescoreScorer // nil where no pass is ever due
	ordering orders.Ordering
	heard    atomic.Uint64 // pages of other agents that the scorer has learned from

	begun int    // topics that had had their first lesson when a pass was begun last
	last  uint64 // pages when a pass was begun last
	going bool   // part by part
	upTo  uint64 // pages up to which its parts were done

	partial int     // passes over the best alone since the last one over all
	from    float64 // priority from which on URLs are the best, by that
	spread  *spread // of the priorities, of a pass over all that goes on; else nil
}

// newRescore returns the passes of a queue in an ordering. scorer is any: only one that is a
// Scorer, in an ordering that goes by scores, has passes.
func newRescore(scorer any, ordering orders.Ordering) *passes {
	p := &passes{AtOnce: atOnce, ordering: ordering}
	if s, ok := scorer.(rescoreScorer); ok && orders.ByScore(ordering) {
		p.scorer = s
	}
	return p
}

const (
	// atOnce is how many URLs are rescored in one turn of the owner, some 10 ms.
	atOnce = 20_000
	// aPage is how many are where there are more, for each page stored since
	// the last part. It is five times what is needed to be through before a
	// pass is due again. It goes by pages and not by the clock, so that the
	// order is the same whenever it is crawled.
	aPage = 500

	// What a page can teach lifts few URLs from far behind to the head of the queue. So
	// once a crawl has youngPages pages only every fourth pass asks about all of them, and
	// the others about the best quarter: less than half the work.
	fullPass   = 4
	bestShare  = 0.25
	youngPages = 100
)

// after is how many pages a scorer may have learned from before the queue hears
// of it. They are few while the queue is small, and so many that the work a
// page stays bounded when it is large. That is 200 URLs a page up to 8,000,
// then fewer, near 100; on disk 100. What a page more can teach falls as pages
// grow. So a crawl of more than a few hundred waits until it has grown by a
// sixteenth, or by 100 pages.
func after(queue int, pages uint64, onDisk bool) int {
	grown := int(min(pages/16, 100))
	if onDisk {
		return max(10, grown, queue/100)
	}
	return max(10, grown, queue/200, queue/100-40)
}

// Heard says that the scorer has learned from so many pages of other agents. It is safe for
// concurrent use.
func (p *passes) Heard(pages uint64) { p.heard.Add(pages) }

// due says how many URLs of a queue are to be rescored now, and whether these are all in
// one go. Where it is 0 nothing is due; else the queue asks Priority about each, and Done
// is told when it was through.
func (p *passes) due(pages uint64, queue int, onDisk bool) (urls int, whole bool) {
	pages += p.heard.Load()
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

// Begin begins a pass over all at once, as Due does for a reason of its own; false where
// there are no passes. It changes the frontier alone: the journal keeps the priority that
// a URL was queued with, and a resumed crawl rescores at once.
func (p *passes) Begin(pages uint64) bool {
	if p.scorer == nil {
		return false
	}
	p.begin(pages + p.heard.Load())
	p.all()
	return true
}

// firstLesson says that a topic has had its first lesson since the last pass: what waits
// has a priority of another kind than what is found now.
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

// all makes the pass that begins one over all.
func (p *passes) all() { p.spread, p.partial = new(spread), 0 }

// asks says whether the pass that goes on asks about a URL of this priority.
func (p *passes) asks(was float64) bool { return p.spread != nil || !(was < p.from) }

// Priority is the new priority of a URL that waits, in the pass that goes on; false where
// it keeps the old one.
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

// spread counts priorities by their size, so that one can tell from which on a
// share of them lies. It counts by exponent and three bits of the fraction,
// steps of an eighth at most.
type spread struct {
	counts [1 << 14]uint32
	n      int
}

// bin is where a priority is counted; all that are not above 0 are counted as 0.
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

// best returns the priority from which on the share given of what was counted
// lies, or a little more, as near as the steps allow. It is minus infinity for
// all of it.
func (s *spread) best(share float64) float64 {
	left := int(share * float64(s.n))
	for i := len(s.counts) - 1; i > 0; i-- {
		if left -= int(s.counts[i]); left <= 0 && s.counts[i] > 0 {
			return math.Float64frombits(uint64(i) << 49)
		}
	}
	return math.Inf(-1)
}
