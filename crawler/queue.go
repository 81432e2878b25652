package crawler

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"fossick/crawler/fetch"
	"fossick/crawler/frontier"
	"fossick/crawler/hosts"
	"fossick/crawler/journal"
	"fossick/graph/orders"
	"fossick/internal/page"
	"fossick/store"
)

// openQueue lets in the URLs that wait in the journal.
func (c *Crawler) openQueue() error {
	c.held = false
	if err := c.restoreQueue(); err != nil {
		return err
	}
	c.rescoreNow()
	return nil
}

// waiting counts the waiting URLs, including those that only the journal has.
func (c *Crawler) waiting() int {
	if c.opt.Revisits == nil {
		return c.frontier.Len()
	}
	return c.totals.waiting()
}

// requeue puts a leased URL back in its place; the jobs of foreign sitemaps and probes have
// none.
func (c *Crawler) requeue(j *job) {
	if j.Old != nil {
		c.pushStored(j.Old.ID, j.Discovery.URL, j.Priority)
	}
	if j.ID == 0 {
		return
	}
	if len(c.orders) > 1 {
		c.push(j.ID, j.Host.Party, j.Discovery.URL, j.Queued)
		return
	}
	c.frontier.Push(item(j.ID, j.Host.Party, j.Discovery.URL, j.Priority))
}

// putBack returns a URL that the frontier has just given.
func (c *Crawler) putBack(it frontier.Item, url string, place store.Queued) {
	if len(c.orders) > 1 {
		c.push(store.ID(it.ID), it.Host, url, place)
		return
	}
	c.frontier.Push(it)
}

// firstPriority is that of a URL in the frontier's first order, whichever order gave it.
func (c *Crawler) firstPriority(it frontier.Item, place store.Queued) float64 {
	if len(c.orders) > 1 {
		return c.lowered(0, it.Key, place.Priority)
	}
	return it.Priority
}

// pushStored queues a stored page. It has no key, so that a scorer that learns does not move
// it.
func (c *Crawler) pushStored(id store.ID, url string, priority float64) {
	c.frontier.Push(frontier.Item{ID: frontier.ID(id), Host: c.frontier.Host(page.Host(url)), Priority: priority})
}

// linksFrom is what an ordering may know of the links of a page.
func (c *Crawler) linksFrom(b journal.Batch, from string, found []link) ([]orders.Link, error) {
	links := make([]orders.Link, len(found))
	for i, f := range found {
		links[i] = orders.Link{Score: f.Score, Step: c.totals.LastPage(), Place: f.Place, Discovers: c.kinds.discovers(from, f.URL)}
	}
	return links, c.rankLinks(b, found, links)
}

// listedLink is what an ordering may know of a URL that a sitemap lists.
func (c *Crawler) listedLink(f link) orders.Link {
	return orders.Link{Score: f.Score, Step: c.totals.LastPage(), Place: f.Place, Listed: true}
}

// rescoreDue gives the queue new priorities once the scorer has learned enough.
func (c *Crawler) rescoreDue() error {
	if c.passes.firstLesson() {
		c.rescoreNow()
		return c.frontier.Err()
	}
	f := c.frontier.Order(c.scored)
	urls, whole := c.passes.due(c.totals.LastPage(), f.Len(), f.Spilled())
	if whole {
		f.Reprioritise(c.newPriority())
		c.passes.Done()
	} else if urls > 0 && f.Renew(urls, c.newPriority()) {
		c.passes.Done()
	}
	return c.frontier.Err()
}

// rescoreNow gives the whole queue new priorities at once.
func (c *Crawler) rescoreNow() {
	if c.passes.Begin(c.totals.LastPage()) {
		c.frontier.Order(c.scored).Reprioritise(c.newPriority())
		c.passes.Done()
	}
}

// rescores reports whether the scorer changes the priorities of waiting URLs in an order.
func (c *Crawler) rescores(order int) bool {
	_, ok := c.opt.Scorer.(Rescorer)
	return ok && orders.ByScore(c.orders[order])
}

// in returns a place's priority in one of the frontier's orders; false if the record has none
// because the crawl had another ordering before.
func in(place *store.Queued, order int) (priority float64, ok bool) {
	switch {
	case order == 0:
		return place.Priority, true
	case order <= len(place.Also):
		return place.Also[order-1], true
	}
	return place.Priority, false
}

