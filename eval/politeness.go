package eval

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"

	"fossick/internal/fileio"
	"fossick/internal/page"
	"fossick/store"
)

// Politeness says how a crawl treated its hosts, from every exchange in the journal. Times are in
// seconds, exact to the journal's milliseconds. A party is all hosts whose last address is the
// same, or a host without one (paper E). Requests before a host moved to its party's address are
// compared with that host's own requests only.
type Politeness struct {
	Hosts   int `json:"hosts"` // that received a request, answered or not
	Parties int `json:"parties"`

	Requests      uint64 `json:"requests"`
	Robots        uint64 `json:"robots_requests"` // each hop of a redirect counts
	Sitemaps      uint64 `json:"sitemap_requests"`
	TDMRep        uint64 `json:"tdmrep_requests,omitempty"` // for the owners' text-and-data-mining reservations
	Pages         uint64 `json:"page_requests"`
	FailedLookups uint64 `json:"failed_lookups"` // DNS lookups; not in Requests

	MedianRequests int `json:"median_requests"` // per host

	HostGap    *requestGap  `json:"smallest_gap_host"` // between two requests to one host; nil without two
	PartyGap   *requestGap  `json:"smallest_gap_party"`
	Violations int          `json:"violations"` // gaps shorter than the rest due to the host or its party
	Overlaps   int          `json:"overlaps"`   // violations that began before the previous request ended
	Worst      []requestGap `json:"worst"`      // violations, the worst first

	RobotsDenied uint64 `json:"robots_denied"` // URLs that robots.txt disallows
	NoIndex      uint64 `json:"noindex"`       // fetched pages that refuse indexing

	Challenges uint64 `json:"challenges"`       // URLs behind a challenge or block page
	Unpaid     uint64 `json:"payment_required"` // URLs that ask for payment

	TooMany      uint64  `json:"code_429"`
	Unavailable  uint64  `json:"code_503"`
	RetryAfter   uint64  `json:"retry_after"`         // answers with a Retry-After
	LongestRetry float64 `json:"longest_retry_after"` // longest wait requested

	MostAsked []hostManners `json:"most_asked"`
	Slowest   []hostManners `json:"slowest"`      // answering hosts, by median request time
	Silent    int           `json:"silent_hosts"` // hosts that never answered or have no address
	SilentTop []hostManners `json:"silent"`       // the most asked first
}

type requestGap struct {
	Host    string  `json:"host"` // of the later request
	Seconds float64 `json:"seconds"`
	Rest    float64 `json:"rest"` // rest due
	At      int64   `json:"at"`   // start of the later request, Unix milliseconds

	hash uint64
}

type hostManners struct {
	Host     string   `json:"host"`
	Requests int      `json:"requests"`
	Robots   int      `json:"robots"`
	Sitemaps int      `json:"sitemaps"`
	Gap      *float64 `json:"smallest_gap"` // nil without two requests
	Median   float64  `json:"median_seconds"`
	Longest  float64  `json:"longest_seconds"`

	hash     uint64
	lookups  int
	answered bool
	last     int64 // end of the last request, Unix milliseconds
	due      int64 // end of the rest due to the host
	times    map[uint8]int
}

const maxManners = 10

// slackMillis is the error of a gap from journal times truncated to milliseconds.
const slackMillis = 1

// MeasurePoliteness reads the journals of a crawl's stores, one per agent, once. It sorts the
// exchanges by party and time, on disk beyond a quarter of a million. Memory besides: about 40
// bytes a host, and the figures of one party's hosts at a time.
func MeasurePoliteness(ctx context.Context, stores ...*store.Store) (*Politeness, error) {
	return measurePoliteness(ctx, exchangesInMemory, stores...)
}

