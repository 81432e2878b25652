package cluster

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fossick/crawler"
	"fossick/crawler/fetch"
	"fossick/graph/orders"
	"fossick/internal/page"
	"fossick/store"
)

// teamWeb is hosts whose pages link to each other and to the next host's. It keeps a log.
type teamWeb struct {
	hosts, pages int
	dead         bool // every other host gives no answer
	mirrors      bool // every other page of a host is one of each other host, too

	mu  sync.Mutex // guards log
	log []string
}

func (w *teamWeb) Resolve(_ context.Context, host string) (netip.Addr, error) {
	sum := store.HashURL(host)
	return netip.AddrFrom4([4]byte{203, sum[0], sum[1], sum[2]}), nil
}

func (w *teamWeb) Fetch(_ context.Context, req fetch.Request) *fetch.Response {
	r := &fetch.Response{URL: req.URL, Start: time.Now(), Header: http.Header{}}
	time.Sleep(20 * time.Millisecond)
	r.Took = time.Since(r.Start)
	w.mu.Lock()
	w.log = append(w.log, req.URL)
	w.mu.Unlock()
	var h, p int
	switch n, _ := fmt.Sscanf(req.URL, "http://h%d.test/%d", &h, &p); {
	case w.dead && h%2 == 1:
		r.State = fetch.StateConnectTimeout
	case n < 2 || h >= w.hosts || p >= w.pages:
		r.State, r.Code = fetch.StateCode, 404
	case w.mirrors:
		r.State, r.Code, r.ContentType = fetch.StateOK, 200, "text/html"
		r.Body = fmt.Appendf(nil, `<title>gold %d of %d</title><a href="/%d">a</a> <a href="/%d">b</a> <a href="http://h%d.test/0">c</a>`, p, h, p+1, p+2, (h+1)%w.hosts)
		if p%2 == 1 {
			r.Body = fmt.Appendf(nil, `<title>gold %d of all</title>`, p)
		}
	default:
		word := "stone"
		if p%3 == 0 {
			word = "gold"
		}
		r.State, r.Code, r.ContentType = fetch.StateOK, 200, "text/html"
		r.Body = fmt.Appendf(nil, `<title>%s %d of %d</title><a href="/%d">a</a> <a href="/%d">b</a> <a href="http://h%d.test/%d">c</a>`,
			word, p, h, (p+1)%w.pages, (7*p+3)%w.pages, (h+1)%w.hosts, p)
	}
	return r
}

// gold wants pages with the word.
type gold struct{}

func (gold) ScorePage(p *page.Page, _ float64) crawler.Score {
	if strings.Contains(p.Title, "gold") {
		return crawler.Score{Value: .9, Relevant: true}
	}
	return crawler.Score{Value: .1}
}

func (gold) ScoreLinks(dst []float64, p *page.Page, s crawler.Score) []float64 {
	for range p.Links {
		dst = append(dst, s.Value)
	}
	return dst
}

