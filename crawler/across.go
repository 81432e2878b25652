package crawler

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"fossick/crawler/frontier"
	"fossick/crawler/hosts"
	"fossick/crawler/journal"
	"fossick/graph/orders"
	"fossick/store"
)

// Agent is what the others of a crawl that several agents make ask of one; see
// Options.Sites. It is safe for concurrent use while Run goes on.
type Agent struct {
	crawl     *Crawler
	receiving sync.Mutex // held while parcels are taken in
}

// AgentOf returns the agent that a crawl is, which is yet to run.
func AgentOf(c *Crawler) *Agent {
	return &Agent{crawl: c}
}

// inTurn has the crawl's owner do something; what it returns ends the crawl.
func (a *Agent) inTurn(ctx context.Context, do func() error) error {
	return a.crawl.inbox.inTurn(ctx, func() (refused, broken error) {
		err := do()
		return err, err
	})
}

// Delivery is parcels from another agent for one part of the web, in the order of their
// numbers.
type Delivery struct {
	Sender  string // its store
	Part    uint16
	After   uint64 // number of the parcel before the first; 0 when that is the oldest there is
	Parcels []store.Parcel
}

// Receive takes in those of a delivery that follow what was taken in before, each once. It
// returns how far that is now, on disk. A parcel that cannot be read is passed over. Whether
// the part is this agent's, or comes to it, is the caller's to know. whole is
// the agent, if any, the last of whose knowledge of the part was among them; see HandOver.
func (a *Agent) Receive(ctx context.Context, d Delivery) (taken uint64, whole string, err error) {
	a.receiving.Lock()
	defer a.receiving.Unlock()
	c := a.crawl
	if taken, err = store.OutboxOf(c.opt.Store).Cursor(d.Part, d.Sender); err != nil || d.After > taken {
		return taken, "", err
	}
	var letters []letter
	for _, p := range d.Parcels {
		if p.Number > taken {
			l := a.read(p)
			if agent := l.completes(d.Sender); agent != "" {
				whole = agent
			}
			letters = append(letters, l)
		}
	}
	for len(letters) > 0 {
		var n int
		if err := a.inTurn(ctx, func() (err error) {
			n, err = a.enter(d, letters)
			return err
		}); err != nil {
			return taken, "", err
		}
		taken, letters = letters[n-1].number, letters[n:]
	}
	return taken, whole, nil
}

// letter is a parcel that was read, with its links as this crawl rates them.
type letter struct {
	number uint64
	parcel *Parcel // nil where it cannot be read
	links  []link
}

// completes returns the agent, if any, of whose knowledge of the part this is the last. An
// unreadable parcel may have been the last, and is not sent again.
func (l *letter) completes(sender string) string {
	switch {
	case l.parcel == nil:
		return sender
	case l.parcel.Last:
		return l.parcel.Agent
	}
	return ""
}

// read rates a parcel's links, outside the owner's turn.
func (a *Agent) read(p store.Parcel) letter {
	opt := &a.crawl.opt
	parcel, err := unpack(p.Data)
	if err != nil {
		opt.Log.Warn("links from another agent are left out", "error", err)
		return letter{number: p.Number}
	}
	var scores []float64
	from := parcel.page()
	if parcel.Via == store.ViaLink {
		scores = opt.Scorer.ScoreLinks(nil, from, Score{
			Value: parcel.Value, Label: parcel.Label, Probability: parcel.Sure, Relevant: parcel.On, Topics: parcel.For,
		})
	}
	links := make([]link, len(parcel.Links))
	for i := range links {
		l := &parcel.Links[i]
		f := link{URL: l.URL, Hash: store.HashURL(l.URL), Score: l.Score, Modified: l.Modified, Skip: opt.Scope.Excludes(l.URL)}
		if scores != nil {
			f.Score, f.At, f.Place = scores[i], &from.Links[i], l.Place
		}
		if f.Skip == "" && !opt.FollowTraps {
			f.Skip = hosts.Circular(l.URL)
			f.Trap = f.Skip != ""
		}
		links[i] = f
	}
	return letter{p.Number, parcel, links}
}

