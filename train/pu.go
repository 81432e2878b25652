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

// Learning from pages on topic and a pool of which nothing is known is PU learning; Bekker and Davis
// 2020 survey it. To take the pool for off topic teaches a model to refuse what it looks for. Here, in
// two steps (Liu, Dai, Li, Lee and Yu 2003), several times over:
//
//  1. A classifier of the given pages against the pool is cross-validated. Some of
//     the given pages, the spies, are put into the pool, and nothing treats them
//     otherwise than it (Liu, Lee, Yu and Li 2002). From where they rank follows how
//     much of the pool is on topic, see share.
//  2. By the held-out scores the pool is parted. The pages that rank first are
//     taken for on topic, a band after them is left out, the rest is taken for
//     off topic. And so again, by what the classifier of these says.
//
// Each given page is a spy once. The mean of what those that did not know it say parts the pool for the
// model. The threshold lets as many pages pass as are on topic by the estimate, see cut.

// PU says what became of a pool. Precision, recall and F1 are estimates by cross-validation, for no
// page is known to be off topic.
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

// puMost is how many pages of a pool are looked at, drawn at random: more of them teach hardly anything
// new of what is off topic.
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

// However much of a pool seems to be on topic, at most mostTaken of it are taken for on topic and at
// least leastOff for off topic. The first rounds may think that all of it is.
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

// learnPU is learn for a pool: c's pages that are not of the topic are unlabelled. That the given pages
// are like the pool's on topic is what all rests on.
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

// collect takes the scores over from the runs: a given page's from the one where it is a spy, of others
// the mean.
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

// judge sets the runs' held-out scores: of each fold of what is hidden by a classifier of the other
// folds' pages that have a label in this round, and the given ones.
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

// above returns, for each given page in rising order, the part of the pool that scores at least as much
// in the run where the page is a spy.
func (p *pu) above() []float64 {
	var parts []float64
	for k, r := range p.runs {
		pool := make([]float64, 0, len(p.pool))
		for _, i := range p.pool {
			pool = append(pool, r.scores[i])
		}
		slices.Sort(pool)
		for _, i := range p.given {
			if p.spyOf[i] == k {
				below, _ := slices.BinarySearch(pool, r.scores[i])
				parts = append(parts, float64(len(pool)-below)/float64(len(pool)))
			}
		}
	}
	slices.Sort(parts)
	return parts
}

// leastSpies is the part of the given pages that must rank above a place for estimate to look there:
// the best few say how lucky they are.
const leastSpies = 0.4

// share is the part of the pool that is on topic: the mean of what the last two rounds said. A round
// that takes too few is followed by one that takes too many.
func (p *pu) share() float64 {
	last := p.shares[max(0, len(p.shares)-2):]
	return (last[0] + last[len(last)-1]) / 2
}

// estimate says, by the held-out scores at hand, which part of the pool is on topic (mixture
// proportion).
func (p *pu) estimate() float64 { return shareOf(p.above()) }

// shareOf is estimate by the spies' places, rising. Let recall be the part of the spies above a place
// of the ranking. They are like the pool's pages on topic, so the pool has at least share · recall of
// its pages above it. The rest above is off topic. So
//
//	share ≤ min_k above(k) / (k/(n + 1))
//
// over the places of the spies, with equality where nothing off topic ranks so high (Blanchard, Lee and
// Scott 2010; Garg and others 2021).
func shareOf(above []float64) float64 {
	n := float64(len(above))
	least := 1.0
	for k, part := range above {
		if recall := float64(k+1) / (n + 1); recall >= leastSpies {
			least = min(least, part/recall)
		}
	}
	return least
}

// cut returns the margin from which on a page is on topic. It is that which as many pages reach, given
// ones and the pool's, as are on topic by share.
func (p *pu) cut(scores []float64) float64 {
	on := p.share()*float64(len(p.pool)) + float64(len(p.given))
	order := ranked(slices.Concat(p.given, p.pool), scores)
	found := min(len(order)-1, max(1, int(math.Round(on))))
	return (scores[order[found-1]] + scores[order[found]]) / 2
}

// labelled returns the pages that have a label in the end.
func (p *pu) labelled() (pages []int) {
	for i, use := range p.use {
		if use {
			pages = append(pages, i)
		}
	}
	return pages
}

// model makes the model of all pages that have a label.
func (p *pu) model(ctx context.Context) (*models.Model, error) {
	l := p.how.learner
	f, err := l.fit(ctx, p.c, p.labelled(), p.opt.fitting())
	if err != nil {
		return nil, err
	}
	m := f.model(p.c, l.name(), p.opt)
	m.Calibration = p.calibration()
	at := p.halves(p.cut(p.scores))
	m.Calibration.Apply(at)
	m.Thresholds = at
	m.Domain = p.c.domain(f, m, &heldOut{})
	m.Card.Pages = len(p.given) + len(p.pool)
	m.Card.PerClass = map[string]int{p.opt.Topic: len(p.given), p.c.classes[1-p.topic]: len(p.pool)}
	m.Card.Settings["unlabelled_pages"] = fmt.Sprint(len(p.pool))
	m.Card.Settings["unlabelled_on_topic"] = fmt.Sprintf("%.4f", p.share())
	return m, nil
}

