package eval

import (
	"maps"
	"math"
	"slices"

	"fossick/internal/stats"
)

type relevantWeb struct {
	Size   float64 // estimated number of relevant pages, at least Seen
	CI     interval95
	Seen   int // distinct relevant pages that all crawls found
	Method string
}

const (
	methodChapman = "Lincoln–Petersen (Chapman)"
	methodChao    = "Chao (bias-corrected)"
)

// lincolnPetersen estimates a population from two captures of n1 and n2 pages with m in common. It
// is Chapman's form (1951), defined for m = 0 and nearly unbiased, with Seber's variance (1970):
//
//	N   = (n1+1)(n2+1)/(m+1) − 1
//	var = (n1+1)(n2+1)(n1−m)(n2−m) / ((m+1)²(m+2))
//
// It assumes independent samples with equal catchability. Focused crawls violate both: they prefer
// popular pages and overlap more than by chance. N is then too small, and a recall computed from it
// is an upper bound.
func lincolnPetersen(n1, n2, m int) relevantWeb {
	a, b, c := float64(n1), float64(n2), float64(m)
	seen := n1 + n2 - m
	size := (a+1)*(b+1)/(c+1) - 1
	variance := (a + 1) * (b + 1) * (a - c) * (b - c) / ((c + 1) * (c + 1) * (c + 2))
	p := relevantWeb{Size: max(size, float64(seen)), Seen: seen, Method: methodChapman}
	p.CI = logInterval(seen, p.Size-float64(seen), variance)
	if small := min(n1, n2); m == small && m > 0 {
		// The variance is 0, but m recaptures of m still allow a recall below 1.
		p.CI = interval95{float64(seen), float64(seen) / stats.Wilson(m, small)[0]}
	}
	return p
}

// chao2 estimates a population from t captures. f1 and f2 of the seen distinct pages were found
// once and twice. It is bias-corrected (Chao 1987), with the variance of Colwell's EstimateS:
//
//	N   = seen + k·f1(f1−1) / (2(f2+1)),                  k = (t−1)/t
//	var = k·f1(f1−1)/(2(f2+1)) + k²·f1(2f1−1)²/(4(f2+1)²) + k²·f1²f2(f1−1)²/(4(f2+1)⁴)
//
// Catchability may differ between pages; N is then a lower bound, and a recall computed from it
// an upper bound.
func chao2(t, seen, f1, f2 int) relevantWeb {
	unseen, variance := chao(float64(t-1)/float64(t), float64(f1), float64(f2))
	p := relevantWeb{Size: float64(seen) + unseen, Seen: seen, Method: methodChao, CI: logInterval(seen, unseen, variance)}
	if unseen == 0 && seen > 0 {
		// Good–Turing: the singletons' share of the captures, at least 2·seen − f1, estimates the missing share.
		p.CI[1] = float64(seen) / (1 - stats.Wilson(f1, 2*seen-f1)[1])
	}
	return p
}

// chao returns Chao's unseen count and its variance; f1 and f2 may be expected counts.
func chao(k, f1, f2 float64) (unseen, variance float64) {
	a, b := f1, f2
	unseen = max(0, k*a*(a-1)/(2*(b+1)))
	return unseen, unseen +
		k*k*a*(2*a-1)*(2*a-1)/(4*(b+1)*(b+1)) +
		k*k*a*a*b*(a-1)*(a-1)/(4*math.Pow(b+1, 4))
}

// ichao is the improved lower bound of Chiu, Wang, Walther and Chao (2014) for single
// observations, which also uses pages seen three and four times:
//
//	chao + f₃/(4(f₄+1)) · max(0, f₁ − f₂f₃/(2(f₄+1)))
//
// It keeps the relative variance of chao.
func ichao(f1, f2, f3, f4 float64) (unseen, variance float64) {
	first, variance := chao(1, f1, f2)
	if first == 0 {
		return 0, variance
	}
	unseen = first + f3/(4*(f4+1))*max(0, f1-f2*f3/(2*(f4+1)))
	return unseen, variance * (unseen / first) * (unseen / first)
}

