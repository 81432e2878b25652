package crawler

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"fossick/crawler/fetch"
	"fossick/crawler/frontier"
	"fossick/graph/orders"
	"fossick/internal/page"
	"fossick/store"
)

// A page is rendered if its chance to be on topic, times the gain of renderings at such URLs, is
// high enough: the crawl would not find more in the seconds that a rendering takes. That is the
// rule by which a forager leaves a patch (Charnov 1976). While hosts rest and workers wait for them,
// a rendering delays nothing, and costs little. Gain and seconds are estimated for a pattern of URLs,
// starting from those of its host, and these from the whole crawl's.

// Classes of pages, whose renderings bring different things. Yields have them as their names in a
// crawl and at a host, and before the name of a pattern.
const (
	classThin = "thin" // almost no text before its scripts ran
	classText = "text"
	// allPages names the yield of all pages of a crawl, plainPages that without the pages which
	// rendering has turned on topic, and without its seconds.
	allPages, plainPages = "all", "plain"
)

const (
	// thinBytes is the most text of a thin page.
	thinBytes = 200
	// A gain counts in pages on topic for each unit of chance. These are the gains before the
	// first rendering; they weigh as much as renderings with a chance of gainWeight in all.
	thinGain, textGain, gainWeight = 3, .05, 1
	// startSeconds is what a rendering takes before the first one, and weighs as much as
	// secondsWeight renderings.
	startSeconds, secondsWeight = 2, 2
	// leastHarvest counts in place of a lower one, so that the price does not vanish.
	leastHarvest = .05
	// leastChance is that of a page without any.
	leastChance = .01
	// fade is the weight of a yield after another page.
	fade = 1 - 1./128
	// mostYields bounds the yields of a host, patternBytes each name.
	mostYields, patternBytes = 32, 128
	// mostOwed bounds, for each core, the seconds of renderings that are not yet part of the crawl's,
	// mostRendered their share of its time: without any left, plain pages would seem to cost nothing.
	mostOwed, mostRendered = 60, .9
	// recheckShare is the share of a crawl's time for renderings at random, recheckMost their
	// largest probability.
	recheckShare, recheckMost = .005, .05
	// A new link counts for its score beyond that of the link at bidRank in the queue, which is
	// looked up every bidHolds quotes.
	bidRank, bidHolds = 64, 32
	// declinedAtOnce bounds the shells that are taken up again together. A rendering that should bring
	// fewer than leastYield pages on topic a second is not worth that the crawl goes on.
	declinedAtOnce, leastYield = 256, .1
	// While less than busyShare of the workers fetch, since hosts rest, renderings cost no fetching.
	busyShare = .5
)

// pricing decides about the renderings of a host's pages.
type pricing struct {
	crawl, host map[string]store.Yield
}

// estimate returns the gain and the seconds to expect of a rendering.
func (p pricing) estimate(class, pattern string) (gain, seconds float64) {
	gain, seconds = textGain, startSeconds
	if class == classThin {
		gain = thinGain
	}
	for _, y := range []store.Yield{p.crawl[class], p.host[class], p.host[class+" "+pattern]} {
		gain = (gain*gainWeight + y.Worth) / (gainWeight + y.Chance)
		seconds = (seconds*secondsWeight + y.Seconds) / (secondsWeight + y.Pages)
	}
	return gain, seconds
}

// rate returns how many pages on topic the crawl finds in a second of a core, with renderings or
// without, whichever is more. With those alone, dear renderings would lower their own price.
func (p pricing) rate() (rate float64) {
	for _, name := range []string{allPages, plainPages} {
		if y := p.crawl[name]; y.Seconds > 0 {
			rate = max(rate, max(y.Worth, leastHarvest*y.Pages)/y.Seconds)
		}
	}
	return rate
}

// quote completes a quote with its chance and URLs. rate is what the crawl finds otherwise, in pages on
// topic a second; draw is uniform in [0,1).
func (p pricing) quote(q *store.Quote, class, pattern string, rate, draw float64) {
	q.Gain, q.Seconds = p.estimate(class, pattern)
	q.Rate = rate
	if y := p.crawl[allPages]; !q.Worth() {
		q.Recheck = draw < min(recheckMost, recheckShare*y.Seconds/y.Pages/q.Seconds)
		q.Declined = !q.Recheck
	}
}

