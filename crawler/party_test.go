package crawler

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fossick/graph/orders"
	"fossick/internal/page"
	"fossick/internal/testkit"
	"fossick/store"
)

type lookedUp struct {
	*fakeWeb
	mu   sync.Mutex
	asks map[string]int
}

func (w *lookedUp) Resolve(ctx context.Context, host string) (netip.Addr, error) {
	w.mu.Lock()
	w.asks[host]++
	w.mu.Unlock()
	return w.fakeWeb.Resolve(ctx, host)
}

// partyWeb has hosts with random links to pages of all hosts; a tenth redirects.
func partyWeb(rng *rand.Rand, hosts, pages int) (w *fakeWeb, links map[string][]string) {
	w, links = &fakeWeb{pages: map[string]string{}, took: 4 * time.Second}, map[string][]string{}
	name := func(host, n int) string { return fmt.Sprintf("http://h%d.test/%d", host, n) }
	for h := range hosts {
		for n := range pages {
			u, to := name(h, n), []string(nil)
			for range 1 + rng.IntN(3) {
				to = append(to, name(h, rng.IntN(pages)), name(rng.IntN(hosts), rng.IntN(pages)))
			}
			if n > 0 && rng.IntN(10) == 0 {
				to = to[:1]
				w.pages[u] = "→" + to[0]
			} else {
				w.pages[u] = html("page "+u, to...)
			}
			links[u] = to
		}
	}
	return w, links
}

// partyOf is the oracle: the depth of each page within most local links from a seed.
func partyOf(w *fakeWeb, links map[string][]string, seed string, most int) map[string]int {
	depth, queue := map[string]int{seed: 0}, []string{seed}
	for len(queue) > 0 {
		u := queue[0]
		queue = queue[1:]
		for _, to := range links[u] {
			step := 1
			if strings.HasPrefix(w.pages[u], "→") {
				step = 0
			}
			if d, known := depth[to]; page.Host(to) == page.Host(seed) && depth[u]+step <= most && (!known || d > depth[u]+step) {
				depth[to] = depth[u] + step
				queue = append(queue, to)
			}
		}
	}
	return depth
}

// TestParties: parties are crawled concurrently, each breadth-first, one request at a time with
// rests, with one look-up. Nothing outside is requested.
func TestParties(t *testing.T) {
	for seed := range uint64(5) {
		synctest.Test(t, func(t *testing.T) {
			const hosts, most = 8, 3
			rng := rand.New(rand.NewPCG(seed, 3))
			fake, links := partyWeb(rng, hosts, 25)
			w := &lookedUp{fakeWeb: fake, asks: map[string]int{}}
			want := map[string]int{}
			var seeds []string
			for h := range hosts / 2 {
				seeds = append(seeds, fmt.Sprintf("http://h%d.test/0", h))
				maps.Copy(want, partyOf(fake, links, seeds[h], most))
			}
			opt := newOptions(t, fake, seeds...)
			opt.Fetcher, opt.Workers, opt.Ordering, opt.Threshold = w, hosts, orders.ByDepth, 0
			opt.Delay, opt.KeepNear = Delay{Fixed: true, Rest: 30 * time.Second, Fold: 10}, true
			opt.Scope = Scope{Links: "host", Parties: true, MaxDepth: most}
			start := time.Now()
			crawl(t, opt)
			checkSound(t, opt.Store)
			took := time.Since(start)

			got := fake.urls()
			if sorted := slices.Sorted(slices.Values(got)); !slices.Equal(sorted, slices.Sorted(maps.Keys(want))) {
				t.Errorf("asked for %d pages %v, want %d", len(got), sorted, len(want))
			}
			deepest, last, requests, longest := map[string]int{}, map[string]time.Time{}, map[string]int{}, 0
			for _, s := range fake.log {
				if end, again := last[s.host]; again && s.start.Sub(end) < 40*time.Second {
					t.Errorf("%s after %v; an exchange of 4 s is due a rest of 40", s.url, s.start.Sub(end))
				}
				last[s.host] = s.end
				requests[s.host]++
				longest = max(longest, requests[s.host])
				if strings.HasSuffix(s.url, "/robots.txt") {
					continue
				}
				if d := want[s.url]; d < deepest[s.host] {
					t.Errorf("%s of depth %d after one of depth %d", s.url, d, deepest[s.host])
				}
				deepest[s.host] = want[s.url]
				if l := life(t, opt.Store, s.url); l.Depth != want[s.url] {
					t.Errorf("%s is on record with depth %d, want %d", s.url, l.Depth, want[s.url])
				}
			}
			if alone := time.Duration(longest) * 44 * time.Second; took > alone+time.Minute {
				t.Errorf("requests %v took %v; the parties did not go side by side", requests, took)
			}
			for host, n := range w.asks {
				if n != 1 {
					t.Errorf("%s was looked up %d times", host, n)
				}
			}
			checkOffParty(t, opt.Store, want)
		})
	}
}

