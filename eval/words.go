package eval

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// Word is a word that tells a block from the others.
type Word struct {
	Word  string  `json:"word"`
	Share float64 `json:"share"` // of the block's relevant pages that have it
	Rest  float64 `json:"rest"`  // of those of the other blocks
	Z     float64 `json:"z"`     // log-odds ratio in standard deviations
}

// wordCounts says on how many pages each word stands.
type wordCounts struct {
	pages int
	on    map[string]int
}

// add takes in a page's words; each counts once.
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
	priorPages = 10   // weight of the prior, in pages
	leastZ     = 2.81 // chance gives one word in two hundred as much
	leastPages = 3    // that have a word
	maxWords   = 6    // shown of a block, each way
)

// contrast returns the words that block b has on more and on fewer of its pages
// than the other blocks, the clearest first. They are ranked by the log-odds
// ratio with an informative prior (Monroe, Colaresi and Quinn 2008, eq. 16 to
// 22), for pages that have a word or not. y of n pages of the block have it and
// y' of n' of the others. With the prior a = priorPages · (y+y')/(n+n') and ā =
// priorPages − a,
//
//	δ = ln((y+a)/(n−y+ā)) − ln((y'+a)/(n'−y'+ā))
//	z = δ / √(1/(y+a) + 1/(n−y+ā) + 1/(y'+a) + 1/(n'−y'+ā))
func contrast(blocks []wordCounts, b int) (rising, falling []Word) {
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
		word := Word{
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
	clearest := func(x, y Word) int { return cmp.Compare(math.Abs(y.Z), math.Abs(x.Z)) }
	slices.SortStableFunc(rising, clearest)
	slices.SortStableFunc(falling, clearest)
	return rising[:min(maxWords, len(rising))], falling[:min(maxWords, len(falling))]
}

// logOddsRatio is z of contrast.
func logOddsRatio(y, n, y2, n2 float64) float64 {
	a := priorPages * (y + y2) / (n + n2)
	not := priorPages - a
	in, out, in2, out2 := y+a, n-y+not, y2+a, n2-y2+not
	if in == 0 || out == 0 || in2 == 0 || out2 == 0 { // on all pages, or on none
		return 0
	}
	return (math.Log(in/out) - math.Log(in2/out2)) / math.Sqrt(1/in+1/out+1/in2+1/out2)
}