// learn adds a rendering.
func (p pricing) learn(class, pattern string, y store.Yield) {
	addYield(p.crawl, class, y)
	addYield(p.host, class, y)
	if name := class + " " + pattern; len(name) <= patternBytes && len(p.host) < mostYields || p.host[name].Pages > 0 {
		addYield(p.host, name, y)
	}
}

func addYield(to map[string]store.Yield, name string, y store.Yield) {
	old := to[name]
	to[name] = store.Yield{
		Pages: fade*old.Pages + y.Pages, Chance: fade*old.Chance + y.Chance,
		Worth: fade*old.Worth + y.Worth, Seconds: fade*old.Seconds + y.Seconds,
	}
}

// pricing returns that of a host, whose yields are stored with the host and the totals.
func (c *Crawler) pricing(h *store.Host) pricing {
	if c.totals.Yields == nil {
		start := store.Yield{Pages: 5, Worth: 1, Seconds: 1}
		c.totals.Yields = map[string]store.Yield{allPages: start, plainPages: start}
	}
	if h.Yields == nil {
		h.Yields = map[string]store.Yield{}
	}
	return pricing{c.totals.Yields, h.Yields}
}

// quote decides whether a page is rendered. Its worker asks the owner for that.
func (c *Crawler) quote(ctx context.Context, o *jobResult) (*store.Quote, error) {
	class, pattern := o.Read.class(), page.Pattern(o.Target)
	leads := slices.ContainsFunc(o.Read.Found, func(l link) bool { return l.Skip == "" && l.Seen.ID == 0 })
	q := &store.Quote{Like: page.Host(o.Target) + pattern, Chance: o.chance(class)}
	draw := rand.New(rand.NewPCG(uint64(c.opt.Seed), page.Key(o.Target))).Float64()
	return q, c.inTurn(ctx, func() (error, error) {
		p := c.pricing(o.Host.Host)
		rate := p.rate()
		o.Page.Spare = c.hostsRest()
		if _, again := c.takenUp[o.ID]; again || o.Page.Spare {
			rate = min(rate, leastYield)
		} else if !leads && c.frontier.Len() == 0 { // there is nothing else to do
			rate = 0
		}
		p.quote(q, class, pattern, rate, draw)
		o.Page.Renders = !q.Declined
		return nil, nil
	})
}

// hostsRest reports whether the crawl waits for hosts rather than for workers that fetch.
func (c *Crawler) hostsRest() bool {
	fetching := -c.slow
	for j := range c.jobs {
		if !j.Page.Renders {
			fetching++
		}
	}
	return float64(fetching) < busyShare*float64(min(c.opt.Workers, c.allowed.Workers))
}

// takeUpDeclined queues shells again whose rendering was declined, those first that promise most for
// their seconds. Nothing else is left to do, so they are rendered now. more says that there were any.
func (c *Crawler) takeUpDeclined() (more bool, err error) {
	if !c.opt.RenderPriced || c.opt.Browser == nil {
		return false, nil
	}
	type shell struct {
		id    store.ID
		url   string
		yield float64 // pages on topic a second
	}
	var best []shell
	keep := func() {
		slices.SortFunc(best, func(a, b shell) int { return cmp.Or(cmp.Compare(b.yield, a.yield), cmp.Compare(a.id, b.id)) })
		best = best[:min(len(best), declinedAtOnce)]
	}
	for e, err := range c.opt.Store.URLs().Ended(string(fetch.StateScriptOnly)) {
		if err != nil {
			return false, fmt.Errorf("pages whose rendering was declined: %w", err)
		}
		if e.Rendering == nil || e.Rendering.Quote == nil || !e.Rendering.Quote.Declined || !c.opt.ours(e.URL) {
			continue
		}
		h, err := c.hosts.Get(page.Host(e.URL), e.URL)
		if err != nil {
			return false, err
		}
		gain, seconds := c.pricing(h.Host).estimate(classThin, page.Pattern(e.URL))
		if yield := e.Rendering.Quote.Chance * gain / seconds; yield >= leastYield {
			best = append(best, shell{e.ID, e.URL, yield})
		}
		if len(best) == 2*declinedAtOnce {
			keep()
		}
	}
	keep()
	c.takenUp = map[store.ID]struct{}{}
	var urls []string
	for _, s := range best {
		c.takenUp[s.id] = struct{}{}
		urls = append(urls, s.url)
	}
	return len(urls) > 0, c.takeBack(urls, false)
}

