package train

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat/distuv"

	"fossick/models"
	"fossick/models/features"
)

// cn2 learns rules on counts of the terms that gain most.
type cn2 struct {
	ordered      bool    // a decision list (Clark & Niblett 1989), not rules for each class (Clark & Boswell 1991)
	beam         int     // complexes kept in a step
	significance float64 // a rule's class distribution differs from chance with this probability
	// covers is how many rules of its class may cover a page. A page counts half of what it
	// did for each rule that covers it (the weighted covering of Lavrač, Kavšek, Flach &
	// Todorovski 2004); 1 is Clark & Boswell's covering. A list has no use for it.
	covers int
}

func newCN2(ordered bool) cn2 {
	if ordered {
		return cn2{ordered: true, beam: 5, significance: 0.99, covers: 6}
	}
	return cn2{beam: 5, significance: 0.999, covers: 6}
}

func (cn2) name() string { return models.CN2 }

// cn2Words is the number of terms when none is asked for.
const cn2Words = 300

func (l cn2) fit(ctx context.Context, c *corpus, pages []int, by fitting) (*fitted, error) {
	f, rows, y, err := c.counted(pages, by, models.CN2, cn2Words)
	if err != nil {
		return nil, err
	}
	if f.rules, err = induce(ctx, rows, y, len(c.classes), len(f.kept), l); err != nil {
		return nil, fmt.Errorf("training %s: %w", models.CN2, err)
	}
	f.settings["rules"] = strconv.Itoa(f.rules.Len())
	f.settings["ordered"] = strconv.FormatBool(l.ordered)
	f.settings["beam"] = strconv.Itoa(l.beam)
	if !l.ordered {
		f.settings["covers"] = strconv.Itoa(l.covers)
	}
	f.settings["significance"] = fmt.Sprint(l.significance)
	return f, nil
}

// induce learns rules from rows of counts and their classes.
func induce(ctx context.Context, rows []features.Vector, y []int, classes, terms int, opt cn2) (*models.Rules, error) {
	d := newCover(rows, y, classes, terms)
	if opt.ordered {
		return list(ctx, d, opt)
	}
	return perClass(ctx, d, opt)
}

// list makes a decision list: the best complex of the rows left and its most frequent
// class. It goes on without those rows until none is significant. The default is what
// is left.
func list(ctx context.Context, d *cover, opt cn2) (*models.Rules, error) {
	w := ruleWriter{d, &models.Rules{Ordered: true, Start: []int32{0}}}
	s := newRuleSearch(d, opt, -1)
	for s.live.tally.n > 0 {
		best, err := s.best(ctx)
		if err != nil {
			return nil, err
		}
		if best == nil {
			break
		}
		counts := d.counts(best.rows)
		w.add(best.selectors, slices.Index(counts, slices.Max(counts)), counts)
		s.cover(best.selectors, best.rows)
	}
	w.count(d.counts(s.live.rows))
	return w.rules, nil
}

// perClass makes rules for each class. Rules keep what they cover of all rows;
// the default is the distribution of all.
func perClass(ctx context.Context, d *cover, opt cn2) (*models.Rules, error) {
	found := make([][][]int32, d.classes) // class → rules → selectors
	if err := parallel(ctx, runtime.GOMAXPROCS(0), d.classes, func(ctx context.Context, class int) (err error) {
		found[class], err = ofClass(ctx, d, opt, class)
		return err
	}); err != nil {
		return nil, err
	}
	w := ruleWriter{d, &models.Rules{Shares: opt.covers > 1, Start: []int32{0}}}
	for class, rules := range found {
		for _, selectors := range rules {
			w.add(selectors, class, w.covered(selectors))
		}
	}
	w.count(d.counts(d.all))
	return w.rules, nil
}

// ofClass returns rules for one class: the best complex for it, and on with less
// weight for the rows of the class that it covers.
func ofClass(ctx context.Context, d *cover, opt cn2, class int) (rules [][]int32, err error) {
	own := make([]uint64, len(d.all))
	each(d.all, func(row int) {
		if d.y[row] == class {
			set(own, row)
		}
	})
	s := newRuleSearch(d, opt, class)
	for s.live.tally.total[0] > 0 {
		best, err := s.best(ctx)
		if err != nil {
			return nil, err
		}
		if best == nil {
			break
		}
		rules = append(rules, best.selectors)
		s.cover(best.selectors, intersect(best.rows, own))
	}
	return rules, nil
}

// ruleWriter appends rules to flat arrays.
type ruleWriter struct {
	data  *cover
	rules *models.Rules
}

// covered returns how many of all rows of each class have the selectors.
func (w ruleWriter) covered(selectors []int32) []int32 {
	rows := w.data.all
	for _, sel := range selectors {
		rows = w.data.narrowed(rows, sel)
	}
	return w.data.counts(rows)
}

// add appends a rule. The words that it asks for come first, the rarest before
// the others: it tells a reader most, and the walk looks no further on most pages
// (models.Matcher).
func (w ruleWriter) add(selectors []int32, class int, counts []int32) {
	r := w.rules
	selectors = slices.Clone(selectors)
	slices.SortStableFunc(selectors, func(a, b int32) int {
		return cmp.Or(cmp.Compare(a%2, b%2), cmp.Compare(size(w.data.above[a/2]), size(w.data.above[b/2])))
	})
	for _, sel := range selectors {
		c := w.data.cuts[sel/2]
		r.Term, r.Threshold = append(r.Term, c.term), append(r.Threshold, c.over)
		r.Above = append(r.Above, uint8(1-sel%2))
	}
	r.Start, r.Class = append(r.Start, int32(len(r.Term))), append(r.Class, int32(class))
	w.count(counts)
}

// count appends a row of counts: a rule's, or the default's.
func (w ruleWriter) count(counts []int32) {
	for _, n := range counts {
		w.rules.Counts = append(w.rules.Counts, float32(n))
	}
}

// critical returns the value that a χ² of df degrees of freedom stays below with
// probability p; 0 for p = 0.
func critical(p float64, df int) float64 {
	if p == 0 || df < 1 {
		return 0
	}
	return distuv.ChiSquared{K: float64(df)}.Quantile(p)
}
