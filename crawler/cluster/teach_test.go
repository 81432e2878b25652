package cluster

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fossick/crawler"
	"fossick/internal/page"
	"fossick/internal/testkit"
	"fossick/store"
)

// lexicon is a scorer that counts the pages of each site: its own, and those that others told.
type lexicon struct {
	alike
	mu                sync.Mutex        // guards the rest
	own, fresh, since map[string]int    // pages by site: all, not told yet, since Share
	others            map[string]int    // told by others
	said              map[string]string // by URL: the last label and its page
}

var _ crawler.Learner = (*lexicon)(nil) // otherwise members would not teach

func newLexicon() *lexicon {
	return &lexicon{own: map[string]int{}, fresh: map[string]int{}, since: map[string]int{}, others: map[string]int{}, said: map[string]string{}}
}

func (l *lexicon) ScorePage(p *page.Page, parent float64) crawler.Score {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, site, _ := strings.Cut(p.Title, " of ")
	l.own[site]++
	l.fresh[site]++
	l.since[site]++
	return l.alike.ScorePage(p, parent)
}

func (l *lexicon) Rescore(uint64) (float64, bool) { return 0, false }

func (l *lexicon) Share(func(url string) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.fresh)
	clear(l.since)
}

func (l *lexicon) Lesson() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.fresh) == 0 {
		return nil
	}
	told, _ := json.Marshal(l.fresh)
	clear(l.fresh)
	return told
}

func (l *lexicon) Lessons() [][]byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := maps.Clone(l.since)
	for site, n := range l.fresh {
		all[site] -= n
	}
	told, _ := json.Marshal(all)
	return [][]byte{told}
}

func (l *lexicon) Learn(lesson []byte) (pages uint64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var more map[string]int
	err = json.Unmarshal(lesson, &more)
	for site, n := range more {
		l.others[site] += n
		pages += uint64(n)
	}
	return pages, err
}

func (l *lexicon) Mark(marks []crawler.Marked) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range marks {
		of := "nothing"
		if m.Gone {
			delete(l.said, m.URL)
			continue
		}
		if m.Page != nil {
			of = m.Page.Title
		}
		l.said[m.URL] = fmt.Sprintf("%v of %s", m.OnTopic, of)
	}
}

// knows returns how many pages of a site the lexicon has counted.
func (l *lexicon) knows(site string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.own[site] + l.others[site]
}

// fetched returns how many pages of a host were served, counting again those in flight at a kill.
func (w *web) fetched(host string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range w.log {
		if a.host == host+":80" {
			n++
		}
	}
	return n
}

// TestMembersTeach: in the end each member has counted every fetch of any member once, though
// messages are lost, doubled and late. One member comes late. One is killed and restarts with its
// store but an empty scorer; only what it had not told may be missing. The last site keeps the
// crawl going.
func TestMembersTeach(t *testing.T) {
	testkit.Only(t, "seconds of processor time; broadcast_test.go has the ways of a message, TestMembers those of a crawl")
	for seed := range testkit.Rounds(1, 8) {
		synctest.Test(t, func(t *testing.T) { membersTeach(t, uint64(seed)) })
	}
}

