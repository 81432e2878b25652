package crawler

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"fossick/crawler/fetch"
	"fossick/store"
)

// lostNames is a web with some hosts that have no address.
type lostNames struct {
	*fakeWeb
	lost []string
}

func (w lostNames) Resolve(ctx context.Context, host string) (netip.Addr, error) {
	if slices.Contains(w.lost, host) {
		return netip.Addr{}, errors.New("no such name")
	}
	return w.fakeWeb.Resolve(ctx, host)
}

// TestExchangesAreJournalled: exchanges for no page are recorded by host, with the rest due.
func TestExchangesAreJournalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWeb{took: 300 * time.Millisecond, pages: map[string]string{
			"http://a.test/robots.txt": "→http://b.test/rules",
			"http://b.test/rules":      "→http://b.test/rules.txt",
			"http://b.test/rules.txt":  "User-agent: *\nCrawl-delay: 7\n",
			"http://a.test/":           html("gold", "http://gone.test/", "http://busy.test/"),
			"http://busy.test/":        html("gold and busy"),
		}, fail: map[string][]fetch.Response{
			"http://busy.test/robots.txt": {{State: fetch.StateCode, Code: 503, RetryAfter: 40 * time.Second}},
		}}
		opt := newOptions(t, w, "http://a.test/")
		opt.Fetcher, opt.Delay = lostNames{w, []string{"gone.test:80"}}, Delay{}
		crawl(t, opt)
		checkSound(t, opt.Store)
		want := []string{
			"a.test:80 robots redirect http://a.test/robots.txt",
			"b.test:80 robots redirect http://b.test/rules", "b.test:80 robots ok http://b.test/rules.txt",
			"busy.test:80 robots code http://busy.test/robots.txt", "busy.test:80 robots code http://busy.test/robots.txt",
			"gone.test:80 address connect_error http://gone.test/", "gone.test:80 address connect_error http://gone.test/",
			"gone.test:80 address connect_error http://gone.test/",
		}
		if got := exchanges(t, opt.Store); !slices.Equal(got, want) {
			t.Errorf("journal %q\nwant    %q", got, want)
		}
		for _, c := range []struct {
			host  string
			n     uint64
			check func(x store.Exchange) bool
		}{
			{"a.test:80", 1, func(x store.Exchange) bool { return x.Rest == 3000 && x.Location == "http://b.test/rules" }},
			{"b.test:80", 2, func(x store.Exchange) bool { return x.Rest == 3000 && x.Owner == "a.test:80" && x.Bytes > 0 }},
			{"busy.test:80", 1, func(x store.Exchange) bool { return x.Rest == 40_000 && x.RetryAfter == 40_000 && x.Code == 503 }},
			{"gone.test:80", 3, func(x store.Exchange) bool { return x.Rest == 4000 && x.Error == "no such name" }},
		} {
			if x, err := opt.Store.Exchange(c.host, c.n); err != nil || !c.check(x) {
				t.Errorf("exchange %d of %s: %+v, %v", c.n, c.host, x, err)
			}
		}
		for host, requests := range map[string]uint64{"a.test:80": 2, "b.test:80": 2, "busy.test:80": 3, "gone.test:80": 0} {
			if h, err := opt.Store.Host(host); err != nil || h.Requests != requests {
				t.Errorf("%s: %d requests, %v; want %d", host, h.Requests, err, requests)
			}
		}
		l := life(t, opt.Store, "http://a.test/")
		if v := l.Visits[0]; v.Rest != 7000 {
			t.Errorf("the visit's rest is %d ms, want the Crawl-delay", v.Rest)
		}
	})
}
