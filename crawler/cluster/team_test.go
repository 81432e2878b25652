package cluster

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fossick/crawler"
	"fossick/crawler/fetch"
	"fossick/internal/page"
	"fossick/internal/testkit"
	"fossick/store"
)

// crawlAsTeam crawls a web with so many agents.
func crawlAsTeam(t *testing.T, w *web, agents int, set func(*crawler.Options)) (crawler.Result, []string) {
	t.Helper()
	w.took = 20 * time.Millisecond
	var all []crawler.Options
	for range agents {
		o := crawlOf(t, storeOf(t, ""), w, gold{})
		set(&o)
		all = append(all, o)
	}
	var err error
	var team *Team
	var whole interface {
		Run(ctx context.Context) (crawler.Result, error)
	}
	if len(all) == 1 {
		whole, err = crawler.New(all[0])
	} else {
		team, err = NewTeam(all)
		whole = team
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
		for p := range testkit.All(t, o.Store.Pages()) {
			urls = append(urls, p.URL)
		}
		if problems, err := o.Store.Verify(t.Context()); err != nil || len(problems) > 0 {
			t.Errorf("%v, %v", problems, err)
		}
	}
	if team != nil {
		judgeStatus(t, team.Status(), all, r.Counts)
	}
	slices.Sort(urls)
	if len(urls) != int(r.Counts.Pages) || len(slices.Compact(slices.Clone(urls))) != len(urls) {
		t.Errorf("%d pages are counted, %d stored: %v", r.Counts.Pages, len(urls), urls)
	}
	return r, urls
}

// judgeStatus: the reports of agents add up to what their stores hold, and each page is with its owner.
func judgeStatus(t *testing.T, s Status, all []crawler.Options, sum store.Counts) {
	t.Helper()
	if len(s.Agents) != len(all) || s.Partitions != partitions {
		t.Fatalf("%d agents own %d partitions, want %d and all", len(s.Agents), s.Partitions, len(all))
	}
	for i, one := range s.Agents {
		n, err := all[i].Store.Counts()
		if err != nil || one.Report.Pages != int64(n.Pages) || one.Report.Relevant != int64(n.Relevant) {
			t.Errorf("agent %s reports %d pages, %d on topic; its store has %d and %d, %v", one.ID, one.Report.Pages, one.Report.Relevant, n.Pages, n.Relevant, err)
		}
		sum.Pages, sum.Relevant = sum.Pages-n.Pages, sum.Relevant-n.Relevant
		for p, err := range all[i].Store.Pages() {
			if id, part := s.Owner(p.URL); err != nil || id != one.ID {
				t.Errorf("%s: %s owns partition %d, and %s has the page; %v", p.URL, id, part, one.ID, err)
			}
		}
	}
	if sum.Pages != 0 || sum.Relevant != 0 {
		t.Errorf("the sum is off by %d pages, %d on topic", sum.Pages, sum.Relevant)
	}
}

// TestDrained: any number of agents find the same pages, and request each once.
func TestDrained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var one []string
		for _, agents := range []int{1, 2, 5} {
			w := &web{sites: 11, pages: 13}
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
			for _, a := range w.log {
				asked[a.url]++
			}
			if n := slices.Max(slices.Collect(maps.Values(asked))); n > 1 {
				t.Errorf("%d agents: a URL was asked for %d times", agents, n)
			}
		}
	})
}

// TestTeamBudget: the team stores as many pages as wanted, even if many links fail.
func TestTeamBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, agents := range []int{1, 3, 8} {
			for _, most := range []uint64{1, 7, 50} {
				w := &web{sites: 24, pages: 13, dead: true}
				r, _ := crawlAsTeam(t, w, agents, func(o *crawler.Options) { o.MaxPages = most })
				if want := min(most, 13); r.Counts.Pages != want { // the first host's neighbour is dead
					t.Errorf("%d agents: %d pages, want %d; %s", agents, r.Counts.Pages, want, r.Stopped)
				}
			}
		}
	})
}

