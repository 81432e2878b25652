package train

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"fossick/models"
	"fossick/models/features"
)

// c45 grows Quinlan's C4.5 (Release 8) on counts of the terms that gain most.
//
// golearn grows the tree (grid.go): it splits the pages by a rule, again and
// again. The rule is ours (split.go), for golearn's own gain ratio is not
// C4.5's and its choice among equals changes from run to run. So is pruning
// (prune.go), and so are the flat arrays that the tree becomes (compile.go).
type c45 struct{}

func (c45) name() string { return models.C45 }

// c45Words is the number of terms when none is asked for.
const c45Words = 300

func (c45) fit(ctx context.Context, c *corpus, pages []int, by fitting) (*fitted, error) {
	f, rows, y, err := c.counted(pages, by, models.C45, c45Words)
	if err != nil {
		return nil, err
	}
	g := &grower{rows: rows, y: y, classes: len(c.classes), terms: len(f.kept), caution: cautious}
	if len(rows) < smallSet {
		if err := g.dare(ctx, by.seed); err != nil {
			return nil, fmt.Errorf("training %s: %w", models.C45, err)
		}
	}
	f.settings["least_pages"] = strconv.Itoa(g.least)
	if f.tree, err = g.quinlan(ctx, upTo(len(rows))); err != nil {
		return nil, fmt.Errorf("training %s: %w", models.C45, err)
	}
	f.explain = func() { f.tree.Rules = g.simplify(f.tree) }
	return f, nil
}

// quinlan grows and prunes a tree of pages.
func (g *grower) quinlan(ctx context.Context, pages []int) (*models.Tree, error) {
	root, err := g.grow(ctx, pages, quinlan{g})
	if err != nil {
		return nil, err
	}
	g.prune(root, pages)
	return compile(root, g.shrink), nil
}

// caution is how a tree guards against chance.
type caution struct {
	least  int     // C4.5's -m: both sides of a split have at least this many pages
	shrink float64 // pages like the parent's that a node's shares have more; see compile
}

// C4.5's own caution, and less. On a hundred pages that words tell apart without error, two
// pages a side end the tree after eight words; a page with none of these is taken for the class
// of the last leaf.
var cautious, daring = caution{2, 3}, caution{1, 1}

// smallSet is below how many pages c45 tries both.
const smallSet = 1000

// dareRounds is how often dare cross-validates: a hundred pages once say little.
const dareRounds = 4

// dare has more caution only where that has more pages right in cross-validation.
func (g *grower) dare(ctx context.Context, seed int64) error {
	const n = 5
	var right [2]int
	for round := range uint64(dareRounds) {
		fold := dealEvenly(g.y, g.classes, n, rand.New(rand.NewPCG(uint64(seed), 0xda7e+round)))
		ins, outs := parts(fold, n)
		for i, how := range []caution{cautious, daring} {
			g.caution = how
			for k := range ins {
				hits, err := g.hits(ctx, ins[k], outs[k])
				if err != nil {
					return err
				}
				right[i] += hits
			}
		}
	}
	if right[0] > right[1] {
		g.caution = cautious
	}
	return nil
}

// hits returns how many pages of out a tree of the pages of in has right.
func (g *grower) hits(ctx context.Context, in, out []int) (n int, err error) {
	if len(in) == 0 {
		return 0, nil
	}
	tree, err := g.quinlan(ctx, in)
	if err != nil {
		return 0, err
	}
	w := models.NewWalker(tree, g.terms, g.classes)
	probs, dense := make([]float64, g.classes), make([]float32, g.terms)
	for _, p := range out {
		if w.Scores(probs, g.rows[p], dense); best(probs) == g.y[p] {
			n++
		}
	}
	return n, nil
}

// grower has a training set for one tree.
type grower struct {
	caution
	rows    []features.Vector
	y       []int
	classes int
	terms   int
}

// count returns how often a term occurs on a page.
func (g *grower) count(page, term int) float32 {
	r := g.rows[page]
	if k, ok := slices.BinarySearch(r.Index, int32(term)); ok {
		return r.Value[k]
	}
	return 0
}

// part divides pages by a test.
func (g *grower) part(pages []int, term int, threshold float32) (low, high []int) {
	for _, p := range pages {
		if g.count(p, term) > threshold {
			high = append(high, p)
		} else {
			low = append(low, p)
		}
	}
	return low, high
}

var errTree = errors.New("golearn returned an incomplete tree")
