package train

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/sjwhitworth/golearn/base"
	"github.com/sjwhitworth/golearn/trees"
)

// Baselines returns the names of golearn's own classifiers. They are tried beside ours
// (Bench.Try) and make no model.
func Baselines() []string { return []string{golearnID3, golearnRandom, golearnKNN} }

const (
	golearnID3    = "golearn-id3"
	golearnRandom = "golearn-random-tree"
	golearnKNN    = "golearn-knn"
)

// baseline returns the learner of a name that Baselines has.
func baseline(name string) (learner, bool) {
	switch name {
	case golearnID3:
		return stockTree{}, true
	case golearnRandom:
		return stockTree{random: true}, true
	case golearnKNN:
		return knn{}, true
	}
	return nil, false
}

// stockTree is golearn's ID3 by its own information gain, unpruned; with random set, at
// each node among as many words as the square root of those left. It asks for a word
// once on the way to a leaf.
//
// golearn's InformationGainRuleGenerator takes the columns in the order of a map, and its
// RandomTree draws from the global source: so two runs differ. Both leave the choice
// among given columns to GetSplitRuleFromSelection, which is all that is used here.
type stockTree struct{ random bool }

func (t stockTree) name() string {
	if t.random {
		return golearnRandom
	}
	return golearnID3
}

func (t stockTree) fit(ctx context.Context, c *corpus, pages []int, by fitting) (out *fitted, err error) {
	f, rows, y, err := c.counted(pages, by, t.name(), c45Words)
	if err != nil {
		return nil, err
	}
	defer func() { // golearn panics where it has no error to return
		if r := recover(); r != nil {
			out, err = nil, fmt.Errorf("training %s: %v", t.name(), r)
		}
	}()
	g := &grower{rows: rows, y: y, classes: len(c.classes), terms: len(f.kept)}
	data, words, err := g.table()
	if err != nil {
		return nil, fmt.Errorf("training %s: %w", t.name(), err)
	}
	rule := &stockRule{ctx: ctx, words: words}
	if t.random {
		rule.draw, rule.seed = true, uint64(by.seed)
	}
	tree := trees.NewID3DecisionTreeFromRule(0, rule)
	if err := tree.Fit(data); err != nil {
		return nil, fmt.Errorf("training %s: %w", t.name(), err)
	}
	root, err := g.stock(tree.Root)
	if err != nil {
		return nil, fmt.Errorf("training %s: %w", t.name(), err)
	}
	f.tree = compile(root, 0)
	f.tree.Shares = nil // a leaf says what most of its pages are, as golearn has it
	return f, ctx.Err()
}

// table returns the pages as golearn's instances, a column a term, and the columns.
func (g *grower) table() (*base.DenseInstances, []base.Attribute, error) {
	data := base.NewDenseInstances()
	words, columns := make([]base.Attribute, g.terms), make([]base.AttributeSpec, g.terms)
	for i := range words {
		words[i] = base.NewFloatAttribute(strconv.Itoa(i))
		columns[i] = data.AddAttribute(words[i])
	}
	class, classColumn, err := addClass(data, len(g.rows))
	if err != nil {
		return nil, nil, err
	}
	for i, row := range g.rows {
		for k, term := range row.Index {
			data.Set(columns[term], i, base.PackFloatToBytes(float64(row.Value[k])))
		}
		data.Set(classColumn, i, class.GetSysValFromString(strconv.Itoa(g.y[i])))
	}
	return data, words, nil
}

// stockRule lets golearn choose among the columns that are left, in their order.
type stockRule struct {
	ctx   context.Context
	words []base.Attribute
	draw  bool // else among all
	seed  uint64
	gain  trees.InformationGainRuleGenerator
}

// GenerateSplitRule implements golearn's trees.RuleGenerator.
func (r *stockRule) GenerateSplitRule(view base.FixedDataGrid) *trees.DecisionTreeRule {
	if r.ctx.Err() != nil {
		return nil // a leaf; fit returns the error
	}
	var left []base.Attribute
	for _, w := range r.words {
		if _, err := view.GetAttribute(w); err == nil {
			left = append(left, w)
		}
	}
	if len(left) == 0 {
		return nil
	}
	if r.draw {
		// golearn visits nodes in the order of a map, so each draws from a source of its own.
		_, rows := view.Size()
		rng := rand.New(rand.NewPCG(r.seed, uint64(rows)<<32|uint64(len(left))))
		rng.Shuffle(len(left), func(a, b int) { left[a], left[b] = left[b], left[a] })
		left = left[:int(math.Ceil(math.Sqrt(float64(len(left)))))]
	}
	return r.gain.GetSplitRuleFromSelection(left, view)
}

// stock makes our node of golearn's, whose columns are named by the terms' numbers.
func (g *grower) stock(n *trees.DecisionTreeNode) (*node, error) {
	low, high := n.Children["0"], n.Children["1"]
	if low == nil && high != nil {
		return g.stock(high)
	}
	if high == nil && low != nil {
		return g.stock(low) // all pages went one way
	}
	out, err := g.leaf(n)
	if err != nil {
		return nil, err
	}
	if low == nil {
		return out, nil
	}
	if out.term, err = strconv.Atoi(n.SplitRule.SplitAttr.GetName()); err != nil {
		return nil, errTree
	}
	out.threshold = float32(n.SplitRule.SplitVal)
	if out.low, err = g.stock(low); err != nil {
		return nil, err
	}
	out.high, err = g.stock(high)
	return out, err
}
