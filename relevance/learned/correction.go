package learned

import (
	"cmp"
	"math"
	"slices"
)

// correction is what people's labels add to the judge's log-odds of a text: a weight for each word of
// the labelled pages. A text of n words, each counted once, gets
//
//	shift = Σ weight(w) / √(n + shortText),
//
// so that a page's shift does not grow with its length, and two words of a link that happen to be among
// the labelled pages' do not say it all.
type correction struct {
	weight map[token]float64
	labels int // labelled pages that it was learned from,
	links  int // and links to such as wait
	// surprise says how wrong the labels found the judge, in [0,1]. Labels that the judge foresaw are
	// no reason to believe it less.
	surprise float64
}

const (
	// shortText is how many words without an opinion every text is thought to have.
	shortText = 4
	// maxOffset bounds the log-odds of the judge: a person is right even where the judge is sure.
	maxOffset = 4
)

// example is a page that a correction is learned from.
type example struct {
	words  []token // each once
	offset float64 // log-odds by the judge, bounded by maxOffset
	want   float64 // probability that it should have
	weight float64
	link   bool // words are those of links to a page that waits
}

// shift returns what the labels add to the log-odds of a text with these words, each given once; 0
// without labels.
func (c *correction) shift(words []token) float64 {
	if c == nil || len(words) == 0 {
		return 0
	}
	sum := 0.0
	for _, w := range words {
		sum += c.weight[w]
	}
	return sum / math.Sqrt(float64(len(words)+shortText))
}

// corrected is a probability by the judge, shifted. A judge's certainty beyond maxOffset fades as the
// shift grows, so that without one nothing changes.
func corrected(probability, shift float64) float64 {
	if shift == 0 {
		return probability
	}
	const certain = 1e-9
	odds := logit(max(certain, min(1-certain, probability)))
	bounded := bound(odds)
	return sigmoid(bounded + (odds-bounded)*math.Exp(-math.Abs(shift)) + shift)
}

func bound(odds float64) float64 { return max(-maxOffset, min(maxOffset, odds)) }

func sigmoid(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

// The learning of a correction; docs/results.md has what it is worth.
const (
	// anchorWeight is what all anchors weigh together, against all labels: pages that nobody labelled
	// should keep their probability, but those that are like the labelled ones must not outvote them.
	anchorWeight = 0.1
	// wordPenalty is λ of the penalty λ/2·Σ weight².
	wordPenalty = 0.002
	fitRounds   = 30
)

// learnCorrection finds the weights w that make
//
//	Σ c·(−t·ln p − (1−t)·ln(1−p)) + λ/2·Σ w²,  p = σ(offset + shift),
//
// small, over the labelled pages and the anchors, c an example's weight and t its want; only words of
// labelled pages have one. It goes over the words fitRounds times, each time as far as the curvature's
// bound c/4·x² allows, so the sum falls with every step. The same examples in the same order give the
// same weights. O(rounds · words of all examples).
func learnCorrection(labelled, anchors []example) *correction {
	all := slices.Concat(labelled, anchors)
	columns := columnsOf(labelled, all)
	z := make([]float64, len(all))
	for i := range all {
		z[i] = all[i].offset
	}
	c := &correction{weight: make(map[token]float64, len(columns)), surprise: surpriseOf(labelled)}
	for _, e := range labelled {
		if e.link {
			c.links++
		} else {
			c.labels++
		}
	}
	for range fitRounds {
		for k := range columns {
			col := &columns[k]
			gradient, curvature := wordPenalty*col.weight, wordPenalty
			for _, cell := range col.cells {
				e := &all[cell.row]
				gradient += e.weight * (sigmoid(z[cell.row]) - e.want) * cell.x
				curvature += e.weight / 4 * cell.x * cell.x
			}
			step := -gradient / curvature
			col.weight += step
			for _, cell := range col.cells {
				z[cell.row] += step * cell.x
			}
		}
	}
	for _, col := range columns {
		c.weight[col.word] = col.weight
	}
	return c
}

// column is a word and the examples that have it.
type column struct {
	word   token
	weight float64
	cells  []cell
}

type cell struct {
	row int
	x   float64 // 1/√(words of the example + shortText)
}

// columnsOf returns the words of the labelled pages, in order, with all examples that have them.
func columnsOf(labelled, all []example) []column {
	at := map[token]int{}
	var columns []column
	for _, e := range labelled {
		for _, w := range e.words {
			if _, known := at[w]; !known {
				at[w] = len(columns)
				columns = append(columns, column{word: w})
			}
		}
	}
	for row, e := range all {
		x := 1 / math.Sqrt(float64(len(e.words)+shortText))
		for _, w := range e.words {
			if k, ok := at[w]; ok {
				columns[k].cells = append(columns[k].cells, cell{row, x})
			}
		}
	}
	slices.SortFunc(columns, func(a, b column) int { return cmp.Compare(a.word, b.word) })
	return columns
}

// strongest returns the up to n words that shift a text most in the direction that it is shifted in,
// the strongest first.
func (c *correction) strongest(words []token, n int) []token {
	sign := 1.0
	if c.shift(words) < 0 {
		sign = -1
	}
	var found []token
	for _, w := range words {
		if sign*c.weight[w] > 0 {
			found = append(found, w)
		}
	}
	slices.SortFunc(found, func(a, b token) int {
		return cmp.Or(cmp.Compare(sign*c.weight[b], sign*c.weight[a]), cmp.Compare(a, b))
	})
	return found[:min(n, len(found))]
}

// A judge whose squared error is one half on the labelled pages is worse than one that says one half of
// all: the labels count in full then. foreseen is how many labels that the judge foresaw it is given,
// since few labels can all be odd ones.
const foreseen = 3

// surpriseOf is twice the judge's mean squared error (Brier score) on labelled pages, 1 at most. It has
// judged no page that waits.
func surpriseOf(labelled []example) float64 {
	sum, pages := 0.0, 0.0
	for _, e := range labelled {
		if e.link {
			continue
		}
		pages++
		d := e.want - sigmoid(e.offset)
		sum += d * d
	}
	return min(1, 2*sum/(pages+foreseen))
}