// crawl has so many agents crawl a teamWeb.
func crawlAsTeam(t *testing.T, w *teamWeb, agents int, set func(*crawler.Options)) (crawler.Result, []string) {
	t.Helper()
	order, err := orders.OrderingByName("relevance")
	if err != nil {
		t.Fatal(err)
	}
	var all []crawler.Options
	for range agents {
		s, err := store.Create(t.TempDir(), store.Info{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		o := crawler.Options{Store: s, Fetcher: w, Scorer: gold{}, Ordering: order, Seeds: []string{"http://h0.test/0"}, Workers: 6, Delay: crawler.Delay{Fixed: true}, Patience: 1}
		set(&o)
		all = append(all, o)
	}
	var whole interface {
		Run(ctx context.Context) (crawler.Result, error)
	}
	if len(all) == 1 {
		whole, err = crawler.New(all[0])
	} else {
		whole, err = NewTeam(all)
	}
	if err != nil {
		t.Fatal(err)
	}
	r, err := whole.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var urls []string
	for _, o := range all {
		for p, err := range o.Store.Pages() {
			if err != nil {
				t.Fatal(err)
			}
			urls = append(urls, p.URL)
		}
		if problems, err := o.Store.Verify(t.Context()); err != nil || len(problems) > 0 {
			t.Errorf("%v, %v", problems, err)
		}
	}
	slices.Sort(urls)
	if len(urls) != int(r.Counts.Pages) || len(slices.Compact(slices.Clone(urls))) != len(urls) {
		t.Errorf("%d pages are counted, %d stored: %v", r.Counts.Pages, len(urls), urls)
	}
	return r, urls
}

// TestDrained: however many agents there are, they find the same pages, and ask once for each.
func TestDrained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var one []string
		for _, agents := range []int{1, 2, 5} {
			w := &teamWeb{hosts: 11, pages: 13}
			r, urls := crawlAsTeam(t, w, agents, func(*crawler.Options) {})
			if r.Stopped != crawler.StopEmpty || r.Counts.States["ok"] != r.Counts.Pages || r.Hosts != 11 {
				t.Errorf("%d agents: %+v", agents, r)
			}
			if agents == 1 {
				one = urls
			}
			if !slices.Equal(urls, one) || len(urls) != 143 {
				t.Errorf("%d agents found %d pages, one %d", agents, len(urls), len(one))
			}
			asked := map[string]int{}
			for _, u := range w.log {
				asked[u]++
			}
			if n := slices.Max(slices.Collect(maps.Values(asked))); n > 1 {
				t.Errorf("%d agents: a URL was asked for %d times", agents, n)
			}
		}
	})
}

// TestTeamBudget: the pages of all together are as many as are wanted, also where many links
// bring none.
func TestTeamBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, agents := range []int{1, 3, 8} {
			for _, most := range []uint64{1, 7, 50} {
				w := &teamWeb{hosts: 24, pages: 13, dead: true}
				r, _ := crawlAsTeam(t, w, agents, func(o *crawler.Options) { o.MaxPages = most })
				if want := min(most, 13); r.Counts.Pages != want { // the first host's neighbour is dead
					t.Errorf("%d agents: %d pages, want %d; %s", agents, r.Counts.Pages, want, r.Stopped)
				}
			}
		}
	})
}

// TestWhole: the limits of time and harvest are the team's too, and its progress is the sum.
func TestWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := crawlAsTeam(t, &teamWeb{hosts: 20, pages: 100}, 3, func(o *crawler.Options) { o.MinHarvest = .9 })
		if r.Stopped != crawler.StopMinHarvest || r.Counts.Pages > 1500 || r.Next.Pages == 0 {
			t.Errorf("min harvest: %d pages, %s, %+v", r.Counts.Pages, r.Stopped, r.Next)
		}
		var last crawler.Progress
		r, _ = crawlAsTeam(t, &teamWeb{hosts: 40, pages: 400}, 3, func(o *crawler.Options) {
			o.MaxTime, o.Progress = 2*time.Second, func(p crawler.Progress) { last = p }
		})
		if r.Stopped != crawler.StopMaxTime || r.Counts.Elapsed < 2*time.Second || r.Counts.Elapsed > 9*time.Second || last.Counts.Pages == 0 || last.Counts.Pages > r.Counts.Pages || last.Next.Pages == 0 {
			t.Errorf("max time: %+v; last seen %+v", r, last)
		}
	})
}

// TestTeamDuplicates: a page that several agents have stored is with one of them in the end, as
// where there is one agent; and the budget is spent on others.
func TestTeamDuplicates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const contents = 11*7 + 6
		for _, agents := range []int{1, 2, 5} {
			for _, most := range []uint64{0, 60} {
				r, urls := crawlAsTeam(t, &teamWeb{hosts: 11, pages: 13, mirrors: true}, agents, func(o *crawler.Options) { o.MaxPages = most })
				seen := map[string]bool{}
				for _, u := range urls {
					if path := page.Path(u); (path[len(path)-1]-'0')%2 == 1 {
						u = path
					}
					seen[u] = true
				}
				want := contents
				if most > 0 {
					want = int(most)
				}
				if len(urls) != want || len(seen) != want {
					t.Errorf("%d agents, at most %d: %d pages with %d contents, want %d", agents, most, len(urls), len(seen), want)
				}
				if dropped := r.Counts.Dropped; (dropped > 0) != (agents > 1) {
					t.Errorf("%d agents: %d pages dropped", agents, dropped)
				}
			}
		}
	})
}
