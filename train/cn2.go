package train

import (
	"context"
	"fmt"
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
	words := opt.Words
	if words == 0 && opt.Mu == 0 {
		words = cn2Words
	}
	kept, _ := c.vocabulary(pages, words, opt.Mu)
	if len(kept) == 0 {
		return nil, fmt.Errorf("training %s: %w", models.CN2, errNoWord)
	}
	f := newFitted(c, kept)
	y := make([]int, len(pages))
	for i, p := range pages {
		y[i] = c.y[p]
	}
	set := opt.CN2.filled()
	rules, err := induce(ctx, f.vectors(c, pages), y, len(c.classes), len(kept), set)
	if err != nil {
		return nil, fmt.Errorf("training %s: %w", models.CN2, err)
	}
	f.rules = rules
	f.settings["terms"] = strconv.Itoa(len(kept))
	f.settings["rules"] = strconv.Itoa(rules.Len())
	f.settings["ordered"] = strconv.FormatBool(set.Ordered)
	f.settings["beam"] = strconv.Itoa(set.Beam)
	f.settings["significance"] = fmt.Sprint(set.Significance)
	return f, nil
}

// induce learns rules from rows of counts and their classes.
func induce(ctx context.Context, rows []features.Vector, y []int, classes, terms int, opt CN2) (*models.Rules, error) {
	s := newRuleSearch(newCover(rows, y, classes, terms), opt)
	r := &models.Rules{Ordered: opt.Ordered, Start: []int32{0}}
	var err error
	if opt.Ordered {
		err = s.list(ctx, r)
	} else {
		err = s.perClass(ctx, r)
	}
	return r, err
}

// list makes a decision list: the best complex of the rows left, its most
// frequent class, and on without the rows that it covers, until none is
// significant. The default is what is left.
func (s *ruleSearch) list(ctx context.Context, r *models.Rules) error {
	live := s.root(s.data.all)
	for live.n > 0 {
		best, err := s.best(ctx, live, -1)
		if err != nil {
			return err
		}
		if best == nil {
			break
		}
		s.add(r, best, bestCount(best.counts), best.counts)
		left := make([]uint64, len(live.bits))
		for w := range left {
			left[w] = live.bits[w] &^ best.bits[w]
		}
		live = s.root(left)
	}
	s.byDefault(r, live.counts)
	return nil
}

// perClass makes rules for each class in turn: the best complex for it, and on
// without the rows of the class that it covers. Rules keep what they cover of
// all rows; the default is the distribution of all.
func (s *ruleSearch) perClass(ctx context.Context, r *models.Rules) error {
	for class := range s.data.classes {
		live := s.root(s.data.all)
		for live.counts[class] > 0 {
			best, err := s.best(ctx, live, class)
			if err != nil {
				return err
			}
			if best == nil {
				break
			}
			s.add(r, best, class, s.covered(best.selectors))
			left := append([]uint64(nil), live.bits...)
			for w := s.data.start[class]; w < s.data.start[class+1]; w++ {
				left[w] &^= best.bits[w]
			}
			live = s.root(left)
		}
	}
	s.byDefault(r, s.root(s.data.all).counts)
	return nil
}

// covered returns how many of all rows of each class have the selectors.
func (s *ruleSearch) covered(selectors []int32) []int32 {
	x := s.root(s.data.all)
	for _, sel := range selectors {
		x = s.narrow(x, sel)
	}
	return x.counts
}

func (s *ruleSearch) add(r *models.Rules, x *complex, class int, counts []int32) {
	for _, sel := range x.selectors {
		c := s.data.cuts[sel/2]
		r.Term, r.Threshold = append(r.Term, c.term), append(r.Threshold, c.over)
		r.Above = append(r.Above, uint8(1-sel%2))
	}
	r.Start, r.Class = append(r.Start, int32(len(r.Term))), append(r.Class, int32(class))
	s.byDefault(r, counts)
}

// byDefault appends a row of counts.
func (s *ruleSearch) byDefault(r *models.Rules, counts []int32) {
	for _, n := range counts {
		r.Counts = append(r.Counts, float32(n))
	}
}

func bestCount(counts []int32) int {
	at := 0
	for c, n := range counts {
		if n > counts[at] {
			at = c
		}
	}
	return at
}

// critical returns the value that a χ² of df degrees of freedom stays below with
// probability p; 0 for p = 0.
func critical(p float64, df int) float64 {
	if p == 0 || df < 1 {
		return 0
	}
	return distuv.ChiSquared{K: float64(df)}.Quantile(p)
}