// logInterval is the 95 % interval of a population with seen observed and unseen estimated pages
// (Chao 1987). It takes ln(unseen) as normal, so the lower bound is at least seen.
//
//	[seen + unseen/K, seen + unseen·K],  K = exp(z·√ln(1 + var/unseen²))
func logInterval(seen int, unseen, variance float64) interval95 {
	s := float64(seen)
	if unseen <= 0 {
		return interval95{s, s}
	}
	k := math.Exp(stats.Z95 * math.Sqrt(math.Log1p(variance/(unseen*unseen))))
	return interval95{s + unseen/k, s + unseen*k}
}

// capture estimates the population from the relevant URLs that each crawl found, distinct within a
// crawl: Lincoln–Petersen for two crawls, Chao for more. ok is false for fewer than two crawls, or
// when none found anything.
func capture(crawls [][]string) (p relevantWeb, ok bool) {
	times := map[string]int{}
	for _, urls := range crawls {
		for _, u := range urls {
			times[u]++
		}
	}
	if len(crawls) < 2 || len(times) == 0 {
		return relevantWeb{}, false
	}
	var found [3]int // found[k]: URLs found k times
	for _, n := range times {
		if n < len(found) {
			found[n]++
		}
	}
	if len(crawls) == 2 {
		return lincolnPetersen(len(crawls[0]), len(crawls[1]), found[2]), true
	}
	return chao2(len(crawls), len(times), found[1], found[2]), true
}

type recallEstimate struct {
	Value      float64         `json:"value"` // share of the estimated population that this crawl found
	CI         interval95      `json:"ci"`
	Method     string          `json:"method"`
	Population float64         `json:"population"` // estimated relevant pages within reach
	Together   float64         `json:"together"`   // recall of the union of all crawls
	Caution    string          `json:"caution"`
	Bound      *recallEstimate `json:"bound,omitempty"` // plain capture–recapture estimate, an upper bound; nil when Value is that
}

const (
	cautionBound    = "crawls of one topic are not independent samples; expect the true recall to be lower"
	cautionFrontier = "it relies on the labels, on links from the crawled pages and on the start pages of the crawls; it misses parts of the web that none of these lead to"
)

func (p relevantWeb) recall(n int) *recallEstimate {
	e := &recallEstimate{
		Value: float64(n) / p.Size, Method: p.Method, Population: p.Size,
		Together: float64(p.Seen) / p.Size, Caution: cautionBound,
	}
	if p.Method == methodFrontier {
		e.Caution = cautionFrontier
	}
	e.CI = interval95{float64(n) / p.CI[1], float64(n) / p.CI[0]}
	slices.Sort(e.CI[:])
	return e
}

// Upper reports whether the value is only an upper bound.
func (e *recallEstimate) Upper() bool { return e.Method != methodFrontier }

// estimateRecall estimates each crawl's recall, from its relevant URLs, for two or more crawls. It
// uses frontier when every crawl has a trail, else capture, an upper bound. It is nil below
// stats.Fewest relevant pages.
func estimateRecall(crawls []*judgedCrawl, relevant [][]string) []*recallEstimate {
	bound, ok := capture(relevant)
	if !ok || bound.Seen < stats.Fewest {
		return nil
	}
	best, ok := frontier(crawls)
	out := make([]*recallEstimate, len(crawls))
	for i := range crawls {
		out[i] = bound.recall(len(relevant[i]))
		if ok {
			upper := out[i]
			out[i] = best.recall(len(relevant[i]))
			out[i].Bound = upper
		}
	}
	return out
}

const methodFrontier = "frontier (logistic), iChao on in-links, start pages"

// frontierSpread is the scale of ln(true/estimated) for the relevant pages not found, beyond the
// formulas' variance. With it about nine intervals in ten hold the truth; see docs/eval.md.
const frontierSpread = 0.5

