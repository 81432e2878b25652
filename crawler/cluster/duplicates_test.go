package cluster

import (
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"fossick/crawler"
	"fossick/crawler/fetch"
	"fossick/internal/page"
	"fossick/internal/testkit"
	"fossick/store"
)

// contents counts the distinct contents of URLs of a web with mirrors, and the repeated ones.
func (g *group) contents(urls []string) (contents, again int) {
	seen := map[string]bool{}
	for _, u := range urls {
		content := u
		if path := page.Path(u); (path[len(path)-1]-'0')%2 == 1 {
			content = path
		}
		if seen[content] {
			again++
		}
		seen[content] = true
	}
	return len(seen), again
}

// TestDuplicates: of duplicates stored by several members only one remains, and a budget is fully
// spent on other pages.
func TestDuplicates(t *testing.T) {
	for name, c := range map[string]struct {
		max  int64
		want int
	}{"all there is": {0, 12*5 + 4}, "a budget": {45, 45}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGroup(t, &web{sites: 12, pages: 9, mirrors: true}, c.max)
				for _, id := range []string{"aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb", "cccccccccccccccc"} {
					g.start(id, true)
				}
				pages, _ := g.wait()
				if contents, again := g.contents(pages); contents != c.want || again != 0 {
					t.Errorf("%d pages with %d contents, want %d", len(pages), contents, c.want)
				}
				dropped, duplicates := uint64(0), uint64(0)
				for _, s := range g.stores {
					n := testkit.Call(s.Counts()).Must(t)
					dropped += n.Dropped
					duplicates += n.States[string(fetch.StateDuplicate)]
				}
				if dropped < 3 || c.max == 0 && duplicates != 12*4-4 {
					t.Errorf("%d pages were dropped, %d URLs are duplicates", dropped, duplicates)
				}
			})
		})
	}
}

// TestDuplicatesAndDeath: a member dies for good. A page of each content is stored by another
// member, or reported as lost.
func TestDuplicatesAndDeath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, &web{sites: 12, pages: 9, mirrors: true}, 0)
		for _, id := range []string{"aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb", "cccccccccccccccc"} {
			g.start(id, true)
		}
		time.Sleep(5 * time.Second)
		g.stop("bbbbbbbbbbbbbbbb")
		g.wait()
		var urls []string
		for _, id := range []string{"aaaaaaaaaaaaaaaa", "cccccccccccccccc"} {
			for p := range testkit.All(t, g.stores[id].Pages()) {
				urls = append(urls, p.URL)
			}
			for e := range testkit.All(t, g.stores[id].URLs().Ended("lost")) {
				urls = append(urls, e.URL)
			}
		}
		if contents, _ := g.contents(urls); contents != 12*5+4 {
			t.Errorf("%d contents are stored or lost, want %d", contents, 12*5+4)
		}
	})
}

// TestDuplicatesOfBefore: a member joins and gets sites of which others have duplicates. The
// others drop theirs.
func TestDuplicatesOfBefore(t *testing.T) {
	testkit.Only(t, "TestDuplicates has the main way")
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, &web{sites: 24, pages: 19, mirrors: true}, 0)
		g.seed = "http://s9.test/0" // so that its duplicates are found first
		g.start("aaaaaaaaaaaaaaaa", true)
		time.Sleep(4 * time.Second)
		for _, id := range []string{"bbbbbbbbbbbbbbbb", "cccccccccccccccc"} {
			g.start(id, false)
		}
		pages, _ := g.wait()
		if contents, again := g.contents(pages); contents != 24*10+9 || again != 0 {
			t.Errorf("%d contents, want %d; %d pages have one again", contents, 24*10+9, again)
		}
		elsewhere, dropped := map[string]bool{}, 0
		for e := range g.ended(crawler.StateElsewhere) {
			elsewhere[e.URL] = e.Reason == crawler.AskedElsewhere(string(fetch.StateDuplicate))
		}
		for e := range g.ended(string(fetch.StateDuplicate)) {
			if e.Page == 0 && elsewhere[e.URL] {
				dropped++
			}
		}
		for _, u := range pages {
			if elsewhere[u] {
				t.Errorf("%s is stored, and who has its site said that it is a duplicate", u)
			}
		}
		if dropped == 0 {
			t.Error("nothing was dropped where it was stored before")
		}
	})
}

// ended yields the ended URLs of all members.
func (g *group) ended(state string) iter.Seq[store.Ended] {
	return func(yield func(store.Ended) bool) {
		for _, s := range g.stores {
			for e, err := range s.URLs().Ended(state) {
				if err != nil {
					g.t.Fatal(err)
				}
				if !yield(e) {
					return
				}
			}
		}
	}
}
