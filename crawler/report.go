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
	Hosts   int           // hosts that were asked
	Busy    int           // exchanges under way
	Elapsed time.Duration // this session's
	Pages   uint64        // stored in this session
	Next    Marginal      // harvest of the next pages
	Turns   Stats         // the owner's turns in this session

	Refreshed RefreshCounts // revisits of this session
	Round     int           // of a watch, over all sessions; 0 without rounds

	Patience *Patience // nil if the crawl never waits for better links
	// RestUntil is when the next host may be asked, if nothing is under way.
	RestUntil time.Time
	Resting   int // resting hosts with URLs; hosts at one address count once
	// DownSince is when our own network went down, zero if it is up.
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

// Result is the result of a crawl, over all its sessions.
type Result struct {
	Counts  store.Counts
	Hosts   int // hosts with at least one page
	Stopped Stop
	Next    Marginal // expected harvest of more pages
	// WaitUntil is when the first host with queued URLs is rested, if that was too long to
	// wait for; else zero.
	WaitUntil time.Time

	Refreshed RefreshCounts // revisits of this session
	News      NewsCounts    `json:",omitzero"` // from sitemaps and feeds, with Options.News
	Attempts  Attempts

	Outages    int           // of our own network in this session
	OutageTime time.Duration // of all of them
}

// After adds the result of an earlier session that the user sees as one with this.
func (r Result) After(before Result) Result {
	r.Refreshed = r.Refreshed.plus(before.Refreshed)
	r.News = before.News.plus(r.News)
	r.Attempts = r.Attempts.After(before.Attempts)
	r.Outages += before.Outages
	r.OutageTime += before.OutageTime
	return r
}

// After adds the progress of an earlier session.
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
		Refreshed: c.refreshed, Round: round,
		Patience: c.choice.progress(), RestUntil: rest, Resting: c.frontier.Resting(), DownSince: down, Outages: outages, OutageTime: outage,
		Counts: c.totals.snapshot(), Queue: c.queue.Len(), Hosts: c.hosts.Known(), Busy: c.flight.busy,
		Elapsed: elapsed, Pages: pages,
		Next: c.harvest.Estimate(), Turns: c.turns.Stats,
	}
}

// Progress returns how far the crawl has come; not to be called during Run.
func (c *Crawler) Progress() Progress { return c.progress() }

// Standing is how a URL of the queue stands to what a crawl waits for.
type Standing struct {
	Price float64     // least priority of a link that is taken now; -Inf for any
	Wait  *store.Wait // the URL's part in waits; nil if none is remembered
}

// Standing returns how a URL, in normal form, compares with the price while Run goes on; nil
// if the crawl never waits for better links. It is safe for concurrent use.
func (c *Crawler) Standing(ctx context.Context, url string) (s *Standing, err error) {
	err = c.inbox.inTurn(ctx, func() (error, error) {
		if choice := c.choice; choice.keeper != nil {
			s = &Standing{Price: choice.need(), Wait: choice.waits.of(page.Key(url), c.opt.Now())}
		}
		return nil, nil
	})
	return s, err
}
