package crawler

import "fossick/frontier"

// rescoring is how far the queue has heard of what the scorer has learned.
type rescoring struct {
	atOnce int    // URLs that are rescored in one turn
	last   uint64 // pages when it was begun last
	going  bool   // part by part; see Frontier.Renew
	upTo   uint64 // pages up to which its parts were done

	partial int     // passes over the best alone since the last one over all
	from    float64 // priority from which on URLs are the best, by that
	spread  *spread // of the priorities, of a pass over all that goes on; else nil

	coming []uint64 // page.Key of URLs that will be asked about next
}

// An expecter is a Rescorer that is quicker for knowing which URLs it is asked about
// next, by their page.Key.
type expecter interface {
	Expect(keys []uint64)
}

// expect takes note of a URL that the pass that goes on comes to next.
func (r *rescoring) expect(key uint64, was float64) {
	if r.asks(was) {
		r.coming = append(r.coming, key)
	}
}

// asks says whether the pass that goes on asks about a URL of this priority.
func (r *rescoring) asks(was float64) bool { return r.spread != nil || !(was < r.from) }

const (
	// rescoreAtOnce is how many URLs are rescored in one turn of the owner, some 10 ms.
	rescoreAtOnce = 20_000
	// rescoreAPage is how many are where there are more, for each page stored since
	// the last part: five times what is needed to be through before it is due again. By
	// pages and not by the clock, so that the order is the same whenever it is crawled.
	rescoreAPage = 500

	// What a page can teach lifts few URLs from far behind to the head of the queue. So
	// once a crawl has youngPages pages only every fourth pass asks about all of them, and
	// the others about the best quarter: less than half the work.
	rescoreAll  = 4
	rescoreBest = 0.25
	youngPages  = 100
)

// rescoreAfter is how many pages a scorer may have learned from before the queue
// hears of it: few while the queue is small, and so many that the work a page
// stays bounded when it is large, where a URL costs half a microsecond in
// memory, most of it waiting for the memory: 200 URLs a page up to 8,000, then
// fewer, near 100 (a quarter of the processor time of a crawl of small pages, at 500,
// was too much for what a few pages more can teach; new links to a URL that waits tell
// at once). On disk, where one costs a microsecond, 100. What a page more can teach
// falls as pages grow, so that a crawl of more than a few hundred waits until it has
// grown by a sixteenth, or by 100 pages.
func rescoreAfter(queue int, pages uint64, onDisk bool) int {
	grown := int(min(pages/16, 100))
	if onDisk {
		return max(10, grown, queue/100)
	}
	return max(10, grown, queue/200, queue/100-40)
}

// learned gives the queue new priorities once the scorer has learned enough.
func (c *Crawler) learned() error {
	scorer, ok := c.rescorer()
	if !ok {
		return nil
	}
	r, pages := &c.rescored, c.counts.Pages
	queue := c.frontier.Len()
	switch {
	case r.going:
		if n := int(pages - r.upTo); n > 0 {
			r.upTo = pages
			if r.going = !c.frontier.Renew(n*rescoreAPage, c.newPriority(scorer)); !r.going {
				r.end()
			}
		}
	case int(pages-r.last) < rescoreAfter(queue, pages, c.frontier.Spilled()):
	case queue <= r.atOnce:
		r.begin(pages)
		c.rescoreNow(scorer)
	default:
		r.begin(pages)
		r.upTo, r.going = pages, true
	}
	return c.frontier.Err()
}

// begin begins a pass: over all, or over the best alone.
func (r *rescoring) begin(pages uint64) {
	r.last, r.going = pages, false
	r.partial++
	if pages < youngPages || r.partial >= rescoreAll {
		r.all()
	}
}

// all makes the pass that begins one over all.
func (r *rescoring) all() { r.spread, r.partial = new(spread), 0 }

// end ends a pass.
func (r *rescoring) end() {
	if r.spread != nil {
		r.from, r.spread = r.spread.best(rescoreBest), nil
	}
}

// rescore has the whole queue hear at once of what the scorer has learned. It changes
// the frontier alone: the journal keeps the priority that a URL was queued with, and a
// resumed crawl rescores at once.
func (c *Crawler) rescore(scorer Rescorer) {
	c.rescored.begin(c.counts.Pages)
	c.rescored.all()
	c.rescoreNow(scorer)
}

// rescoreNow does the pass that was begun in one go.
func (c *Crawler) rescoreNow(scorer Rescorer) {
	if frontier.ByScore(c.opt.Ordering) {
		c.frontier.Reprioritise(c.newPriority(scorer))
	}
	c.rescored.end()
}

// newPriority is what the scorer has learned, as the frontier asks for it, in the pass
// that goes on.
func (c *Crawler) newPriority(scorer Rescorer) func(key uint64, was float64) (float64, bool) {
	r := &c.rescored
	r.coming = r.coming[:0]
	expecter, expects := scorer.(expecter)
	return func(key uint64, was float64) (now float64, known bool) {
		if !r.asks(was) {
			return 0, false
		}
		if expects && len(r.coming) > 0 {
			expecter.Expect(r.coming)
		}
		r.coming = r.coming[:0]
		score, known := scorer.Rescore(key)
		if now = was; known {
			now = c.opt.Ordering.Priority(frontier.Link{Score: score})
		}
		if r.spread != nil {
			r.spread.add(now)
		}
		return now, known
	}
}
