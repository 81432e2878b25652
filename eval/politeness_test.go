package eval

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"fossick/internal/testkit"
	"fossick/store"
)

type asked struct {
	host       string
	kind       store.Purpose // "" for a page
	start, end int64         // milliseconds
	rest       int64
	code       int
	retry      int64
	own        int64 // of rest
}

func journalOf(t testing.TB, all []asked, addresses map[string]string) *store.Store {
	t.Helper()
	s, err := store.Create(filepath.Join(t.TempDir(), "s"), store.Info{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closed(t, s) })
	b := s.Batch()
	hosts := map[string]*store.Host{}
	var id store.ID
	for _, x := range all {
		h := hosts[x.host]
		if h == nil {
			h = &store.Host{Name: x.host, Address: addresses[x.host]}
			hosts[x.host] = h
		}
		if x.kind == "" {
			id++
			err = b.PutDiscovery(id, store.Discovery{URL: fmt.Sprintf("http://%s/%d", x.host, id)})
			if err == nil {
				err = b.PutVisit(id, 1, store.Visit{Start: x.start, Millis: x.end - x.start, Rest: x.rest, RetryAfter: x.retry, Own: x.own, Code: x.code})
			}
		} else {
			h.Exchanges++
			err = b.PutExchange(x.host, h.Exchanges, store.Exchange{For: x.kind, Start: x.start, Millis: x.end - x.start, Rest: x.rest, RetryAfter: x.retry, Own: x.own, Code: x.code})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, h := range hosts {
		testkit.Must(t, b.PutHost(h))
	}
	testkit.Must(t, b.Commit())
	return s
}

func politenessOf(t testing.TB, s *store.Store, inMemory int) *Politeness {
	t.Helper()
	p := testkit.Call(measurePoliteness(context.Background(), inMemory, s)).Must(t)
	return p
}

func TestPoliteness(t *testing.T) {
	const t0 = 1_700_000_000_000
	at := func(host string, kind store.Purpose, start, end, rest int64, code int) asked {
		return asked{host, kind, t0 + start, t0 + end, rest, code, 0, 0}
	}
	s := journalOf(t, []asked{
		at("a.test:80", store.ForRobots, 0, 100, 2000, 200),
		at("a.test:80", "", 2100, 2300, 2000, 200),              // 2.0 s after: as due
		at("b.test:80", store.ForRobots, 4300, 4400, 2000, 404), // the same address: as due
		at("a.test:80", "", 6000, 6050, 2000, 200),              // 1.6 s after b
		at("b.test:80", "", 6040, 6500, 2000, 503),              // before a's request ended
		at("c.test:80", store.ForAddress, 0, 10, 2000, 0),
		at("d.test:80", store.ForRobots, 0, 5000, 2000, 0),
		at("e.test:80", store.ForSitemap, 0, 300, 0, 200),
		{"e.test:80", "", t0 + 300, t0 + 900, 0, 429, 60_000, 0},
	}, map[string]string{"a.test:80": "192.0.2.1", "b.test:80": "192.0.2.1", "c.test:80": "", "e.test:80": "192.0.2.2"})
	p := politenessOf(t, s, exchangesInMemory)
	if p.Hosts != 4 || p.Parties != 3 || p.Requests != 8 || p.Robots != 3 || p.Sitemaps != 1 || p.Pages != 4 || p.FailedLookups != 1 {
		t.Errorf("counts: %+v", p)
	}
	if p.Violations != 2 || p.Overlaps != 1 || len(p.Worst) != 2 || p.Worst[0].Host != "b.test:80" || p.Worst[1].Host != "a.test:80" {
		t.Errorf("violations: %d, %d, %+v", p.Violations, p.Overlaps, p.Worst)
	}
	if g := p.Worst[1]; g.Seconds != 1.6 || g.Rest != 2 || g.At != t0+6000 {
		t.Errorf("a gap of 1.6 s: %+v", g)
	}
	if p.PartyGap.Seconds != -0.01 || p.PartyGap.Host != "b.test:80" || p.HostGap.Seconds != 0 || p.HostGap.Host != "e.test:80" {
		t.Errorf("smallest gaps: %+v, %+v", p.PartyGap, p.HostGap)
	}
	if p.TooMany != 1 || p.Unavailable != 1 || p.RetryAfter != 1 || p.LongestRetry != 60 {
		t.Errorf("busy: %+v", p)
	}
	if p.Silent != 2 || len(p.SilentTop) != 2 || p.SilentTop[0].Host != "d.test:80" || p.SilentTop[1].Host != "c.test:80" {
		t.Errorf("silent: %d, %+v", p.Silent, p.SilentTop)
	}
	if p.MostAsked[0].Host != "a.test:80" || p.MostAsked[0].Requests != 3 || p.MostAsked[0].Robots != 1 || *p.MostAsked[0].Gap != 2 {
		t.Errorf("most asked: %+v", p.MostAsked[0])
	}
	if len(p.Slowest) != 3 || p.Slowest[0].Host != "e.test:80" || !(math.Abs(p.Slowest[0].Median-0.3) <= 0.012) || p.Slowest[0].Longest != 0.6 {
		t.Errorf("slowest: %+v", p.Slowest)
	}
	if p.MedianRequests != 2 {
		t.Errorf("half of the hosts were asked %d times", p.MedianRequests)
	}
}

func TestPolitenessOfNothing(t *testing.T) {
	p := politenessOf(t, journalOf(t, nil, nil), 10)
	if !reflect.DeepEqual(p, &Politeness{Worst: []requestGap{}}) {
		t.Errorf("%+v", p)
	}
}

// TestSameMillisecond: robots.txt and a failed page within a millisecond are no violation.
func TestSameMillisecond(t *testing.T) {
	robots := asked{"a.test:80", store.ForRobots, 1_700_000_000_000, 1_700_000_000_000, 0, 404, 0, 0}
	failed := asked{"a.test:80", "", 1_700_000_000_000, 1_700_000_000_000, 1000, 0, 0, 0}
	for _, all := range [][]asked{{robots, failed}, {failed, robots}} {
		if p := politenessOf(t, journalOf(t, all, nil), 10); p.Violations != 0 {
			t.Errorf("%d violations, worst %+v; want none", p.Violations, p.Worst)
		}
	}
}

// TestOwnRest: a host's own Retry-After does not bind other hosts at its address, and its
// requests before it moved there do not count for that address.
func TestOwnRest(t *testing.T) {
	const t0, hour = 1_700_000_000_000, 3_600_000
	all := []asked{
		{"a.test:80", "", t0, t0 + 100, hour, 503, hour, hour - 2000},
		{"b.test:80", "", t0 + 2100, t0 + 2200, 2000, 200, 0, 0},
		{"a.test:80", "", t0 + 5000, t0 + 5100, 2000, 200, 0, 0}, // within its hour
		{"b.test:80", "", t0 + 6000, t0 + 6100, 2000, 200, 0, 0}, // within two seconds of a
		{"c.test:80", "", t0 + 6050, t0 + 6150, 2000, 200, 0, 0}, // at another address then
	}
	at := map[string]string{"a.test:80": "192.0.2.1", "b.test:80": "192.0.2.1", "c.test:80": "192.0.2.1"}
	s := journalOf(t, all, at)
	b := s.Batch()
	err := b.PutHost(&store.Host{Name: "c.test:80", Address: "192.0.2.1", Moved: t0 + 7000})
	if err == nil {
		err = b.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
	p := politenessOf(t, s, 10)
	if p.Violations != 2 || p.Worst[0].Host != "a.test:80" || p.Worst[1].Host != "b.test:80" || p.Overlaps != 0 || p.Parties != 1 || p.Hosts != 3 {
		t.Errorf("%+v; want a's and b's too early, and no word of c", p)
	}
}

// TestLongRetryAfter: a Retry-After of a year is reported in full.
func TestLongRetryAfter(t *testing.T) {
	const year = 365 * 24 * 3600
	p := politenessOf(t, journalOf(t, []asked{{"a.test:80", "", 1_700_000_000_000, 1_700_000_000_010, year * 1000, 503, year * 1000, 0}}, nil), 10)
	if p.LongestRetry != year {
		t.Errorf("longest Retry-After %v s, want %v", p.LongestRetry, year)
	}
}

// TestPolitenessAgainstAnOracle compares random journals with a naive check of all pairs.
func TestPolitenessAgainstAnOracle(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 20 {
		addresses := map[string]string{}
		for h := range 6 {
			addresses[fmt.Sprintf("h%d.test:80", h)] = []string{"", "192.0.2.1", "192.0.2.2"}[rng.IntN(3)]
		}
		var all []asked
		for range rng.IntN(120) {
			start := 1_700_000_000_000 + rng.Int64N(100_000)
			rest := rng.Int64N(3000)
			all = append(all, asked{
				fmt.Sprintf("h%d.test:80", rng.IntN(6)), []store.Purpose{"", "", store.ForRobots, store.ForSitemap}[rng.IntN(4)],
				start, start + rng.Int64N(500), rest, 200, 0, rng.Int64N(1 + rest),
			})
		}
		s := journalOf(t, all, addresses)
		p := politenessOf(t, s, exchangesInMemory)
		if onDisk := politenessOf(t, s, 7); !reflect.DeepEqual(p, onDisk) {
			t.Fatalf("sorted on disk: %+v\nin memory: %+v", onDisk, p)
		}
		party := func(x asked) string {
			if a := addresses[x.host]; a != "" {
				return a
			}
			return x.host
		}
		slices.SortFunc(all, func(a, b asked) int {
			return byTime(exchange{Start: a.start, Took: uint32(a.end - a.start), Rest: a.rest, Own: a.own, Host: hashOf(a.host)}, exchange{Start: b.start, Took: uint32(b.end - b.start), Rest: b.rest, Own: b.own, Host: hashOf(b.host)})
		})
		violations, least := 0, math.Inf(1)
		for i, x := range all {
			due, last := int64(0), int64(0)
			for _, before := range all[:i] {
				if party(before) != party(x) {
					continue
				}
				if due, last = max(due, before.end+before.rest-before.own), max(last, before.end); before.host == x.host {
					due = max(due, before.end+before.rest)
				}
			}
			if last != 0 {
				least = min(least, float64(x.start-last)/1000)
			}
			if x.start < due-slackMillis {
				violations++
			}
		}
		if p.Violations != violations || int(p.Requests) != len(all) || p.PartyGap != nil && p.PartyGap.Seconds != least {
			t.Fatalf("%d violations, %d requests, gap %+v; want %d, %d, %v", p.Violations, p.Requests, p.PartyGap, violations, len(all), least)
		}
	}
}

func TestMedianTime(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		var millis []uint32
		times := map[uint8]int{}
		for range 1 + rng.IntN(50) {
			m := uint32(math.Exp(rng.Float64() * math.Log(600_000)))
			millis = append(millis, m)
			times[slot(m)]++
		}
		slices.Sort(millis)
		want := float64(millis[(len(millis)-1)/2]) / 1000
		if got := secondsOf(medianOf(times)); !(math.Abs(got-want) <= 0.04*want+0.0005) {
			t.Errorf("median %v, want %v", got, want)
		}
	}
}

func TestPolitenessSentences(t *testing.T) {
	const t0 = 1_700_000_000_000
	s := journalOf(t, []asked{
		{"a.test:80", store.ForRobots, t0, t0 + 2100, 2000, 200, 0, 0},
		{"a.test:80", store.ForSitemap, t0 + 5000, t0 + 7000, 2000, 503, 90_000, 0},
		{"a.test:80", "", t0 + 8000, t0 + 8100, 2000, 200, 0, 0},
		{"b.test:80", store.ForAddress, t0, t0, 0, 0, 0, 0},
	}, nil)
	want := []string{
		"3 requests of 1 host, 1 of them for robots.txt and 1 for sitemaps; the median host got 3, the busiest, a.test:80, got 3.",
		"1 request came too early; the worst at a.test:80, after 1.0 s instead of 2.0 s.",
		"0 answers with code 429 and 1 with 503; 1 said when to come again, at most 90.0 s later.",
		"Slowest: a.test:80 (half of its answers took 2.0 s or more, the longest 2.1 s).",
		"1 host never answered, or had no address: b.test:80.",
	}
	if got := politenessOf(t, s, 10).Sentences(); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	for want, p := range map[string]*Politeness{
		"": {},
		"2 URLs ended at a challenge or block page, which fossick does not solve.":                                                    {Challenges: 2},
		"1 URL ended at a challenge or block page, which fossick does not solve; 3 URLs asked for payment, and fossick does not pay.": {Challenges: 1, Unpaid: 3},
	} {
		if got := p.doorSentence(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := (&Politeness{}).Sentences(); !slices.Equal(got, []string{"No request was made."}) {
		t.Errorf("of nothing: %q", got)
	}
}
