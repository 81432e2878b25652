package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fossick/crawler"
	"fossick/internal/page"
	"fossick/internal/testkit"
	"fossick/store"
)

const delay = 200 * time.Millisecond

// group is a cluster of members on one web.
type group struct {
	t    *testing.T
	web  *web
	hub  *Hub
	max  int64
	rest time.Duration // a host's crawl delay; 0: delay
	seed string        // "": the first site's first page
	all  bool          // every site has a seed

	bodies bool // replicas include pages
	none   bool // no replicas

	scorer   func(id string) crawler.Scorer // nil: alike
	exchange func(Exchange) Exchange        // wraps an exchange; nil: does not

	stores  map[string]*store.Store
	members map[string]*Member
	wires   map[string]*cable
	stops   map[string]context.CancelFunc
	done    map[string]chan crawler.Result
}

func newGroup(t *testing.T, w *web, max int64) *group {
	return &group{t: t, web: w, hub: NewHub(), max: max, stores: map[string]*store.Store{}, members: map[string]*Member{}, wires: map[string]*cable{},
		stops: map[string]context.CancelFunc{}, done: map[string]chan crawler.Result{}}
}

// cable is an exchange that can be cut, so that calls fail, or slow, so that messages arrive
// late.
type cable struct {
	Exchange
	cut  atomic.Bool
	slow atomic.Int64 // delay in nanoseconds
}

var errCut = errors.New("cut off")

func (w *cable) Send(ctx context.Context, to AgentID, message []byte) error {
	if w.cut.Load() {
		return errCut
	}
	if slow := time.Duration(w.slow.Load()); slow > 0 {
		time.AfterFunc(slow, func() { _ = w.Exchange.Send(context.WithoutCancel(ctx), to, message) })
		return nil
	}
	return w.Exchange.Send(ctx, to, message)
}

func (w *cable) Swap(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	if w.cut.Load() {
		return 0, errCut
	}
	return w.Exchange.Swap(ctx, key, value, revision)
}

func (w *cable) Values(ctx context.Context, keys ...string) (map[string]Value, error) {
	if w.cut.Load() {
		return nil, errCut
	}
	return w.Exchange.Values(ctx, keys...)
}

