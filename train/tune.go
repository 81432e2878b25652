package train

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"
)

// enoughPages is how many held-out pages settle what tune asks, calibrate, and say
// how good a model is to within a point or so.
const enoughPages = 2000

// enoughFolds returns as many of the folds of a set as hold enough pages. Where
// classifiers compete they are judged on all, for their choice is not to hang on
// chance.
func enoughFolds(folds []int, pages, learners int) []int {
	if learners > 1 {
		return folds
	}
	n := len(folds)
	return folds[:min(n, (enoughPages*n+pages-1)/pages)]
}

// tune chooses how a linear classifier weighs its terms and what share of naive
// Bayes it has, by held-out accuracy.
//
// Log odds say what a word tells of the classes, idf only how rare it is. Log
// odds win where classes are few or pages are long. idf wins where many classes
// meet on short pages, for there the odds of the rare words that matter are
// mostly chance. The first fold decides alone when chance hardly explains its
// difference; see docs/classifiers.md for figures.
func tune(ctx context.Context, c *corpus, fold, which []int, by fitting) (*heldOut, error) {
	racing := c.runners()
	for i := range which {
		g, ctx := errgroup.WithContext(ctx)
		for _, h := range racing {
			g.Go(func() error { return h.judge(ctx, c, fold, which[i:i+1], by) })
		}
		if err := g.Wait(); err != nil {
			return nil, err
		}
		first := foremost(racing)
		racing = slices.DeleteFunc(racing, func(h *heldOut) bool {
			return h != first && ahead(first, h, c.y).P < certain
		})
	}
	top := foremost(racing)
	l := top.learner.(linear)
	l.passes, l.warm = 0, top.dual
	top.learner = l
	nb, err := crossValidate(ctx, c, bayes{complement: true, odds: l.odds}, fold, which, by)
	if err != nil {
		return nil, err
	}
	return blended(top, nb, c.y), nil
}

// runners returns what tune chooses from, the first of equal ones.
func (c *corpus) runners() []*heldOut {
	passes := 0
	if len(c.y) > largeSet {
		passes = fewPasses
	}
	var all []*heldOut
	for _, odds := range []bool{false, true} {
		all = append(all, newHeldOut(linear{odds: odds, passes: passes}, len(c.y)))
	}
	return all
}

// On a large set folds are trained with few passes over the pages: that is half of
// the work, and changes what is held out little. Accuracy of one fold of 20
// Newsgroups after 3, 5, 8 and all passes, idf: .886, .893, .893, .894; odds: .852,
// .864, .862, .866. The model itself starts from there and takes all it needs.
const (
	largeSet  = 5000 // pages
	fewPasses = 6
)

// certain is the chance of error at which a runner is out of the race.
const certain = 0.01

// foremost returns the one with the best accuracy, the first of equal ones.
func foremost(racing []*heldOut) *heldOut {
	top := racing[0]
	for _, h := range racing {
		if h.score > top.score {
			top = h
		}
	}
	return top
}

// ahead tests two learners on the pages that both have judged.
func ahead(a, b *heldOut, y []int) Paired {
	var aOnly, bOnly int
	for p, class := range y {
		if a.scores[p] == nil || b.scores[p] == nil {
			continue
		}
		switch inA, inB := best(a.scores[p]) == class, best(b.scores[p]) == class; {
		case inA && !inB:
			aOnly++
		case inB && !inA:
			bOnly++
		}
	}
	return McNemar(aOnly, bOnly)
}
