package crawler

import (
	"strconv"
	"testing"
	"time"

	"fossick/crawler/frontier"
	"fossick/crawler/hosts"
	"fossick/graph/orders"
	"fossick/internal/page"
	"fossick/store"
)

// TestRescorePasses: an old crawl asks about its best URLs at each pass and
// about all at every fourth, whether a pass is done in one go or in parts. A
// young one always asks about all, and so does one that people have said
// something to.
func TestRescorePasses(t *testing.T) {
	const urls = 2000
	for _, atOnce := range []int{urls, 100} {
		f, err := frontier.New(frontier.Options{})
		if err != nil {
			t.Fatal(err)
		}
		asked := askedScorer{keys: map[uint64]int{}}
		q := &queue{frontier: f, opt: options{Scorer: asked, Ordering: orders.Latest}, passes: newRescore(asked, orders.Latest), totals: newTotals(time.Now), chances: hosts.NewChances()}
		q.passes.AtOnce = atOnce
		for i := range uint64(urls) {
			f.Push(frontier.Item{ID: frontier.ID(i + 1), Host: f.Host(strconv.Itoa(int(i % 50))), Key: i, Priority: score(i)})
		}
		pass := func() (all int, best int) {
			clear(asked.keys)
			for range 100 {
				q.totals.nextPage()
			}
			for range 8 { // parts of it, each a page later
				if err := q.learned(); err != nil {
					t.Fatal(err)
				}
				q.totals.nextPage()
			}
			for key := range asked.keys {
				if score(key) > 0.75 {
					best++
				}
			}
			return len(asked.keys), best
		}
		for range 3 {
			if all, _ := pass(); all != urls {
				t.Errorf("a young crawl asks about %d URLs, want all %d", all, urls)
			}
		}
		q.totals.lost(store.Counts{Pages: 1000})
		q.Rescore()
		for i := 1; i <= 8; i++ {
			all, best := pass()
			if want := urls * 249 / 1000; best != want {
				t.Errorf("pass %d: %d of the best quarter asked about, want %d", i, best, want)
			}
			if i%4 == 0 && all != urls {
				t.Errorf("pass %d: %d URLs asked about, want all", i, all)
			}
			if i%4 != 0 && all > urls/3 {
				t.Errorf("pass %d: %d URLs asked about, want about a quarter", i, all)
			}
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// score is that of a URL in TestRescorePasses.
func score(key uint64) float64 { return float64(key%1000) / 1000 }

// plainScorer never changes its mind.
type plainScorer struct{}

func (plainScorer) ScorePage(*page.Page, float64) Score { return Score{} }

func (plainScorer) ScoreLinks(dst []float64, _ *page.Page, _ Score) []float64 { return dst }

// askedScorer counts how often it is asked about a URL.
type askedScorer struct {
	plainScorer
	keys map[uint64]int
}

func (s askedScorer) Rescore(key uint64) (float64, bool) {
	s.keys[key]++
	return score(key), true
}