func measurePoliteness(ctx context.Context, inMemory int, stores ...*store.Store) (*Politeness, error) {
	g := gatherer{sorter: newSorter(inMemory), parties: map[uint64]int64{}, moved: map[uint64]int64{}}
	defer g.sorter.Close() // a scratch file: no data can be lost
	for _, s := range stores {
		if err := g.gather(ctx, s); err != nil {
			return nil, err
		}
	}
	m := &manners{p: &Politeness{Worst: []requestGap{}}, requests: map[int]int{}}
	if err := g.sorter.Each(ctx, func(x exchange) error { m.add(x); return nil }); err != nil {
		return nil, err
	}
	m.endParty()
	m.p.MedianRequests = medianOf(m.requests)
	for _, s := range stores {
		if err := errors.Join(m.p.countDenied(s), m.p.name(s)); err != nil {
			return nil, err
		}
	}
	return m.p, nil
}

type gatherer struct {
	sorter  *fileio.Sorter[exchange]
	parties map[uint64]int64 // by host hash; only hosts with an address
	moved   map[uint64]int64 // by host hash: when the host's address last changed, Unix milliseconds
}

// hashOf returns the key of a host: names would not fit in memory for a large crawl.
func hashOf(host string) uint64 {
	sum := sha256.Sum256([]byte(host))
	return binary.BigEndian.Uint64(sum[:8])
}

// guardDenied is the state of an exchange that the egress guard blocked: nothing was sent.
const guardDenied = "guard_denied"

func (g *gatherer) gather(ctx context.Context, s *store.Store) error {
	for h, err := range s.Hosts() {
		if err != nil {
			return err
		}
		if h.Address != "" {
			g.parties[hashOf(h.Name)] = int64(hashOf(h.Address))
		}
		if h.Moved != 0 {
			g.moved[hashOf(h.Name)] = h.Moved
		}
	}
	for x, err := range s.Exchanges("") {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		kind, ok := map[store.Purpose]kindOfExchange{store.ForRobots: kindRobots, store.ForSitemap: kindSitemap, store.ForTDMRep: kindTDMRep, store.ForAddress: kindLookup}[x.For]
		if !ok || x.State == guardDenied {
			continue // lost, or never made
		}
		if err := g.add(x.Host, x.Start, x.Millis, exchange{Rest: x.Rest, Own: x.Own, RetryAfter: x.RetryAfter, Code: codeOf(x.Code), Kind: kind}); err != nil {
			return err
		}
	}
	for v, err := range s.URLs().Visits() {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		if v.State == guardDenied {
			continue
		}
		if err := g.add(page.Host(v.URL), v.Start, v.Millis, exchange{Rest: v.Rest, Own: v.Own, RetryAfter: v.RetryAfter, Code: codeOf(v.Code), Kind: kindPage}); err != nil {
			return err
		}
	}
	return nil
}

func (g *gatherer) add(host string, start, took int64, x exchange) error {
	x.Host = hashOf(host)
	var known bool
	if x.Party, known = g.parties[x.Host]; !known {
		x.Party = int64(x.Host)
	}
	if start < g.moved[x.Host] {
		x.Before = 1
	}
	x.Start, x.Took = start, uint32(max(0, min(took, math.MaxUint32)))
	x.Rest, x.Own, x.RetryAfter = max(0, x.Rest), max(0, x.Own), max(0, x.RetryAfter)
	return g.sorter.Add(x)
}

func codeOf(code int) uint16 { return uint16(max(0, min(code, math.MaxUint16))) }

func (p *Politeness) countDenied(s *store.Store) error {
	counts, err := s.Counts()
	if err != nil {
		return err
	}
	p.Challenges += counts.States["challenge"]
	p.Unpaid += counts.States["payment_required"]
	if counts.States["robots_denied"] == 0 {
		return nil
	}
	for e, err := range s.URLs().Ended("robots_denied") {
		if err != nil {
			return err
		}
		if strings.HasPrefix(e.Reason, store.MetaRobots) {
			p.NoIndex++
		} else {
			p.RobotsDenied++
		}
	}
	return nil
}

