package eval

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"

	"crypto/sha256"

	"fossick/internal/extsort"
	"fossick/internal/page"
	"fossick/store"
)

// Politeness says how a crawl treated its hosts, from the journal alone: every
// exchange on record, over all sessions. Times are in seconds, as exact as the
// journal's milliseconds. A party is a host, or all hosts that had one address
// last (paper E). A host that moved to a party is compared, for the time
// before, with its own requests alone.
type Politeness struct {
	Hosts   int `json:"hosts"` // that got a request, answered or not
	Parties int `json:"parties"`

	Requests      uint64 `json:"requests"`
	Robots        uint64 `json:"robots_requests"` // of them for robots.txt, each hop of a redirect one
	Sitemaps      uint64 `json:"sitemap_requests"`
	TDMRep        uint64 `json:"tdmrep_requests,omitempty"` // for what owners reserve
	Pages         uint64 `json:"page_requests"`
	FailedLookups uint64 `json:"failed_lookups"` // of addresses; no request

	MedianRequests int `json:"median_requests"` // a host

	HostGap    *Gap  `json:"smallest_gap_host"`  // between two requests at one host; nil without two
	PartyGap   *Gap  `json:"smallest_gap_party"` // at one party
	Violations int   `json:"violations"`         // gaps shorter than the rest that was due, to the host or to its party
	Overlaps   int   `json:"overlaps"`           // of them, requests that began before the one before had ended
	Worst      []Gap `json:"worst"`              // violations, the worst first

	RobotsDenied uint64 `json:"robots_denied"` // URLs that robots.txt forbids
	NoIndex      uint64 `json:"noindex"`       // pages that were fetched and asked not to be kept

	TooMany      uint64  `json:"code_429"`
	Unavailable  uint64  `json:"code_503"`
	RetryAfter   uint64  `json:"retry_after"`         // answers that said when to come again
	LongestRetry float64 `json:"longest_retry_after"` // that they asked for

	MostAsked []HostManners `json:"most_asked"`
	Slowest   []HostManners `json:"slowest"`      // by the median time of a request, of those that answer
	Silent    int           `json:"silent_hosts"` // that never answered, or have no address
	SilentTop []HostManners `json:"silent"`       // of these, the most asked first
}

// Gap is the time between the end of a request and the beginning of the next.
type Gap struct {
	Host    string  `json:"host"` // of the later one
	Seconds float64 `json:"seconds"`
	Rest    float64 `json:"rest"` // that was due
	At      int64   `json:"at"`   // Unix milliseconds: when the later one began

	hash uint64
}

// HostManners is what one host was asked.
type HostManners struct {
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
	due      int64 // end of the rest that is due to the host
	times    map[uint8]int
}

// maxManners is how many hosts, and violations, a list names.
const maxManners = 10

// slackMillis is how much shorter than due a gap may look: start and length of an
// exchange are cut to whole milliseconds.
const slackMillis = 1

// MeasurePoliteness reads the journal of a crawl's store, or those of all its agents, once,
// and sorts what it needs
// of the exchanges by party and time. It does so in memory, beyond a quarter of
// a million exchanges on disk. Besides it keeps some 40 bytes a host, and the
// figures of the hosts of one party at a time.
func MeasurePoliteness(ctx context.Context, stores ...*store.Store) (*Politeness, error) {
	return measurePoliteness(ctx, exchangesInMemory, stores...)
}

func measurePoliteness(ctx context.Context, inMemory int, stores ...*store.Store) (*Politeness, error) {
	g := gatherer{sorter: newSorter(inMemory), parties: map[uint64]int64{}, moved: map[uint64]int64{}}
	defer g.sorter.Close() // a scratch file: nothing can be lost
	for _, s := range stores {
		if err := g.gather(ctx, s); err != nil {
			return nil, err
		}
	}
	m := &manners{p: &Politeness{Worst: []Gap{}}, requests: map[int]int{}}
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

// gatherer reads the exchanges of a store.
type gatherer struct {
	sorter  *extsort.Sorter[exchange]
	parties map[uint64]int64 // of hosts that have an address
	moved   map[uint64]int64 // when hosts came there that had been at another, Unix milliseconds
}

// hashOf names a host within a report: the tables of a large crawl have no room
// for names.
func hashOf(host string) uint64 {
	sum := sha256.Sum256([]byte(host))
	return binary.BigEndian.Uint64(sum[:8])
}

// guardDenied is the state of an exchange that the egress guard did not let
// happen: nobody was asked.
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
			continue // a lost one, or one that was not made
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

// add takes an exchange in whose x says all but when it was, and with whom.
func (g *gatherer) add(host string, start, took int64, x exchange) error {
	x.Host = hashOf(host)
	var known bool
	if x.Party, known = g.parties[x.Host]; !known {
		x.Party = int64(x.Host)
	}
	if start < g.moved[x.Host] {
		x.Before = 1
	}
	x.Start, x.Took = start, uint32Of(took)
	x.Rest, x.Own, x.RetryAfter = max(0, x.Rest), max(0, x.Own), max(0, x.RetryAfter)
	return g.sorter.Add(x)
}

func codeOf(code int) uint16 { return uint16(max(0, min(code, math.MaxUint16))) }

func uint32Of(millis int64) uint32 { return uint32(max(0, min(millis, math.MaxUint32))) }

// countDenied counts the URLs that robots.txt and meta robots kept out.
func (p *Politeness) countDenied(s *store.Store) error {
	counts, err := s.Counts()
	if err != nil || counts.States["robots_denied"] == 0 {
		return err
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

// name fills in the names of the hosts that the report speaks of.
func (p *Politeness) name(s *store.Store) error {
	names := map[uint64]string{}
	each := func(f func(hash uint64, name *string)) {
		for _, list := range [][]HostManners{p.MostAsked, p.Slowest, p.SilentTop} {
			for i := range list {
				f(list[i].hash, &list[i].Host)
			}
		}
		for i := range p.Worst {
			f(p.Worst[i].hash, &p.Worst[i].Host)
		}
		for _, g := range []*Gap{p.HostGap, p.PartyGap} {
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

// top puts h into a list that is kept in order and short.
func top(list []HostManners, h HostManners, compare func(a, b HostManners) int) []HostManners {
	i, _ := slices.BinarySearchFunc(list, h, func(a, b HostManners) int {
		return cmp.Or(compare(a, b), cmp.Compare(a.hash, b.hash))
	})
	if i >= maxManners {
		return list
	}
	list = slices.Insert(list, i, h)
	return list[:min(len(list), maxManners)]
}
