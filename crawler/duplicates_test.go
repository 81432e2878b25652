package crawler

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"fossick/crawler/fetch"
	"fossick/internal/testkit"
	"fossick/store"
)

// mirrors is a web of hosts that share half of their pages.
type mirrors struct {
	*fakeWeb
	seeds    []string
	contents map[string][]string // URLs by content, without robots.txt
}

func newMirrors(hosts, pages int) *mirrors {
	w := &mirrors{fakeWeb: &fakeWeb{pages: map[string]string{}, took: 100 * time.Millisecond}, contents: map[string][]string{}}
	for h := range hosts {
		var links []string
		for p := range pages {
			u, text := fmt.Sprintf("http://h%d.test/%d", h, p), fmt.Sprintf("gold page %d", p)
			if p%2 == 1 {
				text += fmt.Sprintf(" of host %d", h)
			}
			w.pages[u] = html(text)
			links = append(links, u)
		}
		index := fmt.Sprintf("http://h%d.test/", h)
		w.seeds = append(w.seeds, index)
		w.pages[index] = html(fmt.Sprintf("index of host %d", h), links...)
	}
	for u, text := range w.pages {
		w.contents[text] = append(w.contents[text], u)
	}
	return w
}

// stored groups the agents' stored URLs by content.
func (w *mirrors) stored(urls [][]string) map[string][]string {
	found := map[string][]string{}
	for _, u := range slices.Concat(urls...) {
		found[w.pages[u]] = append(found[w.pages[u]], u)
	}
	return found
}

func (x *team) counts() (sum store.Counts) {
	sum.States = map[string]uint64{}
	for _, m := range x.alive() {
		c, err := m.opt.Store.Counts()
		if err != nil {
			x.t.Fatal(err)
		}
		sum.Pages += c.Pages
		sum.Dropped += c.Dropped
		sum.NearDuplicates += c.NearDuplicates
		for s, n := range c.States {
			sum.States[s] += n
		}
	}
	return sum
}

// TestDuplicatesAcross: one page of each content stays, and all pages are fetched.
func TestDuplicatesAcross(t *testing.T) {
	for seed := range uint64(testkit.Rounds(3, 20)) {
		synctest.Test(t, func(t *testing.T) {
			w := newMirrors(6, 12)
			x := newTeam(t, w.fakeWeb, 3, 6, w.seeds...)
			x.rng = rand.New(rand.NewPCG(seed, 21))
			x.settle()
			urls := x.finish()
			found := w.stored(urls)
			for text, of := range w.contents {
				if len(found[text]) != 1 {
					t.Errorf("seed %d: of %v the pages %v are stored, want one", seed, of, found[text])
				}
			}
			n := x.counts()
			if n.Pages != uint64(len(w.contents)) || n.States["ok"] != n.Pages || n.Pages+n.States["duplicate"] != uint64(len(w.pages)) || n.Dropped < 6 {
				t.Errorf("seed %d: %+v of %d pages with %d contents", seed, n, len(w.pages), len(w.contents))
			}
			dropped := 0
			for _, m := range x.agents {
				for e := range testkit.All(t, m.opt.Store.URLs().Ended(string(fetch.StateDuplicate))) {
					if e.Page == 0 {
						dropped++
						if of, _ := bytes.CutPrefix([]byte(e.Reason), []byte("same content as ")); w.pages[string(of)] != w.pages[e.URL] {
							t.Errorf("%s ended: %s", e.URL, e.Reason)
						}
					}
				}
			}
			if uint64(dropped) != n.Dropped {
				t.Errorf("%d URLs say that their page was dropped, %d pages were", dropped, n.Dropped)
			}
		})
	}
}

// TestDuplicatesAndBudget: dropped pages return their place in the budget, and no agent ever
// exceeds its allowance.
func TestDuplicatesAndBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newMirrors(2, 40)
		x := newTeamWith(t, w.fakeWeb, 2, 2, func(*Options) {}, w.seeds...)
		for _, m := range x.agents {
			testkit.Call(m.Allow(t.Context(), Allowance{Pages: 25, Workers: 4})).Must(t)
		}
		for range 100 {
			time.Sleep(time.Second)
			x.deliver(t.Context())
			for _, m := range x.agents {
				if l, err := m.Load(t.Context(), 0); err != nil || l.Spent > 25 {
					t.Fatal(l.Spent, err)
				}
			}
		}
		x.settle()
		found := w.stored(x.finish())
		n := 0
		for text, of := range found {
			if n += len(of); len(of) > 1 {
				t.Errorf("%v are stored, which all have %.40q", of, text)
			}
		}
		if dropped := x.counts().Dropped; n != 50 || dropped < 5 {
			t.Errorf("%d pages, want the 50 that are allowed; %d dropped", n, dropped)
		}
	})
}