// start starts an agent, new or stopped before.
func (g *group) start(id string, fresh bool) {
	g.t.Helper()
	exchange, err := g.hub.Open(AgentID(id))
	if err != nil {
		g.t.Fatal(err)
	}
	g.wires[id] = &cable{Exchange: exchange}
	exchange = g.wires[id]
	if g.exchange != nil {
		exchange = g.exchange(exchange)
	}
	var scorer crawler.Scorer = alike{}
	if g.scorer != nil {
		scorer = g.scorer(id)
	}
	if g.stores[id] == nil {
		g.stores[id] = storeOf(g.t, id)
	}
	opt := crawlOf(g.t, g.stores[id], g.web, scorer)
	opt.Seeds[0] = cmp.Or(g.seed, opt.Seeds[0])
	for i := 1; i < g.web.sites && g.all; i++ {
		opt.Seeds = append(opt.Seeds, fmt.Sprintf("http://s%d.test/0", i))
	}
	opt.MaxPages, opt.Patience, opt.Workers, opt.Replicate, opt.ReplicateBodies = uint64(g.max), 0, 4, !g.none, g.bodies
	opt.Delay.Rest = cmp.Or(g.rest, delay)
	m, err := New(opt, Protocol{ID: AgentID(id), Place: "machine:" + id, Fresh: fresh, Lease: 3 * time.Second, Longest: time.Second}, exchange)
	if err != nil {
		g.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(g.t.Context())
	g.members[id], g.stops[id], g.done[id] = m, stop, make(chan crawler.Result, 1)
	go func() {
		r, err := m.Run(ctx)
		if err != nil {
			g.t.Errorf("%s: %v", id, err)
		}
		_ = exchange.Close()
		g.done[id] <- r
	}()
}

// stop kills an agent.
func (g *group) stop(id string) {
	g.stops[id]()
	<-g.done[id]
	delete(g.members, id)
}

// wait waits for the end of the crawl. It returns the stored pages and the number of repeated
// requests.
func (g *group) wait() (pages []string, again int) {
	g.t.Helper()
	for id := range g.members {
		if r := <-g.done[id]; r.Stopped != crawler.StopEmpty && r.Stopped != crawler.StopMaxPages && r.Stopped != crawler.StopNothing {
			g.t.Errorf("%s ended with %s", id, r.Stopped)
		}
		g.stops[id]()
	}
	for _, s := range g.stores {
		for p, err := range s.Pages() {
			if err != nil {
				g.t.Fatal(err)
			}
			pages = append(pages, p.URL)
		}
		if problems, err := s.Verify(g.t.Context()); err != nil || len(problems) > 0 {
			g.t.Errorf("%v, %v", problems, err)
		}
	}
	slices.Sort(pages)
	g.web.mu.Lock()
	defer g.web.mu.Unlock()
	slices.SortFunc(g.web.log, func(a, b asked) int { return a.start.Compare(b.start) })
	last, seen := map[string]time.Time{}, map[string]bool{}
	for _, a := range g.web.log {
		if before := last[a.host]; !before.IsZero() && a.start.Sub(before) < cmp.Or(g.rest, delay) {
			g.t.Errorf("%s was asked %v after the end of the request before", a.url, a.start.Sub(before))
		}
		last[a.host] = a.end
		if seen[a.url] && page.Path(a.url) != "/robots.txt" {
			again++
		}
		seen[a.url] = true
	}
	return pages, again
}

// TestMemberLimits: a member waits for better links, and ends, by the limits of the whole crawl.
func TestMemberLimits(t *testing.T) {
	for most, waits := range map[uint64]bool{0: false, 40: true} {
		opt := crawlOf(t, storeOf(t, string(idA)), &web{}, alike{})
		opt.MaxPages, opt.Patience, opt.Delay = most, 0, crawler.Delay{}
		m := testkit.Call(New(opt, Protocol{ID: idA}, nil)).Must(t)
		if p := m.opt.Protocol; p.maxPages != int64(most) || (p.price != nil) != waits {
			t.Errorf("of %d pages: the protocol ends after %d, waits for better links: %v", most, p.maxPages, p.price != nil)
		}
	}
}

func TestMembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, &web{sites: 12, pages: 9}, 0)
		for _, id := range []string{"aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb", "cccccccccccccccc"} {
			g.start(id, true)
		}
		pages, again := g.wait()
		if len(pages) != 108 || len(slices.Compact(pages)) != 108 || again != 0 {
			t.Errorf("%d pages, %d asked for again", len(pages), again)
		}
		g.judgeReports()
	})
}

// judgeReports: at the end the exchange has what each store holds.
func (g *group) judgeReports() {
	g.t.Helper()
	reader, err := g.hub.Open("ffffffffffffffff")
	if err != nil {
		g.t.Fatal(err)
	}
	defer reader.Close()
	values, err := reader.Values(g.t.Context())
	if err != nil {
		g.t.Fatal(err)
	}
	s := StatusOf(values)
	if len(s.Agents) != len(g.stores) || s.Partitions != partitions {
		g.t.Errorf("%d agents own %d partitions", len(s.Agents), s.Partitions)
	}
	for _, one := range s.Agents {
		n, err := g.stores[string(one.ID)].Counts()
		if err != nil || one.Report.Pages != int64(n.Pages) || one.Report.Relevant != int64(n.Relevant) || one.Place != "machine:"+string(one.ID) {
			g.t.Errorf("agent %s at %s reports %d pages, %d on topic; its store has %d and %d, %v", one.ID, one.Place, one.Report.Pages, one.Report.Relevant, n.Pages, n.Relevant, err)
		}
	}
}

// TestSwiftSites: partitions move between members while many links arrive, and no discovered page
// is lost.
func TestSwiftSites(t *testing.T) {
	testkit.Only(t, "seconds of processor time; TestMembers and TestDeath have the main ways")
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, &web{sites: 30, pages: 100, took: time.Millisecond}, 0)
		g.rest = time.Millisecond
		for _, id := range []string{"aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb"} {
			g.start(id, true)
		}
		if pages, again := g.wait(); len(pages) != 3000 || again != 0 {
			t.Errorf("%d pages, want 3000; %d asked for again", len(pages), again)
		}
	})
}

