package train

import (
	"cmp"
	"context"
	"fmt"
	"fossick/internal/stats"
	"math"
	"math/rand/v2"
	"slices"

	"fossick/models"
)

// PU learning trains on pages on topic and a pool of unlabelled pages (survey: Bekker and Davis 2020).
// Treating the whole pool as off topic would teach the model to reject the pages that it looks for. This
// file repeats two steps (Liu, Dai, Li, Lee and Yu 2003):
//
//  1. Hide some of the given pages, the spies, in the pool (Liu, Lee, Yu and Li 2002), and
//     cross-validate a classifier of the other given pages against it. The ranks of the spies
//     show how much of the pool is on topic; see shareOf.
//  2. Split the pool by the held-out scores: the top pages count as on topic, a band after them
//     is left out, and the rest counts as off topic. The next round trains on these labels.
//
// Each given page is a spy in one run. The runs' mean score splits the pool for the final model. Its
// threshold passes as many pages as are estimated to be on topic; see cut.

// PU reports what training did with a pool. No page is known to be off topic, so precision, recall and
// F1 are estimates by cross-validation.
type PU struct {
	Given     int       `json:"-"`              // pages known to be on topic
	Pool      int       `json:"pages"`          // unlabelled pages used, at most puMost
	From      []string  `json:"from"`           // names of the sets in the pool
	Share     float64   `json:"share_on_topic"` // estimated share of the pool that is on topic
	Taken     int       `json:"taken_as_on"`    // pool pages trained on as on topic
	Reliable  int       `json:"taken_as_off"`   // pool pages trained on as off topic
	promised            // of the model at its threshold, on pages like the pool's
	F1        float64   `json:"f1"`
	Sites     int       `json:"example_sites"` // known sites of the given pages
	Elsewhere *promised `json:"elsewhere"`     // on sites without examples; nil if fewer than two sites are known
}

// puMost limits the pool to a random sample: more pages teach hardly anything new.
const puMost = 10_000

// Settings of a run, chosen on topics that no reported figure uses; see docs/topics.md.
const (
	puRuns   = 5 // each has its own spies
	puFolds  = 3 // of the pool, in each run
	puRounds = 4
	puTaken  = 0.5 // share of the expected pages on topic that are labelled so
	puBand   = 1.5 // pages ranked below this multiple of the expected pages on topic are off topic
	puFirst  = 3.  // most pages labelled on topic in round 1, as a multiple of the given pages; doubles each round
)

// At most mostTaken of the pool is labelled on topic, and at least leastOff off topic, because the first
// rounds may estimate that all of it is on topic.
const (
	mostTaken = 0.3
	leastOff  = 0.3
)

// pu is the state of one training run on a pool.
type pu struct {
	c       *corpus // with its own y, which changes
	opt     *Options
	learner evenSites // trains every round
	topic   int       // class of the topic
	given   []int
	pool    []int
	spyOf   []int // by page: the run in which a given page is a spy
	fold    []int // by page
	runs    []*puRun
	use     []bool     // by page: it has a final label
	scores  []float64  // by page, held out: margin of the topic over the rest; for pool pages the mean of the runs
	shares  []float64  // estimated share of the pool, by round
	doubt   [2]float64 // 95 % interval of the share
}

type puRun struct {
	c      *corpus   // with its own labels
	hidden []int     // the pool and the spies
	use    []bool    // by page: it has a label in this round
	scores []float64 // by page: margin of the topic, from classifiers that were not trained on the page
}