// TestDuplicatesHandedOver: while parts change owners, one page of each content stays.
func TestDuplicatesHandedOver(t *testing.T) {
	for seed := range uint64(testkit.Rounds(3, 30)) {
		synctest.Test(t, func(t *testing.T) {
			w := newMirrors(6, 12)
			x := newTeam(t, w.fakeWeb, 3, 6, w.seeds...)
			x.rng = rand.New(rand.NewPCG(seed, 22))
			rng := rand.New(rand.NewPCG(seed, 23))
			for range 4 {
				for range 1 + rng.IntN(3) {
					time.Sleep(time.Duration(rng.IntN(4000)) * time.Millisecond)
					x.deliver(t.Context())
				}
				x.handOver(uint16(rng.IntN(6)), rng.IntN(3))
			}
			x.settle()
			found := w.stored(x.finish())
			for text, of := range w.contents {
				if len(found[text]) != 1 {
					t.Errorf("seed %d: of %v the pages %v are stored, want one", seed, of, found[text])
				}
			}
		})
	}
}

// TestDuplicatesOfBefore: duplicates are dropped from the store of a site's former agent.
func TestDuplicatesOfBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newMirrors(2, 12)
		x := newTeam(t, w.fakeWeb, 4, 12, w.seeds...)
		testkit.Call(x.agents[0].Allow(t.Context(), Allowance{})).Must(t)
		x.settle()
		x.handOver(1, 2)
		x.settle()
		x.handOver(1, 3)
		if n := x.counts(); n.Pages != 13 || n.Dropped != 0 {
			t.Fatalf("%+v", n)
		}
		testkit.Call(x.agents[0].Allow(t.Context(), Allowance{Pages: 100, Workers: 4})).Must(t)
		x.settle()
		found := w.stored(x.finish())
		for text, of := range w.contents {
			if len(found[text]) != 1 {
				t.Errorf("of %v the pages %v are stored, want one", of, found[text])
			}
		}
		if l := life(t, x.agents[1].opt.Store, "http://h1.test/2"); l.Outcome.State != string(fetch.StateDuplicate) {
			t.Errorf("where it was stored: %+v", l.Outcome)
		}
		if l := life(t, x.agents[3].opt.Store, "http://h1.test/2"); l.Outcome.Reason != AskedElsewhere("duplicate") {
			t.Errorf("where its site is: %+v", l.Outcome)
		}
	})
}

// TestContentsHandedOver: the same if only parts with contents change owners.
func TestContentsHandedOver(t *testing.T) {
	for seed := range uint64(testkit.Rounds(2, 20)) {
		for name, change := range map[string]func(x *team, rng *rand.Rand){
			"handed over": func(x *team, rng *rand.Rand) { x.handOver(uint16(6+rng.IntN(6)), 1+rng.IntN(2)) },
			"adopted":     func(x *team, rng *rand.Rand) { x.inherit(uint16(6+rng.IntN(6)), 1+rng.IntN(2)) },
		} {
			t.Run(fmt.Sprint(name, seed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newMirrors(6, 30)
					x := newTeam(t, w.fakeWeb, 3, 12, w.seeds...)
					x.rng = rand.New(rand.NewPCG(seed, 25))
					rng := rand.New(rand.NewPCG(seed, 26))
					for range 8 {
						time.Sleep(time.Duration(rng.IntN(2000)) * time.Millisecond)
						x.deliver(t.Context())
						change(x, rng)
					}
					x.settle()
					found := w.stored(x.finish())
					for text, of := range w.contents {
						if len(found[text]) != 1 {
							t.Errorf("of %v the pages %v are stored, want one", of, found[text])
						}
					}
				})
			})
		}
	}
}

// TestDuplicateRefused: only unlabelled pages with a preferred URL for their content are dropped.
func TestDuplicateRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newMirrors(2, 6)
		x := newTeam(t, w.fakeWeb, 2, 2, w.seeds[0])
		x.settle()
		a := x.agents[0]
		sum := func(u string) []byte { return life(t, a.opt.Store, u).Page.Checksum }
		testkit.Call(a.crawl.Mark(t.Context(), []Mark{{URL: "http://h0.test/5", OnTopic: true}})).Must(t)
		number := uint64(0)
		for _, c := range []struct {
			url, of, other string
			dropped        bool
		}{
			{"http://h0.test/1", "http://h0.test/2", "http://h1.test/", false},  // another content
			{"http://h0.test/1", "http://h0.test/1", "http://h1.test/1", false}, // not preferred
			{"http://h0.test/5", "http://h0.test/5", "http://h1.test/", false},  // labelled
			{"http://h0.test/9", "http://h0.test/1", "http://h1.test/", false},  // unknown
			{"http://h0.test/1", "http://h0.test/1", "http://h1.test/", true},
		} {
			number++
			p := Parcel{Contents: []content{{Say: contentDuplicate, Checksum: sum(c.of), URL: c.url, Other: c.other}}}
			data := p.Pack()
			if _, _, err := a.Receive(t.Context(), Delivery{Sender: "nobody", After: number - 1, Parcels: []store.Parcel{{Number: number, Data: data}}}); err != nil {
				t.Fatal(err)
			}
			if got := x.counts().Dropped > 0; got != c.dropped {
				t.Errorf("%+v: dropped %v", c, got)
			}
		}
		x.finish()
	})
}

