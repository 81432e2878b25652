package webstats

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"

	"fossick/store/change"
)

// Watched is a monitored page. Iterators reuse it for the next page.
type Watched struct {
	URL   string // normalised
	Seed  bool   // a start page
	Depth int    // links from the nearest start page
	Kind  string // kind of its links, see LinkKind

	// Visits are in order of time; the first one stored the page.
	Visits []change.Visit
	// Tried are visits to a start page before it was stored, in order of time; only S(n) counts them.
	Tried []change.Visit
}

// Round is one revisit of all pages.
type Round struct{ Began, Ended int64 } // Unix milliseconds; Ended is 0 for a round that was interrupted

func gone(v *change.Visit) bool { return v.State == "code" && (v.Code == 404 || v.Code == 410) }

func moved(v *change.Visit) bool { return v.State == "redirect" }

// ChangeOptions configure CountChanges.
type ChangeOptions struct {
	Rounds []Round
	Top    int   // rows of a table by name, plus one for the rest; 0 for all
	Now    int64 // time at which copies are judged, Unix milliseconds
	// Rate returns a page's change rate, false for a page to skip; nil for none.
	Rate     func(p *Watched) (change.Estimate, bool)
	Progress func(n int) // called with the pages counted since the last call; nil for none
}

// Changes are statistics of page change.
type Changes struct {
	Pages  int64 // monitored pages
	Visits int64 // without the visit that stored the page
	Rounds int   // completed rounds

	Downloads, SeedDownloads change.Downloads // S(n) of pages and of start pages
	SS, FF                   *float64         // paper E, eq. 1 and 2, over pages; nil when unknown
	SeedSS, SeedFF           *float64
	NextSS, NextFF           *float64 // transition probabilities counted from visit to visit

	Gone, Moved, Back int64 // pages now gone, pages now redirecting, pages that returned
	All               ChangeGroup
	Freshness         Freshness

	ByRound []RoundAsked // by completed round

	TLD, Second, Depth, Kind []ChangeGroup
	SeedTLD, SeedSecond      []ChangeGroup // start pages downloaded in every round (paper E, tables 9 and 10)

	pulse pulse
}

