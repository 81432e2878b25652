package crawler

import (
	"context"
	"time"

	"fossick/internal/page"
	"fossick/store"
)

// Progress is how far a crawl is.
type Progress struct {
	Counts  store.Counts // totals over all sessions
	Queue   int
	Hosts   int           // that were asked for anything
	Busy    int           // exchanges in flight
	Elapsed time.Duration // this session's
	Pages   uint64        // stored in this session
	Next    Marginal      // what the next pages are worth
	Turns   Stats         // of the owner, in this session

	Refreshed RefreshCounts // of stored pages that were asked for again in this session
	Round     int           // of a watch, over all sessions; 0 where it works in none

	Patience *Patience // nil where the crawl waits for no better links
	// RestUntil is when the next host may be asked, while nothing is in flight.
	RestUntil time.Time
	Resting   int // hosts that have URLs and rest, those that share an address as one
	// DownSince is since when our own network gives no answer, zero while it does.
	DownSince  time.Time
	Outages    int           // of our own network in this session
	OutageTime time.Duration // of all of them
}

// Stop says why a crawl ended (cli.md, stopped_because).
type Stop string

// The reasons to stop.
const (
	StopMaxPages    Stop = "max_pages"
	StopMaxTime     Stop = "max_time"
	StopEmpty       Stop = "frontier_empty"
	StopNothing     Stop = "nothing_fetched" // in place of the two before; see Attempts
	stopRounds      Stop = "rounds"          // all rounds of a watch have ended
	StopMinHarvest  Stop = "min_harvest"
	StopInterrupted Stop = "interrupted"
	StopForget      Stop = "forget" // pages are to be forgotten first; see Crawler.Forget
	stopDiskFull    Stop = "disk_full"
	StopError       Stop = "error"
)

// Result is what a crawl came to, over all its sessions.
type Result struct {
	Counts  store.Counts
	Hosts   int // hosts that gave at least one page
	Stopped Stop
	Next    Marginal // harvest that more pages would have had
	// WaitUntil is when the first of the hosts that still have URLs queued has
	// rested, where that was too long to wait for; else zero.
	WaitUntil time.Time

	Refreshed RefreshCounts // what Options.Refresh brought in this session
	News      NewsCounts    `json:",omitzero"` // what sitemaps and feeds told, with Options.News
	Attempts  Attempts

	Outages    int           // of our own network in this session
	OutageTime time.Duration // of all of them
}

// After adds what a session before brought where the two are one to who looks.
func (r Result) After(before Result) Result {
	r.Refreshed = r.Refreshed.plus(before.Refreshed)
	r.News = before.News.plus(r.News)
	r.Attempts = r.Attempts.After(before.Attempts)
	r.Outages += before.Outages
	r.OutageTime += before.OutageTime
	return r
}

// After adds how long a session before took, and what it brought.
func (p Progress) After(before Progress) Progress {
	p.Elapsed += before.Elapsed
	p.Pages += before.Pages
	p.Refreshed = p.Refreshed.plus(before.Refreshed)
	p.Outages += before.Outages
	p.OutageTime += before.OutageTime
	return p
}

func (c *Crawler) progress() Progress {
	rest := time.Time{}
	if c.flight.busy == 0 {
		rest, _ = c.frontier.Wake()
	}
	outages, down, outage := c.network.Outages()
	elapsed, pages := c.totals.session()
	round := 0
	if r, ok := c.opt.Revisits.(counted); ok {
		round = r.Round()
	}
	return Progress{
		Refreshed: c.refreshed.RefreshCounts, Round: round,
		Patience: c.choice.progress(), RestUntil: rest, Resting: c.frontier.Resting(), DownSince: down, Outages: outages, OutageTime: outage,
		Counts: c.totals.snapshot(), Queue: c.queue.Len(), Hosts: c.hosts.Known(), Busy: c.flight.busy,
		Elapsed: elapsed, Pages: pages,
		Next: c.harvest.Estimate(), Turns: c.turns.Stats,
	}
}

// Progress returns where the crawl stands; not while Run is going on.
func (c *Crawler) Progress() Progress { return c.progress() }

// Standing is how a URL of the queue stands to what a crawl waits for.
type Standing struct {
	Price float64     // priority that a link needs to be taken now; -Inf takes any
	Wait  *store.Wait // that the URL had part in so far; nil for none that is remembered
}

// Standing says how a URL, in normal form, stands while Run goes on; nil where the crawl
// waits for no better links. Safe for concurrent use.
func (c *Crawler) Standing(ctx context.Context, url string) (s *Standing, err error) {
	err = c.inbox.inTurn(ctx, func() (error, error) {
		if choice := c.choice; choice.keeper != nil {
			s = &Standing{Price: choice.need(), Wait: choice.waits.of(page.Key(url), c.opt.Now())}
		}
		return nil, nil
	})
	return s, err
}
