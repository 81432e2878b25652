package forest

import (
	"math/rand/v2"
	"slices"
)

// Sample is what a forest is grown from: rows of equally many features, their classes (0 or
// 1) and weights.
type Sample struct {
	Rows           [][]float32
	Class, Weights []float32
}

// Options of growing.
type Options struct {
	Trees    int
	Leaves   int     // of a tree
	Rate     float32 // how much of a leaf's best value is taken
	Features float64 // share of them that each tree may ask
	Ridge    float32 // weight that pulls leaves to 0
	Least    float64 // curvature that a leaf has at least: its weight times p(1−p)
	Seed     uint64
}

// steps is into how many each feature is cut.
const steps = 48

// grower holds what all trees share.
type grower struct {
	opt            Options
	limits         [][]float32 // by feature, ascending
	step           [][]uint8   // by feature and row
	gradient, bend []float32   // first and second derivative of the loss, by row
}

// Grow grows a forest of the first features numbers of each row.
func Grow(s Sample, features int, opt Options) *Forest {
	rng := rand.New(rand.NewPCG(opt.Seed, 1))
	g := &grower{opt: opt, limits: make([][]float32, features), step: make([][]uint8, features)}
	for f := range features {
		g.cut(s.Rows, f)
	}
	n := len(s.Rows)
	g.gradient, g.bend = make([]float32, n), make([]float32, n)
	score := make([]float32, n)
	forest := &Forest{features: features}
	for range opt.Trees {
		for i, y := range s.Class {
			p := logistic(score[i])
			g.gradient[i], g.bend[i] = s.Weights[i]*(y-p), s.Weights[i]*p*(1-p)
		}
		asked := rng.Perm(features)[:max(1, int(float64(features)*opt.Features))]
		slices.Sort(asked)
		tree := g.tree(asked)
		for i, row := range s.Rows {
			score[i] += leafOf(tree, row)
		}
		forest.trees = append(forest.trees, tree)
	}
	return forest
}

// cut chooses limits of a feature so that about equally many rows are between them.
func (g *grower) cut(rows [][]float32, f int) {
	values := make([]float32, len(rows))
	for i, row := range rows {
		values[i] = row[f]
	}
	slices.Sort(values)
	var limits []float32
	for k := 1; k < steps; k++ {
		at := values[k*len(values)/steps]
		if at > values[0] && (len(limits) == 0 || at > limits[len(limits)-1]) {
			limits = append(limits, at)
		}
	}
	step := make([]uint8, len(rows))
	for i, row := range rows {
		at, found := slices.BinarySearch(limits, row[f])
		if found {
			at++
		}
		step[i] = uint8(at)
	}
	g.limits[f], g.step[f] = limits, step
}