// learnPU trains a model that takes c's pages of other classes as unlabelled. It assumes that the given
// pages resemble the pool's pages on topic.
func learnPU(ctx context.Context, c *corpus, opt *Options, rep *Report) (*models.Model, error) {
	p, err := newPU(c, opt)
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

func newPU(c *corpus, opt *Options) (*pu, error) {
	n := len(c.y)
	own := *c
	own.y = slices.Clone(c.y)
	p := &pu{
		c: &own, opt: opt, topic: slices.Index(c.classes, opt.Topic),
		spyOf: make([]int, n), use: make([]bool, n), scores: make([]float64, n),
	}
	p.learner = evenSites{linear{odds: true}, p.topic}
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
	p.fold = dealEvenly(make([]int, n), 1, puFolds, rng)
	runs := min(puRuns, len(p.given))
	for k, i := range rng.Perm(len(p.given)) {
		p.spyOf[p.given[i]] = k % runs
	}
	for k := range runs {
		p.runs = append(p.runs, p.hide(k))
	}
	return p, nil
}

// hide creates run k, which labels its spies and the whole pool as off topic.
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

func (p *pu) run(ctx context.Context) error {
	for round := range puRounds {
		p.opt.step("finding pages off topic, round %d of %d", round+1, puRounds)
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

// partRuns labels the hidden pages of each run; the first rounds label few of them on topic.
func (p *pu) partRuns(round int) {
	limit := math.Ldexp(puFirst*float64(len(p.given)), round)
	for _, r := range p.runs {
		p.part(r.hidden, r.scores, r.use, r.c.y, limit)
	}
}

// collect sets scores: the mean of the runs for a pool page, the run where it is a spy for a given page.
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

// judge scores each fold of a run's hidden pages by a classifier of the other folds' labelled pages and
// the given pages that are not spies.
func (p *pu) judge(ctx context.Context) error {
	return parallel(ctx, p.c.room.folds(), len(p.runs)*puFolds, func(ctx context.Context, job int) error {
		k, fold := job/puFolds, job%puFolds
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
		f, err := p.learner.fit(ctx, r.c, in, p.opt.fitting())
		if err != nil {
			return fmt.Errorf("run %d, fold %d: %w", k+1, fold+1, err)
		}
		for _, i := range out {
			r.scores[i] = p.margin(f, i) // no race: each page is in one fold
		}
		return nil
	})
}

// margin returns the topic's score of a page less that of the other class.
func (p *pu) margin(f *fitted, page int) float64 {
	s := make([]float64, 2)
	f.scores(s, p.c, page)
	return s[p.topic] - s[1-p.topic]
}

// part labels pages by the rank of their scores, at most limit of them on topic.
func (p *pu) part(pages []int, scores []float64, use []bool, y []int, limit float64) {
	n := float64(len(pages))
	expected := p.share() * n
	taken, rest := min(puTaken*expected, mostTaken*n, limit), min(puBand*expected, (1-leastOff)*n)
	for rank, i := range ranked(pages, scores) {
		at := float64(rank) + 0.5
		use[i] = at < taken || at > rest
		y[i] = 1 - p.topic
		if at < taken {
			y[i] = p.topic
		}
	}
}

// ranked returns the pages by falling score; ties keep their order.
func ranked(pages []int, scores []float64) []int {
	order := slices.Clone(pages)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return order
}

// above returns, for each given page, the share of the pool that scores at least as much in the run where
// the page is a spy. The shares rise.
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

// leastSpies is the lowest recall at which shareOf looks, because the few best spies rank high by luck.
const leastSpies = 0.4

// share returns the estimated share of the pool on topic, as the mean of the last two rounds: a round
// that takes too few pages is followed by one that takes too many.
func (p *pu) share() float64 {
	last := p.shares[max(0, len(p.shares)-2):]
	return (last[0] + last[len(last)-1]) / 2
}

// estimate estimates the share of the pool on topic by the current scores (mixture proportion).
func (p *pu) estimate() float64 { return shareOf(p.above()) }

// shareOf estimates the share of the pool on topic. above(k), rising, is the share of the pool that ranks
// at or above the k-th of n spies. A share of recall = k/(n + 1) of the spies ranks there. The spies rank
// like the pool's pages on topic, so at least share · recall of the pool ranks there too. So
//
//	share ≤ min_k above(k) / (k/(n + 1))
//
// over recall ≥ leastSpies, with equality where no page off topic ranks so high (Blanchard, Lee and Scott
// 2010; Garg and others 2021).
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

// cut returns the margin from which on a page is on topic: as many given and pool pages reach it as
// share estimates to be on topic.
func (p *pu) cut(scores []float64) float64 {
	on := p.share()*float64(len(p.pool)) + float64(len(p.given))
	order := ranked(slices.Concat(p.given, p.pool), scores)
	found := min(len(order)-1, max(1, int(math.Round(on))))
	return (scores[order[found-1]] + scores[order[found]]) / 2
}

func (p *pu) labelled() (pages []int) {
	for i, use := range p.use {
		if use {
			pages = append(pages, i)
		}
	}
	return pages
}

func (p *pu) model(ctx context.Context) (*models.Model, error) {
	f, err := p.learner.fit(ctx, p.c, p.labelled(), p.opt.fitting())
	if err != nil {
		return nil, err
	}
	m := f.model(p.c, p.learner.name(), p.opt)
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

// halves returns the two class scores whose difference is margin.
func (p *pu) halves(margin float64) []float64 {
	s := make([]float64, 2)
	s[p.topic], s[1-p.topic] = margin/2, -margin/2
	return s
}

// calibration fits probabilities σ(a m + b) to margins m. No page is known to be off topic, but the pool
// is a mixture: with the logistic loss the risk over its pages is, up to a constant (du Plessis, Niu and
// Sugiyama 2015),
//
//	mean_pool ln(1 + e^(a m + b)) − share · mean_given (a m + b)
//
// Newton's method minimises it. At the minimum the pool's probabilities sum to the number of pages on topic
// that share implies.
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

// Settings of calibration: the cost of a², the most Newton steps, and the least a, which keeps the
// probability rising with the margin.
const (
	calibrationRidge = 1e-5
	calibrationSteps = 40
	leastScale       = 0.1
)

func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

// evenSites is a linear classifier for few given pages. It weighs terms by the geometric mean of idf and
// log odds: log odds of few pages are half chance, and idf ignores the topic. Each site of the topic
// counts alike, because a word on all pages of one site belongs to that site, not to the topic.
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

// evenOut weighs terms by the log odds ratio of features.Counts.LogOdds, with the mean of the sites'
// shares as the share of the topic's pages that have a term.
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

// siteShares returns, by kept term, the share of a class's pages that have it, as a mean over sites; a page
// of an unknown site counts as a site.
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

// promised estimates a model's quality at its threshold from examples and a pool, with 95 % intervals.
type promised struct {
	Precision   float64    `json:"precision"`
	PrecisionCI [2]float64 `json:"precision_ci"`
	Recall      float64    `json:"recall"`
	RecallCI    [2]float64 `json:"recall_ci"`
}

func (p *pu) told(ctx context.Context) (*PU, error) {
	r := &PU{Given: len(p.given), Pool: len(p.pool), Share: p.share()}
	for _, i := range p.pool {
		switch {
		case p.use[i] && p.c.y[i] == p.topic:
			r.Taken++
		case p.use[i]:
			r.Reliable++
		}
	}
	margin := p.cut(p.scores)
	p.doubt = p.shareCI()
	r.promised = p.promise(p.scores, margin, false)
	if r.Precision+r.Recall > 0 {
		r.F1 = 2 * r.Precision * r.Recall / (r.Precision + r.Recall)
	}
	sites := p.sites()
	if r.Sites = len(sites); r.Sites < 2 {
		return r, nil
	}
	var err error
	r.Elsewhere, err = p.elsewhere(ctx, sites, margin)
	return r, err
}

// recall returns the share of the given pages at or above a margin, and its effective number of draws: with
// bySite, pages of one site are found or missed together.
func (p *pu) recall(scores []float64, margin float64, bySite bool) (share, draws float64) {
	units := make([]stats.Cluster, len(p.given)) // by the first page of each site; others empty
	first := map[string]int{}
	for k, i := range p.given {
		at := k
		if site := p.c.sites[i]; bySite && site != "" {
			if _, known := first[site]; !known {
				first[site] = k
			}
			at = first[site]
		}
		units[at].Of++
		if scores[i] >= margin {
			units[at].Hits++
		}
	}
	return stats.Effective(units)
}

func passing(pages []int, scores []float64, margin float64) (n float64) {
	for _, i := range pages {
		if scores[i] >= margin {
			n++
		}
	}
	return n
}

// promise estimates recall and precision at a margin from the held-out scores of given and pool pages.
// Recall is the share of the given pages at or above the margin, and precision
//
//	on · recall / found
//
// where on counts the pages on topic, and found all pages at or above the margin.
func (p *pu) promise(scores []float64, margin float64, bySite bool) promised {
	recall, draws := p.recall(scores, margin, bySite)
	found := passing(p.given, scores, margin) + passing(p.pool, scores, margin)
	r := promised{Recall: recall, Precision: 1, RecallCI: ofModel(recall, draws), PrecisionCI: [2]float64{0, 1}}
	switch {
	case found == 0:
		return r
	case recall == 0:
		r.Precision = 0 // with an interval of [0, 1]
		return r
	}
	on := func(share float64) float64 { return share*float64(len(p.pool)) + float64(len(p.given)) }
	r.Precision = min(1, on(p.share())*recall/found)
	r.PrecisionCI[0] = r.Precision * together(on(p.doubt[0])/on(p.share()), r.RecallCI[0]/recall)
	r.PrecisionCI[1] = min(1, r.Precision*together(on(p.doubt[1])/on(p.share()), r.RecallCI[1]/recall))
	return r
}

// modelSpread is the standard deviation, in log odds, of a share between models of different examples. It
// was chosen on topics that no reported figure uses.
const modelSpread = 0.75

// ofModel returns the interval of a share of so many draws, widened by modelSpread because the finished
// model is not one of those that held the draws out.
func ofModel(share, draws float64) [2]float64 {
	if draws == 0 {
		return [2]float64{0, 1}
	}
	p := (share*draws + 1) / (draws + 2) // not 0 or 1
	return stats.Score(share, 1/(1/draws+p*(1-p)*modelSpread*modelSpread))
}

// together returns by which factor the end of the interval of a product lies off, if those of its factors
// lie off by a and b and err independently. a and b are both below 1, or both above.
func together(a, b float64) float64 {
	d := math.Hypot(math.Log(a), math.Log(b))
	if a*b < 1 {
		d = -d
	}
	return math.Exp(d)
}

// Settings of shareCI: its draws, and the share of them on either side of the interval.
const (
	shareDraws = 1000
	shareTail  = 0.025
)

// shareCI returns the 95 % interval of share over the choice of the given pages (bootstrap).
func (p *pu) shareCI() [2]float64 {
	above := p.above()
	rng := rand.New(rand.NewPCG(uint64(p.opt.Seed), 0xc1))
	draws, again := make([]float64, shareDraws), make([]float64, len(above))
	for d := range draws {
		for k := range again {
			again[k] = above[rng.IntN(len(above))]
		}
		slices.Sort(again)
		draws[d] = shareOf(again)
	}
	slices.Sort(draws)
	at := int(math.Round(shareTail * shareDraws))
	return [2]float64{min(p.share(), draws[at]), max(p.share(), draws[shareDraws-1-at])}
}

// sites returns the known sites of the given pages, in order of first appearance.
func (p *pu) sites() (sites []string) {
	for _, i := range p.given {
		if s := p.c.sites[i]; s != "" && !slices.Contains(sites, s) {
			sites = append(sites, s)
		}
	}
	return sites
}

// Sites are held out in at most sitesApart parts, which each label the pool in apartRounds rounds.
const (
	sitesApart  = 5
	apartRounds = 2
)

// elsewhere estimates the quality on sites without a given page. It holds out the given pages' sites, a part
// at a time, as spies in all rounds, because the pool's labels depend on the pages that are given.
func (p *pu) elsewhere(ctx context.Context, sites []string, margin float64) (*promised, error) {
	q := *p
	n := min(sitesApart, len(sites))
	q.spyOf, q.runs, q.scores = slices.Clone(p.spyOf), nil, make([]float64, len(p.scores))
	for k, i := range p.given {
		q.spyOf[i] = k % n
		if at := slices.Index(sites, p.c.sites[i]); at >= 0 {
			q.spyOf[i] = at % n
		}
	}
	for k := range n {
		q.runs = append(q.runs, q.hide(k))
	}
	p.opt.step("judging by sites that are held out")
	for round := range apartRounds {
		if err := q.judge(ctx); err != nil {
			return nil, err
		}
		q.partRuns(round)
	}
	if err := q.judge(ctx); err != nil {
		return nil, err
	}
	q.collect()
	for _, i := range p.pool {
		if at := slices.Index(sites, p.c.sites[i]); at >= 0 {
			q.scores[i] = q.runs[at%n].scores[i] // the run without given pages of the site
		}
	}
	there := q.promise(q.scores, margin, true)
	there.PrecisionCI = q.apart(there.PrecisionCI, sites, margin)
	return &there, nil
}

// apart derives the precision's interval elsewhere: pages off topic may all be there, or none.
func (p *pu) apart(all [2]float64, sites []string, margin float64) [2]float64 {
	var here, there float64
	for _, i := range slices.Concat(p.given, p.pool) {
		switch {
		case p.scores[i] < margin:
		case slices.Contains(sites, p.c.sites[i]):
			here++
		default:
			there++
		}
	}
	if there == 0 {
		return [2]float64{0, 1}
	}
	return [2]float64{max(0, all[0]*(here+there)-here) / there, min(1, all[1]*(here+there)/there)}
}
