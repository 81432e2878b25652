package train

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"fossick/features"
	"fossick/models"
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
	g := &grower{rows: rows, y: y, classes: len(c.classes), terms: len(f.kept)}
	all := upTo(len(rows))
	root, err := g.grow(ctx, all)
	if err != nil {
		return nil, fmt.Errorf("training %s: %w", models.C45, err)
	}
	g.prune(root, all)
	f.tree = compile(root)
	f.explain = func() { f.tree.Rules = g.simplify(f.tree) }
	return f, nil
}

// grower has a training set for one tree.
type grower struct {
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

var errTree = errors.New("golearn returned a tree that is not whole")
