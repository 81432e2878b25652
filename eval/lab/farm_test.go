package lab

import (
	"math"
	"testing"

	"fossick/crawler"
	"fossick/datasets"
	"fossick/graph/orders"
	"fossick/internal/fulltest"
	"fossick/internal/page"
)

// evenScorer finds all pages and links equally good.
type evenScorer struct{}

func (evenScorer) ScorePage(*page.Page, float64) crawler.Score { return crawler.Score{Value: 1} }

func (evenScorer) ScoreLinks(dst []float64, p *page.Page, _ crawler.Score) []float64 {
	for range p.Links {
		dst = append(dst, 1)
	}
	return dst
}

// TestNoHonestHostIsAFarm crawls real webs with many hosts a site, breadth first
// from a page of each host: none is taken for a farm of made-up names. What a host's
// first pages are tells, so by default a dozen of each are loaded, of uci_ics' first
// 8,000 rows, which have pages of 57 hosts of one site.
func TestNoHonestHostIsAFarm(t *testing.T) {
	for _, name := range []string{"uci_ics", "debdocs", "wikispeedia"} {
		t.Run(name, func(t *testing.T) {
			dir := fulltest.Corpus(t, name)
			if name != "uci_ics" {
				fulltest.Only(t, "reads a corpus whole")
			}
			c, seeds := fewOfEachHost(t, dir, fulltest.Rounds(12, math.MaxInt), fulltest.Rounds(8000, math.MaxInt))
			order, err := orders.OrderingByName("bfs")
			if err != nil {
				t.Fatal(err)
			}
			r, err := crawler.Virtual(t.Context(), crawler.Options{Scorer: evenScorer{}, Ordering: order, Seeds: seeds}, c.Answer)
			if err != nil {
				t.Fatal(err)
			}
			if r.Farmed > 0 || len(r.Pages) < len(seeds)/4 {
				t.Errorf("%d URLs left aside as a farm's, with %d pages from %d hosts; want none", r.Farmed, len(r.Pages), len(seeds))
			}
			t.Logf("%d pages of %d hosts, %d duplicates, %d near", len(r.Pages), len(seeds), r.Duplicates, r.Near)
		})
	}
}

// fewOfEachHost loads, of the first rows of a corpus, at most so many pages of each
// host, and returns one of each as seeds.
func fewOfEachHost(t *testing.T, dir string, most, rows int) (c *Corpus, seeds []string) {
	t.Helper()
	set, err := datasets.Open(dir, datasets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]int{}
	c, err = Load(t.Context(), datasets.FromSeq(dir, func(yield func(*datasets.Example, error) bool) {
		for e, err := range set.Examples() {
			if rows--; rows < 0 {
				return
			}
			if err == nil {
				host := page.Host(e.URL)
				if pages[host]++; pages[host] > most {
					continue
				}
			}
			if !yield(e, err) {
				return
			}
		}
	}, datasets.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, row := range c.Rows {
		u, err := page.Normalize(row.URL)
		if host := page.Host(u); err == nil && !seen[host] {
			seen[host] = true
			seeds = append(seeds, u)
		}
	}
	return c, seeds
}
