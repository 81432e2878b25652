package crawler

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fossick/crawler/fetch"
	"fossick/internal/page"
	"fossick/internal/testkit"
	"fossick/store"
)

// team is the agents of one crawl, with an exchange that loses and repeats messages.
type team struct {
	t      *testing.T
	agents []*member

	mu     sync.Mutex     // guards the rest
	owner  map[uint16]int // by part; negative while the part is under way to an agent
	lapsed bool           // no agent has a lease
	said   [][]byte       // messages about duplicates, for all agents
	rng    *rand.Rand
}

// member is an agent with its view of the owners of the parts.
type member struct {
	alone
	*Agent
	opt    *Options
	team   *team
	number int
	done   chan Result
	dead   bool
}

func (m *member) Part(url string) (part uint16) {
	_, _ = fmt.Sscanf(page.HostName(url), "h%d.test", &part)
	return part
}

// PartOf spreads contents over the parts.
func (m *member) PartOf(checksum []byte) uint16 {
	m.team.mu.Lock()
	defer m.team.mu.Unlock()
	return uint16(int(checksum[0]) % len(m.team.owner))
}

func (m *member) Mine(part uint16) bool {
	m.team.mu.Lock()
	defer m.team.mu.Unlock()
	return m.team.owner[part] == m.number && !m.team.lapsed
}

func (m *member) Held(part uint16) bool {
	m.team.mu.Lock()
	defer m.team.mu.Unlock()
	return m.team.owner[part] == m.number
}

func (m *member) Ours(part uint16) bool {
	m.team.mu.Lock()
	defer m.team.mu.Unlock()
	return abs(m.team.owner[part]) == m.number
}

func (m *member) Repeats(duplicate []byte) {
	m.team.mu.Lock()
	defer m.team.mu.Unlock()
	m.team.said = append(m.team.said, duplicate)
}

// newTeam starts a crawl of a web by agents with a store each.
func newTeam(t *testing.T, web *fakeWeb, agents, hosts int, seeds ...string) *team {
	return newTeamWith(t, web, agents, hosts, func(*Options) {}, seeds...)
}

func newTeamWith(t *testing.T, web *fakeWeb, agents, hosts int, change func(*Options), seeds ...string) *team {
	x := &team{t: t, owner: map[uint16]int{}, rng: rand.New(rand.NewPCG(1, 20))}
	for h := range hosts {
		x.owner[uint16(h)] = h % agents
	}
	for i := range agents {
		opt := newOptions(t, web, seeds...)
		m := &member{team: x, number: i, done: make(chan Result, 1)}
		opt.Sites, opt.Workers, opt.Replicate = m, 4, true
		change(&opt)
		c := testkit.Call(New(opt)).Must(t)
		m.Agent, m.opt = AgentOf(c), &c.opt
		x.agents = append(x.agents, m)
		go func() {
			r, err := c.Run(t.Context())
			if err != nil {
				t.Error(err)
			}
			m.done <- r
		}()
		testkit.Call(m.Allow(t.Context(), Allowance{Pages: math.MaxInt32, Workers: 4})).Must(t)
	}
	return x
}

func (x *team) setOwner(part uint16, agent int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.owner[part] = agent
}

func abs(n int) int { return max(n, -n) }

// lucky returns true with probability 3/4.
func (x *team) lucky() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.rng.IntN(4) > 0
}

func (x *team) alive() []*member {
	return slices.DeleteFunc(slices.Clone(x.agents), func(m *member) bool { return m.dead })
}