// TestWhole: the limits of time and harvest hold for the whole team, and its progress is the sum.
func TestWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := crawlAsTeam(t, &web{sites: 20, pages: 100}, 3, func(o *crawler.Options) { o.MinHarvest = .9 })
		if r.Stopped != crawler.StopMinHarvest || r.Counts.Pages > 1500 || r.Next.Pages == 0 {
			t.Errorf("min harvest: %d pages, %s, %+v", r.Counts.Pages, r.Stopped, r.Next)
		}
		var last crawler.Progress
		r, _ = crawlAsTeam(t, &web{sites: 40, pages: 400}, 3, func(o *crawler.Options) {
			o.MaxTime, o.Progress = 2*time.Second, func(p crawler.Progress) { last = p }
		})
		if r.Stopped != crawler.StopMaxTime || r.Counts.Elapsed < 2*time.Second || r.Counts.Elapsed > 9*time.Second || last.Counts.Pages == 0 || last.Counts.Pages > r.Counts.Pages || last.Next.Pages == 0 {
			t.Errorf("max time: %+v; last seen %+v", r, last)
		}
	})
}

// TestTeamDuplicates: of duplicates stored by several agents only one remains, as with one agent,
// and the budget is spent on other pages.
func TestTeamDuplicates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const contents = 11*7 + 6
		for _, agents := range []int{1, 2, 5} {
			for _, most := range []uint64{0, 60} {
				r, urls := crawlAsTeam(t, &web{sites: 11, pages: 13, mirrors: true}, agents, func(o *crawler.Options) { o.MaxPages = most })
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

// worths is a web whose links reveal what their targets are worth. The pages of the first host
// are worth most, those of later hosts less.
type worths struct {
	hosts, pages int
	asked        *askedAtOnce
}

// askedAtOnce counts present and peak concurrent requests.
type askedAtOnce struct{ now, most atomic.Int64 }

func (a *askedAtOnce) begin() {
	n := a.now.Add(1)
	for most := a.most.Load(); n > most && !a.most.CompareAndSwap(most, n); most = a.most.Load() {
	}
}

func (w worths) worth(h, p int) float64 {
	return float64((p*7919+h*104729)%1000) / 1000 / float64(1+h%8)
}

func (w worths) Resolve(_ context.Context, host string) (netip.Addr, error) {
	sum := store.HashURL(host)
	return netip.AddrFrom4([4]byte{203, sum[0], sum[1], sum[2]}), nil
}

func (w worths) Fetch(_ context.Context, req fetch.Request) *fetch.Response {
	r := &fetch.Response{URL: req.URL, Start: time.Now(), Header: http.Header{}}
	w.asked.begin()
	defer w.asked.now.Add(-1)
	time.Sleep(5 * time.Millisecond)
	r.Took = time.Since(r.Start)
	var h, p int
	if n, _ := fmt.Sscanf(req.URL, "http://s%d.test/%d", &h, &p); n < 2 {
		r.State, r.Code = fetch.StateCode, 404
		return r
	}
	r.State, r.Code, r.ContentType = fetch.StateOK, 200, "text/html"
	r.Body = fmt.Appendf(nil, "<title>%d of %d</title>", p, h)
	for i := range 12 {
		to, at := (h*5+p+i*3)%w.hosts, (p*13+i*29+1)%w.pages
		r.Body = fmt.Appendf(r.Body, `<a href="http://s%d.test/%d">%g</a> `, to, at, w.worth(to, at))
	}
	return r
}

// told scores pages and links by their true worth.
type told struct{ worths }

func (t told) ScorePage(p *page.Page, _ float64) crawler.Score {
	var h, n int
	_, _ = fmt.Sscanf(p.URL, "http://s%d.test/%d", &h, &n)
	return crawler.Score{Value: t.worth(h, n), Relevant: true}
}

func (t told) ScoreLinks(dst []float64, p *page.Page, _ crawler.Score) []float64 {
	for _, l := range p.Links {
		x, _ := strconv.ParseFloat(l.Anchor, 64)
		dst = append(dst, x)
	}
	return dst
}

// bestOf returns the total worth of the pages that so many agents crawl.
func bestOf(t *testing.T, agents int, rest time.Duration, patience float64) (sum float64) {
	const workers = 16
	w := worths{64, 400, new(askedAtOnce)}
	var last crawler.Progress
	waits := false
	r, urls := crawlAsTeam(t, &web{}, agents, func(o *crawler.Options) {
		o.Fetcher, o.Scorer, o.MaxPages, o.Workers = w, told{w}, 300, workers
		o.Patience, o.Delay.Rest = patience, rest
		o.Progress = func(p crawler.Progress) {
			last = p
			waits = waits || p.Patience != nil && p.Patience.Waits && p.Patience.Price > p.Patience.Free && p.Patience.Hosts > 0
		}
	})
	if mayWait := rest > 0 && patience != 1; waits != mayWait || (last.Patience != nil) != mayWait || mayWait && last.Patience.Held < rest {
		t.Errorf("a crawl that may wait (%v) tells of %+v", mayWait, last.Patience)
	}
	if slices.Max(last.Turns.Within[:]) == 0 {
		t.Error("no turns of the agents are told")
	}
	for _, u := range urls {
		var h, p int
		_, _ = fmt.Sscanf(u, "http://s%d.test/%d", &h, &p)
		sum += w.worth(h, p)
	}
	if most := w.asked.most.Load(); most > workers {
		t.Errorf("%d agents askedAtOnce %d hosts at a time by %d workers", agents, most, workers)
	}
	t.Logf("%d agents, rests of %v, patience %g: %.1f in %v", agents, rest, patience, sum, r.Counts.Elapsed)
	return sum
}

// TestBestFirst: eight agents' pages are worth as much as one agent's, though the hosts of some
// have little.
func TestBestFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, eight := bestOf(t, 1, 0, 0), bestOf(t, 8, 0, 0)
		if eight < one {
			t.Errorf("the pages of eight agents are worth %.1f, those of one %.1f", eight, one)
		}
	})
}

