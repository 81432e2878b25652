package train

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"fossick/models"
)

// Learning from pages on topic and a pool of which nothing is known is PU learning;
// Bekker and Davis 2020 survey it. To take the pool for off topic teaches a model to
// refuse what it looks for. Here, in two steps (Liu, Dai, Li, Lee and Yu 2003):
//
//  1. A classifier of the given pages against the pool is cross-validated.
//     Given pages that it did not see are its spies (Liu, Lee, Yu and Li 2002).
//     From where they rank among the pool follows how many of the pool are on
//     topic, see share.
//  2. By the held-out scores the pool is parted. The pages that rank first are
//     taken for on topic, a band after them is left out, the rest is taken for
//     off topic. And so again, by what the classifier of these says.
//
// The threshold lets as many pages pass as are on topic by the estimate, see cut.

// PU says what became of a pool.
type PU struct {
	Given    int     // pages known to be on topic
	Pool     int     // pages of which nothing is known, as far as they were looked at
	Share    float64 // of the pool that is on topic, as estimated
	Taken    int     // pages of the pool taken for on topic
	Reliable int     // pages of the pool taken for off topic

	// Of the model at its threshold, as estimated with Share: of pages like the
	// pool's and of the given ones.
	Precision, Recall, F1 float64
}

// puMost is how many pages of a pool are looked at, drawn at random: more of them teach
// hardly anything new of what is off topic.
const puMost = 20_000

// puHow is how a pool is parted.
type puHow struct {
	learner learner // of every round
	rounds  int
	taken   float64 // of the expected pages on topic, those taken for it
	band    float64 // times the expected pages on topic: pages before the rest
}

// puDefaults were chosen on topics of Wikispeedia that no figure is given of: see
// docs/training.md.
var puDefaults = puHow{learner: linear{odds: true}, rounds: 4, taken: 0.5, band: 1.5}

// However much of a pool seems to be on topic, at most mostTaken of it are
// taken for on topic and at least leastOff for off topic. The first rounds may
// think that all of it is.
const (
	mostTaken = 0.3
	leastOff  = 0.3
)

// pu is one run.
type pu struct {
	c      *corpus // its y is this run's own, and changes from round to round
	opt    *Options
	how    puHow
	topic  int // class
	given  []int
	pool   []int
	use    []bool // by page: it has a label in this round
	fold   []int
	folds  int
	scores []float64 // by page: margin of the topic over the rest, held out
	shares []float64 // what each round said of the pool
}

// learnPU is learn for a pool: c's pages that are not of the topic are unlabelled. That
// the given pages are like the pool's on topic is what all rests on. Their URLs are not,
// where they are saved files or of one site and the pool is a crawl, so URLs are not
// looked at.
func learnPU(ctx context.Context, c *corpus, opt *Options, rep *Report) (*models.Model, error) {
	p, err := newPU(c, opt, puDefaults)
	if err != nil {
		return nil, err
	}
	if err := p.run(ctx); err != nil {
		return nil, err
	}
	m, err := p.model(ctx)
	if err != nil {
		return nil, err
	}
	rep.PU = p.told()
	return m, nil
}

// newPU draws pool and folds.
func newPU(c *corpus, opt *Options, how puHow) (*pu, error) {
	own := *c
	own.y = slices.Clone(c.y)
	p := &pu{c: &own, opt: opt, how: how, topic: slices.Index(c.classes, opt.Topic), use: make([]bool, len(c.y)), scores: make([]float64, len(c.y))}
	for i, y := range c.y {
		if y == p.topic {
			p.given = append(p.given, i)
		} else {
			p.pool = append(p.pool, i)
		}
	}
	if len(p.given) < 2 || len(p.pool) < 2 {
		return nil, fmt.Errorf("%w: %d pages on topic and %d unlabelled; want two of each at least", ErrData, len(p.given), len(p.pool))
	}
	rng := rand.New(rand.NewPCG(uint64(opt.Seed), 0x9001))
	if len(p.pool) > puMost {
		rng.Shuffle(len(p.pool), func(i, j int) { p.pool[i], p.pool[j] = p.pool[j], p.pool[i] })
		p.pool = p.pool[:puMost]
		slices.Sort(p.pool)
	}
	p.fold, p.folds = c.folds(opt)
	for _, i := range slices.Concat(p.given, p.pool) {
		p.use[i] = true
	}
	return p, nil
}

// run parts the pool.
func (p *pu) run(ctx context.Context) error {
	for round := range p.how.rounds {
		p.opt.step("finding what is off topic, round %d of %d", round+1, p.how.rounds)
		if err := p.judge(ctx); err != nil {
			return err
		}
		p.part()
	}
	return p.judge(ctx)
}

// judge sets the held-out scores: of each fold by a classifier of the other folds'
// pages that have a label in this round.
func (p *pu) judge(ctx context.Context) error {
	err := parallel(ctx, p.c.room.folds(), p.folds, func(ctx context.Context, k int) error {
		var in, out []int
		for i, f := range p.fold {
			if f == k {
				out = append(out, i)
			} else if p.use[i] {
				in = append(in, i)
			}
		}
		f, err := p.how.learner.fit(ctx, p.c, in, p.opt.fitting())
		if err != nil {
			return fmt.Errorf("fold %d: %w", k+1, err)
		}
		for _, i := range out {
			p.scores[i] = p.margin(f, i) // each page is in one fold only
		}
		return nil
	})
	if err == nil {
		p.shares = append(p.shares, p.estimate())
	}
	return err
}

// margin is how far a classifier puts a page on the topic's side.
func (p *pu) margin(f *fitted, page int) float64 {
	s := make([]float64, 2)
	f.scores(s, p.c, page)
	return s[p.topic] - s[1-p.topic]
}

// part labels the pool by the held-out scores. Given pages keep their label.
func (p *pu) part() {
	n := float64(len(p.pool))
	expected := p.share() * n
	taken, rest := min(p.how.taken*expected, mostTaken*n), min(p.how.band*expected, (1-leastOff)*n)
	for rank, i := range p.ranked(p.pool) {
		at := float64(rank) + 0.5
		p.use[i] = at < taken || at > rest
		p.c.y[i] = 1 - p.topic
		if at < taken {
			p.c.y[i] = p.topic
		}
	}
}
