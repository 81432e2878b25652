package eval

import (
	"math"
	"slices"

	"fossick/internal/stats"
)

// Population is an estimate of how many relevant pages the web in reach holds.
type Population struct {
	Size   float64  // estimated, at least Seen
	CI     Interval // of Size
	Seen   int      // distinct relevant pages that the crawls found together
	Method string
}

// The estimators' names.
const (
	methodChapman = "Lincoln–Petersen (Chapman)"
	methodChao    = "Chao (bias-corrected)"
)

// lincolnPetersen estimates a population from two captures of n1 and n2, of
// which m are the same. The form is Chapman's (1951), which is defined for m =
// 0 and nearly unbiased; the variance is Seber's (1970):
//
//	N   = (n1+1)(n2+1)/(m+1) − 1
//	var = (n1+1)(n2+1)(n1−m)(n2−m) / ((m+1)²(m+2))
//
// It holds for two independent samples in which every page is as likely as
// another. Focused crawls are neither: both prefer what is linked much, so they
// meet more often than by chance. N comes out too small and a recall computed
// from it too large. Take it as an upper bound of the recall.
func lincolnPetersen(n1, n2, m int) Population {
	a, b, c := float64(n1), float64(n2), float64(m)
	seen := n1 + n2 - m
	size := (a+1)*(b+1)/(c+1) - 1
	variance := (a + 1) * (b + 1) * (a - c) * (b - c) / ((c + 1) * (c + 1) * (c + 2))
	p := Population{Size: max(size, float64(seen)), Seen: seen, Method: methodChapman}
	p.CI = logInterval(seen, p.Size-float64(seen), variance)
	if small := min(n1, n2); m == small && m > 0 {
		// One crawl found all that the other did, and the variance is 0. m of m
		// recaptures still leave room for a recall below 1.
		p.CI = Interval{float64(seen), float64(seen) / stats.Wilson(m, small)[0]}
	}
	return p
}

// chao2 estimates a population from t captures by how many of seen distinct
// pages were found once and twice, f1 and f2. It is bias-corrected (Chao 1987),
// with the variance of Colwell's EstimateS, "Chao2":
//
//	N   = seen + k·f1(f1−1) / (2(f2+1)),                  k = (t−1)/t
//	var = k·f1(f1−1)/(2(f2+1)) + k²·f1(2f1−1)²/(4(f2+1)²) + k²·f1²f2(f1−1)²/(4(f2+1)⁴)
//
// Pages may differ in how likely they are; N is then a lower bound, so again a
// recall computed from it is an upper one.
func chao2(t, seen, f1, f2 int) Population {
	unseen, variance := chao(float64(t-1)/float64(t), float64(f1), float64(f2))
	p := Population{Size: float64(seen) + unseen, Seen: seen, Method: methodChao, CI: logInterval(seen, unseen, variance)}
	if unseen == 0 && seen > 0 {
		// Good–Turing: the share of captures that are of pages found once is the
		// share of what is missing. There are at least 2·seen − f1 captures.
		p.CI[1] = float64(seen) / (1 - stats.Wilson(f1, 2*seen-f1)[1])
	}
	return p
}

// chao returns the unseen of Chao's estimator and its variance; k is (t−1)/t for t
// captures, 1 for single observations. f1 and f2 may be expected counts.
func chao(k, f1, f2 float64) (unseen, variance float64) {
	a, b := f1, f2
	unseen = max(0, k*a*(a-1)/(2*(b+1)))
	return unseen, unseen +
		k*k*a*(2*a-1)*(2*a-1)/(4*(b+1)*(b+1)) +
		k*k*a*a*b*(a-1)*(a-1)/(4*math.Pow(b+1, 4))
}

// ichao is the improved lower bound of Chiu, Wang, Walther and Chao (2014) for
// many single observations, which takes those seen three and four times too:
//
//	chao + f₃/(4(f₄+1)) · max(0, f₁ − f₂f₃/(2(f₄+1)))
//
// Its variance is chao's, taken along: the relative one stays.
func ichao(f1, f2, f3, f4 float64) (unseen, variance float64) {
	first, variance := chao(1, f1, f2)
	if first == 0 {
		return 0, variance
	}
	unseen = first + f3/(4*(f4+1))*max(0, f1-f2*f3/(2*(f4+1)))
	return unseen, variance * (unseen / first) * (unseen / first)
}

// logInterval is the interval of a population of which seen were seen and
// unseen are estimated (Chao 1987). The logarithm of the unseen is taken for
// normal, so the lower bound never falls below what was seen.
//
//	[seen + unseen/K, seen + unseen·K],  K = exp(z·√ln(1 + var/unseen²))
func logInterval(seen int, unseen, variance float64) Interval {
	s := float64(seen)
	if unseen <= 0 {
		return Interval{s, s}
	}
	k := math.Exp(stats.Z95 * math.Sqrt(math.Log1p(variance/(unseen*unseen))))
	return Interval{s + unseen/k, s + unseen*k}
}

// capture estimates the population from the sets of relevant URLs that two or
// more crawls found: Lincoln–Petersen for two, Chao for more. The URLs of one
// crawl are distinct. ok is false for fewer than two crawls, or when none
// found anything.
func capture(crawls [][]string) (p Population, ok bool) {
	times := map[string]int{}
	for _, urls := range crawls {
		for _, u := range urls {
			times[u]++
		}
	}
	if len(crawls) < 2 || len(times) == 0 {
		return Population{}, false
	}
	var found [3]int // URLs found once in [1], twice in [2]
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

// Estimate is a recall that no truth was needed for.
type Estimate struct {
	Value      float64   `json:"value"` // share of the estimated population that the crawl found
	CI         Interval  `json:"ci"`
	Method     string    `json:"method"`
	Population float64   `json:"population"` // relevant pages in reach, estimated
	Together   float64   `json:"together"`   // recall of all crawls taken together
	Caution    string    `json:"caution"`
	Bound      *Estimate `json:"bound,omitempty"` // plain capture–recapture: an upper bound; nil when Value is that
}

// What is printed with every estimate.
const (
	cautionBound    = "crawls of one topic are not independent samples; expect the true recall to be lower"
	cautionFrontier = "it relies on the labels, on links from the crawled pages and on the start pages of the crawls; it misses parts of the web that none of these lead to"
)

// recall turns a population into the recall of a crawl that found n of it.
func (p Population) recall(n int) *Estimate {
	e := &Estimate{
		Value: float64(n) / p.Size, Method: p.Method, Population: p.Size,
		Together: float64(p.Seen) / p.Size, Caution: cautionBound,
	}
	if p.Method == methodFrontier {
		e.Caution = cautionFrontier
	}
	e.CI = Interval{float64(n) / p.CI[1], float64(n) / p.CI[0]}
	slices.Sort(e.CI[:])
	return e
}

// Upper reports whether the value is no more than an upper bound.
func (e *Estimate) Upper() bool { return e.Method != methodFrontier }

// estimateRecall estimates the recall of each of two crawls or more, which
// found the relevant URLs given. It does so by Frontier where the crawls have
// trails, else by Capture, which is only a bound. nil when there is nothing to
// estimate from.
func estimateRecall(crawls []*Crawl, relevant [][]string) []*Estimate {
	bound, ok := capture(relevant)
	if !ok || bound.Seen < stats.Fewest {
		return nil
	}
	best, ok := Frontier(crawls)
	out := make([]*Estimate, len(crawls))
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