// halves returns the scores of both classes that have a margin.
func (p *pu) halves(margin float64) []float64 {
	s := make([]float64, 2)
	s[p.topic], s[1-p.topic] = margin/2, -margin/2
	return s
}

// calibration makes margins m probabilities σ(a m + b). No page is known to be off topic, but the pool
// is a mixture: with the logistic loss the risk over its pages is, up to a constant (du Plessis, Niu
// and Sugiyama 2015),
//
//	mean_pool ln(1 + e^(a m + b)) − share · mean_given (a m + b)
//
// At its least, which Newton's steps find, the pool's probabilities sum up to what is on topic by
// share.
func (p *pu) calibration() models.Calibration {
	var scale, spread float64
	for _, i := range p.pool {
		scale += math.Abs(p.scores[i]) / float64(len(p.pool))
	}
	if scale == 0 {
		scale = 1 // no words: all scores are zero
	}
	share := min(max(p.share(), 0.5/float64(len(p.pool))), 0.99)
	for _, i := range p.given {
		spread += p.scores[i] / scale / float64(len(p.given))
	}
	loss := func(a, b float64) float64 {
		sum := calibrationRidge*a*a - share*(a*spread+b)
		for _, i := range p.pool {
			sum += softplus(a*p.scores[i]/scale+b) / float64(len(p.pool))
		}
		return sum
	}
	a, b := 1.0, math.Log(share/(1-share))
	for range calibrationSteps {
		ga, gb := 2*calibrationRidge*a-share*spread, -share
		haa, hab, hbb := 2*calibrationRidge, 0.0, 1e-9
		for _, i := range p.pool {
			x := p.scores[i] / scale
			q := 1 / (1 + math.Exp(-(a*x + b)))
			n := float64(len(p.pool))
			ga, gb = ga+q*x/n, gb+q/n
			q *= 1 - q
			haa, hab, hbb = haa+q*x*x/n, hab+q*x/n, hbb+q/n
		}
		det := haa*hbb - hab*hab
		if !(det > 0) {
			break
		}
		da, db := (hbb*ga-hab*gb)/det, (haa*gb-hab*ga)/det
		step := 1.0
		for before := loss(a, b); step > 1e-6 && !(loss(a-step*da, b-step*db) <= before); {
			step /= 2
		}
		a, b = a-step*da, b-step*db
	}
	cal := models.Calibration{Scale: max(a, leastScale) / scale, Offset: p.halves(b)}
	return cal
}

// Of calibration: the cost of a²; Newton's steps; the least a, for a page that is more like the topic
// is never less probable.
const (
	calibrationRidge = 1e-5
	calibrationSteps = 40
	leastScale       = 0.1
)

func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

// evenSites is a linear classifier of terms weighed by the geometric mean of idf and log odds, in which
// each site of the topic's pages counts alike. Log odds of a few pages are half chance; idf does not
// ask what is on topic. A word that stands on all pages of one site is the site's. It is no better a
// sign of the topic than one that a single page of each has.
type evenSites struct {
	linear
	topic int // class
}

func (e evenSites) fit(ctx context.Context, c *corpus, pages []int, by fitting) (*fitted, error) {
	f := c.weighed(pages, by.selection, true)
	f.settings["term_weights"] = "log odds and idf, sites alike"
	f.evenOut(c, pages, e.topic)
	for k, idf := range c.weighed(pages, by.selection, false).weighting.IDF {
		f.weighting.IDF[k] = float32(math.Sqrt(float64(f.weighting.IDF[k] * idf)))
	}
	return e.solve(ctx, c, f, pages, by)
}

// evenOut weighs each term by the log odds ratio of features.Counts.LogOdds, where the share of the
// topic's pages that have it is the mean of its sites' shares.
func (f *fitted) evenOut(c *corpus, pages []int, topic int) {
	shares, rest := f.siteShares(c, pages, topic), make([]float64, len(f.kept))
	var own float64
	for _, p := range pages {
		if c.y[p] == topic {
			own++
			continue
		}
		for _, t := range c.rows[p].Index {
			if k := f.number[t]; k >= 0 {
				rest[k]++
			}
		}
	}
	others := float64(len(pages)) - own
	if own == 0 || others == 0 {
		return
	}
	r := others / own
	for k, share := range shares {
		p, q := (share*own+1)/(own+2), (rest[k]+r)/(others+2*r)
		f.weighting.IDF[k] = float32(math.Abs(math.Log(p * (1 - q) / (q * (1 - p)))))
	}
}

// siteShares returns by term on what share of a class's pages it stands, each site counting alike; a
// page of an unknown site is one of its own.
func (f *fitted) siteShares(c *corpus, pages []int, class int) []float64 {
	of := map[string]float64{}
	sites := 0.0
	for _, p := range pages {
		if c.y[p] != class {
			continue
		}
		if of[c.sites[p]]++; c.sites[p] == "" || of[c.sites[p]] == 1 {
			sites++
		}
	}
	of[""] = 1
	shares := make([]float64, len(f.kept))
	for _, p := range pages {
		if c.y[p] != class {
			continue
		}
		for _, t := range c.rows[p].Index {
			if k := f.number[t]; k >= 0 {
				shares[k] += 1 / of[c.sites[p]] / sites
			}
		}
	}
	return shares
}
