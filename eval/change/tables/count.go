package tables

import (
	"context"
	"iter"
	"strconv"

	"fossick/eval/webstats"
	"fossick/store/change"
	"fossick/store/change/rates"
)

// Options say what is counted.
type Options struct {
	Rounds []Round
	Top    int   // rows of a table of names, the rest is one more; 0 is all
	Now    int64 // Unix milliseconds: when copies are judged
	// Rate returns a page's rate of change; false where it is not asked for. nil: of none.
	Rate     func(p *Page) (rates.Estimate, bool)
	Progress func(n int) // called with pages that were counted since; nil for none
}

// Result is how pages change.
type Result struct {
	Pages  int64 // that are watched
	Visits int64 // after the one that stored them
	Rounds int   // that have ended

	Downloads, SeedDownloads change.Downloads // S(n), of pages and of start pages
	SS, FF                   *float64         // paper E, eq. 1 and 2, of pages; nil where not known
	SeedSS, SeedFF           *float64
	NextSS, NextFF           *float64 // counted from visit to visit: the chances of a chain's step

	Gone, Moved, Back int64 // pages that are gone now, that are elsewhere now, that were and came back
	All               Group
	Freshness         Freshness

	ByRound []RoundAsked // of the rounds that have ended

	TLD, Second, Depth, Kind []Group
	SeedTLD, SeedSecond      []Group // of the start pages that were downloaded in each round (paper E, tables 9 and 10)

	pulse pulse
}

// Count walks the pages once. Those without a visit are passed over; a start page that was
// tried and never stored counts for S(n) alone.
func Count(ctx context.Context, opt Options, pages iter.Seq2[*Page, error]) (*Result, error) {
	c := &count{rate: opt.Rate, rounds: newRounds(opt.Rounds), tld: groups{}, second: groups{}, depth: groups{}, kind: groups{}, seedTLD: groups{}, seedSecond: groups{}}
	c.fresh = fresh{now: opt.Now, rounds: make([]RoundFresh, len(c.rounds.ended))}
	since := 0
	for p, err := range pages {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		switch {
		case len(p.Visits) > 0:
			c.add(p)
		case len(p.Tried) > 0:
			c.rounds.add(p)
		}
		if since++; since == progressEvery && opt.Progress != nil {
			opt.Progress(since)
			since = 0
		}
	}
	return c.result(opt.Top), nil
}

const progressEvery = 1024

// count is what a walk has added up.
type count struct {
	r                        Result
	rounds                   *rounds
	fresh                    fresh
	rate                     func(p *Page) (rates.Estimate, bool)
	all                      sums
	tld, second, depth, kind groups
	seedTLD, seedSecond      groups
}

func (c *count) add(p *Page) {
	c.r.Pages++
	c.r.Visits += int64(len(p.Visits) - 1)
	everyRound := c.rounds.add(p)
	for i := range p.Visits[1:] {
		c.r.pulse.add(&p.Visits[1+i])
	}
	f := fateOf(p)
	c.r.Gone += one(f.gone)
	c.r.Moved += one(f.moved)
	c.r.Back += one(f.back)
	s := observed(p, func(at int64, changed bool) { c.fresh.looked(c.rounds.roundOf(at), changed) })
	c.estimate(p, &s)
	if s.pages == 0 {
		return
	}
	c.all.add(&s)
	top, second := webstats.DomainsOf(p.URL)
	c.tld.add(top, &s)
	c.second.add(second, &s)
	if p.Seed && everyRound {
		c.seedTLD.add(top, &s)
		c.seedSecond.add(second, &s)
	}
	c.depth.add(strconv.Itoa(p.Depth), &s)
	c.kind.add(p.Kind, &s)
}

// estimate takes in a page's rate, where it is asked for.
func (c *count) estimate(p *Page, s *sums) {
	if c.rate == nil {
		return
	}
	if e, ok := c.rate(p); ok {
		c.fresh.add(p, e)
		if s.pages > 0 {
			s.pace.add(e)
		}
	}
}

func one(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

func (c *count) result(top int) *Result {
	r := &c.r
	r.Rounds, r.Downloads, r.SeedDownloads = len(c.rounds.ended), c.rounds.pages, c.rounds.seeds
	r.SS, r.FF = chance(r.Downloads.SS()), chance(r.Downloads.FF())
	r.SeedSS, r.SeedFF = chance(r.SeedDownloads.SS()), chance(r.SeedDownloads.FF())
	r.NextSS, r.NextFF = c.rounds.step(1), c.rounds.step(0)
	r.ByRound = c.rounds.asked
	r.Freshness = c.fresh.result()
	r.All = groupOf("all", &c.all)
	r.SeedTLD, r.SeedSecond = c.seedTLD.top(top), c.seedSecond.top(top)
	r.TLD, r.Second, r.Kind, r.Depth = c.tld.top(top), c.second.top(top), c.kind.top(0), c.depth.inOrder()
	return r
}
