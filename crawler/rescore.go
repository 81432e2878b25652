package crawler

import "fossick/frontier"

// rescoring is how far the queue has heard of what the scorer has learned.
type rescoring struct {
	atOnce int    // URLs that are rescored in one turn
	last   uint64 // pages when it was begun last
	going  bool   // part by part; see Frontier.Renew
	upTo   uint64 // pages up to which its parts were done
}

const (
	// rescoreAtOnce is how many URLs are rescored in one turn of the owner, some 10 ms.
	rescoreAtOnce = 20_000
	// rescoreAPage is how many are where there are more, for each page stored since
	// the last part: five times what is needed to be through before it is due again. By
	// pages and not by the clock, so that the order is the same whenever it is crawled.
	rescoreAPage = 500
)

// rescoreAfter is how many pages a scorer may have learned from before the queue
// hears of it: few while the queue is small, and so many that the work a page
// stays bounded when it is large, where a URL costs half a microsecond in
// memory, most of it waiting for the memory: 200 URLs a page up to 8,000, then
// fewer, near 100 (a quarter of the processor time of a crawl of small pages, at 500,
// was too much for what a few pages more can teach; new links to a URL that waits tell
// at once). On disk, where one costs a microsecond, 100. What a page more can teach
// falls as pages grow, so that a crawl of more than a few hundred waits until it has
// grown by a fortieth, or by 100 pages.
func rescoreAfter(queue int, pages uint64, onDisk bool) int {
	grown := int(min(pages/40, 100))
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
			r.going = !c.frontier.Renew(n*rescoreAPage, c.newPriority(scorer))
		}
	case int(pages-r.last) < rescoreAfter(queue, pages, c.frontier.Spilled()):
	case queue <= r.atOnce:
		c.rescore(scorer)
	default:
		r.last, r.upTo, r.going = pages, pages, true
	}
	return c.frontier.Err()
}

// rescore changes the frontier alone: the journal keeps the priority that a URL
// was queued with, and a resumed crawl rescores at once.
func (c *Crawler) rescore(scorer Rescorer) {
	c.rescored.last, c.rescored.going = c.counts.Pages, false
	if !frontier.ByScore(c.opt.Ordering) {
		return
	}
	c.frontier.Reprioritise(c.newPriority(scorer))
}

// newPriority is what the scorer has learned, as the frontier asks for it.
func (c *Crawler) newPriority(scorer Rescorer) func(key uint64) (float64, bool) {
	return func(key uint64) (float64, bool) {
		score, known := scorer.Rescore(key)
		if !known {
			return 0, false
		}
		return c.opt.Ordering.Priority(frontier.Link{Score: score}), true
	}
}
