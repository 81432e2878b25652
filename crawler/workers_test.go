package crawler

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fossick/crawler/fetch"
	"fossick/crawler/hosts"
	"fossick/internal/page"
)

// TestGraceEnds: results within the grace are kept, however long the owner was busy.
func TestGraceEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opt := &Options{Workers: 4, Grace: 5 * time.Second, Now: time.Now}
		p := newPool(opt, nil, hosts.SitemapRules{}, make(chan request))
		ctx, stop := context.WithCancel(t.Context())
		p.begin(ctx)
		defer p.End(true)
		stop()
		if e := p.Wait(time.Time{}); e.What != interrupt {
			t.Fatalf("event %d, want an interrupt", e.What)
		}
		for range 4 {
			p.outcomes <- &jobResult{job: &job{task: taskPage}}
		}
		next := func() *jobResult {
			for {
				if e := p.Wait(time.Time{}); e.What == jobEnded {
					return e.Outcome
				}
			}
		}
		time.Sleep(opt.Grace - 1)
		if next().Aborted || p.Ready().Aborted {
			t.Error("a page is broken off before the grace is over")
		}
		time.Sleep(time.Nanosecond)
		if o := p.Ready(); !o.Aborted {
			t.Error("ready: a page that comes after the grace is not broken off")
		}
		if !next().Aborted {
			t.Error("wait: a page that comes after the grace is not broken off")
		}
	})
}

// TestRoom: the slowest exchange loses its place, but not a new one. Room is bounded.
func TestRoom(t *testing.T) {
	now := time.Unix(0, 0)
	r := newRoom(time.Second, 2, false, func() time.Time { return now })
	ended := map[string]bool{}
	enter := func(name string) (*timedJob, bool) {
		e := &timedJob{}
		e.cancel = func(cause error) { ended[name] = errors.Is(cause, fetch.ErrPlaceWanted) }
		return e, r.enter(e)
	}
	quick, ok1 := enter("quick")
	slow, ok2 := enter("slow")
	third, ok := enter("third")
	if !ok1 || !ok2 || ok || len(ended) > 0 {
		t.Fatalf("two places: %v %v %v, ended %v", ok1, ok2, ok, ended)
	}
	now = now.Add(leastStay)
	r.taken[quick] = stay{r.taken[quick].since, -1000} // a thousand bytes since
	if r.enter(third) || !ended["slow"] || ended["quick"] {
		t.Errorf("ended %v, want the slow one", ended)
	}
	if r.enter(third) || ended["quick"] {
		t.Error("a second one was ended for the same that waits")
	}
	r.leave(slow)
	if !r.enter(third) || len(r.waiting) > 0 {
		t.Error("a place that is free was not given")
	}
}

// slowWeb is a web with hosts that take a minute for each answer.
type slowWeb struct {
	*fakeWeb
	net string // network of the slow hosts' addresses; "": one each

	mu         sync.Mutex // guards the rest
	flying     int        // exchanges with slow hosts
	most, gave int        // peak of flying; exchanges ended for their place
}

func (w *slowWeb) Resolve(ctx context.Context, host string) (netip.Addr, error) {
	var n int
	if _, err := fmt.Sscanf(host, "slow%d.test", &n); err == nil && w.net != "" {
		return netip.MustParseAddr(fmt.Sprintf("%s%x", w.net, n+1)), nil
	}
	return w.fakeWeb.Resolve(ctx, host)
}

func (w *slowWeb) Fetch(ctx context.Context, req fetch.Request) *fetch.Response {
	if !strings.HasPrefix(page.Host(req.URL), "slow") {
		return w.fakeWeb.Fetch(ctx, req)
	}
	r := &fetch.Response{URL: req.URL, Start: time.Now(), State: fetch.StateBodyTimeout, Err: errors.New("slow")}
	w.count(1, 0)
	select {
	case <-time.After(time.Minute):
	case <-ctx.Done():
		if errors.Is(context.Cause(ctx), fetch.ErrPlaceWanted) {
			w.count(0, 1)
		} else {
			r.State = fetch.StateNone
		}
	}
	w.count(-1, 0)
	r.Took = time.Since(r.Start)
	return r
}

