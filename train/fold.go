package train

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"golang.org/x/sync/errgroup"

	"fossick/models"
)

// folds returns each page's fold and their number, less than 2 if a class has a single page.
func (c *corpus) folds(opt *Options) (fold []int, n int) {
	if n = min(opt.Folds, slices.Min(c.classRows(c.all()))); n < 2 {
		return nil, 0
	}
	return folds(c, n, opt), n
}

// folds assigns every page to one of n folds, each class evenly; the same arguments give the same folds.
func folds(c *corpus, n int, opt *Options) []int {
	rng := rand.New(rand.NewPCG(uint64(opt.Seed), 0xf01d))
	if opt.BySite {
		return c.deal(c.units(len(c.y)/n), n, rng)
	}
	return dealEvenly(c.y, len(c.classes), n, rng)
}

// dealEvenly deals the rows in random order into n parts, each class evenly.
func dealEvenly(y []int, classes, n int, rng *rand.Rand) []int {
	byClass := make([][]int, classes)
	for i, class := range y {
		byClass[class] = append(byClass[class], i)
	}
	part := make([]int, len(y))
	next := 0 // goes on from class to class, so that parts have equal size
	for _, rows := range byClass {
		rng.Shuffle(len(rows), func(a, b int) { rows[a], rows[b] = rows[b], rows[a] })
		for _, i := range rows {
			part[i] = next % n
			next++
		}
	}
	return part
}

// units returns the pages that share a fold: those of a site with at most most pages; others singly.
func (c *corpus) units(most int) [][]int {
	bySite := map[string][]int{}
	for p, site := range c.sites {
		bySite[site] = append(bySite[site], p)
	}
	var units [][]int
	for _, site := range slices.Sorted(maps.Keys(bySite)) {
		pages := bySite[site]
		if site != "" && len(pages) <= most {
			units = append(units, pages)
			continue
		}
		for i := range pages {
			units = append(units, pages[i:i+1])
		}
	}
	return units
}

// deal assigns units to folds, the largest first and ties in random order: each to the fold with the
// smallest shares of its classes, the first of ties.
func (c *corpus) deal(units [][]int, n int, rng *rand.Rand) []int {
	rng.Shuffle(len(units), func(a, b int) { units[a], units[b] = units[b], units[a] })
	slices.SortStableFunc(units, func(a, b []int) int { return cmp.Compare(len(b), len(a)) })
	total := c.classRows(c.all())
	has := make([][]int, n) // fold → class → pages
	for f := range has {
		has[f] = make([]int, len(c.classes))
	}
	fold := make([]int, len(c.y))
	for _, pages := range units {
		to, least := 0, math.Inf(1)
		for f := range has {
			var cost float64
			for _, p := range pages {
				cost += float64(has[f][c.y[p]]) / float64(total[c.y[p]])
			}
			if cost < least {
				to, least = f, cost
			}
		}
		for _, p := range pages {
			fold[p] = to
			has[to][c.y[p]]++
		}
	}
	return fold
}

// heldOut holds a learner's scores of pages that it was not trained on.
type heldOut struct {
	learner learner
	scores  [][]float64 // by page, then class; nil for pages not judged
	score   float64     // accuracy
	dual    *dual       // of the linear machine of one fold
	ins     [][]int     // by judged fold: pages trained on
	outs    [][]int     // by judged fold: pages judged
	rounds  []*heldOut  // all cross-validations of a topic's model, this one first; else nil
}

// parts returns the training pages and the judged pages of each judged fold.
func (h *heldOut) parts(fold []int, n int) (ins, outs [][]int) {
	allIns, allOuts := parts(fold, n)
	for k, out := range allOuts {
		if len(out) > 0 && h.scores[out[0]] != nil {
			ins, outs = append(ins, allIns[k]), append(outs, out)
		}
	}
	return ins, outs
}

// parts returns the pages to train on and the pages to judge, by fold.
func parts(fold []int, n int) (ins, outs [][]int) {
	ins, outs = make([][]int, n), make([][]int, n)
	for p, f := range fold {
		for k := range n {
			if f == k {
				outs[k] = append(outs[k], p)
			} else {
				ins[k] = append(ins[k], p)
			}
		}
	}
	return ins, outs
}

func (h *heldOut) judged(y []int) (scores [][]float64, class []int) {
	for p, s := range h.scores {
		if s != nil {
			scores, class = append(scores, s), append(class, y[p])
		}
	}
	return scores, class
}

