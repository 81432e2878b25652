package eval

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"fossick/internal/report"
	"fossick/store"
)

// Ranked says how the pages that their links rank highest fare with the topic. It
// is about the last run of rank on the store.
type Ranked struct {
	Method   string  `json:"method"`
	Personal string  `json:"personal"`       // label or file of the pages where surfers start anew; "" all
	Pages    int     `json:"pages"`          // that have a rank
	Share    float64 `json:"share_on_topic"` // of the rank that these hold together, what the relevant ones hold
	Top      []Point `json:"top"`            // of the so many highest, the share on topic
}

// loadRanks gives the pages their ranks; at says where a page of a number is.
func (c *Crawl) loadRanks(s *store.Store, at map[uint64]int) error {
	var err error
	if c.Ranking, err = s.Ranks().Last(); err != nil || c.Ranking == nil {
		return err
	}
	for r, err := range s.Ranks().All() {
		if err != nil {
			return err
		}
		i, ok := at[r.Page]
		if !ok {
			return fmt.Errorf("store %s: rank of page %d, which it does not have; run rank again", s.Dir(), r.Page)
		}
		c.Pages[i].Rank = &r.Score
	}
	return nil
}

// rankedOf measures by ranks; nil before there are any.
func rankedOf(c *Crawl) *Ranked {
	if c.Ranking == nil {
		return nil
	}
	r := &Ranked{Method: c.Ranking.Method, Personal: c.Ranking.Personal}
	var pages []*Page
	for i := range c.Pages {
		if c.Pages[i].Rank != nil {
			pages = append(pages, &c.Pages[i])
		}
	}
	slices.SortStableFunc(pages, func(a, b *Page) int { return cmp.Compare(*b.Rank, *a.Rank) })
	if r.Pages = len(pages); r.Pages == 0 {
		return r
	}
	relevant := make([]bool, len(pages))
	all, held := 0.0, 0.0
	for i, p := range pages {
		relevant[i] = p.Relevant
		if all += *p.Rank; p.Relevant {
			held += *p.Rank
		}
	}
	if all > 0 {
		r.Share = held / all
	}
	for _, n := range []int{10, 30, 100, 300, 1000, 3000, 10_000} {
		if n <= len(pages) {
			r.Top = append(r.Top, Point{n, float64(Harvest(relevant[:n])) / float64(n)})
		}
	}
	return r
}

// rankedSentence says it in words.
func rankedSentence(f Figures) string {
	if f.Ranked == nil || len(f.Ranked.Top) == 0 {
		return ""
	}
	last := f.Ranked.Top[min(2, len(f.Ranked.Top)-1)]
	return fmt.Sprintf("Of the %s that %s ranks highest, %s are %s; pages on topic hold %s of the rank of all pages.",
		report.Pages(last.Pages), wayName(f.Ranked.Method), report.Percent(last.Share), about(f.Target), report.Percent(f.Ranked.Share))
}

// wayName is a method of rank as a reader knows it.
func wayName(method string) string {
	switch method {
	case "hits":
		return "HITS (authority)"
	case "blockrank-short":
		return "BlockRank"
	}
	return "PageRank" // the other ways come to it
}

// rankedLists returns the pages that rank highest, of all and of each topic: of the
// labels the most frequent ones.
func rankedLists(c *Crawl) []pageList {
	if c.Ranking == nil {
		return nil
	}
	label := func(p *Page) string {
		if p.Refined != nil {
			return p.Refined.Label
		}
		return p.Label
	}
	count := map[string]int{}
	for i := range c.Pages {
		if p := &c.Pages[i]; p.Rank != nil && label(p) != "" {
			count[label(p)]++
		}
	}
	labels := slices.Sorted(maps.Keys(count))
	slices.SortStableFunc(labels, func(a, b string) int { return count[b] - count[a] })
	times := func(p *Page) float64 { return *p.Rank * float64(c.Ranking.Nodes) }
	way := wayName(c.Ranking.Method)
	note := fmt.Sprintf("By their links: %s, in multiples of the mean of the %s URLs ranked", way, report.Number(c.Ranking.Nodes))
	if c.Ranking.Personal != "" {
		note += ", surfers starting anew at " + c.Ranking.Personal
	}
	lists := []pageList{{"Highest " + way, note + ".", pick(c, func(p *Page) bool { return p.Rank != nil }, times, true)}}
	const mostLabels = 6
	for _, l := range labels[:min(mostLabels, len(labels))] {
		rows := pick(c, func(p *Page) bool { return p.Rank != nil && label(p) == l }, times, true)
		lists = append(lists, pageList{fmt.Sprintf("Highest %s of %s", way, l), fmt.Sprintf("Of the %s with this label.", report.Pages(count[l])), rows[:min(10, len(rows))]})
	}
	return lists
}