func (w *slowWeb) count(flying, gave int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flying += flying
	w.gave += gave
	w.most = max(w.most, w.flying)
}

// TestSlowHosts: more slow hosts than places do not delay others.
func TestSlowHosts(t *testing.T) {
	t.Parallel()
	for _, hosts := range []int{4, 40, 100} {
		t.Run(fmt.Sprint(hosts), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &slowWeb{fakeWeb: &fakeWeb{pages: map[string]string{}, took: 100 * time.Millisecond}}
				var seeds []string
				for i := range hosts {
					seeds = append(seeds, fmt.Sprintf("http://slow%d.test/", i))
				}
				for i := range 10 {
					u := fmt.Sprintf("http://good%d.test/", i)
					seeds, w.pages[u] = append(seeds, u), html(fmt.Sprint("gold", i))
				}
				opt := newOptions(t, w.fakeWeb, seeds...)
				opt.Fetcher, opt.Workers, opt.Delay, opt.MaxTime = w, 8, Delay{}, 2*time.Minute
				start := time.Now()
				r := crawl(t, opt)
				checkSound(t, opt.Store)
				last := time.Duration(0)
				for _, s := range w.log {
					if strings.HasPrefix(s.host, "good") && !strings.HasSuffix(s.url, "/robots.txt") {
						last = max(last, s.end.Sub(start))
					}
				}
				if r.Counts.Pages != 10 || last > time.Minute {
					t.Errorf("%d pages, the last after %v; want 10, within a minute", r.Counts.Pages, last)
				}
				places := 8 * (1 + exchangesAside)
				if w.most > places || hosts > places && w.gave == 0 || hosts < 8 && w.gave > 0 {
					t.Errorf("%d hosts exchanges at once, %d ended for their place; there are %d places", w.most, w.gave, places)
				}
				t.Logf("last good page after %v, %d at once, %d gave their place", last, w.most, w.gave)
			})
		})
	}
}

// TestNewcomers: hosts that have given pages keep their pace among hundreds of unresponsive ones.
// Those of one network are requested one at a time.
func TestNewcomers(t *testing.T) {
	for net, most := range map[string]int{"": 8 * (1 + exchangesAside), "2a00:1:2:3::": 1} {
		t.Run(net, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const good, pages = 10, 8
				w := &slowWeb{fakeWeb: &fakeWeb{pages: map[string]string{}, took: 100 * time.Millisecond}, net: net}
				var seeds []string
				for i := range good {
					for k := range pages {
						w.pages[fmt.Sprintf("http://good%d.test/%d", i, k)] = html(fmt.Sprintf("gold %d of house %d", k, i), fmt.Sprintf("http://good%d.test/%d", i, k+1))
					}
					seeds = append(seeds, fmt.Sprintf("http://good%d.test/0", i))
				}
				for i := range 300 {
					seeds = append(seeds, fmt.Sprintf("http://slow%d.test/", i))
				}
				opt := newOptions(t, w.fakeWeb, seeds...)
				opt.Fetcher, opt.Workers, opt.Delay, opt.KeepNear = w, 8, Delay{}, true
				opt.MaxTime = 35 * time.Second // nine exchanges with each take 20 s
				r := crawl(t, opt)
				checkSound(t, opt.Store)
				if r.Counts.Pages != good*pages || w.most > most {
					t.Errorf("%d pages of %d, %d slow exchanges at once of %d", r.Counts.Pages, good*pages, w.most, most)
				}
				if busy := w.flying; busy != 0 {
					t.Errorf("%d exchanges go on", busy)
				}
			})
		})
	}
}