// deliver carries the outboxes once, and reports whether they held anything.
func (x *team) deliver(ctx context.Context) (any bool) {
	x.mu.Lock()
	said := x.said
	x.said = nil
	x.mu.Unlock()
	any = len(said) > 0
	for _, m := range x.alive() {
		if refused, err := ReceiveDuplicates(ctx, m.Agent, said); refused != nil || err != nil {
			x.t.Fatal(refused, err)
		}
	}
	for _, m := range x.alive() {
		for part, err := range store.OutboxOf(m.opt.Store).Parts() {
			if err != nil {
				x.t.Fatal(err)
			}
			if part == store.KeeperPart {
				continue
			}
			any = true
			d := Delivery{Sender: fmt.Sprint(m.number), Part: part}
			for p, err := range store.OutboxOf(m.opt.Store).Parcels(part, 0) {
				if err != nil {
					x.t.Fatal(err)
				}
				d.Parcels = append(d.Parcels, p)
			}
			if len(d.Parcels) > 1 && !x.lucky() { // lose the first
				d.After, d.Parcels = d.Parcels[0].Number, d.Parcels[1:]
			}
			x.mu.Lock()
			to := x.agents[abs(x.owner[part])]
			x.mu.Unlock()
			taken, _, err := to.Receive(ctx, d)
			if err != nil {
				x.t.Fatal(err)
			}
			if x.lucky() { // otherwise the answer is lost
				if err := m.Trim(ctx, part, taken); err != nil {
					x.t.Fatal(err)
				}
			}
		}
	}
	return any
}

func (x *team) settle() {
	for quiet := 0; quiet < 3; {
		time.Sleep(5 * time.Second)
		synctest.Wait()
		moved := x.deliver(x.t.Context())
		for _, m := range x.alive() {
			l, err := m.Load(x.t.Context(), 1)
			if err != nil {
				x.t.Fatal(err)
			}
			moved = moved || l.Busy > 0
		}
		if quiet++; moved {
			quiet = 0
		}
	}
}

func (x *team) finish() (urls [][]string) {
	for _, m := range x.alive() {
		if err := m.Finish(x.t.Context(), StopEmpty); err != nil {
			x.t.Fatal(err)
		}
		if r := <-m.done; r.Stopped != StopEmpty && r.Stopped != StopNothing {
			x.t.Errorf("agent %d ended with %s", m.number, r.Stopped)
		}
		var pages []string
		for p, err := range m.opt.Store.Pages() {
			if err != nil {
				x.t.Fatal(err)
			}
			pages = append(pages, p.URL)
		}
		urls = append(urls, pages)
		problems, err := m.opt.Store.Verify(x.t.Context())
		if err != nil || len(problems) > 0 {
			x.t.Errorf("store of agent %d: %v, %v", m.number, problems, err)
		}
	}
	return urls
}

// TestAgents: three agents fetch what one would, once, and only a host's owner requests it.
func TestAgents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWeb{pages: manyPages(7, 8), took: 100 * time.Millisecond}
		w.pages["http://h0.test/5"] = "→http://h4.test/2"
		x := newTeam(t, w, 3, 7, "http://h0.test/0", "http://h3.test/3")
		x.settle()
		urls := x.finish()
		all := map[string]bool{}
		for agent, pages := range urls {
			for _, u := range pages {
				if all[u] {
					t.Errorf("%s is stored twice", u)
				}
				all[u] = true
				if m := x.agents[agent]; int(m.Part(u))%3 != agent {
					t.Errorf("%s is with agent %d", u, agent)
				}
			}
		}
		if len(all) != 55 {
			t.Errorf("%d pages, want 55: %v", len(all), slices.Sorted(maps.Keys(all)))
		}
		asked := w.urls()
		slices.Sort(asked)
		if again := len(asked) - len(slices.Compact(asked)); again != 0 {
			t.Errorf("%d URLs were asked for again", again)
		}
		if l := life(t, x.agents[1].opt.Store, "http://h1.test/0"); l.Via != store.ViaLink || l.FoundBy != "http://h0.test/0" || l.Depth != 1 {
			t.Errorf("%+v", l)
		}
	})
}