// inherit gives a part to an agent from a replica of the owner's store.
func (x *team) inherit(part uint16, to int) {
	x.mu.Lock()
	from := x.owner[part]
	x.mu.Unlock()
	if from == to {
		return
	}
	replica := x.replicaOf(from)
	x.mu.Lock()
	x.owner[part] = to
	x.mu.Unlock()
	if err := x.agents[to].Adopt(x.t.Context(), replica, []uint16{part}); err != nil {
		x.t.Fatal(err)
	}
}

func (x *team) replicaOf(agent int) *store.Store {
	replica, err := store.Create(x.t.TempDir(), store.Info{})
	if err != nil {
		x.t.Fatal(err)
	}
	x.t.Cleanup(func() { _ = replica.Close() }) // a kill is no error
	var base bytes.Buffer
	number, err := store.OutboxOf(x.agents[agent].opt.Store).WriteBase(x.t.Context(), &base, false)
	if err = errors.Join(err, store.ReplicaIn(replica).Base(&base, number, false)); err != nil {
		x.t.Fatal(err)
	}
	return replica
}

func (x *team) handOver(part uint16, to int) {
	x.mu.Lock()
	from := x.owner[part]
	x.owner[part] = -to
	x.mu.Unlock()
	if from == to || to == 0 { // no part under way to agent 0 can be told from its own
		x.mu.Lock()
		x.owner[part] = from
		x.mu.Unlock()
		return
	}
	for {
		n, err := x.agents[from].UnderWay(x.t.Context())
		if err != nil {
			x.t.Fatal(err)
		}
		if n == 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := x.agents[from].HandOver(x.t.Context(), []uint16{part}); err != nil {
		x.t.Fatal(err)
	}
	for x.deliver(x.t.Context()) {
	}
	x.mu.Lock()
	x.owner[part] = to
	x.mu.Unlock()
	if err := x.agents[to].Gain(x.t.Context(), func(p uint16) bool { return p == part }); err != nil {
		x.t.Fatal(err)
	}
}

// TestDuplicatesAndDeath: after an agent's death a page of each content is stored, or lost and
// reported unless lost pages are fetched again.
func TestDuplicatesAndDeath(t *testing.T) {
	for _, refetch := range []bool{false, true} {
		for seed := range uint64(testkit.Rounds(2, 20)) {
			synctest.Test(t, func(t *testing.T) {
				w := newMirrors(6, 12)
				x := newTeamWith(t, w.fakeWeb, 3, 6, func(o *Options) { o.RefetchLost = refetch }, w.seeds...)
				x.rng = rand.New(rand.NewPCG(seed, 24))
				for range 3 + 3*seed {
					time.Sleep(700 * time.Millisecond)
					x.deliver(t.Context())
				}
				x.bury(0, 1)
				x.settle()
				found := w.stored(x.finish())
				lost := map[string]bool{}
				for _, m := range x.alive() {
					for e := range testkit.All(t, m.opt.Store.URLs().Ended(StateLost)) {
						lost[w.pages[e.URL]] = true
					}
				}
				for text, of := range w.contents {
					if len(found[text]) == 0 && !lost[text] || lost[text] && refetch {
						t.Errorf("seed %d, refetch %v: of %v none is stored, and known to be lost: %v", seed, refetch, of, lost[text])
					}
				}
				if refetch == (len(lost) > 0) {
					t.Errorf("seed %d: %d contents are lost", seed, len(lost))
				}
			})
		}
	}
}

// bury ends an agent for good; heir has its replica.
func (x *team) bury(dead, heir int) {
	m, parts := x.agents[dead], []uint16(nil)
	if err := m.Finish(x.t.Context(), StopInterrupted); err != nil {
		x.t.Fatal(err)
	}
	<-m.done
	replica := x.replicaOf(dead)
	x.mu.Lock()
	for _, part := range slices.Sorted(maps.Keys(x.owner)) {
		if x.owner[part] == dead {
			x.owner[part] = heir
			parts = append(parts, part)
		}
	}
	x.mu.Unlock()
	m.dead = true
	ctx := x.t.Context()
	if err := errors.Join(x.agents[heir].Adopt(ctx, replica, parts),
		x.agents[heir].Gain(ctx, func(part uint16) bool { return slices.Contains(parts, part) })); err != nil {
		x.t.Fatal(err)
	}
}
