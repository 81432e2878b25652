package eval

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"fossick/internal/page"
	"fossick/store"
)

// Block is a part of a crawl: where the topic was, then, by host and by word.
type Block struct {
	From     int       `json:"from"` // its first page, from 1
	To       int       `json:"to"`
	Relevant int       `json:"relevant"`
	Harvest  *float64  `json:"harvest"`
	CI       *Interval `json:"harvest_ci"`
	Hosts    int       `json:"hosts"`     // fetched from
	NewHosts int       `json:"new_hosts"` // of them, those that no earlier block fetched from
	Top      []OnHost  `json:"top_hosts"` // with the most relevant pages
	Rising   []Word    `json:"rising"`    // words on more of its relevant pages than on those of the other blocks
	Falling  []Word    `json:"falling"`   // and on fewer
}

// OnHost counts the relevant pages of a host.
type OnHost struct {
	Host     string `json:"host"`
	Relevant int    `json:"relevant"`
}

// How a crawl is cut, and how much of a block is shown.
const (
	maxBlocks = 5
	minBlock  = 20  // pages
	topHosts  = 3   // of a block
	readPages = 120 // relevant pages of a block whose words are read, evenly spaced: a hundred pages tell a topic, and parsing costs 1 ms each
)

// Drift says where the topic went: it cuts the crawl into at most maxBlocks
// blocks of as many pages each and tells what each had. words returns the words
// of a page, in any order and with repetitions; nil reads no page.
func (c *Crawl) Drift(ctx context.Context, s *store.Store, words func(*page.Page) []string) error {
	n := max(1, min(maxBlocks, len(c.Pages)/minBlock))
	blocks := make([]Block, 0, n)
	counts := make([]wordCounts, n)
	known := map[string]bool{}
	for b := range n {
		from, to := b*len(c.Pages)/n, (b+1)*len(c.Pages)/n
		blocks = append(blocks, block(c.Pages[from:to], from, known))
		if words == nil {
			continue
		}
		var err error
		if counts[b], err = c.readWords(ctx, s, from, to, words); err != nil {
			return err
		}
	}
	for b := range blocks {
		blocks[b].Rising, blocks[b].Falling = contrast(counts, b)
	}
	c.Blocks = blocks
	return nil
}

func block(pages []Page, from int, known map[string]bool) Block {
	b := Block{From: from + 1, To: from + len(pages)}
	fetched, relevant := map[string]bool{}, map[string]int{}
	for i := range pages {
		h := host(pages[i].URL)
		fetched[h] = true
		if pages[i].Relevant {
			b.Relevant++
			relevant[h]++
		}
	}
	for h := range fetched {
		if !known[h] {
			known[h] = true
			b.NewHosts++
		}
	}
	b.Hosts = len(fetched)
	b.Harvest, b.CI = share(b.Relevant, len(pages)), harvestCI(len(pages), func(i int) bool { return pages[i].Relevant })
	for _, h := range slices.Sorted(maps.Keys(relevant)) {
		b.Top = append(b.Top, OnHost{h, relevant[h]})
	}
	slices.SortStableFunc(b.Top, func(x, y OnHost) int { return cmp.Compare(y.Relevant, x.Relevant) })
	b.Top = b.Top[:min(topHosts, len(b.Top))]
	return b
}

// readWords counts on how many of the relevant pages from…to each word stands.
func (c *Crawl) readWords(ctx context.Context, s *store.Store, from, to int, words func(*page.Page) []string) (wordCounts, error) {
	var relevant []uint64
	for _, p := range c.Pages[from:to] {
		if p.Relevant {
			relevant = append(relevant, p.Number)
		}
	}
	counts := wordCounts{on: map[string]int{}}
	n := min(readPages, len(relevant))
	for i := range n {
		if ctx.Err() != nil {
			return counts, context.Cause(ctx)
		}
		record, err := s.Page(relevant[i*len(relevant)/n])
		if err != nil {
			return counts, err
		}
		p, err := parse(s, record)
		if err != nil {
			return counts, err
		}
		if p != nil {
			counts.add(words(p))
		}
	}
	return counts, nil
}