// frontier estimates the number of relevant pages as S found ones, those among the waiting URLs,
// and those without in-links from fetched pages:
//
//	N = S + Σ_{u waits} P(u relevant) + max(0, U − S₀)
//
// P is a logistic model of a URL's links, labels and priority, fitted on the fetched URLs
// (fitLogistic). U estimates the relevant pages without in-links, with links as captures: iChao of
// f₁…f₄, the numbers of relevant pages with one to four fetched parents, including the expected
// ones among the waiting. S₀ of them were found, mostly start pages.
//
// The start pages are a sample that no crawl's preference chose. How many of the others' each crawl
// encountered corrects N and gives the interval (posterior). ok is false when a crawl has no
// trail, or nothing was found or could be learnt.
func frontier(crawls []*judgedCrawl) (p relevantWeb, ok bool) {
	for _, c := range crawls {
		if c.Trail == nil {
			return relevantWeb{}, false
		}
	}
	r := newReplay(crawls)
	if len(crawls) == 0 || r.all.relevant == 0 || len(r.examples) == 0 {
		return relevantWeb{}, false
	}
	m := fitLogistic(r.examples, newPrior(!slices.ContainsFunc(crawls, func(c *judgedCrawl) bool { return !c.Probabilities })))
	keys := sortedKeys(r.waiting)
	xs, probability := make([][parts]float64, len(keys)), make(map[uint64]float64, len(keys))
	for i, key := range keys {
		w := r.waiting[key]
		xs[i] = describe(r.evidence[key], w.Promise, r.hosts[w.Host], r.all)
		probability[key] = m.probability(&xs[i])
	}
	waiting, variance := m.sum(len(xs), func(i int) *[parts]float64 { return &xs[i] })
	unlinked, unlinkedVariance := r.unlinked(probability)
	scale := float64(r.thin)
	unseen := scale * (waiting + unlinked)
	variance = scale * scale * (variance + unlinkedVariance)

	seen := r.all.relevant
	spread := math.Sqrt(variance/((unseen+1)*(unseen+1)) + frontierSpread*frontierSpread)
	median, ci := posterior(seen, unseen, spread, r.sightings(crawls, probability))
	return relevantWeb{Size: seen + median, Seen: int(seen), Method: methodFrontier, CI: interval95{seen + ci[0], seen + ci[1]}}, true
}

func sortedKeys[V any](m map[uint64]V) []uint64 { return slices.Sorted(maps.Keys(m)) }

// unlinked estimates the relevant pages without in-links that no crawl has found.
func (r *replay) unlinked(probability map[uint64]float64) (n, variance float64) {
	var f [5]float64
	count := func(e evidence, p float64) {
		if k := int(e.parents); k < len(f) {
			f[k] += p
		}
	}
	found := 0.0
	for key, relevant := range r.fetched {
		if e, linked := r.evidence[key]; relevant && linked {
			count(e, 1)
		} else if relevant && key%r.thin == 0 {
			found++
		}
	}
	for _, key := range sortedKeys(probability) {
		count(r.evidence[key], probability[key])
	}
	n, variance = ichao(f[1], f[2], f[3], f[4])
	if n <= found {
		return 0, 0
	}
	return n - found, variance
}

type evidence struct {
	parents  float64
	relevant float64 // relevant parents
	sum      float64 // of the parents' scores
	best     float64
}

type tally struct{ requests, relevant float64 }

// The features of a URL before its fetch; a larger value never makes relevance less likely.
const (
	partBias     = iota
	partPromise  // log-odds of the frontier's score
	partRelevant // log(1 + relevant parents)
	partShare    // share of relevant parents
	partMean     // log-odds of the parents' mean score
	partBest     // log-odds of the parents' best score
	partHost     // log-odds of the host's harvest ratio minus those of the crawls'
	parts
)

const hostRequests = 2

