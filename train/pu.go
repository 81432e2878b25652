package train

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"fossick/models"
)

// Learning from pages on topic and a pool of which nothing is known is PU learning;
// Bekker and Davis 2020 survey it. To take the pool for off topic teaches a model to
// refuse what it looks for. Here, in two steps (Liu, Dai, Li, Lee and Yu 2003), several
// times over:
//
//  1. A classifier of the given pages against the pool is cross-validated. Some of
//     the given pages, the spies, are put into the pool, and nothing treats them
//     otherwise than it (Liu, Lee, Yu and Li 2002). From where they rank follows how
//     much of the pool is on topic, see share.
//  2. By the held-out scores the pool is parted. The pages that rank first are
//     taken for on topic, a band after them is left out, the rest is taken for
//     off topic. And so again, by what the classifier of these says.
//
// Each given page is a spy once. The mean of what those that did not know it say parts
// the pool for the model. The threshold lets as many pages pass as are on topic by the
// estimate, see cut.

// PU says what became of a pool. Precision, recall and F1 are estimates by
// cross-validation, for no page is known to be off topic.
type PU struct {
	Given     int      `json:"-"`              // pages known to be on topic
	Pool      int      `json:"pages"`          // pages of which nothing is known, as far as they were looked at
	From      []string `json:"from"`           // their sets
	Share     float64  `json:"share_on_topic"` // of the pool, as estimated
	Taken     int      `json:"taken_as_on"`    // pages of the pool trained on as on topic
	Reliable  int      `json:"taken_as_off"`   // and as off topic
	Promise            // of the model at its threshold, on pages like the pool's
	F1        float64  `json:"f1"`
	Sites     int      `json:"example_sites"` // of the given pages, as far as known
	Elsewhere *Promise `json:"elsewhere"`     // on sites without examples; nil where fewer than two sites are known
}

// puMost is how many pages of a pool are looked at, drawn at random: more of them teach
// hardly anything new of what is off topic.
const puMost = 10_000

// puHow is how a pool is parted.
type puHow struct {
	learner learner // of every round; nil is evenSites
	runs    int     // each with spies of its own
	folds   int     // of the pool in each
	rounds  int
	taken   float64 // of the expected pages on topic, those taken for it
	band    float64 // times the expected pages on topic: pages before the rest
	first   float64 // times the given pages: those taken at most in the first round; then twice as many, and so on
}

// puDefaults were chosen on topics that no figure is given of: see docs/topics.md.
var puDefaults = puHow{runs: 5, folds: 3, rounds: 4, taken: 0.5, band: 1.5, first: 3}

// However much of a pool seems to be on topic, at most mostTaken of it are
// taken for on topic and at least leastOff for off topic. The first rounds may
// think that all of it is.
const (
	mostTaken = 0.3
	leastOff  = 0.3
)

// pu is one run.
type pu struct {
	c      *corpus // its y is this run's own, and changes
	opt    *Options
	how    puHow
	topic  int // class
	given  []int
	pool   []int
	spyOf  []int // by page: the run in which a given page is a spy
	fold   []int // by page
	runs   []*puRun
	use    []bool     // by page: it has a label in the end
	scores []float64  // by page: margin of the topic over the rest, held out: of spies, and of the pool the runs' mean
	shares []float64  // what each round said of the pool
	doubt  [2]float64 // the interval of share
}

// puRun is a look at the pool with some of the given pages hidden in it.
type puRun struct {
	c      *corpus   // with labels of its own
	hidden []int     // the pool and the spies
	use    []bool    // by page: it has a label in this round
	scores []float64 // by page: margin of the topic, by classifiers that did not have the page
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
	rep.PU, err = p.told(ctx)
	return m, err
}

// newPU draws pool, spies and folds.
func newPU(c *corpus, opt *Options, how puHow) (*pu, error) {
	n := len(c.y)
	own := *c
	own.y = slices.Clone(c.y)
	p := &pu{
		c: &own, opt: opt, how: how, topic: slices.Index(c.classes, opt.Topic),
		spyOf: make([]int, n), use: make([]bool, n), scores: make([]float64, n),
	}
	if p.how.learner == nil {
		p.how.learner = evenSites{linear{odds: true}, p.topic}
	}
	for i, y := range c.y {
		if y == p.topic {
			p.given = append(p.given, i)
		} else {
			p.pool = append(p.pool, i)
		}
	}
	if len(p.given) < 2 || len(p.pool) < 2 {
		return nil, fmt.Errorf("%w: %d pages on topic and %d unlabelled; want at least two of each", ErrData, len(p.given), len(p.pool))
	}
	rng := rand.New(rand.NewPCG(uint64(opt.Seed), 0x9001))
	if len(p.pool) > puMost {
		rng.Shuffle(len(p.pool), func(i, j int) { p.pool[i], p.pool[j] = p.pool[j], p.pool[i] })
		p.pool = p.pool[:puMost]
		slices.Sort(p.pool)
	}
	p.fold = dealEvenly(make([]int, n), 1, how.folds, rng)
	runs := min(how.runs, len(p.given))
	for k, i := range rng.Perm(len(p.given)) {
		p.spyOf[p.given[i]] = k % runs
	}
	for k := range runs {
		p.runs = append(p.runs, p.hide(k))
	}
	return p, nil
}