// placed returns the priorities that a link gives its target. was is the target's place if it
// waits.
func (c *Crawler) placed(link orders.Link, was *store.Queued) (place store.Queued) {
	for i, o := range c.orders {
		link.Queued = false
		if was != nil {
			link.Old, link.Queued = in(was, i)
		}
		if priority := o.Priority(link); i == 0 {
			place.Priority = priority
		} else {
			place.Also = append(place.Also, priority)
		}
	}
	return place
}

// push queues a URL at its place from the journal, each priority lowered by its chance.
func (c *Crawler) push(id store.ID, host frontier.Host, url string, place store.Queued) {
	key := page.Key(url)
	var also []float64
	for i := 1; i < len(c.orders); i++ {
		priority, _ := in(&place, i)
		also = append(also, c.lowered(i, key, priority))
	}
	c.frontier.Push(item(id, host, url, c.lowered(0, key, place.Priority)), also...)
}

// pushAt queues a URL with the priorities of a place, and returns the place.
func (c *Crawler) pushAt(id store.ID, url string, place store.Queued) store.Queued {
	c.frontier.Push(item(id, c.frontier.Host(page.Host(url)), url, place.Priority), place.Also...)
	return place
}

// replacePlace gives a waiting URL another place in the frontier. It reports whether the journal
// should record that, and whether the link is better than the recorded one.
func (c *Crawler) replacePlace(id store.ID, f link, was, now *store.Queued) (moved, better bool) {
	host, key := c.frontier.Host(page.Host(f.URL)), page.Key(f.URL)
	for i := range c.orders {
		old, _ := in(was, i)
		priority, _ := in(now, i)
		it := item(id, host, f.URL, c.lowered(i, key, priority))
		switch order, rescores := c.frontier.Order(i), c.rescores(i); {
		case rescores && !order.Spilled():
			order.Set(it) // its priority may differ from the journalled one
		case rescores || priority > old:
			order.Raise(it) // priorities on disk fall only in a pass over all
		case priority < old:
			order.Set(it)
		}
		if c.moved(i, *was, old, priority, f.Score) {
			moved, better = true, better || i == c.scored
		}
	}
	_, scored := orders.Scored(c.opt.Ordering)
	return moved, better || !scored
}

// rankLinks sets the Rank of links for an ordering that needs it.
func (c *Crawler) rankLinks(b journal.Batch, found []link, links []orders.Link) error {
	order := slices.IndexFunc(c.orders, orders.Ranked)
	if order < 0 {
		return nil
	}
	old := make([]float64, len(found))
	var all []float64
	for i, f := range found {
		old[i] = math.Inf(-1)
		seen, err := b.Lookup(f.Hash)
		if err != nil {
			return err
		}
		if seen.ID == 0 || !c.frontier.Queued(frontier.ID(seen.ID)) {
			continue
		}
		place, err := b.Queued(seen.ID)
		if err != nil {
			continue // it has ended
		}
		old[i], _ = in(&place, order)
		all = append(all, old[i])
	}
	slices.Sort(all)
	all = slices.Compact(all)
	for i := range links {
		if at, waits := slices.BinarySearch(all, old[i]); waits {
			links[i].Rank = 1 + at
		}
	}
	return nil
}

// Where the scorer rescores, the priority of a waiting URL, a probability, may differ by
// farPlace from the journalled one. A link is better than the recorded one from betterLink
// times its score.
const (
	farPlace   = 0.2
	betterLink = 1.5
)

// moved reports whether the priority that one more parent gives a waiting URL is worth a
// record. A scorer that rescores changes it with each link and page, and a resumed crawl
// rescores the queue at once; so only a clearly better parent or a large move is recorded.
func (c *Crawler) moved(order int, place store.Queued, old, priority, score float64) bool {
	if c.rescores(order) {
		return score > betterLink*place.Score+farPlace/10 || math.Abs(priority-old) > farPlace
	}
	return priority != old
}

// item is a URL as the frontier knows it.
func item(id store.ID, host frontier.Host, url string, priority float64) frontier.Item {
	return frontier.Item{ID: frontier.ID(id), Host: host, Priority: priority, Key: page.Key(url)}
}

// restoreQueue gives the frontier the URLs that wait in the journal.
func (c *Crawler) restoreQueue() error {
	for w, err := range c.journal.Waiters() {
		if err != nil {
			return err
		}
		if uint64(w.ID) > c.totals.URLs {
			return fmt.Errorf("URL %d waits, but only %d are known: %w; run fossick repair", w.ID, c.totals.URLs, store.ErrDamaged)
		}
		if w.Visits > w.Excused {
			if err := c.recallChance(&w); err != nil {
				return err
			}
		}
		c.push(w.ID, c.frontier.Host(page.Host(w.URL)), w.URL, w.Queued)
	}
	return c.frontier.Err()
}

