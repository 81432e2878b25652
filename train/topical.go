package train

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"fossick/models"
)

// A model of one topic against the rest guides a crawl. It must rank pages, and its
// probabilities must hold, also where few pages are on topic. Accuracy sees neither:
// with 12 pages of 600 on topic, a model that refuses all has .98. So such a model is
// chosen by its log loss on held-out pages.

// A small set is cross-validated again and again, each round with folds of its own,
// until roundPages have been held out. One round alone hangs on chance.
const (
	mostRounds = 4
	roundPages = 2400
)

// rounds returns the folds of each round and how many there are in one: less than 2
// when a class has a single page.
func (c *corpus) rounds(opt *Options) (all [][]int, n int) {
	own := *opt
	for r := range min(mostRounds, max(1, roundPages/len(c.y))) {
		own.Seed = opt.Seed + int64(r)<<32
		var fold []int
		if fold, n = c.folds(&own); n < 2 {
			return nil, n
		}
		all = append(all, fold)
	}
	return all, n
}

// contender is a learner, and what it said of held-out pages in each round.
type contender struct {
	learner
	rounds []*heldOut
	losses []float64 // by page, the mean over the rounds, in nats
}

// contest has learners of a topic compete.
type contest struct {
	c     *corpus
	opt   *Options
	folds [][]int // by round
	which []int   // the folds that are held out
}

// chooseTopical is choose for a topic against the rest. The first of the learners is the
// one that is known to rank best (docs/classifiers.md). Another is taken where it surely
// loses less. Of a stack all are taken, with shares by the first round.
func chooseTopical(ctx context.Context, c *corpus, learners []learner, opt *Options, rep *Report) (*heldOut, error) {
	folds, n := c.rounds(opt)
	if n < 2 {
		opt.log().Warn("a class has a single page: no cross-validation; probabilities are not calibrated")
		return &heldOut{learner: learners[0]}, nil
	}
	t := &contest{c, opt, folds, enoughFolds(upTo(n), len(c.y), len(learners))}
	var top *contender
	var members []*nominee
	for _, l := range learners {
		opt.step("cross-validating %s", l.name())
		next, err := t.enter(ctx, l, top)
		if err != nil {
			return nil, err
		}
		h := next.rounds[0]
		opt.log().Info("cross-validated", "classifier", l.name(), "log_loss", mean(next.losses), "accuracy", h.score)
		rep.Accuracy[l.name()] = max(rep.Accuracy[l.name()], h.score)
		if opt.stacks() {
			members = append(members, topicalNominee(next, c.y))
			t.folds = folds[:1] // linear, the first, was chosen by all; rounds of the others take minutes
			continue
		}
		if top == nil || next.lead(top) > sure {
			top = next
		}
	}
	if opt.stacks() {
		h := stacked(members, c.y)
		h.rounds = []*heldOut{h}
		top = &contender{learner: h.learner, rounds: h.rounds}
		rep.Accuracy[h.learner.name()] = h.score
	}
	h := top.rounds[0]
	h.learner, h.rounds = top.learner, top.rounds
	h.ins, h.outs = h.parts(folds[0], n)
	return h, nil
}

// enter returns what a learner does, against the one that is ahead so far.
func (t *contest) enter(ctx context.Context, l learner, top *contender) (*contender, error) {
	if _, ok := l.(linear); ok {
		return t.linear(ctx)
	}
	one := &contender{learner: l}
	return one, t.run(ctx, one, top)
}

// sure is by how many standard errors another must lose less to be taken. Of a dozen that
// are alike the least loss is mostly chance.
const sure = 2

// hopeless is how many standard errors behind a learner leaves the contest.
const hopeless = 4

// run holds the rounds of a learner, no more than it takes to see that it is far behind.
func (t *contest) run(ctx context.Context, one, top *contender) error {
	for _, fold := range t.folds {
		h, err := crossValidate(ctx, t.c, one.learner, fold, t.which, t.opt.fitting())
		if err != nil {
			return err
		}
		one.rounds = append(one.rounds, h)
		if top != nil {
			if t.judge(one); top.lead(one) > hopeless {
				return nil
			}
		}
	}
	t.judge(one)
	return nil
}

