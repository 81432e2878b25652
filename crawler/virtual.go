package crawler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"fossick/crawler/fetch"
	"fossick/crawler/frontier"
	"fossick/crawler/journal"
	"fossick/internal/page"
	"fossick/store"
)

// virtualPage is one page that a virtual crawl has kept.
type virtualPage struct {
	Page  *page.Page
	Score Score
	Depth int           // links from a start page
	Began time.Duration // by the crawl's own clock, when it was asked for
}

// VirtualResult is what came of a virtual crawl.
type VirtualResult struct {
	Pages      []virtualPage // in the order of the crawl
	Duplicates int           // answers with the content of a page before
	Near       int           // near-duplicates of a page before
	Missing    int           // URLs that the web does not have
	Farmed     int           // URLs left aside since their hosts are a farm's
	Waiting    int           // URLs in the queue at the end
	Took       time.Duration // by the crawl's own clock
	Stopped    Stop
}

// Virtual crawls a web in memory by the engine of Run, with a journal in memory
// and a clock of its own. Exchanges take the time that web says, and rests none
// of ours. So it visits the same pages in the same order, some thousand a
// second.
//
// Workers and Delay are its manners. Without workers it has one, and no host rests. It uses no
// Store, Fetcher, Frontier, URLs and Now of opt; web must be safe for what else calls it.
func Virtual(ctx context.Context, opt Options, web func(url string) Answer) (VirtualResult, error) {
	if opt.Scorer == nil || opt.Ordering == nil {
		return VirtualResult{}, errors.New("crawler: a virtual crawl needs a scorer and an ordering")
	}
	for _, seed := range opt.Seeds {
		if why := opt.Scope.Excludes(seed); why != "" {
			return VirtualResult{}, fmt.Errorf("start page %s: %s", seed, why)
		}
	}
	if opt.Workers == 0 {
		opt.Workers, opt.Delay = 1, Delay{Off: true}
	}
	clock := newClock()
	opt.Store, opt.Now, opt.Log, opt.URLs, opt.Frontier = nil, clock.Now, slog.New(slog.DiscardHandler), standardURLs, frontier.Options{}
	opt.defaults()
	memory := journal.NewMemory()
	c, err := newCrawler(opt, memory)
	if err != nil {
		return VirtualResult{}, err
	}
	c.hosts.KeepAll() // the journal would keep what the cache forgets
	if err := c.open(); err != nil {
		return VirtualResult{}, errors.Join(err, c.leases.frontier.Close())
	}
	r, err := c.run(newWeb(ctx, web, c.reader, clock, opt.MaxTime, !opt.Delay.Off))
	if r.Stopped == StopInterrupted {
		err = errors.Join(err, ctx.Err())
	}
	return c.virtualResult(r, memory, clock), err
}

// standardURLs is shared by all virtual crawls.
var standardURLs = page.NewNormalizer(page.DefaultDrop())

func (c *Crawler) virtualResult(r Result, memory *journal.Memory, clock *clock) VirtualResult {
	states := r.Counts.States
	v := VirtualResult{
		Duplicates: int(states[string(fetch.StateDuplicate)] - r.Counts.NearDuplicates),
		Near:       int(r.Counts.NearDuplicates),
		Missing:    int(states[string(fetch.StateCode)] + states[string(fetch.StateNoIP)]),
		Farmed:     c.totals.leftToFarms(),
		Took:       clock.passed(),
		Stopped:    r.Stopped,
	}
	switch v.Stopped {
	case StopMaxPages:
		v.Waiting = c.leases.frontier.Len()
	case StopNothing:
		v.Stopped = StopEmpty
	}
	for _, p := range memory.Pages() {
		v.Pages = append(v.Pages, virtualPage{Page: p.Page, Score: scoreOf(p.Record), Depth: p.Record.Depth, Began: clock.At(time.UnixMilli(p.Record.At))})
	}
	return v
}

// scoreOf is the score that a page was stored with.
func scoreOf(p *store.Page) Score {
	return Score{
		Value: p.Score, Terms: p.Terms, Account: p.Account, Relevant: p.Relevant,
		Label: p.Label, Probability: p.Probability, Rule: p.Rule, Topics: p.Topics,
	}
}
