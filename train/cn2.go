package train

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat/distuv"

	"fossick/features"
	"fossick/models"
)

// CN2 says how rules are learnt. The zero value has the defaults.
type CN2 struct {
	Ordered      bool    // a decision list (Clark & Niblett 1989), not rules a class (Clark & Boswell 1991)
	Beam         int     // complexes kept a step; 0 is 5
	Significance float64 // a rule's class distribution differs from chance with this probability; 0 is 0.9
}

func (o CN2) filled() CN2 {
	if o.Beam == 0 {
		o.Beam = 5
	}
	if o.Significance == 0 {
		o.Significance = 0.9
	}
	return o
}

func (o CN2) check() error {
	if o.Beam < 0 || !(o.Significance >= 0 && o.Significance < 1) {
		return fmt.Errorf("training %s with a beam of %d at significance %v; want a beam of 1 at least, and a significance of 0 or more and below 1", models.CN2, o.Beam, o.Significance)
	}
	return nil
}

// cn2 learns rules on counts of the terms that gain most.
type cn2 struct{}

func (cn2) name() string { return models.CN2 }

// cn2Words is the number of terms when none is asked for.
const cn2Words = 300

func (cn2) fit(ctx context.Context, c *corpus, pages []int, opt *Options) (*fitted, error) {
	f, rows, y, err := c.counted(pages, opt, models.CN2, cn2Words)
	if err != nil {
		return nil, err
	}
	set := opt.CN2.filled()
	if f.rules, err = induce(ctx, rows, y, len(c.classes), len(f.kept), set); err != nil {
		return nil, fmt.Errorf("training %s: %w", models.CN2, err)
	}
	f.settings["rules"] = strconv.Itoa(f.rules.Len())
	f.settings["ordered"] = strconv.FormatBool(set.Ordered)
	f.settings["beam"] = strconv.Itoa(set.Beam)
	f.settings["significance"] = fmt.Sprint(set.Significance)
	return f, nil
}

// induce learns rules from rows of counts and their classes.
func induce(ctx context.Context, rows []features.Vector, y []int, classes, terms int, opt CN2) (*models.Rules, error) {
	l := &ruleLearner{data: newCover(rows, y, classes, terms), opt: opt, rules: &models.Rules{Ordered: opt.Ordered, Start: []int32{0}}}
	var err error
	if opt.Ordered {
		err = l.list(ctx)
	} else {
		err = l.perClass(ctx)
	}
	return l.rules, err
}

// ruleLearner covers rows by rules, one after the other.
type ruleLearner struct {
	data  *cover
	opt   CN2
	rules *models.Rules
}

// list makes a decision list: the best complex of the rows left, its most
// frequent class, and on without the rows that it covers, until none is
// significant. The default is what is left.
func (l *ruleLearner) list(ctx context.Context) error {
	s := newRuleSearch(l.data, l.opt, -1)
	for s.live.tally.n > 0 {
		best, err := s.best(ctx)
		if err != nil {
			return err
		}
		if best == nil {
			break
		}
		counts := l.data.counts(best.rows)
		l.add(best.selectors, slices.Index(counts, slices.Max(counts)), counts)
		s.take(best.rows)
	}
	l.count(s.live.tally.total)
	return nil
}

// perClass makes rules for each class in turn: the best complex for it, and on
// without the rows of the class that it covers. Rules keep what they cover of
// all rows; the default is the distribution of all.
func (l *ruleLearner) perClass(ctx context.Context) error {
	for class := range l.data.classes {
		own := make([]uint64, len(l.data.all))
		each(l.data.all, func(row int) {
			if l.data.y[row] == class {
				set(own, row)
			}
		})
		s := newRuleSearch(l.data, l.opt, class)
		for s.live.tally.total[0] > 0 {
			best, err := s.best(ctx)
			if err != nil {
				return err
			}
			if best == nil {
				break
			}
			l.add(best.selectors, class, l.covered(best.selectors))
			s.take(intersect(best.rows, own))
		}
	}
	l.count(l.data.counts(l.data.all))
	return nil
}

// covered returns how many of all rows of each class have the selectors.
func (l *ruleLearner) covered(selectors []int32) []int32 {
	rows := l.data.all
	for _, sel := range selectors {
		rows = l.data.narrowed(rows, sel)
	}
	return l.data.counts(rows)
}

// add appends a rule.
func (l *ruleLearner) add(selectors []int32, class int, counts []int32) {
	r := l.rules
	for _, sel := range selectors {
		c := l.data.cuts[sel/2]
		r.Term, r.Threshold = append(r.Term, c.term), append(r.Threshold, c.over)
		r.Above = append(r.Above, uint8(1-sel%2))
	}
	r.Start, r.Class = append(r.Start, int32(len(r.Term))), append(r.Class, int32(class))
	l.count(counts)
}

// count appends a row of counts: a rule's, or the default's.
func (l *ruleLearner) count(counts []int32) {
	for _, n := range counts {
		l.rules.Counts = append(l.rules.Counts, float32(n))
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
