package crawler

import (
	"context"
	"errors"
	"sync"
	"time"

	"fossick/crawler/frontier"
	"fossick/crawler/hosts"
	"fossick/crawler/journal"
	"fossick/store"
)

// Agent is the interface of a crawl to the other agents that take part in it; see
// Options.Sites. It is safe for concurrent use while Run goes on.
type Agent struct {
	crawl     *Crawler
	receiving sync.Mutex // held while parcels are taken in
}

// AgentOf returns the agent of a crawl that has not run yet.
func AgentOf(c *Crawler) *Agent { return &Agent{crawl: c} }

// inTurn runs do in the owner's turn. An error of do ends the crawl.
func (a *Agent) inTurn(ctx context.Context, do func() error) error {
	return a.crawl.inTurn(ctx, func() (refused, broken error) {
		err := do()
		return err, err
	})
}

// write has do fill a batch in the owner's turn, and commits it.
func (a *Agent) write(ctx context.Context, do func(b journal.Batch) error) error {
	return a.inTurn(ctx, func() error {
		b := a.crawl.journal.Batch()
		defer b.Cancel() // of no effect after Commit
		if err := do(b); err != nil {
			return err
		}
		return a.crawl.finish(b)
	})
}

// Delivery holds parcels from another agent for one part of the web, in the order of their
// numbers.
type Delivery struct {
	Sender  string // the sender's store
	Part    uint16
	After   uint64 // number of the parcel before the first; 0 if the first is the oldest
	Parcels []store.Parcel
}

// Receive takes in the parcels that it has not seen, each once, and skips those that it cannot
// read. It returns the number of the last parcel on disk. The caller must know that the part
// belongs, or will belong, to this agent. whole names the agent, if any, whose hand-over of
// the part is complete now; see HandOver.
func (a *Agent) Receive(ctx context.Context, d Delivery) (taken uint64, whole string, err error) {
	a.receiving.Lock()
	defer a.receiving.Unlock()
	c := a.crawl
	if taken, err = store.OutboxOf(c.opt.Store).Cursor(d.Part, d.Sender); err != nil || d.After > taken {
		return taken, "", err
	}
	var messages []message
	for _, p := range d.Parcels {
		if p.Number > taken {
			l := a.read(p)
			if agent := l.completes(d.Sender); agent != "" {
				whole = agent
			}
			messages = append(messages, l)
		}
	}
	for len(messages) > 0 {
		var n int
		if err := a.inTurn(ctx, func() (err error) {
			n, err = a.enter(d, messages)
			return err
		}); err != nil {
			return taken, "", err
		}
		taken, messages = messages[n-1].number, messages[n:]
	}
	return taken, whole, nil
}

// message is a parcel that was read, with its links as this crawl scores them.
type message struct {
	number uint64
	parcel *Parcel // nil if it cannot be read
	links  []link
}

// completes returns the agent whose hand-over of the part ends with this message, if any. An
// unreadable parcel counts as the last one, because it is not sent again.
func (l *message) completes(sender string) string {
	switch {
	case l.parcel == nil:
		return sender
	case l.parcel.Last:
		return l.parcel.Agent
	}
	return ""
}