// TestRedirectToAnotherAgent: a URL's link scores travel with its redirect to the target's agent,
// before the page there is scored.
func TestRedirectToAnotherAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWeb{pages: map[string]string{
			"http://h0.test/": html("gold start", "http://h0.test/old"), "http://h0.test/old": "→http://h1.test/new", "http://h1.test/new": html("gold new"),
		}}
		var scorers []*follower
		x := newTeamWith(t, w, 2, 2, func(o *Options) {
			scorers = append(scorers, &follower{listener: listener{bad: map[uint64]bool{}}})
			o.Scorer = scorers[len(scorers)-1]
		}, "http://h0.test/")
		x.settle()
		x.finish()
		want := []string{fmt.Sprintf("%x leads to %x by [0.5]", 0, page.Key("http://h1.test/new")), "page http://h1.test/new"}
		if told := scorers[1].told; !slices.Equal(told, want) {
			t.Errorf("the other agent's scorer was told %q, want %q", told, want)
		}
	})
}

// TestLapse: agents without a lease request nothing, and lose neither URLs nor hosts.
func TestLapse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWeb{pages: manyPages(2, 40), took: 100 * time.Millisecond}
		for h := range 2 {
			w.pages[fmt.Sprintf("http://h%d.test/robots.txt", h)] = fmt.Sprintf("→http://h%d.test/rules.txt", h)
			w.pages[fmt.Sprintf("http://h%d.test/rules.txt", h)] = "User-agent: nobody"
		}
		x := newTeam(t, w, 2, 2, "http://h0.test/0", "http://h1.test/0")
		lapse := func(lapsed bool) (asked int) {
			x.mu.Lock()
			x.lapsed = lapsed
			x.mu.Unlock()
			w.mu.Lock()
			defer w.mu.Unlock()
			return len(w.log)
		}
		for range 10 { // the first while robots.txt is requested
			time.Sleep(50 * time.Millisecond)
			lapse(true)
			time.Sleep(time.Second)
			before := lapse(true)
			time.Sleep(20 * time.Second)
			if after := lapse(false); after != before {
				t.Errorf("%d requests without a lease", after-before)
			}
			time.Sleep(2 * time.Second)
		}
		x.settle()
		if pages := slices.Concat(x.finish()...); len(pages) != 80 {
			t.Errorf("%d pages, want 80", len(pages))
		}
	})
}

// TestToldMeanwhile: a URL in flight here that another agent reports as requested ends once.
func TestToldMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWeb{pages: manyPages(2, 5), took: 2 * time.Second}
		begun := make(chan struct{})
		w.asked = func(url string) {
			if url == "http://h0.test/0" {
				close(begun)
			}
		}
		x := newTeam(t, w, 2, 2, "http://h0.test/0", "http://h1.test/0")
		<-begun
		told := Parcel{Known: []knownURL{{URL: "http://h0.test/0", Via: store.ViaSeed, State: "ok"}}}
		data := told.Pack()
		if _, _, err := x.agents[0].Receive(t.Context(), Delivery{Sender: "1", Part: 0, Parcels: []store.Parcel{{Number: 1, Data: data}}}); err != nil {
			t.Fatal(err)
		}
		if slices.Contains(w.urls(), "http://h0.test/0") {
			t.Fatal("the page came before it was told of")
		}
		x.settle()
		if pages := slices.Concat(x.finish()...); len(pages) != 10 {
			t.Errorf("%d pages, want 10", len(pages))
		}
	})
}

