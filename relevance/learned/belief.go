package learned

import (
	"math"
	"slices"
)

// belief says how far a page is on topic where the judge is not to be trusted. It goes by
// two looks at the page: the judge's log-odds, and how much more often the start pages
// have its words than pages at large. What the links to it promise is the prior.
//
// Start pages are on topic because the user says so, and so they show how good the judge
// is. One that was trained on two pages of the topic doubts most of them. Were looks normal
// with one covariance on topic and off, a page's log-likelihood ratio would be that of
// Fisher's linear discriminant (1936). The start pages count as on topic, and every other
// page by what is believed of it (as Saerens, Latinne and Decaestecker 2002 adapt a prior).
type belief struct {
	doubt   float64           // of the judge, in [0,1): 0 where it stands alone
	words   map[token]float64 // what those that several start pages have are worth
	on, off cloud
	pages   record // but for the start pages
}

const (
	// startsWorth is the number of training pages on topic after which the judge has seen
	// as much of the topic as the start pages tell.
	startsWorth = 10
	// fewStarts is below how many start pages nothing is said of the judge.
	fewStarts = 3
	// knownOdds is the log-likelihood ratio from which on the judge knows a start page:
	// twenty times as likely on topic as off.
	knownOdds = 3
	// leastDoubt is below what a doubt is none, and costs no time.
	leastDoubt = 0.02

	boundJudge  = 6   // of the judge's log-odds
	boundRatio  = 5   // of a page's log-likelihood ratio
	boundPrior  = 4   // of the log-odds that its links promise
	firstOff    = 3   // pages at large that the crawl is thought to have met before
	firstApart  = 1   // log-odds that these are less likely than start pages, at least
	firstSpread = 3   // pages' worth of spread that is thought to be there before
	wordSpread  = 0.2 // variance of the words, then; the judge's is 1
)

// doubtOf is how much the start pages say against a judge that was trained on seen pages
// on topic, at most.
func doubtOf(seen float64) float64 {
	if seen <= 0 {
		return 0 // not known
	}
	return startsWorth / (startsWorth + seen)
}

// newBelief makes one of the start pages. share is the topic's at training, most the doubt
// of a judge that knows none of them.
func newBelief(s *startPages, b *Background, share, most float64) belief {
	if most == 0 || len(s.pages) < fewStarts || !(share > 0 && share < 1) {
		return belief{}
	}
	v := belief{doubt: most * (1 - s.known(share))}
	if v.doubt < leastDoubt {
		return belief{}
	}
	v.words = map[token]float64{}
	for w, n := range s.having {
		if n > 1 {
			v.words[w] = startOver(b, w, n, len(s.pages))
		}
	}
	for _, p := range s.pages {
		sum := 0.0
		for _, w := range p.words {
			if n := s.having[w] - 1; n > 1 { // by the others alone
				sum += startOver(b, w, n, len(s.pages)-1)
			}
		}
		v.on.add(1, look{p.judged, sum / lengthOf(p.words)})
	}
	v.off.add(firstOff, look{min(v.on.mean()[0]-firstApart, logit(share)), 0})
	return v
}

// known is on what share of the start pages the judge finds the topic, but for those that
// it was trained on: of these it says what it was told. Where fewer than fewStarts are left
// the others count as not found.
func (s *startPages) known(share float64) float64 {
	sum, asked := 0.0, 0
	for _, p := range s.pages {
		if !p.trained {
			sum += sigmoid(p.judged - logit(share) - knownOdds)
			asked++
		}
	}
	return sum / float64(max(asked, fewStarts))
}

// startOver is by how much more often n of all start pages have a word than pages at large.
func startOver(b *Background, w token, n uint16, all int) float64 {
	return b.over(w, float32(n), float32(all))
}

// lengthOf is by what sums over a page's words are divided.
func lengthOf(words []token) float64 { return math.Sqrt(float64(len(words) + similarDoubt)) }

// judgedOdds is the judge's look at a page.
func judgedOdds(probability float64) float64 {
	return max(-boundJudge, min(boundJudge, logit(inside(probability))))
}

