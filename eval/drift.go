package eval

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"

	"fossick/internal/page"
	"fossick/internal/stats"
	"fossick/store"
)

// driftBlock describes one part of a crawl: its harvest, hosts and characteristic words.
type driftBlock struct {
	From     int         `json:"from"` // first page, from 1
	To       int         `json:"to"`
	Relevant int         `json:"relevant"`
	Harvest  *float64    `json:"harvest"`
	CI       *interval95 `json:"harvest_ci"`
	Hosts    int         `json:"hosts"`
	NewHosts int         `json:"new_hosts"` // hosts that no earlier block fetched from
	Top      []onHost    `json:"top_hosts"` // by relevant pages
	Rising   []driftWord `json:"rising"`    // words more frequent on its relevant pages than on those of the other blocks
	Falling  []driftWord `json:"falling"`   // less frequent words
}

type onHost struct {
	Host     string `json:"host"`
	Relevant int    `json:"relevant"`
}

const (
	maxBlocks = 5
	minBlock  = 20 // pages
	topHosts  = 3
	readPages = 120 // relevant pages read per block, evenly spaced: about 100 show the topic, and parsing costs 1 ms each
)

// drift shows how the topic moved. It cuts the crawl into at most maxBlocks blocks of equal size
// and describes each in c.Blocks. words returns a page's words, in any order, repeats allowed; a
// nil words reads no page.
func (c *judgedCrawl) drift(ctx context.Context, s *store.Store, words func(*page.Page) []string) error {
	n := max(1, min(maxBlocks, len(c.Pages)/minBlock))
	blocks := make([]driftBlock, 0, n)
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

func block(pages []judgedPage, from int, known map[string]bool) driftBlock {
	b := driftBlock{From: from + 1, To: from + len(pages)}
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
	b.Harvest, b.CI = stats.Share(b.Relevant, len(pages)), harvestCI(len(pages), func(i int) bool { return pages[i].Relevant })
	for _, h := range slices.Sorted(maps.Keys(relevant)) {
		b.Top = append(b.Top, onHost{h, relevant[h]})
	}
	slices.SortStableFunc(b.Top, func(x, y onHost) int { return cmp.Compare(y.Relevant, x.Relevant) })
	b.Top = b.Top[:min(topHosts, len(b.Top))]
	return b
}

func (c *judgedCrawl) readWords(ctx context.Context, s *store.Store, from, to int, words func(*page.Page) []string) (wordCounts, error) {
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

type driftWord struct {
	Word  string  `json:"word"`
	Share float64 `json:"share"` // of the block's relevant pages with the word
	Rest  float64 `json:"rest"`  // of the other blocks' relevant pages with the word
	Z     float64 `json:"z"`     // log-odds ratio in standard deviations
}

type wordCounts struct {
	pages int
	on    map[string]int
}

func (c *wordCounts) add(words []string) {
	c.pages++
	seen := make(map[string]struct{}, len(words))
	for _, w := range words {
		if _, twice := seen[w]; !twice {
			seen[w] = struct{}{}
			c.on[w]++
		}
	}
}

const (
	priorPages = 10   // weight of the prior
	leastZ     = 2.81 // two-sided p-value of 1/200
	leastPages = 3    // pages with the word, at least
	maxWords   = 6    // shown per block and direction
)

// contrast returns the words more and less frequent in block b than in the other blocks, the
// strongest first. It ranks by the log-odds ratio with an informative prior (Monroe, Colaresi and
// Quinn 2008, eq. 16 to 22), counting pages with the word: y of n in the block, y' of n' in the
// others. With a = priorPages · (y+y')/(n+n') and ā = priorPages − a,
//
//	δ = ln((y+a)/(n−y+ā)) − ln((y'+a)/(n'−y'+ā))
//	z = δ / √(1/(y+a) + 1/(n−y+ā) + 1/(y'+a) + 1/(n'−y'+ā))
func contrast(blocks []wordCounts, b int) (rising, falling []driftWord) {
	mine, rest := blocks[b], wordCounts{on: map[string]int{}}
	for i, c := range blocks {
		if i != b {
			rest.pages += c.pages
			for w, n := range c.on {
				rest.on[w] += n
			}
		}
	}
	if mine.pages == 0 || rest.pages == 0 {
		return nil, nil
	}
	names := maps.Clone(rest.on)
	maps.Copy(names, mine.on)
	for _, w := range slices.Sorted(maps.Keys(names)) {
		y, other := mine.on[w], rest.on[w]
		if y+other < leastPages {
			continue
		}
		word := driftWord{
			Word: w, Share: float64(y) / float64(mine.pages), Rest: float64(other) / float64(rest.pages),
			Z: logOddsRatio(float64(y), float64(mine.pages), float64(other), float64(rest.pages)),
		}
		switch {
		case word.Z >= leastZ:
			rising = append(rising, word)
		case word.Z <= -leastZ:
			falling = append(falling, word)
		}
	}
	clearest := func(x, y driftWord) int { return cmp.Compare(math.Abs(y.Z), math.Abs(x.Z)) }
	slices.SortStableFunc(rising, clearest)
	slices.SortStableFunc(falling, clearest)
	return rising[:min(maxWords, len(rising))], falling[:min(maxWords, len(falling))]
}

func logOddsRatio(y, n, y2, n2 float64) float64 {
	a := priorPages * (y + y2) / (n + n2)
	not := priorPages - a
	in, out, in2, out2 := y+a, n-y+not, y2+a, n2-y2+not
	if in == 0 || out == 0 || in2 == 0 || out2 == 0 { // on all pages, or on none
		return 0
	}
	return (math.Log(in/out) - math.Log(in2/out2)) / math.Sqrt(1/in+1/out+1/in2+1/out2)
}
