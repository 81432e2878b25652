package ui

import (
	"cmp"
	"context"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"fossick/crawler/fetch"
	"fossick/internal/cli"
	"fossick/internal/page"
	"fossick/store"
)

type hostRow struct {
	Host      string     `json:"host"`
	Pages     uint64     `json:"pages"`
	Relevant  uint64     `json:"relevant"`
	Requests  uint64     `json:"requests"`
	Waiting   int        `json:"waiting"`    // URLs
	RestUntil *time.Time `json:"rest_until"` // null when it does not rest
	RestWhy   *string    `json:"rest_why"`
	Refused   int        `json:"refused"` // URLs that robots.txt, the host or its owner's terms refuse
	Errors    int        `json:"errors"`  // URLs that ended in an error
	Robots    string     `json:"robots"`  // allowed, unknown or denied, for its front page
}

// hostTable is the hosts of a store, read when they are asked for.
type hostTable struct {
	mu   sync.Mutex // guards the fields below, held while they are read
	rows []hostRow
	made time.Time
	took time.Duration
}

// hostsHold is the least time for which hosts are not read again.
const hostsHold = 2 * time.Second

// refusedStates are the states of URLs that somebody refuses to give.
var refusedStates = []string{string(fetch.StateRobotsDenied), string(fetch.StateGuardDenied), string(fetch.StateChallenge), string(fetch.StatePaymentRequired)}

// isError reports whether a URL in this state ended in an error of its host or of the network.
func isError(state string) bool {
	return state == string(fetch.StateCode) || state == "no_ip" || strings.HasSuffix(state, "_error") || strings.HasSuffix(state, "_timeout")
}

// hostRows returns the hosts that were asked, or whose URLs wait, by name.
func (f *Interface) hostRows(ctx context.Context) ([]hostRow, error) {
	if _, err := f.indexed(ctx); err != nil {
		return nil, err
	}
	s, done, err := f.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	t := &f.hosts
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.made.IsZero() && time.Since(t.made) < max(hostsHold, passShare*t.took) {
		return t.rows, nil
	}
	began := time.Now()
	rows, err := f.readHosts(ctx, s)
	if err == nil {
		t.rows, t.made, t.took = rows, time.Now(), time.Since(began)
	}
	return rows, err
}

func (f *Interface) readHosts(ctx context.Context, s *store.Store) ([]hostRow, error) {
	all := map[string]*hostRow{}
	of := func(host string) *hostRow {
		h := all[host]
		if h == nil {
			h = &hostRow{Host: host, Robots: "unknown"}
			all[host] = h
		}
		return h
	}
	now := time.Now()
	for h, err := range s.Hosts() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		if h.Requests == 0 {
			continue
		}
		r := of(h.Name)
		r.Pages, r.Relevant, r.Requests, r.Robots = h.Pages, h.Relevant, h.Requests, robotsOf(h)
		r.RestUntil, r.RestWhy = restOf(h, now)
	}
	for w, err := range s.URLs().Waiters() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		of(page.Host(w.URL)).Waiting++
	}
	f.index.mu.RLock()
	x := &f.index
	for _, r := range x.others {
		switch state := x.states.list[r.state]; {
		case slices.Contains(refusedStates, state):
			of(x.hosts.list[r.host]).Refused++
		case isError(state):
			of(x.hosts.list[r.host]).Errors++
		}
	}
	x.mu.RUnlock()
	rows := make([]hostRow, 0, len(all))
	for _, h := range all {
		rows = append(rows, *h)
	}
	slices.SortFunc(rows, func(a, b hostRow) int { return strings.Compare(a.Host, b.Host) })
	return rows, nil
}

// restOf returns until when a host rests, and why.
func restOf(h *store.Host, now time.Time) (until *time.Time, why *string) {
	at := time.UnixMilli(h.Next).UTC()
	if !at.After(now) {
		return nil, nil
	}
	text := cmp.Or(h.RestFor, "the crawl's delay")
	return &at, &text
}

func robotsOf(h *store.Host) string {
	if h.RobotsAt == 0 {
		return "unknown"
	}
	var rules fetch.Robots
	if rules.UnmarshalText(h.Robots) != nil {
		return "unknown"
	}
	if !rules.Allowed(cmp.Or(h.RobotsAgent, "fossick"), "/") {
		return "denied"
	}
	return "allowed"
}

var hostOrders = map[string]func(a, b *hostRow) int{
	"pages":    func(a, b *hostRow) int { return cmp.Compare(a.Pages, b.Pages) },
	"requests": func(a, b *hostRow) int { return cmp.Compare(a.Requests, b.Requests) },
	"relevant": func(a, b *hostRow) int { return cmp.Compare(a.Relevant, b.Relevant) },
	"rest": func(a, b *hostRow) int {
		at := func(h *hostRow) int64 {
			if h.RestUntil == nil {
				return 0
			}
			return h.RestUntil.UnixMilli()
		}
		return cmp.Compare(at(a), at(b))
	},
	"host": func(a, b *hostRow) int { return strings.Compare(a.Host, b.Host) },
}

// listHosts answers GET /hosts.
func (f *Interface) listHosts(r *http.Request) (any, error) {
	by := cmp.Or(r.URL.Query().Get("sort"), "pages")
	compare := hostOrders[by]
	if compare == nil {
		return nil, cli.Usagef("sort=%.50q: want pages, requests, relevant, rest or host", by)
	}
	offset, err := numberOf(r, "offset", 0, 0, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	limit, err := numberOf(r, "limit", 100, 1, 1000)
	if err != nil {
		return nil, err
	}
	rows, err := f.hostRows(r.Context())
	if err != nil {
		return nil, err
	}
	rows = slices.Clone(rows)
	sign := 1
	if order := r.URL.Query().Get("order"); order == "desc" || order == "" && by != "host" {
		sign = -1
	}
	slices.SortStableFunc(rows, func(a, b hostRow) int { return sign * compare(&a, &b) })
	return struct {
		Total int       `json:"total"`
		Hosts []hostRow `json:"hosts"`
	}{len(rows), rows[min(offset, len(rows)):min(offset+limit, len(rows))]}, nil
}