// TestBudget: all members together store as many pages as wanted, here without replicas.
func TestBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, &web{sites: 12, pages: 9}, 40)
		g.none = true
		for _, id := range []string{"aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb", "cccccccccccccccc"} {
			g.start(id, true)
		}
		if pages, _ := g.wait(); len(pages) != 40 {
			t.Errorf("%d pages, want 40", len(pages))
		}
	})
}

// TestComeAndGo: one member leaves and another joins. Each page is requested once, as state moves
// with its partition.
func TestComeAndGo(t *testing.T) {
	testkit.Only(t, "seconds of processor time; TestMembers and TestDeath have the main ways")
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, &web{sites: 12, pages: 80}, 0)
		for _, id := range []string{"aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb"} {
			g.start(id, true)
		}
		time.Sleep(15 * time.Second)
		g.start("cccccccccccccccc", false)
		time.Sleep(3 * time.Second)
		g.members["aaaaaaaaaaaaaaaa"].Leave()
		<-g.done["aaaaaaaaaaaaaaaa"]
		delete(g.members, "aaaaaaaaaaaaaaaa")
		pages, again := g.wait()
		if n := len(pages); n != 960 || len(slices.Compact(pages)) != 960 || again != 0 {
			t.Errorf("%d pages, want 960; %d asked for again", n, again)
		}
		if n := g.lost(""); n > 0 {
			t.Errorf("%d pages of the member that left count as lost", n)
		}
	})
}

// TestAwaits: a member is killed while the state of its partitions is arriving, and comes back.
// It requests no seed again, though it has all seeds.
func TestAwaits(t *testing.T) {
	testkit.Only(t, "seconds of processor time; TestMembers and TestDeath have the main ways")
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, &web{sites: 24, pages: 6}, 0)
		g.all, g.rest = true, time.Second
		g.start("aaaaaaaaaaaaaaaa", true)
		time.Sleep(4 * time.Second)
		g.wires["aaaaaaaaaaaaaaaa"].slow.Store(int64(4 * time.Second))
		g.start("bbbbbbbbbbbbbbbb", false)
		b := g.members["bbbbbbbbbbbbbbbb"]
		for waited := 0; b.awaiting() == 0; waited++ {
			if waited > 600 {
				t.Fatal("it gets nothing")
			}
			time.Sleep(100 * time.Millisecond)
		}
		g.stop("bbbbbbbbbbbbbbbb")
		g.start("bbbbbbbbbbbbbbbb", false)
		time.Sleep(5 * time.Second)
		g.wires["aaaaaaaaaaaaaaaa"].slow.Store(0)
		pages, again := g.wait()
		if n := len(pages); n != 144 || len(slices.Compact(pages)) != 144 || again > 0 {
			t.Errorf("%d pages, want 144; %d asked for again", n, again)
		}
	})
}

// TestSlowHandover: a partition's state takes over a minute to arrive. No page of its sites is
// requested before.
func TestSlowHandover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, &web{sites: 24, pages: 6}, 0)
		g.all, g.none, g.rest = true, true, time.Second
		g.start("aaaaaaaaaaaaaaaa", true)
		time.Sleep(4 * time.Second)
		g.wires["aaaaaaaaaaaaaaaa"].slow.Store(int64(4 * time.Minute))
		g.start("bbbbbbbbbbbbbbbb", false)
		time.Sleep(3 * time.Minute)
		if g.members["bbbbbbbbbbbbbbbb"].awaiting() == 0 {
			t.Error("it waits for nothing")
		}
		g.wires["aaaaaaaaaaaaaaaa"].slow.Store(0)
		pages, again := g.wait()
		if n := len(pages); n != 144 || len(slices.Compact(pages)) != 144 || again > 0 {
			t.Errorf("%d pages, want 144; %d asked for again", n, again)
		}
	})
}