func (p *Politeness) name(s *store.Store) error {
	names := map[uint64]string{}
	each := func(f func(hash uint64, name *string)) {
		for _, list := range [][]hostManners{p.MostAsked, p.Slowest, p.SilentTop} {
			for i := range list {
				f(list[i].hash, &list[i].Host)
			}
		}
		for i := range p.Worst {
			f(p.Worst[i].hash, &p.Worst[i].Host)
		}
		for _, g := range []*requestGap{p.HostGap, p.PartyGap} {
			if g != nil {
				f(g.hash, &g.Host)
			}
		}
	}
	each(func(hash uint64, _ *string) { names[hash] = "" })
	for h, err := range s.Hosts() {
		if err != nil {
			return err
		}
		if hash := hashOf(h.Name); len(names) > 0 {
			if _, wanted := names[hash]; wanted {
				names[hash] = h.Name
			}
		}
	}
	each(func(hash uint64, name *string) { *name = cmp.Or(names[hash], *name) })
	return nil
}

// top inserts x into a list of at most maxManners in order.
func top[T any](list []T, x T, compare func(a, b T) int) []T {
	i, _ := slices.BinarySearchFunc(list, x, compare)
	if i >= maxManners {
		return list
	}
	list = slices.Insert(list, i, x)
	return list[:min(len(list), maxManners)]
}

type manners struct {
	p        *Politeness
	requests map[int]int // number of hosts by request count

	party int64
	hosts map[uint64]*hostManners // of the current party; nil before the first
	last  int64                   // end of the party's last request, Unix milliseconds
	due   int64                   // end of the rest due to the whole party
}

func (m *manners) add(x exchange) {
	if m.hosts == nil || x.Party != m.party {
		m.endParty()
		m.party, m.hosts, m.last = x.Party, map[uint64]*hostManners{}, 0
		m.due = 0
	}
	h := m.hosts[x.Host]
	if h == nil {
		h = &hostManners{hash: x.Host, times: map[uint8]int{}}
		m.hosts[x.Host] = h
	}
	if x.Kind == kindLookup {
		m.p.FailedLookups++
		h.lookups++
		return
	}
	m.count(h, x)
	m.gaps(h, x)
}

func (m *manners) count(h *hostManners, x exchange) {
	m.p.Requests++
	h.Requests++
	switch x.Kind {
	case kindRobots:
		m.p.Robots++
		h.Robots++
	case kindSitemap:
		m.p.Sitemaps++
		h.Sitemaps++
	case kindTDMRep:
		m.p.TDMRep++
	default:
		m.p.Pages++
	}
	switch x.Code {
	case 429:
		m.p.TooMany++
	case 503:
		m.p.Unavailable++
	}
	if x.RetryAfter > 0 {
		m.p.RetryAfter++
		m.p.LongestRetry = max(m.p.LongestRetry, float64(x.RetryAfter)/1000)
	}
	h.answered = h.answered || x.Code != 0
	h.Longest = max(h.Longest, float64(x.Took)/1000)
	h.times[slot(x.Took)]++
}

// gaps compares the time since the previous request with the rest due to the host and its party.
func (m *manners) gaps(h *hostManners, x exchange) {
	end, last, due := x.Start+int64(x.Took), h.last, h.due
	if h.last != 0 {
		g := gap(x, h.last, h.due)
		if h.Gap == nil || g.Seconds < *h.Gap {
			h.Gap = &g.Seconds
		}
		smaller(&m.p.HostGap, g)
	}
	h.last, h.due = max(h.last, end), max(h.due, end+x.Rest)
	if x.Before == 0 {
		last, due = max(last, m.last), max(due, m.due)
		m.last, m.due = max(m.last, end), max(m.due, end+x.Rest-x.Own)
	}
	if last == 0 {
		return
	}
	g := gap(x, last, due)
	smaller(&m.p.PartyGap, g)
	if x.Start < due-slackMillis {
		m.violation(g)
	}
}

func gap(x exchange, last, due int64) requestGap {
	return requestGap{Seconds: float64(x.Start-last) / 1000, Rest: float64(max(0, due-last)) / 1000, At: x.Start, hash: x.Host}
}

func smaller(least **requestGap, g requestGap) {
	if *least == nil || g.Seconds < (*least).Seconds {
		*least = &g
	}
}

func (m *manners) violation(g requestGap) {
	p := m.p
	p.Violations++
	if g.Seconds < -float64(slackMillis)/1000 {
		p.Overlaps++
	}
	p.Worst = top(p.Worst, g, func(a, b requestGap) int {
		return cmp.Or(cmp.Compare(a.Seconds-a.Rest, b.Seconds-b.Rest), cmp.Compare(a.At, b.At))
	})
}

