package crawler

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fossick/internal/testkit"
)

// slowLookups is a web with some slow DNS look-ups.
type slowLookups struct {
	*fakeWeb
	slow map[string]time.Duration
}

func (w *slowLookups) Resolve(ctx context.Context, host string) (netip.Addr, error) {
	time.Sleep(w.slow[host])
	return w.fakeWeb.Resolve(ctx, host)
}

// sharedWeb has a.test, www.a.test, b.test and a bare address on one machine.
func sharedWeb() *fakeWeb {
	w := &fakeWeb{pages: map[string]string{}, addrs: map[string]string{
		"a.test:80": "203.0.113.1", "b.test:80": "203.0.113.1", "www.a.test:80": "203.0.113.1", "203.0.113.1:80": "203.0.113.1", "c.test:80": "203.0.113.2",
	}}
	for _, host := range []string{"a.test", "b.test", "www.a.test", "203.0.113.1", "c.test"} {
		w.pages["http://"+host+"/"] = html("gold of "+host, "/more", "http://b.test/late", "http://www.a.test/")
		w.pages["http://"+host+"/more"] = html("more gold of " + host)
	}
	w.pages["http://b.test/late"] = html("late gold")
	return w
}

func (w *fakeWeb) hostsAsked() (hosts []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.log {
		hosts = append(hosts, strings.TrimSuffix(s.host, ":80"))
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}

// TestOneSitePerAddress: the first site at an address is crawled with all its hosts, the others
// are dropped, also with a slow look-up or after a restart. Without the option all are crawled.
func TestOneSitePerAddress(t *testing.T) {
	all := []string{"203.0.113.1", "a.test", "b.test", "c.test", "www.a.test"}
	for name, c := range map[string]struct {
		option bool
		slow   map[string]time.Duration
		want   []string
	}{
		"without":                  {false, nil, all},
		"with":                     {true, nil, []string{"a.test", "c.test", "www.a.test"}},
		"the first looked up late": {true, map[string]time.Duration{"a.test:80": time.Second, "b.test:80": 100 * time.Millisecond}, []string{"a.test", "c.test", "www.a.test"}},
		"too late":                 {true, map[string]time.Duration{"a.test:80": 10 * time.Second, "c.test:80": 3 * time.Second}, []string{"b.test", "c.test"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &slowLookups{sharedWeb(), c.slow}
				opt := newOptions(t, w.fakeWeb, "http://a.test/", "http://b.test/", "http://203.0.113.1/", "http://c.test/")
				opt.Fetcher, opt.Workers, opt.OneSitePerAddress = w, 8, c.option
				crawl(t, opt)
				checkSound(t, opt.Store)
				if got := w.hostsAsked(); !slices.Equal(got, c.want) {
					t.Fatalf("asked %v, want %v", got, c.want)
				}
				if !c.option {
					return
				}
				owner := c.want[0]
				for _, url := range []string{"http://203.0.113.1/", "http://b.test/late"} {
					l := life(t, opt.Store, url)
					if owner == "b.test" && url != "http://203.0.113.1/" {
						continue
					}
					if l.Outcome == nil || l.Outcome.State != "none" || l.Outcome.Reason != "its address 203.0.113.1 belongs to the site "+owner+", and the crawl takes one site per address" {
						t.Errorf("%s: %+v", url, l.Outcome)
					}
				}
				// A later session starts with another site of the address.
				w.pages["http://d.test/"], w.addrs["d.test:80"] = html("gold of d"), "203.0.113.1"
				w.log = nil
				opt.Seeds = []string{"http://d.test/"}
				crawl(t, opt)
				if got := w.hostsAsked(); len(got) > 0 {
					t.Errorf("after a restart %v were asked", got)
				}
				checkSound(t, opt.Store)
			})
		})
	}
}

// TestOneSitePerAddressOfAgents: the same for several agents, even if the part changes its owner.
func TestOneSitePerAddressOfAgents(t *testing.T) {
	for _, move := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := &fakeWeb{pages: map[string]string{}, addrs: map[string]string{}, took: 100 * time.Millisecond}
			const hosts = 6
			for h := range hosts {
				w.addrs[fmt.Sprintf("h%d.test:80", h)] = "203.0.113.1"
				for p := range 20 {
					w.pages[fmt.Sprintf("http://h%d.test/%d", h, p)] = html(fmt.Sprintf("gold %d of host %d", p, h), fmt.Sprintf("/%d", p+1), fmt.Sprintf("http://h%d.test/0", (h+1)%hosts))
				}
			}
			for p := range 30 {
				w.pages[fmt.Sprintf("http://h7.test/%d", p)] = html(fmt.Sprint("gold on the way to a late one ", p), fmt.Sprintf("/%d", p+1))
			}
			w.pages["http://h7.test/30"] = html("gold that leads to a late one", "http://h8.test/0")
			w.pages["http://h8.test/0"], w.addrs["h8.test:80"] = html("late gold"), "203.0.113.1"
			x := newTeamWith(t, w, 3, 13, func(o *Options) {
				o.OneSitePerAddress, o.Delay = true, Delay{Fixed: true, Rest: 100 * time.Millisecond}
			},
				"http://h0.test/0", "http://h1.test/0", "http://h2.test/0", "http://h7.test/0")
			for n := range 300 {
				time.Sleep(200 * time.Millisecond)
				x.deliver(t.Context())
				if n == 5 && move {
					x.handOver(x.agents[0].PartOf([]byte("203.0.113.1")), 1)
				}
			}
			x.finishAll()
			asked := slices.DeleteFunc(w.hostsAsked(), func(h string) bool { return h == "h7.test" })
			if len(asked) != 1 {
				t.Errorf("the part moves %v: %v were asked, want one of them", move, asked)
			}
			pages := 0
			for _, m := range x.agents {
				for range testkit.All(t, m.opt.Store.Pages()) {
					pages++
				}
			}
			if pages != 51 {
				t.Errorf("%d pages, want 20 of one site and the 31 that are elsewhere", pages)
			}
		})
	}
}
