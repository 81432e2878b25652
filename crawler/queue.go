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

// queue holds the waiting URLs, in the frontier and in the journal.
type queue struct {
	opt      *Options
	journal  journal.Journal
	frontier *frontier.Frontier
	totals   *running
	hosts    *hosts.Table
	kinds    linkKinds
	orders   []orders.Ordering // orderings of the frontier: the parts of a mix, or the only one
	scored   int               // index of the ordering that goes by scores, if any does
	passes   *passes
	chances  *hosts.Chances
	held     bool
	outgoing *outgoing // nil for a single agent
}

// newQueue returns an empty queue, before the seeds enter it.
func newQueue(opt *Options, j journal.Journal, f *frontier.Frontier, t *running, h *hosts.Table, p *passes, c *hosts.Chances) *queue {
	q := &queue{opt: opt, journal: j, frontier: f, totals: t, hosts: h, passes: p, chances: c,
		kinds: newLinkKinds(opt.Ordering, opt.Seeds), held: opt.Revisits != nil && !opt.NewPages}
	q.orders = orders.Parts(opt.Ordering)
	q.scored, _ = orders.Scored(opt.Ordering)
	if opt.Sites != nil {
		q.outgoing = newOutgoing(opt.Sites)
	}
	return q
}

// open lets in the URLs that wait in the journal.
func (q *queue) open() error {
	q.held = false
	if err := q.restore(); err != nil {
		return err
	}
	q.Rescore()
	return nil
}

// Len counts the waiting URLs, including those that only the journal has.
func (q *queue) Len() int {
	if q.opt.Revisits == nil {
		return q.frontier.Len()
	}
	return q.totals.Waiting()
}

// Requeue puts a leased URL back in its place; the jobs of foreign sitemaps and probes have
// none.
func (q *queue) Requeue(j *job) {
	if j.Old != nil {
		q.pushStored(j.Old.ID, j.Discovery.URL, j.Priority)
	}
	if j.ID == 0 {
		return
	}
	if len(q.orders) > 1 {
		q.push(j.ID, j.Host.Party, j.Discovery.URL, j.Queued)
		return
	}
	q.frontier.Push(item(j.ID, j.Host.Party, j.Discovery.URL, j.Priority))
}

// putBack returns a URL that the frontier has just given.
func (q *queue) putBack(it frontier.Item, url string, place store.Queued) {
	if len(q.orders) > 1 {
		q.push(store.ID(it.ID), it.Host, url, place)
		return
	}
	q.frontier.Push(it)
}

// Priority is that of a URL in the frontier's first order, whichever order gave it.
func (q *queue) Priority(it frontier.Item, place store.Queued) float64 {
	if len(q.orders) > 1 {
		return q.Lowered(it.Key, place.Priority)
	}
	return it.Priority
}

// pushStored queues a stored page. It has no key, so that a scorer that learns does not move
// it.
func (q *queue) pushStored(id store.ID, url string, priority float64) {
	q.frontier.Push(frontier.Item{ID: frontier.ID(id), Host: q.frontier.Host(page.Host(url)), Priority: priority})
}

// linkFrom is what an ordering may know of a link on a page.
func (q *queue) linkFrom(from string, f link) orders.Link {
	return orders.Link{Score: f.Score, Step: q.totals.lastPage(), Place: f.Place, Discovers: q.kinds.discovers(from, f.URL)}
}

// linksFrom is linkFrom for all links of a page.
func (q *queue) linksFrom(b journal.Batch, from string, found []link) ([]orders.Link, error) {
	links := make([]orders.Link, len(found))
	for i, f := range found {
		links[i] = q.linkFrom(from, f)
	}
	return links, q.rank(b, found, links)
}

// linkOf is what an ordering may know of a URL that a sitemap lists.
func (q *queue) linkOf(f link) orders.Link {
	return orders.Link{Score: f.Score, Step: q.totals.lastPage(), Place: f.Place, Listed: true}
}

// learned gives the queue new priorities once the scorer has learned enough.
func (q *queue) learned() error {
	if q.passes.firstLesson() {
		q.Rescore()
		return q.frontier.Err()
	}
	f := q.frontier.Order(q.scored)
	urls, whole := q.passes.due(q.totals.lastPage(), f.Len(), f.Spilled())
	if whole {
		f.Reprioritise(q.priority())
		q.passes.Done()
	} else if urls > 0 && f.Renew(urls, q.priority()) {
		q.passes.Done()
	}
	return q.frontier.Err()
}