// TestReleaseAwaits: a release waits for the previous owner's state, for at most a minute after
// that owner's death.
func TestReleaseAwaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &Member{handovers: handovers{arriving: map[uint16]*arriving{
			1: {stored: true, from: "a"},
			2: {stored: true, from: "a"},
			3: {stored: true},
		}}}
		for p := range partition(5) {
			m.release(p, 7)
		}
		if now := m.ready(); len(now) != 3 || slices.Contains(now, leaving{1, 7}) || slices.Contains(now, leaving{2, 7}) {
			t.Errorf("%+v may go", now)
		}
		m.stateArrived(2, "b") // an earlier owner
		if now := m.ready(); len(now) != 0 {
			t.Errorf("%+v may go", now)
		}
		m.stateArrived(2, "a")
		if now := m.ready(); len(now) != 1 || now[0] != (leaving{2, 7}) {
			t.Errorf("%+v may go when it has come", now)
		}
		time.Sleep(10 * awaitDead)
		m.limitWaits(func(AgentID) bool { return true })
		if now := m.ready(); len(now) != 0 {
			t.Errorf("%+v may go while the owner before lives", now)
		}
		m.limitWaits(func(id AgentID) bool { return id != "a" })
		if now := m.ready(); len(now) != 0 {
			t.Errorf("%+v may go at the owner's death", now)
		}
		time.Sleep(awaitDead)
		if now := m.ready(); len(now) != 1 || now[0] != (leaving{1, 7}) {
			t.Errorf("%+v may go %v after the owner's death", now, awaitDead)
		}
	})
}

// awaiting returns how many partitions wait for their last owner's state.
func (m *Member) awaiting() (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.arriving {
		if c.stored && c.from != "" {
			n++
		}
	}
	return n
}

// TestCutOff: a member whose lease expired, but which returns before it is declared dead, loses
// no waiting URL.
func TestCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, &web{sites: 12, pages: 30, tree: true}, 0)
		for _, id := range []string{"aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb"} {
			g.start(id, true)
		}
		for range 3 {
			time.Sleep(2 * time.Second)
			g.wires["bbbbbbbbbbbbbbbb"].cut.Store(true)
			time.Sleep(3400 * time.Millisecond)
			g.wires["bbbbbbbbbbbbbbbb"].cut.Store(false)
		}
		if pages, again := g.wait(); len(pages) != 360 || again != 0 {
			t.Errorf("%d pages, want 360; %d asked for again", len(pages), again)
		}
	})
}

// TestRestart: a member that is killed and comes back loses nothing.
func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, &web{sites: 12, pages: 30}, 0)
		for _, id := range []string{"aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb"} {
			g.start(id, true)
		}
		time.Sleep(8 * time.Second)
		g.stop("bbbbbbbbbbbbbbbb")
		time.Sleep(time.Second)
		g.start("bbbbbbbbbbbbbbbb", false)
		pages, again := g.wait()
		if n := len(pages); n != 360 || len(slices.Compact(pages)) != 360 || again > 4 {
			t.Errorf("%d pages, want 360; %d asked for again", n, again)
		}
	})
}

// TestDeath: a member dies for good. Others continue from its replica: no page requested before
// its last second is requested again, and none is lost.
func TestDeath(t *testing.T) {
	for name, c := range map[string]struct {
		members []string
		at      time.Duration
		bodies  bool
		full    bool
	}{
		"of three":       {[]string{"aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb", "cccccccccccccccc"}, 8 * time.Second, false, true},
		"of three later": {[]string{"aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb", "cccccccccccccccc"}, 14300 * time.Millisecond, false, false},
		"of two":         {[]string{"aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb"}, 10 * time.Second, false, true},
		"with its pages": {[]string{"aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb"}, 14 * time.Second, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			if c.full {
				testkit.Only(t, "it is like the others")
			}
			synctest.Test(t, func(t *testing.T) {
				g := newGroup(t, &web{sites: 12, pages: 30}, 0)
				g.bodies = c.bodies
				for _, id := range c.members {
					g.start(id, true)
				}
				time.Sleep(c.at)
				g.stop("bbbbbbbbbbbbbbbb")
				g.judgeDeath(time.Now())
				g.judgeLost(c.bodies)
			})
		})
	}
}

