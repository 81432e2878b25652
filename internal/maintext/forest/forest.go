package forest

import "math"

// Forest is trees whose leaves add up to log-odds. It is safe for concurrent use.
type Forest struct {
	features int // how many a row has at least
	trees    [][]node
}

// node asks whether a feature is below a limit, or is a leaf.
type node struct {
	feature int16 // noFeature is a leaf
	below   int16 // the next node where it is; the one after it where it is not
	limit   float32
}

const noFeature = -1

// Chance of class 1. A row has as many features as those the forest was grown from.
func (f *Forest) Chance(row []float32) float32 {
	sum := float32(0)
	for _, t := range f.trees {
		sum += leafOf(t, row)
	}
	return logistic(sum)
}

// leafOf is what a tree adds.
func leafOf(tree []node, row []float32) float32 {
	n := &tree[0]
	for n.feature != noFeature {
		if next := n.below; row[n.feature] < n.limit {
			n = &tree[next]
		} else {
			n = &tree[next+1]
		}
	}
	return n.limit
}

func logistic(x float32) float32 { return float32(1 / (1 + math.Exp(-float64(x)))) }