func membersTeach(t *testing.T, seed uint64) {
	const sites, pages = 8, 12
	g := newGroup(t, &web{sites: sites, pages: pages, last: 110}, 0)
	minds := map[string]*lexicon{}
	g.scorer = func(id string) crawler.Scorer {
		minds[id] = newLexicon()
		return minds[id]
	}
	g.exchange = func(e Exchange) Exchange {
		return newLossy(e, seed)
	}
	for _, id := range []string{"aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb"} {
		g.start(id, true)
	}
	time.Sleep(5 * time.Second)
	g.stop("bbbbbbbbbbbbbbbb")
	lessons := map[string]int{}
	for site, n := range minds["bbbbbbbbbbbbbbbb"].own {
		lessons[site] = n - minds["aaaaaaaaaaaaaaaa"].others[site]
	}
	time.Sleep(time.Second)
	g.start("bbbbbbbbbbbbbbbb", false)
	time.Sleep(5 * time.Second)
	g.start("cccccccccccccccc", false)
	g.wait()
	time.Sleep(10 * time.Second) // for late messages
	for id, mind := range minds {
		heard := 0
		for i := range sites - 1 {
			site, most := fmt.Sprint(i), 0
			if id == "aaaaaaaaaaaaaaaa" { // what b had not told when it died
				most = lessons[site]
			}
			fetched := g.web.fetched("s" + site + ".test")
			if n := mind.knows(site); n > fetched || n < pages-most {
				t.Errorf("seed %d: %s knows of %d pages of site %s, of which %d were fetched; want %d, or %d fewer", seed, id, n, site, fetched, pages, most)
			}
			heard += mind.others[site]
		}
		t.Logf("seed %d: %s heard of %d pages", seed, id, heard)
	}
}

func storedAt(t *testing.T, s *store.Store) (urls []string) {
	for p := range testkit.All(t, s.Pages()) {
		urls = append(urls, p.URL)
	}
	return urls
}

// TestLabelsReachAll: a label given at one member reaches all with its page, even if another
// member has the page. The last label counts. Members that come late or come back also get it, or learn that it was taken back.
func TestLabelsReachAll(t *testing.T) {
	testkit.Only(t, "seconds of processor time; TestMembers and TestDeath have the main ways")
	synctest.Test(t, func(t *testing.T) {
		const a, b, c = "aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb", "cccccccccccccccc"
		g := newGroup(t, &web{sites: 6, pages: 10, last: 110}, 0)
		minds := map[string]*lexicon{}
		g.scorer = func(id string) crawler.Scorer {
			minds[id] = newLexicon()
			return minds[id]
		}
		g.exchange = func(e Exchange) Exchange {
			return newLossy(e, 5)
		}
		g.start(a, true)
		g.start(b, true)
		for len(storedAt(t, g.stores[a])) < 3 || len(storedAt(t, g.stores[b])) == 0 {
			time.Sleep(time.Second)
		}
		stored := storedAt(t, g.stores[a])
		label := func(url string, onTopic bool) {
			testkit.Call(g.members[a].Engine().Mark(t.Context(), []crawler.Mark{{URL: url, OnTopic: onTopic}})).Must(t)
		}
		away := storedAt(t, g.stores[b])[0] // b has the page, a labels it
		label(stored[0], true)
		label(stored[1], true)
		label(stored[2], true)
		label(away, true)
		time.Sleep(3 * time.Second)
		label(stored[1], false)
		time.Sleep(8 * time.Second)
		g.stop(b)
		testkit.Call(g.members[a].Engine().Mark(t.Context(), []crawler.Mark{{URL: stored[2], Gone: true}})).Must(t)
		g.start(b, false)
		g.start(c, false)
		g.wait()
		time.Sleep(10 * time.Second) // for late messages
		for id, mind := range minds {
			if said := mind.said[stored[2]]; said != "" {
				t.Errorf("%s: a label taken back is still %q", id, said)
			}
			for url, word := range map[string]string{stored[0]: "true", stored[1]: "false", away: "true"} {
				var s, p int
				testkit.Call(fmt.Sscanf(url, "http://s%d.test/%d", &s, &p)).Must(t)
				title := "stone"
				if p%3 == 0 {
					title = "gold"
				}
				if got, want := mind.said[url], fmt.Sprintf("%s of %s %d of %d", word, title, p, s); got != want {
					t.Errorf("%s: of %s it was told %q, want %q", id, url, got, want)
				}
			}
		}
		for id, want := range map[string]int{a: 2, b: 1} {
			marks := 0
			for range g.stores[id].Marks(false) {
				marks++
			}
			if marks < want {
				t.Errorf("%s keeps %d labels, want %d at least", id, marks, want)
			}
		}
	})
}