// TestHandOver: a part's new owner waits until the former one is done and a full delay has
// passed.
func TestHandOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWeb{pages: manyPages(2, 40), took: 100 * time.Millisecond}
		x := newTeam(t, w, 2, 2, "http://h0.test/0", "http://h1.test/0")
		time.Sleep(2 * time.Second)
		x.setOwner(0, -1)
		for {
			n := testkit.Call(x.agents[0].UnderWay(t.Context())).Must(t)
			if n == 0 {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		w.mu.Lock()
		before := len(w.log)
		w.mu.Unlock()
		testkit.Must(t, x.agents[0].HandOver(t.Context(), []uint16{0}))
		for x.deliver(t.Context()) {
		}
		x.setOwner(0, 1)
		testkit.Must(t, x.agents[1].Gain(t.Context(), func(part uint16) bool { return part == 0 }))
		gained := time.Now()
		x.settle()
		x.finish()
		w.mu.Lock()
		defer w.mu.Unlock()
		if before == 0 || before > 60 {
			t.Errorf("%d exchanges before", before)
		}
		last := map[string]time.Time{}
		for _, s := range w.log {
			if s.start.Before(last[s.host]) {
				t.Errorf("%s was asked while another exchange went on", s.url)
			}
			if s.host == "h0.test:80" && s.end.After(gained) && s.start.Before(gained.Add(x.agents[1].opt.Delay.Load(0))) {
				t.Errorf("%s was asked too early", s.url)
			}
			last[s.host] = s.end
		}
		if n := len(w.log) - before; n < 10 {
			t.Errorf("%d exchanges afterwards", n)
		}
		again := map[string]int{}
		for _, s := range w.log {
			again[s.url]++
		}
		for u, n := range again {
			if n > 1 && !strings.HasSuffix(u, "/robots.txt") {
				t.Errorf("%s was asked for %d times", u, n)
			}
		}
		if len(again) != 82 {
			t.Errorf("%d URLs were asked for, want 82", len(again))
		}
	})
}

// TestLostOnTheWay: an agent dies after a hand-over, with the parcels under way. Its keeper tells
// the new owner of the site and then of the lost pages.
func TestLostOnTheWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTeam(t, &fakeWeb{pages: manyPages(2, 20), took: 100 * time.Millisecond}, 3, 2, "http://h0.test/0", "http://h1.test/0")
		time.Sleep(2 * time.Second)
		x.setOwner(0, -1)
		time.Sleep(time.Second) // until nothing is in flight there
		synctest.Wait()
		dead := x.agents[0]
		testkit.Must(t, dead.HandOver(t.Context(), []uint16{0}))
		replica := x.replicaOf(0)
		had := testkit.Call(replica.Counts()).Must(t)
		x.setOwner(0, 1)
		testkit.Must(t, dead.Finish(t.Context(), StopInterrupted))
		<-dead.done
		dead.dead = true
		testkit.Must(t, x.agents[2].Adopt(t.Context(), replica, nil))
		for x.deliver(t.Context()) {
		}
		testkit.Must(t, x.agents[1].Gain(t.Context(), func(part uint16) bool { return part == 0 }))
		x.settle()
		pages := x.finish()[0]
		counts := testkit.Call(x.agents[1].opt.Store.Counts()).Must(t)
		lost := counts.States[StateLost]
		if lost != had.Pages || had.Pages < 2 || len(pages)+int(lost) != 40 {
			t.Errorf("%d pages were stored by the dead, %d are told as lost; %d are stored by the heir, of 40", had.Pages, lost, len(pages))
		}
	})
}

// TestRestsGoAlong: a long rest of a host also binds its next agent.
func TestRestsGoAlong(t *testing.T) {
	for name, dead := range map[string]bool{"handed over": false, "adopted": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &fakeWeb{pages: manyPages(2, 40), took: 100 * time.Millisecond, fail: map[string][]fetch.Response{
					"http://h0.test/0": {{State: fetch.StateCode, Code: 503, RetryAfter: 10 * time.Minute}},
				}}
				x := newTeam(t, w, 2, 2, "http://h0.test/0", "http://h1.test/0")
				time.Sleep(2 * time.Second)
				asked := time.Now()
				x.setOwner(0, -1)
				if dead {
					testkit.Must(t, x.agents[1].Adopt(t.Context(), x.replicaOf(0), []uint16{0}))
				} else if err := x.agents[0].HandOver(t.Context(), []uint16{0}); err != nil {
					t.Fatal(err)
				}
				for x.deliver(t.Context()) {
				}
				x.setOwner(0, 1)
				testkit.Must(t, x.agents[1].Gain(t.Context(), func(part uint16) bool { return part == 0 }))
				for range 12 {
					time.Sleep(time.Minute)
					x.deliver(t.Context())
				}
				x.settle()
				x.finish()
				w.mu.Lock()
				defer w.mu.Unlock()
				n := 0
				for _, s := range w.log {
					if s.host != "h0.test:80" || s.start.Before(asked) {
						continue
					}
					n++
					if rested := s.start.Sub(asked); rested < 9*time.Minute {
						t.Errorf("%s was asked after %v", s.url, rested)
					}
				}
				if n < 40 {
					t.Errorf("%d requests", n)
				}
			})
		})
	}
}

