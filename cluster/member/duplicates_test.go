package member

import (
	"testing"
	"testing/synctest"
	"time"

	"fossick/fetch"
	"fossick/page"
)

// contents counts what URLs of a web of mirrors have, and how many of them have it again.
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

// TestDuplicates: pages that several members have stored are with one of them in the end; where
// there is a budget, the whole of it was spent on others.
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
					n, err := s.Counts()
					if err != nil {
						t.Fatal(err)
					}
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

// TestDuplicatesAndDeath: a member dies for ever. Of each content a page is stored with another
// one, or known to be lost.
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
			for p, err := range g.stores[id].Pages() {
				if err != nil {
					t.Fatal(err)
				}
				urls = append(urls, p.URL)
			}
			for e, err := range g.stores[id].URLs().Ended("lost") {
				if err != nil {
					t.Fatal(err)
				}
				urls = append(urls, e.URL)
			}
		}
		if contents, _ := g.contents(urls); contents != 12*5+4 {
			t.Errorf("%d contents are stored or lost, want %d", contents, 12*5+4)
		}
	})
}