// of returns what is believed of a page, as log-odds, and learns from it. judged is by the
// judge alone, odds with all that corrects it, promised the probability that its links
// promised.
func (v *belief) of(words []token, judged, odds, promised float64) float64 {
	sum := 0.0
	for _, w := range words {
		sum += v.words[w]
	}
	x := look{judgedOdds(judged), sum / lengthOf(words)}
	share := logit((float64(v.pages.onTopic) + 1) / (float64(v.pages.pages) + 2))
	prior := (share + logit(inside(promised))) / 2
	prior = max(-boundPrior, min(boundPrior, prior))
	odds = (1-v.doubt)*odds + v.doubt*(prior+v.ratio(x))
	probability := sigmoid(odds)
	v.on.add(probability, x)
	v.off.add(1-probability, x)
	v.pages.add(probability)
	return odds
}

// ratio is the log-likelihood ratio of a look: (x − (m₁+m₀)/2) · S⁻¹(m₁−m₀). No look
// speaks against the topic by being more like it.
func (v *belief) ratio(x look) float64 {
	m1, m0, s1, s0 := v.on.mean(), v.off.mean(), v.on.scatter(), v.off.scatter()
	n := v.on.weight + v.off.weight + firstSpread
	a, b, c := (s1[0]+s0[0]+firstSpread)/n, (s1[1]+s0[1])/n, (s1[2]+s0[2]+firstSpread*wordSpread)/n
	det := a*c - b*b
	d := look{max(0, m1[0]-m0[0]), max(0, m1[1]-m0[1])}
	w := look{max(0, (c*d[0]-b*d[1])/det), max(0, (a*d[1]-b*d[0])/det)}
	z := w[0]*(x[0]-(m1[0]+m0[0])/2) + w[1]*(x[1]-(m1[1]+m0[1])/2)
	return max(-boundRatio, min(boundRatio, z))
}

// look is what is seen of a page: the judge's log-odds, and what its words are worth.
type look [2]float64

// cloud sums up weighted looks.
type cloud struct {
	weight float64
	sum    look
	square [3]float64 // products of 0 and 0, 0 and 1, 1 and 1
}

func (c *cloud) add(w float64, x look) {
	c.weight += w
	c.sum[0] += w * x[0]
	c.sum[1] += w * x[1]
	c.square[0] += w * x[0] * x[0]
	c.square[1] += w * x[0] * x[1]
	c.square[2] += w * x[1] * x[1]
}

func (c *cloud) mean() look { return look{c.sum[0] / c.weight, c.sum[1] / c.weight} }

// scatter is the sums of the products of the distances from the mean.
func (c *cloud) scatter() [3]float64 {
	m := c.mean()
	return [3]float64{c.square[0] - c.sum[0]*m[0], c.square[1] - c.sum[0]*m[1], c.square[2] - c.sum[1]*m[1]}
}

// believe returns how far a page is taken to be on topic, for all that is learned from it.
// That is its probability, with the crawl's prior. It is corrected by its similarity to the
// start pages and by what these say of the judge. Start pages and what a person has labelled
// are not corrected.
// It also returns these corrections in log-odds. It does not change what the crawl says of
// the page.
func (l *Scorer) believe(key uint64, words []token, judged float64) (believed, shift float64) {
	if trained, ok := l.starts.next[key]; ok {
		delete(l.starts.next, key)
		start := startPage{slices.Clone(words), judgedOdds(judged), trained}
		l.starts.add(start)
		l.model.sums.learnStart(start)
		l.setBelief(newBelief(&l.starts, l.model.base.background, l.share, l.doubt))
		return judged + l.doubt*(1-judged), 0
	}
	if _, labelled := l.labels.said[key]; labelled {
		return judged, 0
	}
	probability := judged
	if l.labels.fix == nil { // else the prior would lift again what people say is off topic
		probability = inCrawl(judged, l.model.base.prior(l.share))
	}
	if len(l.starts.pages) == 0 {
		return probability, 0
	}
	similarity := l.starts.similarity(words, l.model.rarity)
	l.model.sums.learnAlike(len(l.starts.pages), similarity, probability)
	shift = l.starts.shift(similarity, probability)
	probability = corrected(probability, shift)
	if l.belief.doubt == 0 || l.labels.fix != nil {
		return probability, shift
	}
	promised := l.model.base.mean
	if e, ok := l.links.waiting.Peek(key); ok {
		promised = l.model.promise(e, nil)
	}
	odds := l.belief.of(words, judged, logit(inside(probability)), promised)
	return sigmoid(odds), odds - logit(inside(judged))
}

// setBelief takes in what the start pages say of the judge.
func (l *Scorer) setBelief(b belief) {
	l.belief = b
	l.model.doubt = b.doubt
}