// Rescore gives the whole queue new priorities at once.
func (q *queue) Rescore() {
	if q.passes.Begin(q.totals.lastPage()) {
		q.frontier.Order(q.scored).Reprioritise(q.priority())
		q.passes.Done()
	}
}

// rescores reports whether the scorer changes the priorities of waiting URLs in an order.
func (q *queue) rescores(order int) bool {
	_, ok := q.opt.Scorer.(Rescorer)
	return ok && orders.ByScore(q.orders[order])
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
func (q *queue) moved(order int, place store.Queued, old, priority, score float64) bool {
	if q.rescores(order) {
		return score > betterLink*place.Score+farPlace/10 || math.Abs(priority-old) > farPlace
	}
	return priority != old
}

// item is a URL as the frontier knows it.
func item(id store.ID, host frontier.Host, url string, priority float64) frontier.Item {
	return frontier.Item{ID: frontier.ID(id), Host: host, Priority: priority, Key: page.Key(url)}
}

// restore gives the frontier the URLs that wait in the journal.
func (q *queue) restore() error {
	for w, err := range q.journal.Waiters() {
		if err != nil {
			return err
		}
		if uint64(w.ID) > q.totals.URLs() {
			return fmt.Errorf("URL %d waits, but only %d are known: %w; run fossick repair", w.ID, q.totals.URLs(), store.ErrDamaged)
		}
		if w.Visits > w.Excused {
			if err := q.recall(&w); err != nil {
				return err
			}
		}
		q.push(w.ID, q.frontier.Host(page.Host(w.URL)), w.URL, w.Queued)
	}
	return q.frontier.Err()
}

// reopen queues again the wanted URLs that ended in a state.
func (q *queue) reopen(state fetch.State, wanted func(*store.Ended) bool) error {
	b := q.journal.Batch()
	defer func() { b.Cancel() }()
	for e, err := range q.opt.Store.URLs().Ended(string(state)) {
		if err != nil {
			return err
		}
		if !wanted(&e) {
			continue
		}
		if b.Full() {
			if err := q.totals.Commit(b); err != nil {
				return err
			}
			b = q.journal.Batch()
		}
		life, err := q.opt.Store.URLs().Life(e.URL)
		if err != nil {
			return err
		}
		lost := 0
		if state == StateLost {
			lost = 1
		}
		if _, err := q.reopenURL(b, life, lost); err != nil {
			return err
		}
	}
	return q.totals.Commit(b)
}

// reopenURL undoes the end of a URL, and returns its place in the queue. excused is the number
// of visits that do not count as tries.
func (q *queue) reopenURL(b journal.Batch, life *store.Life, excused int) (store.Queued, error) {
	place := q.placed(orders.Link{Score: life.Outcome.Score, Step: q.totals.lastPage(), Depth: life.Depth}, nil)
	place.Score, place.Parent, place.Visits, place.Excused = life.Outcome.Score, life.Outcome.Parent, max(len(life.Visits), excused), excused
	if life.Outcome.Resemblance > 0 {
		q.totals.nearReopened()
	}
	q.totals.reopened(life.Outcome.State)
	return place, b.Requeue(store.HashURL(life.URL), life.ID, place)
}

// pardon undoes failures of URLs: their exchanges stay in the journal but no longer count, and
// URLs that ended by them wait again.
func (q *queue) pardon(b journal.Batch, misses []hosts.Miss) error {
	for _, m := range slices.Backward(misses) { // the last miss of a URL has its latest place
		if m.ID == 0 {
			continue
		}
		if err := q.pardonURL(b, m); err != nil {
			return fmt.Errorf("%s: undo a failure: %w", m.URL, err)
		}
	}
	return nil
}

func (q *queue) pardonURL(b journal.Batch, m hosts.Miss) error {
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
		q.forgive(m, place)
		return b.Queue(m.ID, place)
	}
	if !errors.Is(err, store.ErrUnknown) {
		return err
	}
	state, err := b.Ended(m.ID)
	if err != nil {
		return err
	}
	q.totals.reopened(state)
	place = m.Queued
	place.Excused += counted
	discovery, err := q.journal.Discovery(m.ID)
	if err != nil {
		return err
	}
	q.frontier.Push(item(m.ID, q.frontier.Host(m.Host), discovery.URL, place.Priority), place.Also...)
	return b.Requeue(store.HashURL(discovery.URL), m.ID, place)
}

