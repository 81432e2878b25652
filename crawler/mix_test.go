package crawler

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"fossick/graph/orders"
	"fossick/internal/page"
	"fossick/internal/testkit"
)

// linkWeb is a random web with links by number, each once.
type linkWeb struct {
	urls  []string
	links [][]uint32
	site  []int
	gold  []bool // pages on topic
}

func drawWeb(rng *rand.Rand) *linkWeb {
	w := &linkWeb{}
	sites := 1 + rng.IntN(5)
	for v := range 20 + rng.IntN(40) {
		site := rng.IntN(sites)
		w.site = append(w.site, site)
		w.urls = append(w.urls, fmt.Sprintf("http://h%d.test/%d", site, v))
		w.gold = append(w.gold, rng.IntN(3) == 0)
	}
	w.links = make([][]uint32, len(w.urls))
	density := 0.3 * rng.Float64()
	for v := range w.links {
		for _, to := range rng.Perm(len(w.urls)) {
			if to != v && rng.Float64() < density {
				w.links[v] = append(w.links[v], uint32(to))
			}
		}
	}
	return w
}

func (w *linkWeb) pages() map[string]string {
	pages := map[string]string{}
	for v, url := range w.urls {
		text := fmt.Sprintf("page %d tells of things %d", v, v*7919)
		if w.gold[v] {
			text += " gold"
		}
		var to []string
		for _, l := range w.links[v] {
			to = append(to, w.urls[l])
		}
		pages[url] = html(text, to...)
	}
	return pages
}

func (w *linkWeb) score(v uint32) float64 {
	if w.gold[v] {
		return 1
	}
	return 0.25
}

// goldScorer scores a page without its parent, so that the path to it does not matter.
type goldScorer struct{ wordScorer }

func (s goldScorer) ScorePage(p *page.Page, _ float64) Score {
	if strings.Contains(p.Text, "gold") {
		return Score{Value: 1, Relevant: true}
	}
	return Score{Value: 0.25}
}

// simulated crawls the links with a sequence, like simulate; links on h0 are initial.
func (w *linkWeb) simulated(t *testing.T, order string) (urls []string) {
	t.Helper()
	s := testkit.Call(orders.NewSequence(order, orders.SequenceOptions{Score: w.score})).Must(t)
	s.Visit(orders.Starts([]uint32{0}))
	for v, ok := s.Next(); ok; v, ok = s.Next() {
		urls = append(urls, w.urls[v])
		l := orders.Alike(v, w.links[v])
		for _, to := range l.All {
			l.OnlyDiscovers = append(l.OnlyDiscovers, w.site[v] == w.site[to] && w.site[v] != w.site[0])
		}
		s.Visit(l)
	}
	return urls
}

// crawled crawls the web, in sessions of so many pages if not 0.
func (w *linkWeb) crawled(t *testing.T, order string, session uint64, set func(*Options)) []string {
	t.Helper()
	web := &fakeWeb{pages: w.pages()}
	opt := newOptions(t, web, w.urls[0])
	opt.Ordering = ordering(t, order)
	opt.Scorer = goldScorer{}
	if set != nil {
		set(&opt)
	}
	for opt.MaxPages = session; session > 0 && opt.MaxPages < uint64(len(w.urls)); opt.MaxPages += session {
		crawl(t, opt)
	}
	opt.MaxPages = 0
	crawl(t, opt)
	return web.urls()
}

// TestCrawlEqualsSimulation: one worker without rests visits pages in the order of simulate, for
// any ordering, in one session or several, in memory or on disk.
func TestCrawlEqualsSimulation(t *testing.T) {
	t.Parallel()
	for _, order := range []string{
		"bfs", "dfs", "mcs", "mcs-sites", "lexdfs", "backlink", "relevance",
		"mcs*0.3+bfs*0.7", "relevance*0.7+mcs*0.3", "bfs*0.2+lexdfs*0.3+relevance+dfs*0.4", "backlink+dfs",
	} {
		for i := range testkit.Rounds(2, 10) {
			w := drawWeb(rand.New(rand.NewPCG(uint64(i), 23)))
			want := w.simulated(t, order)
			onDisk := func(o *Options) { o.Frontier.Memory = 8 }
			for how, got := range map[string][]string{"in one go": w.crawled(t, order, 0, nil), "in sessions, on disk": w.crawled(t, order, 12, onDisk)} {
				if !slices.Equal(got, want) {
					t.Errorf("%s, web %d, %s:\n got %v\nwant %v", order, i, how, got, want)
				}
			}
		}
	}
}

// TestMixOfManyWorkers: each page is fetched once, whichever ordering chooses it.
func TestMixOfManyWorkers(t *testing.T) {
	t.Parallel()
	for i := range 2 {
		w := drawWeb(rand.New(rand.NewPCG(uint64(i), 29)))
		got := w.crawled(t, "mcs*0.3+relevance*0.7+lexbfs", 11, func(o *Options) { o.Workers, o.Frontier.Memory = 5, 8 })
		want := w.simulated(t, "bfs")
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("web %d: got %v, want %v", i, got, want)
		}
	}
}