// read unpacks a parcel and scores its links, outside the owner's turn.
func (a *Agent) read(p store.Parcel) message {
	opt := &a.crawl.opt
	parcel, err := unpack(p.Data)
	if err != nil {
		opt.Log.Warn("links from another agent are ignored", "error", err)
		return message{number: p.Number}
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
	return message{p.Number, parcel, links}
}

// enter commits as many messages as fit in one batch, and returns their number.
func (a *Agent) enter(d Delivery, messages []message) (n int, err error) {
	b := a.crawl.journal.Batch()
	defer func() { b.Cancel() }() // of no effect after Commit
	for n < len(messages) && !b.Full() {
		if l := &messages[n]; l.parcel != nil {
			if err := a.takeIn(b, l.parcel, l.links); err != nil {
				return 0, err
			}
		}
		if agent := messages[n].completes(d.Sender); agent != "" { // in one commit, so that no restart waits for it again
			if err := store.OutboxIn(journal.Stored(b)).Arrived(d.Part, agent); err != nil {
				return 0, err
			}
		}
		n++
	}
	if err := store.OutboxIn(journal.Stored(b)).PutCursor(d.Part, d.Sender, messages[n-1].number); err != nil {
		return 0, err
	}
	return n, a.crawl.finish(b)
}

// Trim deletes the parcels for a part up to a number, because their receiver has them on disk.
func (a *Agent) Trim(ctx context.Context, part uint16, upTo uint64) (err error) {
	for done := false; !done && err == nil; {
		err = a.write(ctx, func(b journal.Batch) (err error) {
			done, err = store.OutboxIn(journal.Stored(b)).Drop(part, upTo)
			return err
		})
	}
	return err
}

// TrimChanges deletes the changes for a replica up to a number. The deletion itself is not
// recorded as a change, or there would be no end.
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

// Gain tells the crawl that it owns more parts from now on; Sites must know them already. All
// hosts rest for one full delay first, because nobody knows when they were asked last. The
// start pages of these parts are queued.
func (a *Agent) Gain(ctx context.Context, gained func(part uint16) bool) error {
	return a.inTurn(ctx, func() error {
		c := a.crawl
		c.frontier.RestAll(c.opt.Now().Add(c.opt.Delay.Load(0)))
		for w, err := range c.journal.Waiters() {
			if err != nil {
				return err
			}
			if gained(c.opt.Sites.Part(w.URL)) {
				c.pushAt(w.ID, w.URL, w.Queued)
			}
		}
		return errors.Join(c.frontier.Err(), c.queueSeeds(c.opt.Seeds))
	})
}

// UnderWay counts the exchanges with hosts of parts that this agent no longer owns. At zero,
// another agent may ask them.
func (a *Agent) UnderWay(ctx context.Context) (n int, err error) {
	err = a.inTurn(ctx, func() error {
		sites := a.crawl.opt.Sites
		for j := range a.crawl.jobs {
			if !sites.Mine(sites.Part("http://" + j.asked().Name + "/")) {
				n++
			}
		}
		return nil
	})
	return n, err
}

// Allowance bounds what an agent may spend.
type Allowance struct {
	Pages   uint64  // over all sessions of the store
	Price   float64 // least priority of a link
	Workers int     // concurrent exchanges, at most Options.Workers
}

// Allow sets the allowance, which is zero at first. It returns what the agent will spend at
// most: more than the allowance if more is stored or under way.
func (a *Agent) Allow(ctx context.Context, most Allowance) (spends Allowance, err error) {
	err = a.inTurn(ctx, func() error {
		c := a.crawl
		c.allowed = most
		c.newcomers.Among(most.Workers)
		spends = most
		spends.Pages = max(most.Pages, c.totals.Pages+c.fetching)
		spends.Workers = max(most.Workers, len(c.jobs)-c.slow)
		return nil
	})
	return spends, err
}

// Load is what the others have to know of an agent.
type Load struct {
	Counts  store.Counts
	Spent   uint64        // pages, including those under way
	Waiting int           // URLs
	Busy    int           // exchanges under way
	Slow    int           // of these, those that no longer occupy a worker
	Resting bool          // some host with URLs rests
	Cycle   time.Duration // recent mean of an exchange and the rest after it
	Took    time.Duration // recent mean of the exchange alone
	Unsent  int           // parts with parcels to send
	Head    []float64     // best priorities in descending order, one per host that is idle and rested soon
}

// headWithin is the longest remaining rest of a host that counts for Load.Head.
const headWithin = 250 * time.Millisecond

// perParty is how many links Load surveys for each entry of its head.
const perParty = 8

// Load returns how the crawl stands, with at most n priorities in its head. With n = 0 it does
// not read the queue.
func (a *Agent) Load(ctx context.Context, n int) (l Load, err error) {
	err = a.inTurn(ctx, func() error {
		c := a.crawl
		l = Load{Counts: c.totals.snapshot(), Spent: c.totals.Pages + c.fetching, Waiting: c.waiting(), Busy: len(c.jobs), Slow: c.slow, Resting: c.frontier.Resting() > 0, Cycle: c.cycle, Took: c.exchangeTook}
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
		for j := range c.jobs {
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

// Best appends to dst the n best waiting links that could be fetched within the given time,
// best first.
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

// Promises reports whether priorities are probabilities.
func (a *Agent) Promises() bool { return a.crawl.promises() }

// Finish ends the crawl with a reason, after the exchanges under way.
func (a *Agent) Finish(ctx context.Context, why Stop) error {
	return a.inTurn(ctx, func() error {
		if a.crawl.stopped == "" {
			a.crawl.stopped = why
		}
		return nil
	})
}

// Hold records which parts of the web this agent owns.
func (a *Agent) Hold(ctx context.Context, h store.Holdings) error {
	return a.write(ctx, func(b journal.Batch) error { return store.OutboxIn(journal.Stored(b)).PutHoldings(h) })
}
