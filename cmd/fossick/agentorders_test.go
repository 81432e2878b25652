package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"fossick/crawler"
	"fossick/crawler/cluster"
	"fossick/crawler/fetch"
	"fossick/crawler/plan"
	"fossick/graph/orders"
	"fossick/internal/testkit"
	"fossick/store"
)

// smallWeb has 12 sites of 8 pages; half of the pages are on topic.
type smallWeb struct{}

func (smallWeb) Resolve(_ context.Context, host string) (netip.Addr, error) {
	sum := store.HashURL(host)
	return netip.AddrFrom4([4]byte{203, sum[0], sum[1], sum[2]}), nil
}

func (smallWeb) Fetch(_ context.Context, req fetch.Request) *fetch.Response {
	const sites, pages = 12, 8
	r := &fetch.Response{URL: req.URL, Start: time.Now(), Header: http.Header{}}
	time.Sleep(20 * time.Millisecond)
	r.Took = time.Since(r.Start)
	var s, p int
	if n, _ := fmt.Sscanf(req.URL, "http://s%d.test/%d", &s, &p); n < 2 || s >= sites || p >= pages {
		r.State, r.Code = fetch.StateCode, 404
		return r
	}
	about := func(s, p int) string {
		if (s+p)%2 == 0 {
			return "the telescope shows a galaxy of stars"
		}
		return "the market sells bread and cheese"
	}
	r.State, r.Code, r.ContentType = fetch.StateOK, 200, "text/html"
	r.Body = fmt.Appendf(nil, "<title>%d of %d</title><p>%s, says page %d of site %d.", p, s, about(s, p), p, s)
	for _, to := range [][2]int{{s, (p + 1) % pages}, {s, (5*p + 2) % pages}, {(s + 1) % sites, p}, {(5*s + p) % sites, 0}} {
		r.Body = fmt.Appendf(r.Body, ` <a href="http://s%d.test/%d">%s</a>`, to[0], to[1], about(to[0], to[1]))
	}
	return r
}

// TestEveryOrder checks for every order that one, two and four agents fetch as many pages as they
// may, each once, and end. Priorities have any size and sign: breadth first has negative ones,
// LexBFS has some of 10^15. By default only two agents crawl, to save time.
func TestEveryOrder(t *testing.T) {
	hows := map[string]plan.Scoring{}
	for _, order := range orders.Orderings() {
		hows["--order "+order] = plan.Scoring{Order: order}
	}
	for _, p := range plan.All() {
		how := plan.Scoring{Score: p.Name}
		if p.ByDegree() {
			how.Threshold = new(float64)
		}
		hows["--score "+p.Name] = how
	}
	counts := []int{2}
	if testkit.Asked() {
		counts = []int{1, 2, 4}
	}
	for name, how := range hows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, agents := range counts {
				synctest.Test(t, func(t *testing.T) {
					crawlInOrder(t, how, agents, false)
				})
				if agents > 1 && testkit.Asked() {
					synctest.Test(t, func(t *testing.T) {
						crawlInOrder(t, how, agents, true)
					})
				}
			}
		})
	}
}

// crawlInOrder crawls the small web with agents as processes have them, each with its own exchange,
// or together as focus --agents has them.
func crawlInOrder(t *testing.T, how plan.Scoring, agents int, together bool) {
	const most = 60
	var all []crawler.Options
	for i := range agents {
		c := plan.Crawl{Topic: "science", Settings: plan.Settings{
			Goal: plan.Goal{Seed: []string{"http://s0.test/0"}}, Budget: plan.Budget{MaxPages: most}, Scoring: how,
			Manners: plan.Manners{Contact: "me@uni-x.de", Delay: "200ms"},
		}}
		plan, err := c.Plan(plan.Program{Seed: 1, Log: slog.New(slog.DiscardHandler), Say: t.Logf})
		if err != nil {
			t.Fatal(err)
		}
		o := plan.Crawl
		if o.Store, err = store.Create(t.TempDir(), store.Info{Agent: fmt.Sprintf("%016d", i)}); err != nil {
			t.Fatal(err)
		}
		defer o.Store.Close()
		o.Fetcher, o.Workers = smallWeb{}, 3
		all = append(all, o)
	}
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Minute)
	defer stop()
	if together {
		whole := testkit.Call(cluster.NewTeam(all)).Must(t)
		if r, err := whole.Run(ctx); err != nil || r.Stopped != crawler.StopMaxPages {
			t.Errorf("%d agents together: %s, %v", agents, r.Stopped, err)
		}
	} else {
		asProcesses(ctx, t, all)
	}
	var urls []string
	for _, o := range all {
		for p := range testkit.All(t, o.Store.Pages()) {
			urls = append(urls, p.URL)
		}
	}
	slices.Sort(urls)
	once := slices.Compact(slices.Clone(urls))
	if len(urls) != most || len(once) != most {
		t.Errorf("%d agents, together: %v: %d pages, %d of them different, want %d: %q", agents, together, len(urls), len(once), most, urls)
	}
}

// asProcesses runs each agent with its own exchange.
func asProcesses(ctx context.Context, t *testing.T, all []crawler.Options) {
	hub := cluster.NewHub()
	ended := make(chan error, len(all))
	for _, o := range all {
		id := cluster.AgentID(o.Store.Info().Agent)
		exchange := testkit.Call(hub.Open(id)).Must(t)
		defer exchange.Close()
		m := testkit.Call(cluster.New(o, cluster.Protocol{ID: id, Fresh: true, Lease: 3 * time.Second, Longest: time.Second}, exchange)).Must(t)
		go func() {
			r, err := m.Run(ctx)
			if err == nil && ctx.Err() != nil {
				err = fmt.Errorf("agent %s did not end: %w", id, ctx.Err())
			}
			if !slices.Contains([]crawler.Stop{crawler.StopMaxPages, crawler.StopNothing}, r.Stopped) {
				err = cmp.Or(err, fmt.Errorf("agent %s ended: %s", id, r.Stopped))
			}
			ended <- err
		}()
	}
	for range all {
		if err := <-ended; err != nil {
			t.Errorf("%d agents: %v", len(all), err)
		}
	}
}