// linear returns the best of the linear classifiers: each way to weigh terms, with each share
// of naive Bayes. The simplest is kept where no other is surely better.
func (t *contest) linear(ctx context.Context) (*contender, error) {
	var all []*contender
	for _, h := range t.c.runners() {
		l := h.learner.(linear)
		machine, nb := &contender{learner: l}, &contender{learner: bayes{complement: true, odds: l.odds}}
		g, ctx := errgroup.WithContext(ctx)
		for _, one := range []*contender{machine, nb} {
			g.Go(func() error { return t.run(ctx, one, nil) })
		}
		if err := g.Wait(); err != nil {
			return nil, fmt.Errorf("cross-validating: %w", err)
		}
		l.passes, l.warm = 0, machine.rounds[0].dual
		machine.learner = l
		all = append(all, machine)
		all = append(all, t.blends(machine, nb)...)
	}
	top := slices.MinFunc(all, func(a, b *contender) int { return cmp.Compare(mean(a.losses), mean(b.losses)) })
	if top.lead(all[0]) <= sure {
		top = all[0]
	}
	return top, nil
}

// blends returns the machine with each share of naive Bayes.
func (t *contest) blends(machine, nb *contender) (all []*contender) {
	ratio := spread(machine.rounds[0].scores) / spread(nb.rounds[0].scores)
	if math.IsNaN(ratio) || math.IsInf(ratio, 0) {
		return nil // no words: all scores are equal
	}
	for _, share := range shares {
		b := blend{machine.learner.(linear), share, ratio}
		one := &contender{learner: b}
		for r, h := range machine.rounds {
			one.rounds = append(one.rounds, b.of(h, nb.rounds[r], t.c.y))
		}
		t.judge(one)
		all = append(all, one)
	}
	return all
}

// leastProbability bounds what one page may lose.
const leastProbability = 1e-6

// judge sums up what one loses. Each fold of the first round is calibrated by what is said of
// the others, so that the loss is that of pages not yet seen.
func (t *contest) judge(o *contender) {
	y, fold := t.c.y, t.folds[0]
	o.losses = make([]float64, len(y))
	for part := range 1 + slices.Max(fold) {
		cal := platt(o.rounds, y, func(p int) bool { return fold[p] != part })
		for p := range y {
			if fold[p] != part {
				continue
			}
			for _, h := range o.rounds {
				if s := slices.Clone(h.scores[p]); s != nil {
					cal.Apply(s)
					o.losses[p] -= math.Log(max(s[y[p]], leastProbability)) / float64(len(o.rounds))
				}
			}
		}
	}
}

// lead is how many standard errors of the mean o loses less than another.
func (o *contender) lead(than *contender) float64 {
	diff := make([]float64, len(o.losses))
	for p := range diff {
		diff[p] = than.losses[p] - o.losses[p]
	}
	m, squares := mean(diff), 0.0
	for _, d := range diff {
		squares += (d - m) * (d - m)
	}
	if m == 0 {
		return 0
	}
	return m / (math.Sqrt(squares) / float64(len(diff)))
}

func mean(x []float64) (m float64) {
	for _, v := range x {
		m += v / float64(len(x))
	}
	return m
}

// topical returns calibration and thresholds of a topic's model, by the pages of all rounds,
// whose scores become probabilities.
func (c *corpus) topical(held *heldOut) (cal models.Calibration, cuts []float64) {
	cal = platt(held.rounds, c.y, func(int) bool { return true })
	var probs [][]float64
	var y []int
	for _, h := range held.rounds {
		s, class := h.judged(c.y)
		for _, one := range s {
			cal.Apply(one)
		}
		probs, y = append(probs, s...), append(y, class...)
	}
	return cal, thresholds(probs, y)
}