// TestAllowance: an agent keeps its page limit and takes no link below the price.
func TestAllowance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWeb{pages: map[string]string{}, took: 100 * time.Millisecond}
		var seeds []string
		for i := range 20 {
			link := fmt.Sprintf("http://h0.test/below%d", i)
			seeds = append(seeds, fmt.Sprintf("http://h0.test/%d", i))
			w.pages[seeds[i]], w.pages[link] = html(fmt.Sprintf("page %d", i), link), html(fmt.Sprintf("other %d", i))
		}
		x := newTeam(t, w, 1, 1, seeds...)
		m := x.agents[0]
		for _, c := range []struct {
			allow Allowance
			want  int
		}{
			{Allowance{Pages: 7}, 7}, {Allowance{Pages: 7}, 7}, {Allowance{Pages: 12, Price: .9}, 12}, {Allowance{Pages: 100, Price: .9}, 20}, {Allowance{Pages: 100}, 40},
		} {
			c.allow.Workers = 4
			if most, err := m.Allow(t.Context(), c.allow); err != nil || most != c.allow {
				t.Fatal(most, err)
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			l := testkit.Call(m.Load(t.Context(), 64)).Must(t)
			if int(l.Counts.Pages) != c.want || l.Busy != 0 || len(l.Head) != min(1, l.Waiting) || !slices.IsSortedFunc(l.Head, func(a, b float64) int { return strings.Compare(fmt.Sprint(b), fmt.Sprint(a)) }) {
				t.Errorf("%+v: %d pages, want %d; %d waiting, %d under way, head %v", c.allow, l.Counts.Pages, c.want, l.Waiting, l.Busy, l.Head)
			}
		}
		x.finish()
	})
}

// sharedLearner is a scorer whose links gain once another agent has shared what it learned.
type sharedLearner struct {
	Scorer
	told atomic.Bool
}

func (h *sharedLearner) Rescore(uint64) (float64, bool) {
	return map[bool]float64{true: .95, false: .5}[h.told.Load()], true
}
func (*sharedLearner) Share(func(string) bool) {}
func (*sharedLearner) Lesson() []byte          { return nil }
func (*sharedLearner) Lessons() [][]byte       { return nil }

func (h *sharedLearner) Learn([]byte) (pages uint64, err error) {
	h.told.Store(true)
	return 50, nil
}

// TestHearsWhileItWaits: an agent with all links below the price still rescores them.
func TestHearsWhileItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWeb{pages: map[string]string{"http://h0.test/": html("page", "http://h0.test/link"), "http://h0.test/link": html("other")}}
		x := newTeamWith(t, w, 1, 1, func(o *Options) { o.Scorer = &sharedLearner{Scorer: o.Scorer} }, "http://h0.test/")
		m := x.agents[0]
		testkit.Call(m.Allow(t.Context(), Allowance{Pages: 100, Workers: 4, Price: .9})).Must(t)
		for _, want := range []float64{.3, .95} {
			time.Sleep(time.Minute)
			synctest.Wait()
			if l, err := m.Load(t.Context(), 1); err != nil || l.Counts.Pages != 1 || len(l.Head) != 1 || l.Head[0] != want {
				t.Errorf("%d pages, the best that waits %v, want %g; %v", l.Counts.Pages, l.Head, want, err)
			}
			testkit.Must(t, m.Learn(nil))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if l, err := m.Load(t.Context(), 1); err != nil || l.Counts.Pages != 2 {
			t.Errorf("%d pages at last, want 2; %v", l.Counts.Pages, err)
		}
		x.finish()
	})
}