// hide opens a run: all that is not known to it to be on topic is taken for off topic.
func (p *pu) hide(k int) *puRun {
	n := len(p.c.y)
	own := *p.c
	own.y = slices.Clone(p.c.y)
	r := &puRun{c: &own, hidden: slices.Clone(p.pool), use: make([]bool, n), scores: make([]float64, n)}
	for _, i := range p.given {
		if r.use[i] = true; p.spyOf[i] == k {
			r.hidden = append(r.hidden, i)
			own.y[i] = 1 - p.topic
		}
	}
	for _, i := range p.pool {
		r.use[i], own.y[i] = true, 1-p.topic
	}
	return r
}

// run parts the pool.
func (p *pu) run(ctx context.Context) error {
	for round := range p.how.rounds {
		p.opt.step("finding pages off topic, round %d of %d", round+1, p.how.rounds)
		if err := p.judge(ctx); err != nil {
			return err
		}
		p.shares = append(p.shares, p.estimate())
		p.partRuns(round)
	}
	if err := p.judge(ctx); err != nil {
		return err
	}
	p.shares = append(p.shares, p.estimate())
	p.collect()
	for _, i := range p.given {
		p.use[i] = true
	}
	p.part(p.pool, p.scores, p.use, p.c.y, math.Inf(1))
	return nil
}

// partRuns parts what is hidden in each run. The first rounds take few pages for on topic.
func (p *pu) partRuns(round int) {
	limit := math.Ldexp(p.how.first*float64(len(p.given)), round)
	for _, r := range p.runs {
		p.part(r.hidden, r.scores, r.use, r.c.y, limit)
	}
}

// collect takes the scores over from the runs: a given page's from the one where it is a
// spy, of others the mean.
func (p *pu) collect() {
	for _, i := range p.pool {
		p.scores[i] = 0
		for _, r := range p.runs {
			p.scores[i] += r.scores[i] / float64(len(p.runs))
		}
	}
	for _, i := range p.given {
		p.scores[i] = p.runs[p.spyOf[i]].scores[i]
	}
}

// judge sets the runs' held-out scores: of each fold of what is hidden by a classifier
// of the other folds' pages that have a label in this round, and the given ones.
func (p *pu) judge(ctx context.Context) error {
	return parallel(ctx, p.c.room.folds(), len(p.runs)*p.how.folds, func(ctx context.Context, job int) error {
		k, fold := job/p.how.folds, job%p.how.folds
		r := p.runs[k]
		var in, out []int
		for _, i := range r.hidden {
			if p.fold[i] == fold {
				out = append(out, i)
			} else if r.use[i] {
				in = append(in, i)
			}
		}
		for _, i := range p.given {
			if p.spyOf[i] != k {
				in = append(in, i)
			}
		}
		f, err := p.how.learner.fit(ctx, r.c, in, p.opt.fitting())
		if err != nil {
			return fmt.Errorf("run %d, fold %d: %w", k+1, fold+1, err)
		}
		for _, i := range out {
			r.scores[i] = p.margin(f, i) // each page is in one fold only
		}
		return nil
	})
}

// margin is how far a classifier puts a page on the topic's side.
func (p *pu) margin(f *fitted, page int) float64 {
	s := make([]float64, 2)
	f.scores(s, p.c, page)
	return s[p.topic] - s[1-p.topic]
}

// part labels pages by their scores. At most limit are taken for on topic.
func (p *pu) part(pages []int, scores []float64, use []bool, y []int, limit float64) {
	n := float64(len(pages))
	expected := p.share() * n
	taken, rest := min(p.how.taken*expected, mostTaken*n, limit), min(p.how.band*expected, (1-leastOff)*n)
	for rank, i := range ranked(pages, scores) {
		at := float64(rank) + 0.5
		use[i] = at < taken || at > rest
		y[i] = 1 - p.topic
		if at < taken {
			y[i] = p.topic
		}
	}
}

// ranked returns pages, the most probable first, of equal ones the earlier.
func ranked(pages []int, scores []float64) []int {
	order := slices.Clone(pages)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return order
}
