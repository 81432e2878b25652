package main

import (
	"cmp"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"fossick/crawler"
	"fossick/crawler/hosts"
	"fossick/eval/webstats"
	"fossick/internal/document"
	"fossick/internal/maintext"
	"fossick/internal/page"
	"fossick/store"
	"fossick/store/change"
)

func policyNames() (names []string) {
	for _, p := range change.Policies {
		names = append(names, p.Name)
	}
	return names
}

// scheduled chooses pages under a budget by a policy's scheduler. Its times are days since origin.
// It belongs to the goroutine that owns the crawl.
type scheduled struct {
	store     *store.Store
	scheduler *change.Scheduler
	origin    time.Time
	pages     []store.ID // by the scheduler's numbers
	hosts     []int      // by the scheduler's numbers
	numbers   map[store.ID]int
	turns     []turn // in order of time, answered ones included
	flying    map[int]time.Time
	newsEvery time.Duration   // between two fetches of a host's sitemaps and feeds
	doubts    map[int]float64 // chances below 1 that a page can be fetched, until the scheduler has them
}

type turn struct {
	page int
	at   time.Time
}

// givenUp is when a page without an answer is scheduled again: its host may rest or refuse it by now.
const givenUp = 15 * time.Minute

// lookAgain is the wait while requests to all hosts are in flight.
const lookAgain = 100 * time.Millisecond

// least is the smallest importance of a page; a relevant page has 1.
const least = 0.01

// newScheduled makes a scheduler of a store's pages, fed with all earlier visits in order of time.
func newScheduled(s *store.Store, policy string, perDay float64, rest time.Duration, seed uint64, now time.Time) (*scheduled, error) {
	c := &scheduled{store: s, origin: now, numbers: map[store.ID]int{}, flying: map[int]time.Time{}, doubts: map[int]float64{}}
	pages, history, err := c.read()
	if err != nil {
		return nil, err
	}
	opt := change.SchedulerOptions{Policy: policy, Budget: perDay, Rand: rand.New(rand.NewPCG(seed, 19))}
	hosts := 0
	for _, h := range c.hosts {
		hosts = max(hosts, h+1)
	}
	c.newsEvery = newsEvery(hosts, perDay)
	if rest > 0 {
		opt.HostRests = slices.Repeat([]float64{c.days(now.Add(rest))}, hosts)
	}
	first := 0.
	for _, p := range pages {
		first = min(first, p.Last)
	}
	if c.scheduler, err = change.NewScheduler(pages, first, opt); err != nil {
		return nil, err
	}
	for number, chance := range c.doubts {
		c.scheduler.Expect(number, chance)
	}
	c.doubts = nil
	slices.SortStableFunc(history, func(a, b look) int { return cmp.Compare(a.at, b.at) })
	for _, l := range history {
		c.scheduler.Visited(l.page, l.at, l.changed)
	}
	return c, nil
}

// look is a visit that showed whether a page had changed.
type look struct {
	page    int
	at      float64
	changed bool
}

// read reads the pages and their visits; it takes about a hundred bytes a page and 24 a visit.
func (c *scheduled) read() (pages []change.Copy, history []look, err error) {
	weights, err := importances(c.store)
	if err != nil {
		return nil, nil, err
	}
	book, err := hosts.LoadChances(c.store)
	if err != nil {
		return nil, nil, err
	}
	hosts := map[string]int{}
	var visits []change.Visit
	for k, err := range unforgotten(c.store, c.store.URLs().Watched()) {
		if err != nil {
			return nil, nil, err
		}
		visits = visitsSince(visits[:0], k.Visits)
		if len(visits) == 0 { // lost to damage
			continue
		}
		number := len(pages)
		chance, err := book.Next(k.URL, func() ([]store.Visit, error) { return k.Visits, nil })
		if err != nil {
			return nil, nil, err
		}
		if chance < 1 {
			c.doubts[number] = chance
		}
		for _, v := range visits[1:] {
			if l, ok := c.look(number, &v); ok {
				history = append(history, l)
			}
		}
		name := page.Host(k.URL)
		host, known := hosts[name]
		if !known {
			host = len(hosts)
			hosts[name] = host
		}
		c.numbers[k.ID] = number
		c.pages, c.hosts = append(c.pages, k.ID), append(c.hosts, host)
		pages = append(pages, change.Copy{
			Rate: math.NaN(), Weight: weights[k.Outcome.Page], Last: c.days(time.UnixMilli(visits[0].At)), Host: host,
		})
	}
	return pages, history, nil
}

// look returns a visit as the scheduler needs it; ok is false if it did not show the page.
func (c *scheduled) look(number int, v *change.Visit) (l look, ok bool) {
	return look{number, c.days(time.UnixMilli(v.At)), textChanged(v)}, change.Downloaded(v.State)
}