func newHeldOut(l learner, pages int) *heldOut {
	return &heldOut{learner: l, scores: make([][]float64, pages)}
}

// crossValidate judges each of the given folds by a classifier trained on all other folds.
func crossValidate(ctx context.Context, c *corpus, l learner, fold, which []int, by fitting) (*heldOut, error) {
	h := newHeldOut(l, len(c.y))
	if err := h.judge(ctx, c, fold, which, by); err != nil {
		return nil, err
	}
	return h, nil
}

func (h *heldOut) judge(ctx context.Context, c *corpus, fold, which []int, by fitting) error {
	ins, outs := parts(fold, 1+max(slices.Max(fold), slices.Max(which)))
	err := parallel(ctx, c.room.folds(), len(which), func(ctx context.Context, i int) error {
		k := which[i]
		f, err := h.learner.fit(ctx, c, ins[k], by)
		if err != nil {
			return fmt.Errorf("fold %d: %w", k+1, err)
		}
		if i == 0 {
			h.dual = f.dual
		}
		for _, p := range outs[k] {
			h.scores[p] = make([]float64, len(c.classes))
			f.scores(h.scores[p], c, p) // no race: each page is in one fold
		}
		return nil
	})
	if err == nil {
		h.score = accuracy(h.scores, c.y)
	}
	return err
}

// best returns the index of the largest value, the first of ties.
func best(s []float64) int {
	at := 0
	for i, v := range s {
		if v > s[at] {
			at = i
		}
	}
	return at
}

// enoughPages is how many held-out pages suffice to tune, calibrate and measure a model to within a point.
const enoughPages = 2000

// enoughFolds returns as many folds as hold enough pages, or all folds if classifiers compete, so that
// chance does not choose.
func enoughFolds(folds []int, pages, learners int) []int {
	if learners > 1 {
		return folds
	}
	n := len(folds)
	return folds[:min(n, (enoughPages*n+pages-1)/pages)]
}

// tune chooses a linear classifier by held-out accuracy: whether it weighs terms by idf, how rare a word
// is, or by log odds, how well it separates classes; and its share of naive Bayes.
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

// runners returns the candidates of tune; the first wins ties.
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

// On a large set few passes over the pages train the folds: half of the work, and little change in the
// held-out scores. The model itself starts from there and takes all passes that it needs.
const (
	largeSet  = 5000 // pages
	fewPasses = 6
)

// certain is the P below which tune drops a candidate.
const certain = 0.01

// foremost returns the candidate with the best accuracy, the first of ties.
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
func ahead(a, b *heldOut, y []int) paired {
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
	return mcNemar(aOnly, bOnly)
}

// A model of one topic against the rest guides a crawl. It must rank pages, and its probabilities must
// hold even where few pages are on topic. So such learners compete by log loss.

// A small set is held out in several rounds, up to roundPages: a single round depends on chance.
const (
	mostRounds = 4
	roundPages = 2400
)

// rounds returns the folds of each round and their number, less than 2 if a class has a single page.
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

// contender is a learner with its held-out scores of each round.
type contender struct {
	learner
	rounds []*heldOut
	losses []float64 // by page, the mean over the rounds, in nats
}

type contest struct {
	c     *corpus
	opt   *Options
	folds [][]int // by round
	which []int   // the folds that are held out
}

// chooseTopical is choose for a topic. The first learner is known to rank best (docs/classifiers.md).
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
			t.folds = folds[:1] // all rounds chose linear, the first; more rounds of the others take minutes
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

// enter cross-validates a learner, given the best so far.
func (t *contest) enter(ctx context.Context, l learner, top *contender) (*contender, error) {
	if _, ok := l.(linear); ok {
		return t.linear(ctx)
	}
	one := &contender{learner: l}
	return one, t.run(ctx, one, top)
}

// sure is the lead, in standard errors, that replaces the best learner: small leads are mostly chance.
const sure = 2

// hopeless is how many standard errors behind the best a learner leaves the contest.
const hopeless = 4

// run cross-validates a learner round by round, and stops when it is far behind top.
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

// linear returns the best of the linear classifiers: each way to weigh terms, with each share of naive
// Bayes. The simplest stays unless another is surely better.
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

// leastProbability bounds the loss of one page.
const leastProbability = 1e-6

// judge computes a contender's losses as on unseen pages: each fold of round 1 is calibrated on the others.
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

// lead returns by how many standard errors o's mean loss is below another's.
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

// topical returns calibration and thresholds from all rounds, and turns their scores into probabilities.
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
