package crawler

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"fossick/crawler/fetch"
	"fossick/crawler/frontier"
	"fossick/crawler/hosts"
	"fossick/crawler/journal"
	"fossick/graph/orders"
	"fossick/internal/page"
	"fossick/store"
)

// options are settings of a queue; see crawler.Options.
type options struct {
	Scorer   Scorer
	Ordering orders.Ordering
	Scope    Scope
	URLs     *page.Normalizer
	Store    *store.Store // nil where the crawl has no past
	Revisits bool         // stored pages are asked for again
	NewPages bool         // beside the queue; else before it
	Sites    Sites        // nil where this agent crawls alone
	Now      func() time.Time

	RefetchLost bool // pages that are gone with another agent wait again
}

// cutter says which URLs are worth no request.
type cutter interface {
	// Cut returns why a URL is to be left aside, "" when it is not.
	Cut(url string) string
}

// queue is the URLs that wait, in the frontier and in the journal: discovered, given a
// place, rescored, put back.
type queue struct {
	opt      options
	journal  journal.Journal
	frontier *frontier.Frontier
	totals   *running
	hosts    cutter
	kinds    linkKinds
	orders   []orders.Ordering // of the frontier: those of a mix, or the only one
	scored   int               // the one of these that goes by scores, if any does
	passes   *passes
	chances  *hosts.Chances
	held     bool
	post     *post // nil where this agent crawls alone
}

// newQueue returns an empty queue. Its crawl begins with seeds, of which it knows nothing yet
// but their sites.
func newQueue(opt options, seeds []string, j journal.Journal, f *frontier.Frontier, t *running, h cutter, p *passes, c *hosts.Chances) *queue {
	q := &queue{opt: opt, journal: j, frontier: f, totals: t, hosts: h, passes: p, chances: c,
		kinds: newLinkKinds(opt.Ordering, seeds), held: opt.Revisits && !opt.NewPages}
	q.orders = orders.Parts(opt.Ordering)
	q.scored, _ = orders.Scored(opt.Ordering)
	if opt.Sites != nil {
		q.post = newPost(opt.Sites)
	}
	return q
}

// Held says whether stored pages are asked for again before the queue, which waits in the
// journal meanwhile.
func (q *queue) Held() bool { return q.held }

// Open lets in what waits in the journal.
func (q *queue) Open() error {
	q.held = false
	if err := q.restore(); err != nil {
		return err
	}
	q.Rescore()
	return nil
}

// inParts has rescoring go part by part in a queue of more than so many URLs.
func (q *queue) inParts(urls int) { q.passes.AtOnce = urls }

// Len counts the URLs that wait, also while the frontier does not have them.
func (q *queue) Len() int {
	if !q.opt.Revisits {
		return q.frontier.Len()
	}
	return q.totals.Waiting()
}

// Requeue puts a leased URL back where it was; a foreign sitemap's job and a probe have none.
func (q *queue) Requeue(j *workJob) {
	if j.Old != nil {
		q.pushStored(j.Old.ID, j.Birth.URL, j.Priority)
	}
	if j.ID == 0 {
		return
	}
	if len(q.orders) > 1 {
		q.push(j.ID, j.Host.Party, j.Birth.URL, j.Queued)
		return
	}
	q.frontier.Push(item(j.ID, j.Host.Party, j.Birth.URL, j.Priority))
}

// putBack queues a URL again that the frontier has just given.
func (q *queue) putBack(it frontier.Item, url string, place store.Queued) {
	if len(q.orders) > 1 {
		q.push(store.ID(it.ID), it.Host, url, place)
		return
	}
	q.frontier.Push(it)
}

// Priority is that of a URL in the frontier's first order, which gave it in any.
func (q *queue) Priority(it frontier.Item, place store.Queued) float64 {
	if len(q.orders) > 1 {
		return q.Lowered(it.Key, place.Priority)
	}
	return it.Priority
}

// pushStored queues a stored page. It has no key, so a scorer that learns does
// not move it.
func (q *queue) pushStored(id store.ID, url string, priority float64) {
	q.frontier.Push(frontier.Item{ID: frontier.ID(id), Host: q.frontier.Host(page.Host(url)), Priority: priority})
}

// linkFrom is what an ordering may know of a link found now on a page.
func (q *queue) linkFrom(from string, f link) orders.Link {
	return orders.Link{Score: f.Score, Step: q.totals.lastPage(), Place: f.Place, Discovers: q.kinds.discovers(from, f.URL)}
}

// linksFrom are the same of all links found on a page.
func (q *queue) linksFrom(b journal.Batch, from string, found []link) ([]orders.Link, error) {
	links := make([]orders.Link, len(found))
	for i, f := range found {
		links[i] = q.linkFrom(from, f)
	}
	return links, q.rank(b, found, links)
}

// linkOf is what an ordering may know of a URL that a sitemap lists: it is no
// link.
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

// Rescore has the whole queue hear at once of what the scorer has learned.
func (q *queue) Rescore() {
	if q.passes.Begin(q.totals.lastPage()) {
		q.frontier.Order(q.scored).Reprioritise(q.priority())
		q.passes.Done()
	}
}