// CountChanges reads the pages once and skips those without a visit; S(n) counts unstored start pages too.
func CountChanges(ctx context.Context, opt ChangeOptions, pages iter.Seq2[*Watched, error]) (*Changes, error) {
	c := &changeCount{rate: opt.Rate, rounds: newRounds(opt.Rounds), tld: changeGroups{}, second: changeGroups{}, depth: changeGroups{}, kind: changeGroups{}, seedTLD: changeGroups{}, seedSecond: changeGroups{}}
	c.fresh = fresh{now: opt.Now, rounds: make([]roundFresh, len(c.rounds.ended))}
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

type changeCount struct {
	r                        Changes
	rounds                   *rounds
	fresh                    fresh
	rate                     func(p *Watched) (change.Estimate, bool)
	all                      sums
	tld, second, depth, kind changeGroups
	seedTLD, seedSecond      changeGroups
}

func (c *changeCount) add(p *Watched) {
	c.r.Pages++
	c.r.Visits += int64(len(p.Visits) - 1)
	everyRound := c.rounds.add(p)
	for i := range p.Visits[1:] {
		c.r.pulse.add(&p.Visits[1+i])
	}
	f := outcomeOf(p)
	c.r.Gone += one(f.gone)
	c.r.Moved += one(f.moved)
	c.r.Back += one(f.back)
	s := observed(p, func(at int64, changed bool) { c.fresh.looked(c.rounds.roundOf(at), changed) })
	c.estimate(p, &s)
	if s.pages == 0 {
		return
	}
	c.all.add(&s)
	top, second := domainsOf(p.URL)
	c.tld.add(top, &s)
	c.second.add(second, &s)
	if p.Seed && everyRound {
		c.seedTLD.add(top, &s)
		c.seedSecond.add(second, &s)
	}
	c.depth.add(strconv.Itoa(p.Depth), &s)
	c.kind.add(p.Kind, &s)
}

func (c *changeCount) estimate(p *Watched, s *sums) {
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

func (c *changeCount) result(top int) *Changes {
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

// rounds counts downloads by paper E's S(n), which counts unrequested pages as not downloaded, and transitions.
type rounds struct {
	ended []Round // completed rounds
	pages change.Downloads
	seeds change.Downloads
	asked []RoundAsked

	// steps[a][b] counts visits with outcome b after outcome a; 1 is a download.
	steps [2][2]int64
}

// RoundAsked counts a round's requests and downloads, start pages included (paper E, table 7).
type RoundAsked struct {
	SeedsRequested  int64 `json:"seeds_requested"`
	SeedsDownloaded int64 `json:"seeds_downloaded"`
	PagesRequested  int64 `json:"pages_requested"`
	PagesDownloaded int64 `json:"pages_downloaded"`
}

func newRounds(all []Round) *rounds {
	r := &rounds{}
	for _, one := range all {
		if one.Ended != 0 {
			r.ended = append(r.ended, one)
		}
	}
	r.pages, r.seeds = make(change.Downloads, len(r.ended)+1), make(change.Downloads, len(r.ended)+1)
	r.asked = make([]RoundAsked, len(r.ended))
	return r
}

func (r *rounds) add(p *Watched) bool {
	downloads, last, asked := 0, -1, -1
	had := -1 // outcome of the previous visit; -1 for none
	seed := one(p.Seed)
	all := p.Visits
	if len(p.Tried) > 0 {
		all = slices.Concat(p.Tried, p.Visits)
	}
	for i := range all {
		v := &all[i]
		got := 0
		if change.Downloaded(v.State) {
			got = 1
		}
		if had >= 0 {
			r.steps[had][got]++
		}
		if i > len(p.Tried) { // earlier visits may be retries within one round
			had = got
		}
		n := r.roundOf(v.At)
		if n > asked {
			asked = n
			r.asked[n].SeedsRequested += seed
			r.asked[n].PagesRequested++
		}
		if n > last && got == 1 {
			downloads, last = downloads+1, n
			r.asked[n].SeedsDownloaded += seed
			r.asked[n].PagesDownloaded++
		}
	}
	if len(r.ended) == 0 || all[0].At >= r.ended[0].Began { // a newer page could not be in every round
		return false
	}
	r.pages[downloads]++
	r.seeds[downloads] += int(seed)
	return downloads == len(r.ended)
}

// roundOf returns the index of the round in which a visit began; -1 for none.
func (r *rounds) roundOf(at int64) int {
	n := sort.Search(len(r.ended), func(i int) bool { return r.ended[i].Began > at }) - 1
	if n >= 0 && at > r.ended[n].Ended {
		return -1
	}
	return n
}

func (r *rounds) step(a int) *float64 {
	all := r.steps[a][0] + r.steps[a][1]
	if all == 0 {
		return nil
	}
	return new(float64(r.steps[a][a]) / float64(all))
}

func chance(x float64, ok bool) *float64 {
	if !ok {
		return nil
	}
	return &x
}

const msPerDay = 24 * 3600 * 1000

type sums struct {
	pages    int64   // seen at least twice
	looks    int64   // downloads after the first; each shows a change or none
	days     float64 // from first to last look
	contents int64   // looks with changed content
	texts    int64   // looks with changed, or possibly changed, main text
	changed  int64   // pages whose main text changed at least once
	each     float64 // sum over changed pages of days / changes
	longest  float64 // the longest of these
	pace     pace    // of pages with a rate
}

func (s *sums) add(x *sums) {
	s.pages += x.pages
	s.looks += x.looks
	s.days += x.days
	s.contents += x.contents
	s.texts += x.texts
	s.changed += x.changed
	s.each += x.each
	s.longest = max(s.longest, x.longest)
	s.pace.logs = append(s.pace.logs, x.pace.logs...)
	s.pace.variance += x.pace.variance
}

// observed returns the changes between a page's downloads; it calls looked for each.
func observed(p *Watched, looked func(at int64, changed bool)) (s sums) {
	first, last := p.Visits[0].At, p.Visits[0].At
	for i := range p.Visits[1:] {
		v := &p.Visits[1+i]
		if !change.Downloaded(v.State) || v.State == "duplicate" {
			continue // the previous content of a duplicate is not kept
		}
		last = v.At
		s.looks++
		if v.Change.Changed() {
			s.contents++
		}
		text := v.Change == change.Text || v.Change == change.Unsure
		s.texts += one(text)
		looked(v.At, text)
	}
	if s.looks == 0 {
		return s
	}
	s.pages, s.days = 1, float64(last-first)/msPerDay
	if s.texts > 0 {
		s.changed = 1
		s.each = s.days / float64(s.texts)
		s.longest = s.each
	}
	return s
}

type changeOutcome struct{ gone, moved, back bool }

func outcomeOf(p *Watched) (f changeOutcome) {
	away := false
	for i := range p.Visits {
		v := &p.Visits[i]
		switch {
		case gone(v) || moved(v):
			away = true
		case away && change.Downloaded(v.State):
			f.back, away = true, false
		}
	}
	if v := &p.Visits[len(p.Visits)-1]; away {
		f.gone, f.moved = gone(v), moved(v)
	}
	return f
}

// mostGroups bounds the names of a table since hosts can invent them; the rest shares one row.
const mostGroups = 1 << 18

const othersName = "(others)"

type changeGroups map[string]*sums

func (g changeGroups) add(name string, s *sums) {
	had := g[name]
	if had == nil {
		if len(g) >= mostGroups {
			name = othersName
		}
		if had = g[name]; had == nil {
			had = &sums{}
			g[strings.Clone(name)] = had
		}
	}
	had.add(s)
}

// ChangeGroup describes how a group of pages changes; nil is unknown.
type ChangeGroup struct {
	Name           string   `json:"-"`
	Pages          int64    `json:"pages"`           // seen at least twice
	Looks          int64    `json:"looks"`           // downloads after the first
	Days           float64  `json:"days"`            // days of observation, summed over pages
	ContentChanges int64    `json:"content_changes"` // looks with changed content
	Changes        int64    `json:"changes"`         // looks with changed main text
	Changed        *float64 `json:"changed"`         // share of pages whose main text changed at least once

	// ChangeInterval is paper E's (E6): days of observation / changes, as the mean over the pages that changed,
	// then the maximum. It is too long for pages that change often: changes between two looks count as one.
	ChangeInterval     *float64 `json:"change_interval_days"`
	ChangeIntervalMost *float64 `json:"change_interval_most_days"`

	// Interval is fossick's estimate: days between main-text changes of the median page, from the
	// estimated rates, with a 95 % interval. Naive is total days / total main-text changes over all
	// pages, changed or not. ContentInterval is the same for changes of any content.
	Interval        *float64    `json:"interval_days"`
	CI              *[2]float64 `json:"interval_ci"`
	Naive           *float64    `json:"naive_interval_days"`
	ContentInterval *float64    `json:"content_interval_days"`
}

func groupOf(name string, s *sums) ChangeGroup {
	g := ChangeGroup{
		Name: name, Pages: s.pages, Looks: s.looks, Days: s.days, ContentChanges: s.contents, Changes: s.texts,
		Naive: quotient(s.days, s.texts), ContentInterval: quotient(s.days, s.contents),
	}
	g.Interval, g.CI = s.pace.interval()
	if s.pages > 0 {
		g.Changed = new(float64(s.changed) / float64(s.pages))
	}
	if s.changed > 0 {
		g.ChangeInterval, g.ChangeIntervalMost = new(s.each/float64(s.changed)), &s.longest
	}
	return g
}

func quotient(days float64, changes int64) *float64 {
	if changes == 0 {
		return nil
	}
	return new(days / float64(changes))
}

// top returns the n largest groups, all for n = 0, and one for the rest.
func (g changeGroups) top(n int) []ChangeGroup {
	names := slices.Collect(maps.Keys(g))
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(g[b].pages, g[a].pages), cmp.Compare(a, b)) })
	var all []ChangeGroup
	others, left := sums{}, false
	for i, name := range names {
		if name == othersName || n > 0 && i >= n {
			others.add(g[name])
			left = true
			continue
		}
		all = append(all, groupOf(name, g[name]))
	}
	if left {
		all = append(all, groupOf(othersName, &others))
	}
	return all
}

func (g changeGroups) inOrder() []ChangeGroup {
	all := g.top(0)
	slices.SortStableFunc(all, func(a, b ChangeGroup) int {
		return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), strings.Compare(a.Name, b.Name))
	})
	return all
}