// enter commits as many letters as a batch takes, and returns how many.
func (a *Agent) enter(d Delivery, letters []letter) (n int, err error) {
	b := a.crawl.journal.Batch()
	defer func() { b.Cancel() }() // of no effect after Commit
	for n < len(letters) && !b.Full() {
		if l := &letters[n]; l.parcel != nil {
			if err := a.takeIn(b, l.parcel, l.links); err != nil {
				return 0, err
			}
		}
		if agent := letters[n].completes(d.Sender); agent != "" { // in one commit: no restart may wait for it again
			if err := store.OutboxIn(journal.Stored(b)).Arrived(d.Part, agent); err != nil {
				return 0, err
			}
		}
		n++
	}
	if err := store.OutboxIn(journal.Stored(b)).PutCursor(d.Part, d.Sender, letters[n-1].number); err != nil {
		return 0, err
	}
	return n, a.crawl.finish(b)
}

// Trim drops the parcels for a part up to a number: their receiver has them on disk.
func (a *Agent) Trim(ctx context.Context, part uint16, upTo uint64) (err error) {
	for done := false; !done && err == nil; {
		err = a.inTurn(ctx, func() (err error) {
			b := a.crawl.journal.Batch()
			defer func() { b.Cancel() }() // of no effect after Commit
			if done, err = store.OutboxIn(journal.Stored(b)).Drop(part, upTo); err != nil {
				return err
			}
			return a.crawl.finish(b)
		})
	}
	return err
}

// TrimChanges drops the changes for a replica up to a number: the replica has them, or there
// is none. It is no change itself, or there would be no end.
func (a *Agent) TrimChanges(ctx context.Context, upTo uint64) (err error) {
	for done := false; !done && err == nil; {
		err = a.inTurn(ctx, func() (err error) {
			b := a.crawl.opt.Store.Batch()
			defer b.Cancel() // of no effect after Commit
			if done, err = store.OutboxIn(b).DropChanges(upTo); err != nil {
				return err
			}
			return b.Commit()
		})
	}
	return err
}

// Gain says that parts are this agent's from now on, as Sites has it already. All hosts
// rest one full delay first: nobody knows when those were asked last. The start pages among
// them are queued.
func (a *Agent) Gain(ctx context.Context, gained func(part uint16) bool) error {
	return a.inTurn(ctx, func() error {
		c := a.crawl
		c.frontier.RestAll(c.opt.Now().Add(c.opt.Delay.Load(0)))
		return errors.Join(a.crawl.queue.gain(gained), c.queue.plant(c.opt.Seeds))
	})
}

// UnderWay counts the exchanges with hosts of parts that are not this agent's any more.
// When there are none, another may ask them.
func (a *Agent) UnderWay(ctx context.Context) (n int, err error) {
	err = a.inTurn(ctx, func() error {
		n = a.crawl.flight.elsewhere(a.crawl.opt.Sites)
		return nil
	})
	return n, err
}

// Allowance is what an agent may spend.
type Allowance struct {
	Pages   uint64  // over all sessions of its store
	Price   float64 // priority that a link must have
	Workers int     // exchanges at a time; there are never more than Options.Workers
}

// Allow sets what may be spent; before the first time it is nothing. It returns what will be
// spent at most: more than it allows where more is stored or under way.
func (a *Agent) Allow(ctx context.Context, most Allowance) (spends Allowance, err error) {
	err = a.inTurn(ctx, func() error {
		c := a.crawl
		c.choice.allowed = most
		c.flight.newcomers.Among(most.Workers)
		spends = most
		spends.Pages = max(most.Pages, c.totals.Pages()+c.flight.pages)
		spends.Workers = max(most.Workers, c.flight.busy-c.flight.slow)
		return nil
	})
	return spends, err
}

// Load is what the others have to know of an agent.
type Load struct {
	Counts  store.Counts
	Spent   uint64        // pages, those under way included
	Waiting int           // URLs
	Busy    int           // exchanges under way
	Slow    int           // of these, those that go on beside the workers
	Resting bool          // hosts that have URLs rest
	Cycle   time.Duration // of an exchange and the rest after it, in the mean of the latest
	Took    time.Duration // of the exchange alone
	Unsent  int           // parts that parcels wait for
	Head    []float64     // the best priorities that wait, the best first, one a host, of hosts that are not being asked and whose rest is over soon
}

// headWithin is how soon a host's rest has to be over to count for the head.
const headWithin = 250 * time.Millisecond

// perParty is how many links are looked at for one of another host.
const perParty = 8

