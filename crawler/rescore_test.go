package crawler

import (
	"strconv"
	"testing"

	"fossick/frontier"
)

// TestRescoreAfter: the URLs rescored a page are bounded, and the queue never waits
// for more than a hundredth of its length.
func TestRescoreAfter(t *testing.T) {
	for _, c := range []struct {
		queue, inMemory, onDisk int // pages
	}{
		{0, 10, 10}, {1_000, 10, 10}, {2_000, 10, 20}, {4_598, 22, 45}, {8_000, 40, 80}, {10_000, 60, 100}, {20_000, 160, 200},
		{40_000, 360, 400}, {262_144, 2581, 2621}, {4_000_000, 39_960, 40_000},
	} {
		if got := rescoreAfter(c.queue, 0, false); got != c.inMemory {
			t.Errorf("%d URLs in memory: after %d pages, want %d", c.queue, got, c.inMemory)
		}
		if got := rescoreAfter(c.queue, 0, true); got != c.onDisk {
			t.Errorf("%d URLs on disk: after %d pages, want %d", c.queue, got, c.onDisk)
		}
	}
	for pages, want := range map[uint64]int{229: 14, 480: 30, 520: 32, 1_150: 71, 4_000: 100, 1 << 40: 100} {
		if got := rescoreAfter(2_500, pages, false); got != want {
			t.Errorf("2,500 URLs in memory: after %d pages of %d, want %d", got, pages, want)
		}
	}
}

// TestRescorePasses: an old crawl asks about its best URLs at each pass and about all at
// every fourth, whether a pass is done in one go or in parts; a young one always about
// all, and so does one that people have said something to.
func TestRescorePasses(t *testing.T) {
	const urls = 2000
	for _, atOnce := range []int{urls, 100} {
		f, err := frontier.New(frontier.Options{})
		if err != nil {
			t.Fatal(err)
		}
		asked := askedScorer{keys: map[uint64]int{}}
		c := &Crawler{frontier: f, opt: Options{Scorer: asked, Ordering: frontier.Latest}, rescored: rescoring{atOnce: atOnce}}
		for i := range uint64(urls) {
			f.Push(frontier.Item{ID: frontier.ID(i + 1), Host: f.Host(strconv.Itoa(int(i % 50))), Key: i, Priority: score(i)})
		}
		pass := func() (all int, best int) {
			clear(asked.keys)
			c.counts.Pages += 100
			for again := true; again; again = c.rescored.going {
				if err := c.learned(); err != nil {
					t.Fatal(err)
				}
				c.counts.Pages++
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
		c.counts.Pages = 1000
		c.rescore(asked)
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

// askedScorer counts how often it is asked about a URL.
type askedScorer struct {
	wordScorer
	keys map[uint64]int
}

func (s askedScorer) Rescore(key uint64) (float64, bool) {
	s.keys[key]++
	return score(key), true
}