// reopen queues again the wanted URLs that ended in a state.
func (c *Crawler) reopen(state fetch.State, wanted func(*store.Ended) bool) error {
	return inBatches(c, c.opt.Store.URLs().Ended(string(state)), c.totals.commit, func(b journal.Batch, e store.Ended) error {
		if !wanted(&e) {
			return nil
		}
		life, err := c.opt.Store.URLs().Life(e.URL)
		if err == nil {
			_, err = c.reopenURL(b, life, 0, state == StateLost)
		}
		return err
	})
}

// reopenURL undoes the end of a URL, and returns its place in the queue. excused is the number
// of visits that do not count as tries; lost is as in store.Queued.
func (c *Crawler) reopenURL(b journal.Batch, life *store.Life, excused int, lost bool) (store.Queued, error) {
	place := c.placed(orders.Link{Score: life.Outcome.Score, Step: c.totals.LastPage(), Depth: life.Depth}, nil)
	place.Score, place.Parent, place.Visits, place.Excused, place.Lost = life.Outcome.Score, life.Outcome.Parent, len(life.Visits), excused, lost
	if life.Outcome.Resemblance > 0 {
		c.totals.NearDuplicates--
	}
	c.totals.reopened(life.Outcome.State)
	return place, b.Requeue(store.HashURL(life.URL), life.ID, place)
}

// pardon undoes failures of URLs: their exchanges stay in the journal but no longer count, and
// URLs that ended by them wait again.
func (c *Crawler) pardon(b journal.Batch, misses []hosts.Miss) error {
	for _, m := range slices.Backward(misses) { // the last miss of a URL has its latest place
		if m.ID == 0 {
			continue
		}
		if err := c.pardonURL(b, m); err != nil {
			return fmt.Errorf("%s: undo a failure: %w", m.URL, err)
		}
	}
	return nil
}

func (c *Crawler) pardonURL(b journal.Batch, m hosts.Miss) error {
	counted := 0
	if m.Page {
		counted = 1
	}
	place, err := b.Queued(m.ID)
	if err == nil {
		if counted == 0 {
			return nil
		}
		place.Excused++
		c.restorePriority(m, place)
		return b.Queue(m.ID, place)
	}
	if !errors.Is(err, store.ErrUnknown) {
		return err
	}
	state, err := b.Ended(m.ID)
	if err != nil {
		return err
	}
	c.totals.reopened(state)
	place = m.Queued
	place.Excused += counted
	discovery, err := c.journal.Discovery(m.ID)
	if err != nil {
		return err
	}
	return b.Requeue(store.HashURL(discovery.URL), m.ID, c.pushAt(m.ID, discovery.URL, place))
}

// queueSeeds queues the seeds that the store does not know yet, in as many batches as needed.
// After a kill in between, the next session gets the same seeds. If one of them is out of
// scope, it queues none.
func (c *Crawler) queueSeeds(seeds []string) error {
	seeds, err := c.seedsInScope(seeds)
	if err != nil {
		return err
	}
	if err := inBatches(c, sure(seeds), c.totals.commit, func(b journal.Batch, seed string) error {
		f := link{URL: seed, Hash: store.HashURL(seed), Score: 1}
		_, err := c.discover(b, store.Discovery{Via: store.ViaSeed}, f, orders.Link{Score: 1})
		return err
	}); err != nil {
		return err
	}
	if c.frontier.Len() == 0 && c.totals.URLs == 0 {
		return errors.New("nothing to crawl: give start pages with --seed or --seeds")
	}
	return nil
}

// seedsInScope refuses seeds out of scope, but passes over those that the store knows: a resumed
// crawl may have a narrower scope.
func (c *Crawler) seedsInScope(seeds []string) (wanted []string, err error) {
	for _, seed := range seeds {
		why := c.opt.Scope.Excludes(seed)
		if why == "" {
			wanted = append(wanted, seed)
			continue
		}
		known, err := c.journal.Lookup([]store.Hash{store.HashURL(seed)})
		if err != nil {
			return nil, err
		}
		if known[0].ID == 0 {
			return nil, fmt.Errorf("start page %s: %s; widen the scope, or give another start page", seed, why)
		}
	}
	return wanted, nil
}

