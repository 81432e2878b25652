package train

import (
	"cmp"
	"slices"
)

// Rounds of training with unlabelled pages, and of which share of a class's
// expected pages each is sure enough. Neither these nor the bounds below are tuned.
var pseudoRounds = [...]float64{0.5, 1}

// PseudoRounds is how often Pseudo is worth asking.
const PseudoRounds = len(pseudoRounds)

const (
	pseudoLeast = 0.02 // of all pages, for a class: the other place may have more of it
	pseudoMost  = 0.6  // of all pages, for a class: the rest is doubtful
)

// Pseudo labels pages of another place than the training set's by what a model
// of that set says of them. So the next model can learn the words of that place
// (self-training: Yarowsky 1995; Scudder 1965). probs has a row of
// probabilities a page. Only their order counts, since it is the level that is
// wrong in another place. Each class gets the pages where it is most probable,
// as many as its share of the training set lets expect. In the first round it
// gets half of them. A page gets one class, that in which it stands higher;
// most get none, −1.
//
// round counts from 0 to PseudoRounds−1; shares are the classes' in training.
func Pseudo(probs [][]float64, shares []float64, round int) []int {
	label, standing := make([]int, len(probs)), make([]float64, len(probs))
	order := make([]int, len(probs))
	for i := range probs {
		label[i], order[i] = -1, i
	}
	for class, share := range shares {
		take := min(pseudoMost, max(pseudoLeast, share)*pseudoRounds[round]) * float64(len(probs))
		slices.SortFunc(order, func(a, b int) int {
			return cmp.Or(cmp.Compare(probs[b][class], probs[a][class]), cmp.Compare(a, b))
		})
		for rank, i := range order {
			at := (float64(rank) + 0.5) / take
			if at > 1 {
				break
			}
			if label[i] < 0 || at < standing[i] {
				label[i], standing[i] = class, at
			}
		}
	}
	return label
}
