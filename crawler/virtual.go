package crawler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"fossick/crawler/fetch"
	"fossick/crawler/frontier"
	"fossick/crawler/hosts"
	"fossick/crawler/journal"
	"fossick/internal/page"
	"fossick/store"
)

// virtualPage is a page that a virtual crawl has stored.
type virtualPage struct {
	Page  *page.Page
	Score Score
	Depth int           // links from a start page
	Began time.Duration // when it was asked for, by the crawl's own clock
}

// VirtualResult is the result of a virtual crawl.
type VirtualResult struct {
	Pages      []virtualPage // in the order of the crawl
	Duplicates int           // answers with the content of an earlier page
	Near       int           // near-duplicates of an earlier page
	Missing    int           // URLs that do not exist
	Farmed     int           // URLs left aside because their hosts are a farm
	Waiting    int           // URLs in the queue at the end
	Took       time.Duration // by the crawl's own clock
	Stopped    Stop
}

// Virtual crawls a web in memory by the engine of Run, with a journal in memory and a clock of
// its own: exchanges and rests take no real time. So it visits the same pages in the same
// order, some thousand a second.
//
// Workers and Delay are its manners; without workers it has one, and no host rests. It ignores
// Store, Fetcher, Frontier, URLs and Now of opt. web must be safe for concurrent use.
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
	clock := &clock{virtualEpoch}
	opt.Store, opt.Now, opt.Log, opt.URLs, opt.Frontier = nil, clock.Now, slog.New(slog.DiscardHandler), standardURLs, frontier.Options{}
	opt.defaults()
	memory := journal.NewMemory()
	c, err := newCrawler(opt, memory)
	if err != nil {
		return VirtualResult{}, err
	}
	c.hosts.KeepAll() // the journal would keep what the cache forgets
	if err := c.open(); err != nil {
		return VirtualResult{}, errors.Join(err, c.frontier.Close())
	}
	w := &virtualWeb{manners: !opt.Delay.Off, reader: c.reader, web: web, clock: clock, interrupted: ctx.Done()}
	if opt.MaxTime > 0 {
		w.deadline = clock.now.Add(opt.MaxTime)
	}
	r, err := c.run(w)
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
		Farmed:     c.totals.farmed,
		Took:       clock.now.Sub(virtualEpoch),
		Stopped:    r.Stopped,
	}
	switch v.Stopped {
	case StopMaxPages:
		v.Waiting = c.frontier.Len()
	case StopNothing:
		v.Stopped = StopEmpty
	}
	for _, p := range memory.Pages() {
		v.Pages = append(v.Pages, virtualPage{Page: p.Page, Score: scoreOf(p.Record), Depth: p.Record.Depth, Began: time.UnixMilli(p.Record.At).Sub(virtualEpoch)})
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

// Answer is the answer of a web in memory: a page, a redirect, or neither, which is a missing
// page.
type Answer struct {
	Page     *page.Page         // parsed; shared by all crawls, so it must not change
	Print    *hosts.Fingerprint // of Page, by one Fingerprinter for all; nil if unknown
	Moved    string             // target of a redirect
	DeadHost bool               // the host does not exist
	Took     time.Duration      // duration of the exchange
}

// clock is the time of a virtual crawl.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

// virtualEpoch is when virtual crawls begin; late enough that no age is negative.
var virtualEpoch = time.Unix(1_000_000_000, 0)

// virtualWeb is the executor of a virtual crawl, an event simulation: an answer is read and
// scored when the clock reaches the end of its exchange. All hosts have addresses, and none
// has a robots.txt. With manners, asking for robots.txt takes time.
type virtualWeb struct {
	manners     bool // exchanges for robots.txt take time
	reader      *reader
	web         func(url string) Answer
	clock       *clock
	interrupted <-chan struct{} // nil once reported
	deadline    time.Time       // zero if there is none, or once reported
	ends        []exchangeEnd   // in order of time, then of their begin
}

// Start implements executor.
func (w *virtualWeb) Start(j *job) {
	o := &jobResult{job: j}
	w.ask(o)
	end := exchangeEnd{w.clock.now, o}
	if o.Resp != nil {
		end.at = end.at.Add(o.Resp.Took)
	}
	place, _ := slices.BinarySearchFunc(w.ends, end.at, func(e exchangeEnd, at time.Time) int {
		if e.at.After(at) {
			return 1
		}
		return -1
	})
	w.ends = slices.Insert(w.ends, place, end)
}

// ask has the web answer.
func (w *virtualWeb) ask(o *jobResult) {
	var a Answer
	if o.task != taskRobots || w.manners {
		a = w.web(o.Target)
	}
	r := &fetch.Response{URL: o.Target, State: fetch.StateOK, Code: http.StatusOK, Start: w.clock.now, Took: a.Took}
	switch {
	case a.DeadHost:
		r.State, r.Code, r.Err = fetch.StateNoIP, 0, fetch.ErrNoSuchHost
	case o.task == taskAddress:
		return // an address is no answer
	case o.task == taskPage && a.Moved != "":
		r.State, r.Code, r.Location = fetch.StateRedirect, http.StatusMovedPermanently, a.Moved
	case o.task == taskPage && a.Page != nil:
		o.Read = &parsedPage{Page: a.Page}
		if a.Print != nil {
			o.Read.Print = *a.Print
		} else {
			o.Read.Print = w.reader.prints.Of(a.Page)
		}
	default:
		r.State, r.Code = fetch.StateCode, http.StatusNotFound
	}
	o.Resp = r
}

// Wait advances the clock to the next event.
func (w *virtualWeb) Wait(wake time.Time) event {
	select {
	case <-w.interrupted:
		w.interrupted = nil
		return event{What: interrupt}
	default:
	}
	next := wake
	if len(w.ends) > 0 && (wake.IsZero() || !w.ends[0].at.After(wake)) {
		next = w.ends[0].at
	}
	if !w.deadline.IsZero() && next.After(w.deadline) {
		w.deadline = time.Time{}
		return event{What: deadline}
	}
	if next.After(w.clock.now) {
		w.clock.now = next
	}
	if len(w.ends) == 0 || w.ends[0].at.After(next) {
		return event{What: timeToLease}
	}
	o := w.ends[0].outcome
	w.ends = slices.Delete(w.ends, 0, 1)
	if o.Read != nil {
		o.Err = w.reader.rate(o.Read, o.order(), func() error { return nil })
	}
	return event{What: jobEnded, Outcome: o}
}

// Ready returns nothing, because no worker waits.
func (w *virtualWeb) Ready() *jobResult { return nil }

// End does nothing, because nothing runs beside the owner.
func (w *virtualWeb) End(bool) {}

// exchangeEnd is the end of an exchange under way.
type exchangeEnd struct {
	at      time.Time
	outcome *jobResult
}