// TestPatience: when hosts rest, agents wait for better links of any agent.
func TestPatience(t *testing.T) {
	testkit.Only(t, "seconds of processor time")
	synctest.Test(t, func(t *testing.T) {
		greedy, waits := bestOf(t, 8, time.Second, 1), bestOf(t, 8, time.Second, 0)
		if waits < 1.3*greedy {
			t.Errorf("the pages of eight agents that wait are worth %.1f, of those that do not %.1f", waits, greedy)
		}
	})
}

// marked is gold that records people's labels.
type marked struct {
	gold
	mu   sync.Mutex // guards said
	said map[string]string
}

func (*marked) Rescore(uint64) (float64, bool) { return 0, false }

func (m *marked) Mark(marks []crawler.Marked) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range marks {
		m.said[l.URL] = fmt.Sprintf("%v of %s", l.OnTopic, l.Page.Title)
	}
}

// TestLabels: a label given at one agent reaches all with its page, also after a resume.
func TestLabels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stores := []*store.Store{storeOf(t, ""), storeOf(t, ""), storeOf(t, "")}
		var url, want string
		for session := range 2 {
			var all []crawler.Options
			var scorers []*marked
			for _, s := range stores {
				scorers = append(scorers, &marked{said: map[string]string{}})
				opt := crawlOf(t, s, &web{sites: 11, pages: 100, took: 20 * time.Millisecond}, scorers[len(scorers)-1])
				opt.Delay.Rest = 100 * time.Millisecond
				all = append(all, opt)
			}
			team := testkit.Call(NewTeam(all)).Must(t)
			ctx, stop := context.WithCancel(t.Context())
			done := make(chan error)
			go func() {
				_, err := team.Run(ctx)
				done <- err
			}()
			time.Sleep(4 * time.Second)
			if session == 0 {
				url, want = labelOne(t, team, stores)
				time.Sleep(3 * time.Second)
			}
			stop()
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			for i, s := range scorers {
				if s.said[url] != want {
					t.Errorf("session %d: agent %d was told of %s: %q, want %q", session, i, url, s.said[url], want)
				}
			}
		}
	})
}

// labelOne labels a stored page as on topic, at the agent that has it.
func labelOne(t *testing.T, team *Team, stores []*store.Store) (url, said string) {
	for i, engine := range team.Engines() {
		for p := range testkit.All(t, stores[i].Pages()) {
			testkit.Call(engine.Mark(t.Context(), []crawler.Mark{{URL: p.URL, OnTopic: true}})).Must(t)
			return p.URL, "true of " + p.Title
		}
	}
	t.Fatal("nothing is stored")
	return "", ""
}

