package eval

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// manners goes through the exchanges party by party, in the order of time.
type manners struct {
	p        *Politeness
	requests map[int]int // hosts by how often they were asked

	party int64
	hosts map[uint64]*HostManners // of this party; nil before the first
	last  int64                   // end of the last request at the party, Unix milliseconds
	due   int64                   // end of the rest that is due to all of it
}

func (m *manners) add(x exchange) {
	if m.hosts == nil || x.Party != m.party {
		m.endParty()
		m.party, m.hosts, m.last = x.Party, map[uint64]*HostManners{}, 0
		m.due = 0
	}
	h := m.hosts[x.Host]
	if h == nil {
		h = &HostManners{hash: x.Host, times: map[uint8]int{}}
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

// count adds a request up.
func (m *manners) count(h *HostManners, x exchange) {
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

// gaps compares the time since the request before with the rest that was due: to the
// host, and to its party by what others were asked there.
func (m *manners) gaps(h *HostManners, x exchange) {
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

// gap is that before x, after a request that ended at last and a rest due until due.
func gap(x exchange, last, due int64) Gap {
	return Gap{Seconds: float64(x.Start-last) / 1000, Rest: float64(max(0, due-last)) / 1000, At: x.Start, hash: x.Host}
}

func smaller(least **Gap, g Gap) {
	if *least == nil || g.Seconds < (*least).Seconds {
		*least = &g
	}
}

// violation notes a gap that was too short.
func (m *manners) violation(g Gap) {
	p := m.p
	p.Violations++
	if g.Seconds < -float64(slackMillis)/1000 {
		p.Overlaps++
	}
	i, _ := slices.BinarySearchFunc(p.Worst, g, func(a, b Gap) int {
		return cmp.Or(cmp.Compare(a.Seconds-a.Rest, b.Seconds-b.Rest), cmp.Compare(a.At, b.At))
	})
	if i < maxManners {
		p.Worst = slices.Insert(p.Worst, i, g)
		p.Worst = p.Worst[:min(len(p.Worst), maxManners)]
	}
}

// endParty adds the party's hosts to the lists.
func (m *manners) endParty() {
	if len(m.hosts) == 0 {
		return
	}
	p, hosts := m.p, m.p.Hosts
	for _, hash := range slices.Sorted(maps.Keys(m.hosts)) {
		h := m.hosts[hash]
		h.Median = medianTime(h.times)
		done := *h
		done.times = nil
		byRequests := func(a, b HostManners) int { return cmp.Compare(b.Requests, a.Requests) }
		if h.Requests > 0 {
			p.Hosts++
			m.requests[h.Requests]++
			p.MostAsked = top(p.MostAsked, done, byRequests)
		}
		if h.answered {
			p.Slowest = top(p.Slowest, done, func(a, b HostManners) int { return cmp.Compare(b.Median, a.Median) })
			continue
		}
		p.Silent++
		p.SilentTop = top(p.SilentTop, done, func(a, b HostManners) int {
			return cmp.Or(byRequests(a, b), cmp.Compare(b.lookups, a.lookups))
		})
	}
	if p.Hosts > hosts {
		p.Parties++
	}
}

// Times are counted in slots, of which each is a twelfth longer than the one
// before. So a median is within 4 % of the true one, and a host costs no more
// memory the more it is asked. Below 16 ms each millisecond has a slot.
const (
	exactSlots = 16
	slotsFold  = 12 // a doubling
)

func slot(millis uint32) uint8 {
	if millis < exactSlots {
		return uint8(millis)
	}
	return uint8(min(exactSlots+int(slotsFold*math.Log2(float64(millis)/exactSlots)), math.MaxUint8))
}

// secondsOf returns the middle of a slot.
func secondsOf(s uint8) float64 {
	if s < exactSlots {
		return float64(s) / 1000
	}
	return exactSlots * math.Exp2((float64(s-exactSlots)+0.5)/slotsFold) / 1000
}

func medianTime(times map[uint8]int) float64 {
	counts := make(map[int]int, len(times))
	for s, n := range times {
		counts[int(s)] = n
	}
	if len(counts) == 0 {
		return 0
	}
	return secondsOf(uint8(medianOf(counts)))
}

// medianOf returns the lower median of values that occur so often.
func medianOf(counts map[int]int) int {
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
