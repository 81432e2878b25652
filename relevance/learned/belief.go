package learned

import (
	"cmp"
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"
)

// belief says how far a page is on topic where the judge is not to be trusted. It goes by two looks at
// the page: the judge's log-odds, and how much more often the start pages have its words than pages at
// large. What the links to it promise is the prior.
//
// Start pages are on topic because the user says so, and so they show how good the judge is.
type belief struct {
	doubt   float64           // of the judge, in [0,1): 0 where it stands alone
	words   map[token]float64 // what those that several start pages have are worth
	on, off cloud
	pages   record // but for the start pages
}

const (
	// startsWorth is the number of training pages on topic after which the judge has seen as much of
	// the topic as the start pages tell.
	startsWorth = 10
	// fewStarts is below how many start pages nothing is said of the judge.
	fewStarts = 3
	// knownOdds is the log-likelihood ratio from which on the judge knows a start page: twenty times as
	// likely on topic as off.
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

// doubtOf is how much the start pages say against a judge that was trained on seen pages on topic, at
// most.
func doubtOf(seen float64) float64 {
	if seen <= 0 {
		return 0 // not known
	}
	return startsWorth / (startsWorth + seen)
}

// newBelief makes one of the start pages. share is the topic's at training, most the doubt of a judge
// that knows none of them.
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

// known is on what share of the start pages the judge finds the topic, but for those that it was
// trained on: of these it says what it was told. Where fewer than fewStarts are left the others count
// as not found.
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

// of returns what is believed of a page, as log-odds, and learns from it. judged is by the judge alone,
// odds with all that corrects it, promised the probability that its links promised.
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

// ratio is the log-likelihood ratio of a look: (x − (m₁+m₀)/2) · S⁻¹(m₁−m₀). No look speaks against the
// topic by being more like it.
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

// believe returns how far a page is taken to be on topic, for all that is learned from it. That is its
// probability, with the crawl's prior.
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

// explorer chooses fetches that are made to learn: a share of all, spent on targets of which little is
// known. So a model that is wrong about a host or a kind of page meets what would correct it. Of a
// sample of the targets that wait it takes one whose host was fetched least; among equals, the one that
// looks best.
type explorer struct {
	share  float64
	credit float64  // fetches owed
	sample []uint64 // page.Key of targets, each as likely as any other
	seen   int      // targets offered
	rng    *rand.Rand
	ours   func(url string) bool // which targets may be fetched; nil: all
}

// sampleSize is how many targets an explorer chooses among.
const sampleSize = 64

func newExplorer(share float64, seed uint64) explorer {
	return explorer{share: share, rng: rand.New(rand.NewPCG(seed, 0xe91))}
}

// offer takes a new target into the sample, or not (reservoir sampling).
func (x *explorer) offer(key uint64, url string) {
	if x.share <= 0 || x.ours != nil && !x.ours(url) {
		return
	}
	x.seen++
	if len(x.sample) < sampleSize {
		x.sample = append(x.sample, key)
	} else if i := x.rng.IntN(x.seen); i < sampleSize {
		x.sample[i] = key
	}
}

// choose marks a target for each fetch that exploring is owed; score is what ranks equals.
func (x *explorer) choose(links *linkGraph, score func(*evidence) float64) {
	x.credit += x.share
	for x.credit >= 1 {
		x.credit--
		best, at := (*evidence)(nil), 0
		waiting := x.sample[:0]
		for _, key := range x.sample {
			e, ok := links.waiting.Peek(key)
			if !ok || e.explored {
				continue // fetched, forgotten or chosen
			}
			waiting = append(waiting, key)
			if best == nil || e.host.pages < best.host.pages ||
				e.host.pages == best.host.pages && score(e) > score(best) {
				best, at = e, len(waiting)-1
			}
		}
		x.sample = waiting
		if best == nil {
			return
		}
		best.explored = true
		x.sample = append(x.sample[:at], x.sample[at+1:]...)
	}
}

// Question is a page, fetched or not, whose label would tell much.
type Question struct {
	URL         string  // of the page; of one that waits, of a page that links to it
	Link        uint64  // of one that waits, its page.Key; else 0
	Probability float64 // that it is on topic, as the crawl sees it now
	Reach       float64 // share of the targets that come next whose links have words of it, in [0,1]
}

const (
	// askTargets is how many of the best waiting targets say which words matter next.
	askTargets = 2000
	// askedAlready is by how much a question about a word takes from its worth for the next.
	askedAlready = 0.5
	// modelDoubt is how far the crawl's own certainty is distrusted: where it is sure and wrong, a
	// label tells most.
	modelDoubt = 0.5
	// linkWorth is what a label of a link is worth against one of a page, which has all the words of
	// the page; see docs/topics.md.
	linkWorth = 0.25
)

// Ask returns up to n pages that nobody labelled, the most telling first: pages that were fetched, and
// of those that wait the best. A label moves all that shares words with its page, or with the links to
// it while it waits (see correction), the more the further it is from what the crawl believes.
func (l *Scorer) Ask(n int) []Question {
	l.mu.Lock()
	defer l.mu.Unlock()
	next := l.comeNext()
	demand := l.demand(next)
	all := l.candidates(next, demand)
	heap.Init(all)
	var asked []Question
	for len(asked) < n && len(all) > 0 && all[0].worth > 0 {
		best := &all[0]
		if now := best.telling(demand); now < best.worth { // others may be better: a worth only falls
			best.worth = now
			heap.Fix(all, 0)
			continue
		}
		for _, w := range best.words {
			if d, wanted := demand[w]; wanted {
				demand[w] = d * askedAlready
			}
		}
		best.Reach = reach(best.words, next)
		asked = append(asked, best.Question)
		best.worth = 0
		heap.Fix(all, 0)
	}
	return asked
}

// candidate is a page that may be asked about, with what that was worth when it was last worked out.
type candidate struct {
	Question
	words []token // of the page, or of links to it
	worth float64
	place int // in the crawl, then in the queue; of two alike the earlier is asked about
}

// candidates returns pages that were fetched, and of those that come next the ones that a page which is
// remembered links to: it says what the person is shown.
func (l *Scorer) candidates(next []waiter, demand map[token]float64) candidates {
	var all candidates
	add := func(q Question, words []token) {
		c := candidate{Question: q, words: words, place: len(all)}
		c.worth = c.telling(demand)
		all = append(all, c)
	}
	for _, p := range l.history.pages {
		if l.labels.pages[p.key] == nil && l.history.find(p.key) == p {
			add(Question{URL: p.url, Probability: p.now}, p.words)
		}
	}
	for _, t := range next {
		for _, s := range t.named() {
			if p := l.history.find(s.key); p != nil {
				add(Question{URL: p.url, Link: t.key, Probability: t.promise}, t.words[:t.count])
				break
			}
		}
	}
	return all
}

// candidates is a heap, the most telling first.
type candidates []candidate

func (c candidates) Len() int      { return len(c) }
func (c candidates) Swap(i, j int) { c[i], c[j] = c[j], c[i] }
func (c candidates) Less(i, j int) bool {
	return c[i].worth > c[j].worth || c[i].worth == c[j].worth && c[i].place < c[j].place
}

// Push implements heap.Interface; nothing comes, and nothing goes.
func (c candidates) Push(any) {}

// Pop implements heap.Interface.
func (c candidates) Pop() any { return nil }

// waiter is a target that waits.
type waiter struct {
	*evidence
	key     uint64
	promise float64
}

// comeNext returns the best targets that wait, in order.
func (l *Scorer) comeNext() []waiter {
	var all []waiter
	for key, e := range l.links.waiting.All() {
		if e.label == unlabelled && e.parents > 0 {
			all = append(all, waiter{e, key, l.model.promise(e, l.labels.fix)})
		}
	}
	slices.SortFunc(all, func(a, b waiter) int { return cmp.Or(cmp.Compare(b.promise, a.promise), cmp.Compare(a.key, b.key)) })
	return slices.Clone(all[:min(len(all), askTargets)])
}

// demand is what a word counts for: how far the targets that come next would move with it, the more the
// rarer it is on the crawl's pages.
func (l *Scorer) demand(next []waiter) map[token]float64 {
	demand := map[token]float64{}
	for _, t := range next {
		for _, w := range t.words[:t.count] {
			demand[w] += t.promise / math.Sqrt(float64(int(t.count)+shortText))
		}
	}
	for w := range demand {
		demand[w] *= l.model.rarity(w)
	}
	return demand
}

// telling is how far a label of the page can be expected to move what comes next.
func (c *candidate) telling(demand map[token]float64) float64 {
	sum := 0.0
	for _, w := range c.words {
		sum += demand[w]
	}
	p := modelDoubt/2 + (1-modelDoubt)*c.Probability
	if c.Link != 0 {
		sum *= linkWorth
	}
	return p * (1 - p) * sum / math.Sqrt(float64(len(c.words)+shortText))
}

// reach is the share of targets whose links have some of the words.
func reach(words []token, next []waiter) float64 {
	has := make(map[token]bool, len(words))
	for _, w := range words {
		has[w] = true
	}
	reached := 0.0
	for _, t := range next {
		if slices.ContainsFunc(t.words[:t.count], func(w token) bool { return has[w] }) {
			reached++
		}
	}
	return reached / float64(max(1, len(next)))
}

// distinct picks the words of a page that come for the first time. It serves one goroutine.
type distinct struct{ seen map[token]struct{} }

func newDistinct() distinct { return distinct{map[token]struct{}{}} }

// of returns words, each once, in the order of their first occurrence and in their place.
func (d *distinct) of(words []token) []token {
	clear(d.seen)
	kept := words[:0]
	for _, w := range words {
		if _, met := d.seen[w]; !met {
			d.seen[w] = struct{}{}
			kept = append(kept, w)
		}
	}
	return kept
}