// enqueueSeeds queues the seeds that the store does not know yet, in as many batches as
// needed. After a kill in between, the next session gets the same seeds. If one of them is out
// of scope, it queues none.
func (q *queue) enqueueSeeds(seeds []string) error {
	seeds, err := q.inScope(seeds)
	if err != nil {
		return err
	}
	for len(seeds) > 0 {
		n, err := q.enqueueSomeSeeds(seeds)
		if err != nil {
			return err
		}
		seeds = seeds[n:]
	}
	if q.frontier.Len() == 0 && q.totals.URLs() == 0 {
		return errors.New("nothing to crawl: give start pages with --seed or --seeds")
	}
	return nil
}

// inScope refuses seeds out of scope, but passes over those that the store knows: a resumed
// crawl may have a narrower scope.
func (q *queue) inScope(seeds []string) (wanted []string, err error) {
	for _, seed := range seeds {
		why := q.opt.Scope.Excludes(seed)
		if why == "" {
			wanted = append(wanted, seed)
			continue
		}
		known, err := q.journal.Lookup([]store.Hash{store.HashURL(seed)})
		if err != nil {
			return nil, err
		}
		if known[0].ID == 0 {
			return nil, fmt.Errorf("start page %s: %s; widen the scope, or give another start page", seed, why)
		}
	}
	return wanted, nil
}

// enqueueSomeSeeds queues as many seeds as fit in a batch, and returns their number.
func (q *queue) enqueueSomeSeeds(seeds []string) (n int, err error) {
	b := q.journal.Batch()
	defer func() { b.Cancel() }() // of no effect after Commit
	for n < len(seeds) && !b.Full() {
		f := link{URL: seeds[n], Hash: store.HashURL(seeds[n]), Score: 1}
		if _, err := q.Discover(b, store.Discovery{Via: store.ViaSeed}, f, orders.Link{Score: 1}); err != nil {
			return 0, err
		}
		n++
	}
	return n, q.totals.Commit(b)
}

// Lowered returns the frontier's priority, in its first order, of a URL whose last exchange
// failed: the journalled priority, lowered by the chance that another try succeeds. A resumed
// crawl estimates the chance anew.
func (q *queue) Lowered(key uint64, priority float64) float64 { return q.lowered(0, key, priority) }

func (q *queue) lowered(order int, key uint64, priority float64) float64 {
	return hosts.Lower(q.orders[order], priority, q.chances.Of(key))
}

// raised is the inverse of lowered.
func (q *queue) raised(order int, key uint64, priority float64) float64 {
	return hosts.Raise(q.orders[order], priority, q.chances.Of(key))
}

// priority returns the function that the frontier calls in the present pass.
func (q *queue) priority() func(key uint64, was float64) (now float64, known bool) {
	if !q.chances.Any() {
		return q.passes.Priority
	}
	return func(key uint64, was float64) (float64, bool) {
		now, known := q.passes.Priority(key, q.raised(q.scored, key, was))
		return q.lowered(q.scored, key, now), known
	}
}

// recall restores the chance of a URL that failed in an earlier session.
func (q *queue) recall(w *store.Waiter) error {
	if q.opt.Store == nil {
		return nil
	}
	visits, err := store.VisitsOf(q.opt.Store, w.ID)
	if err != nil {
		return err
	}
	q.chances.Waits(w.URL, visits, q.opt.Now())
	return nil
}

// forgive restores the priority of a URL after an excused failure.
func (q *queue) forgive(m hosts.Miss, place store.Queued) {
	key := page.Key(m.URL)
	if q.chances.Of(key) == 1 {
		return
	}
	q.chances.Pardon(key)
	if q.frontier.Queued(frontier.ID(m.ID)) {
		q.frontier.Push(item(m.ID, q.frontier.Host(m.Host), m.URL, place.Priority), place.Also...)
	}
}