func TestDivide(t *testing.T) {
	none := math.Inf(-1)
	to := func(pages uint64, price float64, workers int) crawler.Allowance {
		return crawler.Allowance{Pages: pages, Price: price, Workers: workers}
	}
	for _, c := range []struct {
		name           string
		left           uint64
		workers, ahead int
		reports        []standing
		want           []crawler.Allowance
	}{
		{"the better links get the pages", 100, 2, 3,
			[]standing{{spent: 5, head: []float64{.9, .8, .7}}, {spent: 7, head: []float64{.75, .1}}},
			[]crawler.Allowance{to(9, .75, 2), to(9, .75, 0)}},
		{"no more than are left", 1, 4, 10,
			[]standing{{head: []float64{.2}}, {head: []float64{.3, .1}}},
			[]crawler.Allowance{to(0, none, 2), to(1, none, 2)}},
		{"nothing is left", 0, 4, 10,
			[]standing{{spent: 3, head: []float64{.2}}},
			[]crawler.Allowance{to(3, none, 4)}},
		{"too few links: no price, the rest to all", 100, 4, 4,
			[]standing{{head: []float64{.2}}, {}, {}},
			[]crawler.Allowance{to(3, none, 2), to(1, none, 1), to(1, none, 1)}},
		{"who is busy has that many workers, and the price is for those that are free", 100, 4, 0,
			[]standing{{spent: 5, busy: 2, head: []float64{.9, .8}}, {spent: 7, busy: 1, head: []float64{.85, .1}}},
			[]crawler.Allowance{to(9, .85, 3), to(11, .85, 1)}},
		{"no worker is free", 100, 2, 0,
			[]standing{{spent: 5, busy: 2, head: []float64{.5}}, {spent: 7, head: []float64{.9}}},
			[]crawler.Allowance{to(7, .9, 2), to(9, .9, 0)}},
		{"equal links by turns", 100, 4, 2,
			[]standing{{head: []float64{.5, .5, .5, .5}}, {head: []float64{.5, .5, .5, .5}}},
			[]crawler.Allowance{to(4, .5, 2), to(4, .5, 2)}},
	} {
		if got := divide(c.left, c.workers, c.ahead, c.reports); !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// TestDivideAtRandom: the shares never exceed the rest, and admit the links that one queue would
// give first.
func TestDivideAtRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 20))
	for range 2000 {
		reports := make([]standing, 1+rng.IntN(8))
		var all []float64
		busy := 0
		for i := range reports {
			reports[i].spent, reports[i].busy = rng.Uint64N(100), rng.IntN(4)
			busy += reports[i].busy
			for range rng.IntN(20) {
				reports[i].head = append(reports[i].head, math.Round(10*rng.Float64())/10)
			}
			slices.SortFunc(reports[i].head, func(a, b float64) int { return int(20 * (b - a)) })
			all = append(all, reports[i].head...)
		}
		left, workers, ahead := rng.Uint64N(60), 1+rng.IntN(16), rng.IntN(50)
		given, n, may := uint64(0), min(int(left), max(ahead, workers)), 0
		for i, s := range divide(left, workers, ahead, reports) {
			if s.Pages < reports[i].spent || s.Workers < reports[i].busy {
				t.Fatalf("%+v for %+v", s, reports[i])
			}
			given += s.Pages - reports[i].spent
			may += s.Workers
			slices.Sort(all)
			if k := max(ahead, max(0, workers-busy)+workers/spareShare, 1); len(all) > k && s.Price != all[len(all)-k] {
				t.Fatalf("price %g of %v for %d", s.Price, all, k)
			}
		}
		if may != max(workers, busy) {
			t.Fatalf("%d of %d workers given, %d busy", may, workers, busy)
		}
		want := min(left, uint64(min(n, len(all))+max(ahead, workers)))
		if given != want {
			t.Fatalf("%d pages given, want %d", given, want)
		}
	}
}