// lowered returns the frontier's priority, in one of its orders, of a URL whose last exchange
// failed, or that is a large file: the journalled priority, lowered by the chance that another try
// succeeds, and by the price of the file. A resumed crawl estimates both anew.
func (c *Crawler) lowered(order int, key uint64, priority float64) float64 {
	return hosts.Lower(c.orders[order], priority, c.factor(key))
}

// raised is the inverse of lowered.
func (c *Crawler) raised(order int, key uint64, priority float64) float64 {
	return hosts.Raise(c.orders[order], priority, c.factor(key))
}

// factor is by how much the priority of a URL is lowered: by its chance, and by the price of a file.
func (c *Crawler) factor(key uint64) float64 {
	chance := c.chances.Of(key)
	if c.files != nil {
		chance *= c.files.Of(key)
	}
	return chance
}

// newPriority returns the function that the frontier calls in the present pass.
func (c *Crawler) newPriority() func(key uint64, was float64) (now float64, known bool) {
	files := c.files != nil && len(c.files.sums) > 0
	if !c.chances.Any() && !files {
		return c.passes.Priority
	}
	return func(key uint64, was float64) (float64, bool) {
		now, known := c.passes.Priority(key, c.raised(c.scored, key, was))
		if files && known {
			c.files.renew(key)
		}
		return c.lowered(c.scored, key, now), known
	}
}

// recallChance restores the chance of a URL that failed in an earlier session.
func (c *Crawler) recallChance(w *store.Waiter) error {
	if c.opt.Store == nil {
		return nil
	}
	visits, err := store.VisitsOf(c.opt.Store, w.ID)
	if err != nil {
		return err
	}
	c.chances.Waits(w.URL, visits, c.opt.Now())
	return nil
}

// restorePriority restores the priority of a URL after an excused failure.
func (c *Crawler) restorePriority(m hosts.Miss, place store.Queued) {
	key := page.Key(m.URL)
	if c.chances.Of(key) == 1 {
		return
	}
	c.chances.Pardon(key)
	if c.frontier.Queued(frontier.ID(m.ID)) {
		c.pushAt(m.ID, m.URL, place)
	}
}

// promiser is a Rescorer that can state the probability that a waiting URL is on topic. The
// URL's priority may have other reasons: exploration, or marks.
type promiser interface {
	Rescorer
	// Promise returns the probability that the URL with this page.Key is on topic; false
	// when the scorer knows nothing of it.
	Promise(key uint64) (probability float64, known bool)
}

// promises reports whether the priorities of waiting URLs are probabilities.
func (c *Crawler) promises() bool {
	_, promises := c.opt.Scorer.(promiser)
	return promises && orders.ByScore(c.opt.Ordering)
}

// promise returns the probability that a waiting URL is on topic; false for a start page, and
// where the scorer does not tell.
func (c *Crawler) promise(discovery store.Discovery) (float64, bool) {
	scorer, promises := c.opt.Scorer.(promiser)
	if !promises || discovery.Via == store.ViaSeed {
		return 0, false
	}
	return scorer.Promise(page.Key(discovery.URL))
}

const (
	// mostSettled bounds the URLs that settleScores reads. A scorer remembers only a small part of
	// a longer queue.
	mostSettled = 1 << 20
	// settleScores ignores changes of less than settledOdds in log-odds; scores below leastSettled
	// count as equal.
	settledOdds  = 0.1
	leastSettled = 1e-4
)

// settleScores writes the scorer's final scores of waiting URLs to the journal, which has only
// large changes. The commands why and eval read them there.
func (c *Crawler) settleScores() error {
	if _, promises := c.opt.Scorer.(promiser); c.opt.Store == nil || !promises || c.frontier.Len() > mostSettled {
		return nil
	}
	commit := func(b journal.Batch) error { return b.Commit(nil) }
	return inBatches(c, c.journal.Waiters(), commit, func(b journal.Batch, w store.Waiter) error {
		score, known := c.promise(w.Discovery)
		if !known || math.Abs(logOdds(score)-logOdds(w.Score)) < settledOdds {
			return nil
		}
		w.Queued.Score = score
		if orders.ByScore(c.opt.Ordering) {
			w.Priority = c.opt.Ordering.Priority(orders.Link{Score: score})
		}
		return b.Queue(w.ID, w.Queued)
	})
}

func logOdds(score float64) float64 {
	p := max(leastSettled, min(1-leastSettled, score))
	return math.Log(p / (1 - p))
}