// learnYield counts what a page brought in the crawl's time, and what rendering it brought.
func (c *Crawler) learnYield(o *jobResult) {
	switch {
	case !c.opt.RenderPriced || o.task != taskPage || o.Aborted:
		return
	case o.Excused || o.Old != nil: // no page is found
		c.paced = c.opt.Now()
		return
	}
	p, r := c.pricing(o.Host.Host), (*store.Rendering)(nil)
	if o.Read != nil {
		r = o.Read.Rendering
	}
	if r == nil || r.Quote == nil || r.Quote.Declined {
		c.countYield(p, o, store.Yield{})
		return
	}
	y, bid := store.Yield{Pages: 1, Chance: r.Quote.Chance, Seconds: (time.Duration(r.Millis) * time.Millisecond).Seconds()}, c.linkBid(p)
	if r.Turned && !o.Repeats {
		y.Worth = 1
	}
	c.countYield(p, o, y)
	for _, l := range o.Read.won {
		if !o.Repeats {
			y.Worth += max(0, l.Score-bid)
		}
	}
	class := classText
	if r.Thin {
		class = classThin
	}
	p.learn(class, page.Pattern(o.Target), y)
}

// countYield counts a page, and how long the crawl took for it, as one with and one without its
// rendering.
func (c *Crawler) countYield(p pricing, o *jobResult, rendering store.Yield) {
	now := c.opt.Now()
	if c.paced.IsZero() {
		c.paced = c.totals.began
	}
	all := store.Yield{Pages: 1, Seconds: now.Sub(c.paced).Seconds() * c.cores}
	if o.Read != nil && o.Read.onTopic() && !o.Repeats {
		all.Worth = 1
	}
	c.paced = now
	if !o.Page.Spare { // else the crawl has lost no time
		c.owed = min(c.owed+rendering.Seconds, mostOwed*c.cores)
	}
	rendered := min(c.owed, mostRendered*all.Seconds)
	c.owed -= rendered
	addYield(p.crawl, allPages, all)
	addYield(p.crawl, plainPages, store.Yield{Pages: 1, Worth: all.Worth - rendering.Worth, Seconds: all.Seconds - rendered})
}

// linkBid returns the score from which a new link is worth something: the crawl has no better
// ones to fetch soon, and does not find more without it.
func (c *Crawler) linkBid(p pricing) float64 {
	if c.bidFor--; c.bidFor < 0 && orders.ByScore(c.opt.Ordering) {
		c.bidFor, c.bid = bidHolds, 0
		best := c.frontier.Survey(make([]frontier.Waiting, 0, bidRank), bidRank, c.opt.Now().Add(LongestWait))
		if len(best) == bidRank {
			c.bid = best[bidRank-1].Priority
		}
	}
	all := p.crawl[allPages]
	return max(c.bid, all.Worth/all.Pages)
}

// class returns that of a page as it came.
func (p *parsedPage) class() string {
	if p.ScriptOnly || len(strings.TrimSpace(p.Text)) <= thinBytes {
		return classThin
	}
	return classText
}

// chance returns the chance of a page to be on topic once it is rendered. Text tells more than
// the links to it.
func (o *jobResult) chance(class string) float64 {
	chance := o.Read.Score.Value
	if class == classThin {
		chance = max(chance, o.Page.Promise, o.Queued.Score)
	}
	return min(1, max(leastChance, chance))
}

// onTopic reports whether a page is stored as one on topic.
func (p *parsedPage) onTopic() bool {
	_, unwanted := p.unwanted()
	return p.Score.Relevant && !unwanted
}

// wonLinks returns the links to unknown URLs that only the rendered page has.
func wonLinks(plain, rendered *parsedPage) (won []link) {
	had := map[string]bool{}
	for i := range plain.Found {
		had[plain.Found[i].URL] = true
	}
	for _, l := range rendered.Found {
		if l.Skip == "" && l.Seen.ID == 0 && !had[l.URL] {
			won = append(won, l)
		}
	}
	return won
}