func (c *scheduled) days(t time.Time) float64 { return float64(t.Sub(c.origin)) / float64(crawler.Day) }

// importances returns the pages' weights by number: relevance, times the rank over the mean if ranked.
func importances(s *store.Store) (weights []float64, err error) {
	put := func(number uint64, f func(was float64) float64) {
		for uint64(len(weights)) <= number {
			weights = append(weights, least)
		}
		weights[number] = f(weights[number])
	}
	for p, err := range s.Pages() {
		if err != nil {
			return nil, err
		}
		put(p.Number, func(float64) float64 { return max(least, p.Score) })
	}
	ranks, sum := map[uint64]float64{}, 0.
	for r, err := range s.Ranks().All() {
		if err != nil {
			return nil, err
		}
		ranks[r.Page] = r.Score
		sum += r.Score
	}
	for number, rank := range ranks {
		put(number, func(was float64) float64 { return was * rank * float64(len(ranks)) / sum })
	}
	return weights, nil
}

// Next implements crawler.Revisits; a budget never ends.
func (c *scheduled) Next(now time.Time, _ bool) (*crawler.Due, time.Time, error) {
	c.giveUp(now)
	number, again := c.scheduler.Next(c.days(now))
	if number < 0 {
		wait := givenUp
		if len(c.flying) > 0 {
			wait = lookAgain
		}
		if until := (again - c.days(now)) * float64(crawler.Day); until < float64(wait) {
			wait = max(time.Duration(until), time.Millisecond)
		}
		return nil, now.Add(wait), nil
	}
	c.flying[number] = now
	c.turns = append(c.turns, turn{number, now})
	discovery, err := c.store.URLs().Discovery(c.pages[number])
	return &crawler.Due{ID: c.pages[number], URL: discovery.URL}, time.Time{}, err
}

// giveUp reschedules pages that had no answer for givenUp.
func (c *scheduled) giveUp(now time.Time) {
	for len(c.turns) > 0 {
		a := c.turns[0]
		since, flying := c.flying[a.page]
		flying = flying && since.Equal(a.at)
		if flying && now.Sub(a.at) < givenUp {
			return
		}
		if flying {
			delete(c.flying, a.page)
			c.scheduler.Missed(a.page, c.days(now))
		}
		c.turns = c.turns[1:]
	}
}

// Expect implements crawler.hopeful.
func (c *scheduled) Expect(id store.ID, chance float64) {
	if number, ok := c.numbers[id]; ok {
		c.scheduler.Expect(number, chance)
	}
}

// Answered implements crawler.Revisits.
func (c *scheduled) Answered(id store.ID, v store.Visit) {
	number, ok := c.numbers[id]
	if !ok {
		return
	}
	delete(c.flying, number)
	seen := appendVisits(nil, []store.Visit{v})[0]
	l, ok := c.look(number, &seen)
	if ok {
		c.scheduler.Visited(number, l.at, l.changed)
	} else {
		c.scheduler.Missed(number, l.at)
	}
	if v.Rest > 0 {
		c.scheduler.Rest(c.hosts[number], c.days(time.UnixMilli(v.Start+v.Millis+v.Rest)))
	}
}

func (c *scheduled) goOn(s *store.Store) { c.store = s }

// mainTextOf returns a page's main text, or all text if it has no main part; "" if it is not text.
func mainTextOf(body []byte, contentType, url string) string {
	m, text := mainPart(body, contentType)
	if m == nil {
		return text
	}
	if text = m.Text(); text == "" {
		if p, err := page.Parse(body, page.ParseOptions{URL: url, ContentType: contentType}); err == nil {
			text = p.Text
		}
	}
	return text
}

// mainPart finds the main text of a page. That of a document, such as a PDF, is all of its text. Plain
// text is returned as it is, with nil; a body without words gives nil and "".
func mainPart(body []byte, contentType string) (m *maintext.Main, plain string) {
	decoded, isPlain, err := page.Decode(body, contentType)
	switch {
	case err != nil:
		return nil, ""
	case isPlain:
		return nil, string(decoded)
	case document.TypeOf(contentType) == "html":
		return maintext.Extract(page.WithIslands(decoded)), ""
	}
	return maintext.All(decoded), ""
}

// unforgotten leaves out URLs that are forgotten, which would count as failures, and ends at an error.
func unforgotten(s *store.Store, known iter.Seq2[*store.Known, error]) iter.Seq2[*store.Known, error] {
	return func(yield func(*store.Known, error) bool) {
		forgotten, err := store.ForgetsOf(s)
		if err != nil {
			yield(nil, err)
			return
		}
		for k, err := range known {
			if err == nil && forgotten.Has(k.URL) {
				continue
			}
			if !yield(k, err) || err != nil {
				return
			}
		}
	}
}