func (m *manners) endParty() {
	if len(m.hosts) == 0 {
		return
	}
	p, hosts := m.p, m.p.Hosts
	for _, hash := range slices.Sorted(maps.Keys(m.hosts)) {
		h := m.hosts[hash]
		h.Median = secondsOf(medianOf(h.times))
		done := *h
		done.times = nil
		byRequests := func(a, b hostManners) int {
			return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.hash, b.hash))
		}
		if h.Requests > 0 {
			p.Hosts++
			m.requests[h.Requests]++
			p.MostAsked = top(p.MostAsked, done, byRequests)
		}
		if h.answered {
			p.Slowest = top(p.Slowest, done, func(a, b hostManners) int {
				return cmp.Or(cmp.Compare(b.Median, a.Median), cmp.Compare(a.hash, b.hash))
			})
			continue
		}
		p.Silent++
		p.SilentTop = top(p.SilentTop, done, func(a, b hostManners) int {
			return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(b.lookups, a.lookups), cmp.Compare(a.hash, b.hash))
		})
	}
	if p.Hosts > hosts {
		p.Parties++
	}
}

// Request times are counted in slots: one per millisecond below 16 ms, then each a twelfth of a
// doubling wide. A median is exact to 4 %, and memory per host is bounded.
const (
	exactSlots = 16
	slotsFold  = 12 // per doubling
)

func slot(millis uint32) uint8 {
	if millis < exactSlots {
		return uint8(millis)
	}
	return uint8(min(exactSlots+int(slotsFold*math.Log2(float64(millis)/exactSlots)), math.MaxUint8))
}

func secondsOf(s uint8) float64 {
	if s < exactSlots {
		return float64(s) / 1000
	}
	return exactSlots * math.Exp2((float64(s-exactSlots)+0.5)/slotsFold) / 1000
}

// medianOf returns the median of counted values; 0 of none.
func medianOf[K int | uint8](counts map[K]int) K {
	n := 0
	for _, k := range counts {
		n += k
	}
	below := 0
	for _, v := range slices.Sorted(maps.Keys(counts)) {
		if below += counts[v]; 2*below >= n {
			return v
		}
	}
	return 0
}

// exchange is one journal entry as it is sorted: by party, then by time.
type exchange struct {
	Party, Start int64  // Start in Unix milliseconds
	Host         uint64 // see hashOf
	Rest         int64  // rest due afterwards, milliseconds: up to a year
	Own          int64  // the part of Rest that binds the host but not its party
	RetryAfter   int64  // milliseconds
	Took         uint32 // milliseconds
	Code         uint16
	Kind         kindOfExchange
	Before       uint8 // 1 when the request was sent before the host moved to the party's address
}

type kindOfExchange uint8

const (
	kindPage kindOfExchange = iota
	kindRobots
	kindSitemap
	kindTDMRep
	kindLookup // a failed DNS lookup: nothing was sent
)

// byTime orders by party and time; ties by length, then the one with less rest due afterwards first.
func byTime(a, b exchange) int {
	return cmp.Or(cmp.Compare(a.Party, b.Party), cmp.Compare(a.Start, b.Start), cmp.Compare(a.Took, b.Took),
		cmp.Compare(a.Rest, b.Rest), cmp.Compare(a.Own, b.Own), cmp.Compare(a.Host, b.Host))
}

// exchangesInMemory exchanges take 10 MiB.
const exchangesInMemory = 1 << 18

func newSorter(inMemory int) *fileio.Sorter[exchange] {
	return fileio.NewSorter(fileio.SortOptions[exchange]{
		Limit: inMemory, Compare: byTime,
		Append: func(dst []byte, _, x exchange) []byte {
			dst, _ = binary.Append(dst, binary.BigEndian, x) // cannot fail: the size is fixed
			return dst
		},
		Read: func(r *bufio.Reader, _ exchange) (x exchange, err error) {
			return x, binary.Read(r, binary.BigEndian, &x)
		},
	})
}