// Load returns how the crawl stands, with a head of n priorities at most; of none it looks at no queue.
func (a *Agent) Load(ctx context.Context, n int) (l Load, err error) {
	err = a.inTurn(ctx, func() error {
		c := a.crawl
		l = Load{Counts: c.totals.snapshot(), Spent: c.totals.Pages() + c.flight.pages, Waiting: c.queue.Len(), Busy: c.flight.busy, Slow: c.flight.slow, Resting: c.frontier.Resting() > 0, Cycle: c.choice.cycle, Took: c.choice.took}
		for part, err := range store.OutboxOf(c.opt.Store).Parts() {
			if err != nil {
				return err
			}
			if part != store.KeeperPart {
				l.Unsent++
			}
		}
		if n == 0 {
			return nil
		}
		if err := c.rescore(); err != nil {
			return err
		}
		seen := map[frontier.Host]bool{}
		for j := range c.flight.jobs {
			seen[j.Host.Party] = true
		}
		for _, w := range c.frontier.Survey(nil, perParty*n, c.opt.Now().Add(headWithin)) {
			if len(l.Head) < n && !seen[w.Party] {
				seen[w.Party] = true
				l.Head = append(l.Head, w.Priority)
			}
		}
		return nil
	})
	return l, err
}

// Best appends to dst the n best links that wait and could be asked for within a time, the best
// first.
func (a *Agent) Best(ctx context.Context, dst []frontier.Waiting, n int, within time.Duration) ([]frontier.Waiting, error) {
	err := a.inTurn(ctx, func() error {
		c := a.crawl
		if err := c.rescore(); err != nil {
			return err
		}
		dst = c.frontier.Survey(dst, n, c.opt.Now().Add(within))
		return nil
	})
	return dst, err
}

// Promises says that priorities are probabilities.
func (a *Agent) Promises() bool { return a.crawl.queue.promises() }

// Finish ends the crawl with a reason: what is under way is waited for.
func (a *Agent) Finish(ctx context.Context, why Stop) error {
	return a.inTurn(ctx, func() error {
		if a.crawl.stopped == "" {
			a.crawl.stopped = why
		}
		return nil
	})
}

// Hold writes down which parts of the web are this agent's.
func (a *Agent) Hold(ctx context.Context, h store.Holdings) error {
	return a.inTurn(ctx, func() error {
		b := a.crawl.journal.Batch()
		defer func() { b.Cancel() }() // of no effect after Commit
		if err := store.OutboxIn(journal.Stored(b)).PutHoldings(h); err != nil {
			return err
		}
		return a.crawl.finish(b)
	})
}

// tellPaid tells a scorer of several topics what each has paid; it keeps no count of its
// own, so that after a kill the store's holds.
func (c *Crawler) tellPaid() {
	if s, shares := c.opt.Scorer.(sharer); shares {
		s.Paid(slices.Clone(c.totals.Counts().Topics))
	}
}

// A look is asked again what URLs are worth that come up.
type look interface {
	Rescore(key uint64) (score float64, known bool)
}

// secondLook is the look of a crawl that several topics share, nil of another.
func secondLook(opt *Options) look {
	if _, shares := opt.Scorer.(sharer); !shares || !orders.ByScore(opt.Ordering) {
		return nil
	}
	s, _ := opt.Scorer.(Rescorer)
	return s
}

const (
	// secondLooks bounds how many URLs are put back for one that is taken.
	secondLooks = 256
	// staleBelow is by what part a priority may be too high without being put back.
	staleBelow = 0.02
)

// nextFrom is the frontier's, with a second look where several topics share the crawl.
// What a topic has paid changes the worth of all its links with each page, and the queue
// hears of that a hundred pages later: until then its links would go before all others. So
// one that comes up by a priority of the past is put back with that of now.
func (c *choice) nextFrom(now time.Time, least float64) (it frontier.Item, ok bool) {
	for looks := 0; ; looks++ {
		it, ok = c.frontier.NextFrom(now, least)
		if !ok || c.look == nil || looks == secondLooks {
			return it, ok
		}
		score, known := c.look.Rescore(it.Key)
		priority := c.queue.Lowered(it.Key, c.opt.Ordering.Priority(orders.Link{Score: score}))
		if !known || it.Priority-priority <= staleBelow*math.Abs(it.Priority) {
			return it, ok
		}
		c.frontier.Done(it.Host, time.Time{})
		it.Priority = priority
		c.frontier.Push(it)
	}
}