func describe(e evidence, promise float64, host, all tally) (x [parts]float64) {
	rate := (all.relevant + 1) / (all.requests + 2)
	x[partBias] = 1
	x[partPromise] = logOdds(promise)
	x[partRelevant] = math.Log1p(e.relevant)
	x[partShare] = e.relevant / e.parents
	x[partMean] = logOdds(e.sum / e.parents)
	x[partBest] = logOdds(e.best)
	x[partHost] = logOdds((host.relevant+hostRequests*rate)/(host.requests+hostRequests)) - logOdds(rate)
	return x
}

// logOdds returns ln(p/(1−p)) of p clamped to [0.001, 0.999].
func logOdds(p float64) float64 {
	p = max(0.001, min(0.999, p))
	return math.Log(p / (1 - p))
}

// replay advances several crawls in step and keeps their joint knowledge; first fetches count.
type replay struct {
	thin      uint64
	redirects []map[uint64]uint64
	evidence  map[uint64]evidence
	fetched   map[uint64]bool // by URL key: whether it was relevant
	hosts     map[uint64]tally
	all       tally
	examples  []example
	waiting   map[uint64]waitingURL // URLs waiting at the end, at their best priority
}

func newReplay(crawls []*judgedCrawl) *replay {
	r := &replay{thin: 1, evidence: map[uint64]evidence{}, fetched: map[uint64]bool{}, hosts: map[uint64]tally{}, waiting: map[uint64]waitingURL{}}
	longest := 0
	for _, c := range crawls {
		r.thin = max(r.thin, c.Trail.Thin)
		r.redirects = append(r.redirects, c.Trail.Redirects)
		longest = max(longest, len(c.Trail.Steps))
	}
	for i := range longest {
		for _, c := range crawls {
			if i < len(c.Trail.Steps) {
				r.step(c, &c.Trail.Steps[i])
			}
		}
	}
	for _, c := range crawls {
		for _, w := range c.Trail.Waiting {
			r.wait(w)
		}
	}
	return r
}

func (r *replay) target(key uint64) uint64 {
	for _, to := range r.redirects {
		if k, ok := to[key]; ok {
			return k
		}
	}
	return key
}

// step records a fetch: first its URL as an example, then its links as evidence.
func (r *replay) step(c *judgedCrawl, s *trailStep) {
	if _, again := r.fetched[s.Key]; again {
		return
	}
	y := 0.0
	if s.Page >= 0 && c.Pages[s.Page].Relevant {
		y = 1
	}
	r.fetched[s.Key] = y == 1
	host := r.hosts[s.Host]
	if e, linked := r.evidence[s.Key]; linked { // a start page without in-links has no features
		r.examples = append(r.examples, example{describe(e, s.Promise, host, r.all), y})
	}
	host.requests++
	host.relevant += y
	r.hosts[s.Host] = host
	r.all.requests++
	r.all.relevant += y
	if s.Page < 0 {
		return
	}
	score := c.Pages[s.Page].Score
	told := make(map[uint64]struct{}, len(s.Links))
	for _, key := range s.Links {
		key = r.target(key)
		if _, twice := told[key]; twice || key == s.Key || key%r.thin != 0 {
			continue // a parent counts once
		}
		told[key] = struct{}{}
		e := r.evidence[key]
		e.parents++
		e.relevant += y
		e.sum += score
		e.best = max(e.best, score)
		r.evidence[key] = e
	}
}

func (r *replay) wait(w waitingURL) {
	w.Key = r.target(w.Key)
	if _, done := r.fetched[w.Key]; done || w.Key%r.thin != 0 {
		return
	}
	if _, linked := r.evidence[w.Key]; !linked {
		return // a start page without in-links
	}
	if before, ok := r.waiting[w.Key]; !ok || w.Promise > before.Promise {
		r.waiting[w.Key] = w
	}
}

// sighting counts the other crawls' start pages that a crawl encountered, by a fetch or a link.
// Start pages are not found by following links, so they sample the topic without the crawl's
// preferences. met includes its own start pages: a crawl without useful links has no others.
type sighting struct {
	met    float64 // expected relevant pages that the crawl encountered
	starts int     // relevant start pages of the other crawls
	seen   int     // those that it encountered
}