// checkOffParty checks that links out of a party are recorded with that reason, at any depth.
func checkOffParty(t *testing.T, s *store.Store, inside map[string]int) {
	t.Helper()
	off := 0
	for e := range testkit.All(t, s.URLs().Ended("none")) {
		if _, is := inside[e.URL]; is {
			t.Errorf("%s was left out: %s", e.URL, e.Reason)
		}
		if strings.HasPrefix(e.Reason, "other host") {
			off++
		} else if !strings.HasPrefix(e.Reason, "deeper than") {
			t.Errorf("%s was left out: %s", e.URL, e.Reason)
		}
	}
	if off < 10 {
		t.Errorf("only %d URLs outside", off)
	}
}

// TestOutsideOfTwo: a URL too deep in one party and linked from another is a candidate seed.
func TestOutsideOfTwo(t *testing.T) {
	for _, otherFirst := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			w := &fakeWeb{took: time.Second, pages: map[string]string{
				"http://a.test/0": html("own", "http://a.test/1"),
				"http://a.test/1": html("own, one deep", "http://a.test/2"),
				"http://a.test/2": html("own, too deep"),
				"http://b.test/0": html("other", "http://b.test/1", "http://b.test/2", "http://b.test/3"),
				"http://b.test/1": html("other, second"),
				"http://b.test/2": html("other, third"),
			}}
			from := "http://b.test/3" // requested after its own party has ended
			if otherFirst {
				from = "http://b.test/0"
			}
			w.pages[from] = html("leads out "+from, "http://a.test/2")
			opt := newOptions(t, w, "http://a.test/0", "http://b.test/0")
			opt.Workers, opt.Ordering, opt.Threshold, opt.KeepNear = 2, orders.ByDepth, 0, true
			opt.Scope = Scope{Links: "host", Parties: true, MaxDepth: 1}
			crawl(t, opt)
			checkSound(t, opt.Store)
			for e := range testkit.All(t, opt.Store.URLs().Ended("none")) {
				if e.URL == "http://a.test/2" && !OffParty(e.Reason) {
					t.Errorf("linked from %s: %s", from, e.Reason)
				}
			}
			b, err := opt.Store.URLs().Discovery(life(t, opt.Store, "http://a.test/2").From)
			if err != nil || b.URL != from {
				t.Errorf("it was found by %q, %v; want %s", b.URL, err, from)
			}
		})
	}
}

// TestScaledRest computes rests by hand: paper E's 30 s and 10 times the exchange, and 1/100.
func TestScaledRest(t *testing.T) {
	for _, tt := range []struct {
		delay      Delay
		took, host time.Duration
		address    time.Duration
	}{
		{Delay{Fixed: true, Rest: 30 * time.Second, Fold: 10}, time.Second, 30 * time.Second, 30 * time.Second},
		{Delay{Fixed: true, Rest: 30 * time.Second, Fold: 10}, 4 * time.Second, 40 * time.Second, 30 * time.Second},
		{Delay{Fixed: true, Rest: 300 * time.Millisecond, Fold: 0.1}, time.Second, 300 * time.Millisecond, 300 * time.Millisecond},
		{Delay{Fixed: true, Rest: 300 * time.Millisecond, Fold: 0.1}, 5 * time.Second, 500 * time.Millisecond, 500 * time.Millisecond},
		{Delay{Fixed: true}, time.Second, 0, 0},
	} {
		if got := tt.delay.After(0, tt.took, 0, 0); got.Host != tt.host || got.Address != tt.address {
			t.Errorf("%+v after %v: %+v, want %v for the host, %v for its address", tt.delay, tt.took, got, tt.host, tt.address)
		}
	}
}