// TestReturn: a member declared dead comes back after its partitions were given away. It keeps
// its pages and requests none of them; its replica serves when it dies again.
func TestReturn(t *testing.T) {
	testkit.Only(t, "seconds of processor time; TestMembers and TestDeath have the main ways")
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, &web{sites: 12, pages: 70}, 0)
		for _, id := range []string{"aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb", "cccccccccccccccc"} {
			g.start(id, true)
		}
		time.Sleep(8 * time.Second)
		first := time.Now()
		g.stop("bbbbbbbbbbbbbbbb")
		time.Sleep(9 * time.Second) // it counts as dead after 4.5 s
		if g.lost("bbbbbbbbbbbbbbbb") == 0 {
			t.Error("nothing is told as lost while it is away")
		}
		g.start("bbbbbbbbbbbbbbbb", false)
		time.Sleep(12 * time.Second)
		if n := g.lost("bbbbbbbbbbbbbbbb"); n > 0 {
			t.Errorf("%d pages are told as lost when it is back", n)
		}
		g.stop("bbbbbbbbbbbbbbbb")
		g.judgeDeath(first)
		g.judgeLost(false)
	})
}

// lost returns how many pages all members but one report as lost.
func (g *group) lost(but string) (n int) {
	g.t.Helper()
	synctest.Wait()
	for id, s := range g.stores {
		if id == but {
			continue
		}
		counts, err := s.Counts()
		if err != nil {
			g.t.Fatal(err)
		}
		n += int(counts.States[crawler.StateLost])
	}
	return n
}

// judgeDeath waits for the end of a crawl in which a member died. All pages must have been
// requested, and none from before its last second twice.
func (g *group) judgeDeath(killed time.Time) {
	g.t.Helper()
	_, again := g.wait()
	fetched, early := map[string]time.Time{}, 0
	for _, a := range g.web.log {
		before, twice := fetched[a.url]
		switch {
		case page.Path(a.url) == "/robots.txt":
			continue
		case twice && before.Before(killed.Add(-time.Second)):
			g.t.Errorf("%s was asked for again, %v after the first time", a.url, a.start.Sub(before))
		case !twice && a.start.Before(killed):
			early++
		}
		fetched[a.url] = a.start
	}
	if want := g.web.sites * g.web.pages; len(fetched) != want || early < 30 || again > 12 {
		g.t.Errorf("%d URLs, want %d; %d before the death, %d asked for again", len(fetched), want, early, again)
	}
	g.t.Logf("%d before the death, %d asked for again, %v in all", early, again, g.web.log[len(g.web.log)-1].end.Sub(g.web.log[0].start))
}

// judgeLost checks that each page is stored by a living member, is in the dead one's store (with
// bodies), or is reported as lost.
func (g *group) judgeLost(bodies bool) {
	g.t.Helper()
	pages, lost := map[string]bool{}, g.lost("bbbbbbbbbbbbbbbb")
	stores := []*store.Store{g.stores["aaaaaaaaaaaaaaaa"]}
	if s := g.stores["cccccccccccccccc"]; s != nil {
		stores = append(stores, s)
	}
	for _, s := range slices.Clone(stores) {
		if left := filepath.Join(s.Dir(), leftBy+"bbbbbbbbbbbbbbbb"); store.Exists(left) {
			other, err := store.Open(left)
			if err != nil {
				g.t.Fatal(err)
			}
			defer other.Close()
			if problems, err := other.Verify(g.t.Context()); err != nil || len(problems) > 0 {
				g.t.Errorf("what is left: %v, %v", problems, err)
			}
			stores = append(stores, other)
		}
	}
	for _, s := range stores {
		for p, err := range s.Pages() {
			if err != nil {
				g.t.Fatal(err)
			}
			if _, err := s.Body(p.Number); err != nil {
				g.t.Error(err)
			}
			pages[p.URL] = true
		}
	}
	if want := g.web.sites * g.web.pages; len(pages)+lost != want || (lost == 0) != bodies {
		g.t.Errorf("%d pages are stored and %d are lost, of %d; with bodies: %v", len(pages), lost, want, bodies)
	}
}