// sightings returns each crawl's sighting; probability is that of each waiting URL.
func (r *replay) sightings(crawls []*judgedCrawl, probability map[uint64]float64) []sighting {
	starts := make([]map[uint64]bool, len(crawls))
	met := make([]map[uint64]bool, len(crawls))
	for i, c := range crawls {
		starts[i], met[i] = map[uint64]bool{}, map[uint64]bool{}
		for _, s := range c.Trail.Steps {
			if s.Start && s.Page >= 0 && c.Pages[s.Page].Relevant && s.Key%r.thin == 0 {
				starts[i][s.Key] = true
			}
			if s.Key%r.thin == 0 {
				met[i][s.Key] = true
			}
			for _, key := range s.Links {
				if key = r.target(key); key%r.thin == 0 {
					met[i][key] = true
				}
			}
		}
	}
	out := make([]sighting, len(crawls))
	for i := range crawls {
		others := map[uint64]bool{}
		for j := range starts {
			for key := range starts[j] {
				if j != i {
					others[key] = true
				}
			}
		}
		out[i].starts = len(others)
		for key := range others {
			if met[i][key] {
				out[i].seen++
			}
		}
		out[i].met = float64(r.thin) * r.expected(met[i], probability)
	}
	return out
}

// expected returns the expected number of relevant URLs among keys.
func (r *replay) expected(keys map[uint64]bool, probability map[uint64]float64) (n float64) {
	for _, key := range sortedKeys(keys) {
		if relevant, done := r.fetched[key]; !done {
			n += probability[key]
		} else if relevant {
			n++
		}
	}
	return n
}

// logLikelihood is the log-likelihood of a population size given the start pages seen: binomial,
// with the chance of encountering a relevant page. The crawls share most start pages, so together
// they count as one observation.
func logLikelihood(all []sighting, size float64) (sum float64) {
	for _, s := range all {
		p := max(1e-6, min(1-1e-6, (s.met+0.5)/(size+1)))
		sum += float64(s.seen)*math.Log(p) + float64(s.starts-s.seen)*math.Log1p(-p)
	}
	return sum / max(1, float64(len(all)-1))
}

const (
	gridPoints  = 2000
	gridWidth   = 12 // in spreads, to each side
	tailDegrees = 3  // of Student's t: heavy tails, since much may lie beyond the frontier
)

// posterior returns median and 95 % interval of the unseen. The prior is Student's t of
// ln(unseen+1) around the frontier's estimate with scale spread; the likelihood is that of the
// start pages seen, constant below the estimate. Missed start pages are evidence of a larger
// population, but well-known pages found are no evidence of a smaller one.
func posterior(seen, unseen, spread float64, all []sighting) (median float64, ci interval95) {
	centre := math.Log(unseen + 1)
	at, weight := make([]float64, 0, gridPoints), make([]float64, 0, gridPoints)
	top := math.Inf(-1)
	for i := range gridPoints {
		x := centre + spread*gridWidth*(2*float64(i)/(gridPoints-1)-1)
		if x < 0 {
			continue // below zero unseen
		}
		z := (x - centre) / spread
		w := logLikelihood(all, seen+math.Exp(max(x, centre))-1) - (tailDegrees+1)/2.*math.Log1p(z*z/tailDegrees)
		at, weight, top = append(at, x), append(weight, w), max(top, w)
	}
	total := 0.0
	for i, w := range weight {
		weight[i] = math.Exp(w - top)
		total += weight[i]
	}
	quantile := func(q float64) float64 {
		sum := 0.0
		for i, w := range weight {
			if sum += w; sum >= q*total {
				return math.Exp(at[i]) - 1
			}
		}
		return math.Exp(at[len(at)-1]) - 1
	}
	return quantile(0.5), interval95{quantile(0.025), quantile(0.975)}
}
