package learned

import (
	"cmp"
	"math"
	"slices"
)

// correction is a weight for each word of labelled pages, added to the judge's log-odds. A text of n
// distinct words gets
//
//	shift = Σ weight(w) / √(n + shortText),
//
// so that the shift does not grow with a page's length, and the two words of a link do not decide alone.
type correction struct {
	weight map[token]float64
	labels int // labelled pages it was learned from
	links  int // labelled links to queued targets
	// surprise is how wrong the judge was on the labels, in [0,1]. Labels that it predicted are no
	// reason to doubt it.
	surprise float64
}

const (
	// shortText is a pseudo-length added to every text.
	shortText = 4
	// maxOffset bounds the judge's log-odds, so that a person can overrule a certain judge.
	maxOffset = 4
)

// example is a page that a correction is learned from.
type example struct {
	words  []token // distinct
	offset float64 // log-odds by the judge, within ±maxOffset
	want   float64 // wanted probability
	weight float64
	link   bool // words are those of links to a queued target
}

// shift returns the change in log-odds of a text with these distinct words; 0 without labels.
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

// corrected shifts a probability. The judge's certainty beyond maxOffset fades as the shift grows, so
// that a zero shift changes nothing.
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

// Parameters of learning; docs/results.md has their effect.
const (
	// anchorWeight is the total weight of all anchors relative to all labels. Unlabelled pages should
	// keep their probability, but pages like the labelled ones must not outvote them.
	anchorWeight = 0.1
	// wordPenalty is λ of the penalty λ/2·Σ weight².
	wordPenalty = 0.002
	fitRounds   = 30
)

// learnCorrection minimises over the weights w
//
//	Σ c·(−t·ln p − (1−t)·ln(1−p)) + λ/2·Σ w²,  p = σ(offset + shift),
//
// summed over labelled pages and anchors, with c an example's weight and t its want. Only words of
// labelled pages have a weight. Coordinate descent makes fitRounds passes, with steps from the curvature
// bound c/4·x², so every step lowers the sum. It is deterministic. O(rounds · words of all examples).
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

// strongest returns up to n words that contribute most in the direction of the text's shift, strongest
// first.
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

// foreseen is a number of pseudo-labels that the judge predicted, because a few labels may all be
// exceptions.
const foreseen = 3

// surpriseOf is twice the judge's Brier score on the labelled pages, at most 1. At 1 the judge is worse than
// one that always says one half. Queued targets have no verdict and do not count.
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