// watchedPages yields a store's pages with their visits, without forgotten ones. It keeps a byte a
// page in memory.
func watchedPages(s *store.Store) iter.Seq2[*webstats.Watched, error] {
	return func(yield func(*webstats.Watched, error) bool) {
		kinds, err := linkKindsOf(s)
		if err != nil {
			yield(nil, err)
			return
		}
		var p webstats.Watched
		for k, err := range unforgotten(s, s.URLs().Watched()) {
			if err != nil {
				yield(nil, err)
				return
			}
			p = webstats.Watched{URL: k.URL, Seed: k.Via == store.ViaSeed, Depth: k.Depth, Kind: kinds.of(k.Outcome.Page), Visits: visitsSince(p.Visits[:0], k.Visits), Tried: p.Tried[:0]}
			if p.Seed {
				p.Tried = appendVisits(p.Tried, k.Visits[:len(k.Visits)-len(p.Visits)])
			}
			if !yield(&p, nil) {
				return
			}
		}
	}
}

// neverStored yields the start pages that gave no page in any round, and are not redirects.
func neverStored(s *store.Store, rounds []webstats.Round) iter.Seq2[*webstats.Watched, error] {
	return func(yield func(*webstats.Watched, error) bool) {
		if len(rounds) == 0 {
			return
		}
		var p webstats.Watched
		for k, err := range unforgotten(s, s.URLs().AskedAgain()) {
			if err != nil {
				yield(nil, err)
				return
			}
			if k.Via != store.ViaSeed || k.Outcome.HasPage() || k.Outcome.State == "redirect" || k.Outcome.At < rounds[0].Began {
				continue
			}
			first := change.Visit{At: k.At, State: k.Outcome.State} // a start page that never answered has no other visit
			p = webstats.Watched{URL: k.URL, Seed: true, Tried: appendVisits(append(p.Tried[:0], first), k.Visits)}
			if !yield(&p, nil) {
				return
			}
		}
	}
}

func both(a, b iter.Seq2[*webstats.Watched, error]) iter.Seq2[*webstats.Watched, error] {
	return func(yield func(*webstats.Watched, error) bool) {
		for p, err := range a {
			if !yield(p, err) {
				return
			}
		}
		b(yield)
	}
}

// newPages counts the pages of a stream that were stored since the first round began.
func newPages(pages iter.Seq2[*webstats.Watched, error], rounds []webstats.Round, n *int64) iter.Seq2[*webstats.Watched, error] {
	return func(yield func(*webstats.Watched, error) bool) {
		for p, err := range pages {
			if err == nil && len(rounds) > 0 && len(p.Visits) > 0 && p.Visits[0].At >= rounds[0].Began {
				*n++
			}
			if !yield(p, err) {
				return
			}
		}
	}
}

// visitsSince appends the visits of a page to dst, from the one that stored it on.
func visitsSince(dst []change.Visit, all []store.Visit) []change.Visit {
	stored := slices.IndexFunc(all, func(v store.Visit) bool { return v.State == "ok" })
	if stored < 0 {
		return dst
	}
	return appendVisits(dst, all[stored:])
}

func appendVisits(dst []change.Visit, all []store.Visit) []change.Visit {
	for i := range all {
		v := &all[i]
		kind := v.Change
		if len(v.Was) > 0 { // noted by an earlier build
			kind = change.Unsure
		}
		dst = append(dst, change.Visit{At: v.Start, Took: v.Millis, State: v.State, Code: v.Code, Change: kind, To: uint64(v.Location), Modified: v.Modified})
	}
	return dst
}

// linkKinds has the kinds of links on each page, by page number.
type linkKinds struct {
	names []string
	of8   []uint8 // index into names, by page number
}

func linkKindsOf(s *store.Store) (*linkKinds, error) {
	k := &linkKinds{}
	places := map[string]uint8{}
	for p, err := range s.Pages() {
		if err != nil {
			return nil, err
		}
		name := webstats.LinkKind(p.Charset, p.LinkKinds)
		place, ok := places[name]
		if !ok {
			place = uint8(len(k.names)) // there are nine names
			places[name], k.names = place, append(k.names, name)
		}
		for uint64(len(k.of8)) <= p.Number {
			k.of8 = append(k.of8, 0)
		}
		k.of8[p.Number] = place
	}
	return k, nil
}

func (k *linkKinds) of(number uint64) string {
	if number >= uint64(len(k.of8)) {
		return ""
	}
	return k.names[k.of8[number]]
}