// rescores says whether the scorer changes its mind about queued URLs, in an order that
// goes by scores.
func (q *queue) rescores(order int) bool {
	_, ok := q.opt.Scorer.(Rescorer)
	return ok && orders.ByScore(q.orders[order])
}

// These hold where the scorer rescores. farPlace is by how much a waiting URL's
// priority, a probability, may differ from what is journalled of it. A link is
// a better one than the recorded one from betterLink times its score on.
const (
	farPlace   = 0.2
	betterLink = 1.5
)

// moved says whether the priority that one more parent gives in an order to a URL that
// waits is worth a record. What a scorer that rescores says of a URL changes with
// each link to it and each page. The journal is no place to keep that: a
// resumed crawl rescores the queue at once. So of its opinions those are
// written that name a clearly better parent than the journal does, or that have
// moved far. Of a URL that the scorer forgets, a resumed crawl knows no other.
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
			return fmt.Errorf("URL %d waits, of %d: %w; run fossick repair", w.ID, q.totals.URLs(), store.ErrDamaged)
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

// reopen queues what ended in a state again, as far as it is wanted.
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
		if _, err := reopen(q, b, life, 0); err != nil {
			return err
		}
	}
	return q.totals.Commit(b)
}

// reopen takes back the end of a URL, and returns the place where it waits. Excused are
// visits that do not count as tries.
func reopen(q *queue, b journal.Batch, life *store.Life, excused int) (store.Queued, error) {
	place := q.placed(orders.Link{Score: life.Fate.Score, Step: q.totals.lastPage(), Depth: life.Depth}, nil)
	place.Score, place.Parent, place.Visits, place.Excused = life.Fate.Score, life.Fate.Parent, len(life.Visits), excused
	if life.Fate.Resemblance > 0 {
		q.totals.nearReopened()
	}
	q.totals.reopened(life.Fate.State)
	return place, b.Requeue(store.HashURL(life.URL), life.ID, place)
}

// pardon takes back what was counted against URLs: their exchanges stay in the
// journal and count no more, and those that ended by them wait again.
func (q *queue) pardon(b journal.Batch, misses []hosts.Miss) error {
	for _, m := range slices.Backward(misses) { // the last one of a URL knows its place best
		if m.ID == 0 {
			continue
		}
		if err := q.pardonURL(b, m); err != nil {
			return fmt.Errorf("%s: taking back a failure: %w", m.URL, err)
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
	birth, err := q.journal.Birth(m.ID)
	if err != nil {
		return err
	}
	q.frontier.Push(item(m.ID, q.frontier.Host(m.Host), birth.URL, place.Priority), place.Also...)
	return b.Requeue(store.HashURL(birth.URL), m.ID, place)
}

// plant queues the seeds that the store does not know yet, in as many batches
// as their number needs. A kill in between is mended by the next session, which
// is given the same seeds. Nothing is queued when one of them is out of scope.
func (q *queue) plant(seeds []string) error {
	seeds, err := q.inScope(seeds)
	if err != nil {
		return err
	}
	for len(seeds) > 0 {
		n, err := q.plantSome(seeds)
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

// inScope refuses seeds out of scope. Those that the store knows are passed over:
// a resumed crawl may have a narrower scope than it began with.
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

// plantSome queues as many of the seeds as a batch takes, and returns how many.
func (q *queue) plantSome(seeds []string) (n int, err error) {
	b := q.journal.Batch()
	defer func() { b.Cancel() }() // of no effect after Commit
	for n < len(seeds) && !b.Full() {
		f := link{URL: seeds[n], Hash: store.HashURL(seeds[n]), Score: 1}
		if _, err := q.Discover(b, store.Birth{Via: store.ViaSeed}, f, orders.Link{Score: 1}); err != nil {
			return 0, err
		}
		n++
	}
	return n, q.totals.Commit(b)
}

// A URL whose exchange failed waits behind others that are worth as much: its priority is
// lowered by the chance that another try succeeds. That holds in the frontier alone. The
// journal keeps what the page is worth, and the chance is made anew when a crawl is resumed.

// Lowered is the priority in the frontier's first order of a URL, by its page.Key, that
// is worth one.
func (q *queue) Lowered(key uint64, priority float64) float64 { return q.lowered(0, key, priority) }

func (q *queue) lowered(order int, key uint64, priority float64) float64 {
	return hosts.Lower(q.orders[order], priority, q.chances.Of(key))
}

// raised is what a URL is worth that has a priority in an order of the frontier.
func (q *queue) raised(order int, key uint64, priority float64) float64 {
	return hosts.Raise(q.orders[order], priority, q.chances.Of(key))
}

// priority is what the frontier asks in the pass that goes on.
func (q *queue) priority() func(key uint64, was float64) (now float64, known bool) {
	if !q.chances.Any() {
		return q.passes.Priority
	}
	return func(key uint64, was float64) (float64, bool) {
		now, known := q.passes.Priority(key, q.raised(q.scored, key, was))
		return q.lowered(q.scored, key, now), known
	}
}

// recall has a URL wait that failed in an earlier session.
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

// forgive gives a URL that waits for another try the place back that it had: its failure
// was nobody's.
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
