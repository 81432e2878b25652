package learned

import (
	"iter"
	"math"
)

// Background says on what share of pages at large a word stands, as the page
// classifier saw it on its training pages. A crawl that goes well sees pages on
// topic and hardly any other. So by its own pages alone "Japan" and "fern" are
// both words of pages about plants; beside pages at large only the second is.
// It is read-only, and so may be shared by crawls.
type Background struct {
	share map[token]float32
	least float64 // the smallest share
}

// rarer is how much rarer than the rarest word that is known one is that is not: a
// page classifier leaves out words that few of its pages have.
const rarer = 1. / 8

// maxBackground bounds the words that are taken in, and so the memory to some 4 MiB.
const maxBackground = 1 << 17

// NewBackground takes in words, as Words has them, each with the share of pages
// that have it, in (0,1]. Others are passed over, and of more than 131,072
// words the first count. It returns nil when there is none.
func NewBackground(shares iter.Seq2[string, float64]) *Background {
	b := &Background{map[token]float32{}, 1}
	for word, share := range shares {
		if !(share > 0 && share <= 1) { // or not a number
			continue
		}
		b.share[tokenOf(word)] = float32(share)
		if b.least = min(b.least, share); len(b.share) == maxBackground {
			break
		}
	}
	if len(b.share) == 0 {
		return nil
	}
	return b
}

// over is by how much more often a word stands on the crawl's pages on topic than on
// pages at large, as a logarithm:
//
//	ln((on + 2 · share) / (all + 2) / share) = ln((on / share + 2) / (all + 2))
//
// on is the sum of the probabilities of the pages that have the word, all that of all
// pages; two pages of doubt are like pages at large. It is 0 where b is nil.
func (b *Background) over(w token, on, all float32) float64 {
	if b == nil {
		return 0
	}
	return math.Log(onTopic(on, b.of(w))) - atLarge(all)
}

// of returns the share of pages at large that have a word.
func (b *Background) of(w token) float32 {
	if known, ok := b.share[w]; ok {
		return known
	}
	return float32(b.least * rarer)
}

// onTopic is the word's own part of over, of which the logarithm is to be taken:
// on / share + 2. It is 2 for a word that no page has.
func onTopic(on, share float32) float64 { return float64(on)/float64(share) + doubt }

// atLarge is the part that all words have, ln(all + 2).
func atLarge(all float32) float64 { return math.Log(float64(all) + doubt) }
