package crawler

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fossick/crawler/fetch"
	"fossick/internal/page"
	"fossick/internal/testkit"
)

// TestIllWorld: hosts and our network fail, and sessions end at random. In the end every page is
// stored, the store is sound, and politeness was kept.
func TestIllWorld(t *testing.T) {
	for seed := range testkit.Rounds(1, 6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { checkIllWorld(t, rand.New(rand.NewPCG(uint64(seed), 5))) })
		})
	}
}

// span is a time of absence.
type span struct{ from, to time.Time }

func within(spans []span, at time.Time) bool {
	return slices.ContainsFunc(spans, func(s span) bool { return !at.Before(s.from) && at.Before(s.to) })
}

func checkIllWorld(t *testing.T, rng *rand.Rand) {
	const rest = 3 * time.Second
	hosts := 10 + rng.IntN(20)
	begin := time.Now()
	minutes := func(n int) time.Duration { return time.Duration(rng.IntN(60*n)) * time.Second }
	network := []span{}
	for range rng.IntN(3) {
		from := begin.Add(time.Minute + minutes(20))
		network = append(network, span{from, from.Add(minutes(100))})
	}
	away, failing := map[string][]span{}, map[string]fetch.State{}
	states := []fetch.State{fetch.StateConnectError, fetch.StateConnectTimeout, fetch.StateHeaderTimeout, fetch.StateHeaderError}
	for h := range hosts {
		name := fmt.Sprintf("h%d.test:80", h)
		failing[name] = states[rng.IntN(len(states))]
		for at := begin.Add(time.Minute + minutes(10)); rng.IntN(3) > 0; at = at.Add(20*time.Minute + minutes(10)) {
			away[name] = append(away[name], span{at, at.Add(minutes(10))})
		}
	}
	w := &illWeb{
		fakeWeb: &fakeWeb{pages: manyPages(hosts, 12+rng.IntN(30)), took: 200 * time.Millisecond},
		wait:    time.Duration(1+rng.IntN(15)) * time.Second,
		err:     noIP(t, &net.DNSError{Err: "server misbehaving", IsTemporary: true}),
	}
	sitemaps := rng.IntN(2) == 0
	if sitemaps {
		for h := range hosts {
			home := fmt.Sprintf("http://h%d.test/", h)
			w.pages[home+"robots.txt"] += "Sitemap: " + home + "map.txt\n"
			w.pages[home+"map.txt"] = home + "0\n" + home + "1\n" + home + "5\n"
		}
	}
	met := map[string]bool{} // a host that was never met has no credit
	w.down = func(host, _ string) fetch.State {
		now := time.Now()
		w.mu.Lock()
		known := met[host]
		w.mu.Unlock()
		switch {
		case within(network, now):
			return states[len(network)%len(states)]
		case known && within(away[host], now):
			return failing[host]
		}
		return ""
	}
	w.fakeWeb.asked = func(url string) {
		if !strings.HasSuffix(url, ".txt") {
			w.mu.Lock()
			met[page.Host(url)] = true
			w.mu.Unlock()
		}
	}
	var starts []string
	for h := range hosts {
		starts = append(starts, fmt.Sprintf("http://h%d.test/0", h))
	}
	opt := newOptions(t, w.fakeWeb, starts...)
	opt.Sitemaps = sitemaps
	opt.Fetcher, opt.Workers, opt.Delay = w, 1+rng.IntN(12), Delay{Fixed: true, Rest: rest}
	for session := 0; ; session++ {
		ctx, stop := context.WithTimeout(t.Context(), time.Minute+minutes(60))
		c, err := New(opt)
		if err != nil {
			t.Fatal(err)
		}
		r, err := c.Run(ctx)
		stop()
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if r.Stopped == StopEmpty && r.WaitUntil.IsZero() {
			break
		}
		if session > 200 {
			t.Fatalf("the crawl does not end: %+v", r)
		}
	}
	checkAllStored(t, opt.Store, w.pages)
	checkSound(t, opt.Store)
	checkPolite(t, w.log, rest)
}

// checkPolite checks a server's log: one request at a time, rests, robots.txt first.
func checkPolite(t *testing.T, log []served, rest time.Duration) {
	t.Helper()
	slices.SortStableFunc(log, func(a, b served) int { return a.start.Compare(b.start) })
	last := map[string]served{}
	for _, s := range log {
		before, ok := last[s.host]
		if !ok && !strings.HasSuffix(s.url, "/robots.txt") {
			t.Errorf("%s came before robots.txt", s.url)
		}
		if ok && s.start.Sub(before.end) < rest {
			t.Errorf("%s came %v after %s, want %v", s.url, s.start.Sub(before.end), before.url, rest)
		}
		last[s.host] = s
	}
}