// TestStandsBelowTheOthers: the journal keeps the price of links skipped for other agents' links.
func TestStandsBelowTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWeb{pages: map[string]string{"http://h0.test/": html("page", "http://h0.test/link"), "http://h0.test/link": html("other")}}
		x := newTeamWith(t, w, 1, 1, func(o *Options) {
			o.Patience, o.Delay = 3, Delay{Fixed: true, Rest: time.Second}
		}, "http://h0.test/")
		m := x.agents[0]
		testkit.Call(m.Allow(t.Context(), Allowance{Pages: 100, Workers: 4, Price: .9})).Must(t)
		time.Sleep(10 * time.Second)
		if s, err := m.crawl.Standing(t.Context(), "http://h0.test/link"); err != nil || s == nil || s.Price != .9 || s.Wait == nil || !s.Wait.Refused || s.Wait.Price != .9 || s.Wait.Hosts != 0 {
			t.Errorf("%+v, %v; want it left for a price of .9", s, err)
		}
		synctest.Wait() // Progress must not be called while Run works
		if p := m.crawl.Progress().Patience; p == nil || p.Price != .9 {
			t.Errorf("the progress tells of %+v, want a price of .9", p)
		}
		x.finish()
	})
}

// TestAdopt: the heir of a dead agent repeats only requests made after the replica's last change.
// Lost pages are reported, or fetched again.
func TestAdopt(t *testing.T) {
	for name, refetch := range map[string]bool{"lost pages are told": false, "and asked for again": true} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { adopt(t, refetch) }) })
	}
}

func adopt(t *testing.T, refetch bool) {
	w := &fakeWeb{pages: manyPages(3, 40), took: 100 * time.Millisecond}
	x := newTeamWith(t, w, 2, 2, func(o *Options) { o.RefetchLost = refetch }, "http://h0.test/0", "http://h1.test/0")
	x.setOwner(2, 0)
	dead := x.agents[0]
	replica := x.replicaOf(0)
	follow := func() {
		var all []store.Parcel
		for p := range testkit.All(t, store.OutboxOf(dead.opt.Store).Parcels(store.KeeperPart, 0)) {
			all = append(all, p)
		}
		n := testkit.Call(store.ReplicaIn(replica).Apply(0, all)).Must(t)
		testkit.Must(t, dead.TrimChanges(t.Context(), n))
	}
	for range 4 {
		time.Sleep(500 * time.Millisecond)
		synctest.Wait()
		x.deliver(t.Context())
		follow()
	}
	w.mu.Lock()
	before := len(w.log)
	w.mu.Unlock()
	time.Sleep(300 * time.Millisecond) // commits from now on are lost
	x.mu.Lock()
	x.owner[0], x.owner[2] = 1, 1
	x.mu.Unlock()
	testkit.Must(t, dead.Finish(t.Context(), StopInterrupted))
	<-dead.done
	testkit.Must(t, x.agents[1].Adopt(t.Context(), replica, []uint16{0, 2}))
	testkit.Must(t, x.agents[1].Gain(t.Context(), func(part uint16) bool { return part != 1 }))
	dead.dead = true
	x.settle()
	pages := x.finish()[0]
	counts := testkit.Call(x.agents[1].opt.Store.Counts()).Must(t)
	if lost := counts.States[StateLost]; len(pages)+int(lost) != 120 || (lost == 0) != refetch {
		t.Errorf("%d pages, %d lost, of 120; asked for again: %v", len(pages), lost, refetch)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	early, again := map[string]bool{}, 0
	for i, s := range w.log {
		switch {
		case strings.HasSuffix(s.url, "/robots.txt"):
		case i < before:
			early[s.url] = true
		case early[s.url]:
			again++
		}
		early[s.url] = true
	}
	if again > 12 != refetch || len(early) != 123 {
		t.Errorf("%d of %d URLs were asked for again, want all of 123 and at most what 300 ms bring", again, len(early))
	}
}
