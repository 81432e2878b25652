package learned

import (
	"cmp"
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"
)

const (
	// fewStarts is the minimum number of start pages for judging the judge.
	fewStarts = 3
	// knownOdds is the log-likelihood ratio from which the judge recognises a start page: about 20 to 1.
	knownOdds = 3

	// declared is how far a start page is believed to be on topic against the judge: its user says so.
	declared = 0.8

	boundJudge = 6 // of the judge's log-odds
	boundPrior = 5 // of other log-odds
)

// known is the share of start pages that the judge recognises, without those it was trained on, which
// prove nothing. If fewer than fewStarts remain, missing ones count as not recognised.
func (s *startPages) known(share float64) float64 {
	sum, asked := 0.0, 0
	for _, p := range s.pages {
		if !p.Trained {
			sum += sigmoid(p.Judged - logit(share) - knownOdds)
			asked++
		}
	}
	return sum / float64(max(asked, fewStarts))
}

// startOver is the log over-representation of a word that n of all start pages have.
func startOver(b *Background, w token, n uint16, all int) float64 {
	return b.over(w, float32(n), float32(all))
}

// lengthOf is the divisor of sums over a page's words.
func lengthOf(words []token) float64 { return math.Sqrt(float64(len(words) + similarDoubt)) }

// judgedOdds is the judge's look at a page.
func judgedOdds(probability float64) float64 {
	return max(-boundJudge, min(boundJudge, logit(inside(probability))))
}

// believe returns the probability that the scorer learns from: that of a page on topic, by the judge, the
// start pages and the links that led to it, as the Order weighs them. alike is what the similarity to the
// start pages adds to the judge's log-odds. Once people label pages, the judge as they correct it and alike
// decide: the Order would undo their negative labels.
func (l *Scorer) believe(url string, key uint64, words []token, judged float64) (believed, alike float64) {
	if trained, ok := l.starts.next[key]; ok {
		delete(l.starts.next, key)
		start := startPage{Words: slices.Clone(words), Judged: judgedOdds(judged), Trained: trained, Folder: folder(url)}
		l.starts.add(start)
		l.model.sums.learnStart(start)
		l.learnStarts()
		return judged + declared*(1-judged), 0
	}
	if _, labelled := l.labels.said[key]; labelled {
		return judged, 0
	}
	m := &l.model
	x := pageView{viewBias: 1, viewJudged: judgedOdds(judged), viewShare: clip(m.base.odds, boundPrior), viewLength: math.Log1p(float64(len(words))) / 5}
	prior := 0.0
	if l.share > 0 && l.share < 1 {
		prior = clip(m.base.odds-logit(l.share), boundPrior)
	}
	x[viewRise], x[viewFall] = max(0, prior), min(0, prior)
	promised := m.base.mean
	if e, ok := l.links.waiting.Peek(key); ok {
		promised = m.promise(e, nil)
		_, most := e.probs()
		x[viewKin] = clip(logit(inside(most)), boundKin)
	}
	x[viewPromise] = clip(logit(inside(promised))-m.base.odds, boundPrior)
	similarity := 0.0
	if len(l.starts.pages) > 0 {
		similarity = l.starts.similarity(words, m.rarity)
		probability := inCrawl(judged, m.base.prior(l.share))
		m.sums.learnAlike(len(l.starts.pages), similarity, probability)
		x[viewAlike] = l.starts.shift(similarity, probability)
	}
	for _, w := range words {
		if n := l.starts.having[w]; n > 1 {
			x[viewStarts] += startOver(m.base.background, w, n, len(l.starts.pages))
		}
	}
	x[viewStarts] /= lengthOf(words)
	most, mean := l.starts.near(url)
	m.near.add(float64(most), float64(mean))
	x[viewNear], x[viewNearMean] = float64(most)-m.near.most(), float64(mean)-m.near.mean()
	m.judge.add(judgedOdds(judged))
	odds := m.order.odds(&x, &m.state)
	if l.watch {
		l.arrived = Sight{Key: key, Crawl: slices.Clone(m.state[:]), Features: floats32(x[:]), Odds: float32(odds)}
	}
	if l.labels.fix != nil {
		return corrected(judged, x[viewAlike]), x[viewAlike]
	}
	return sigmoid(odds), x[viewAlike]
}

// learnStarts updates how well the judge recognises the start pages.
func (l *Scorer) learnStarts() {
	if l.share > 0 && l.share < 1 {
		l.model.judge.unknown = 1 - l.starts.known(l.share)
	}
	l.model.judge.starts, l.model.near.starts = l.starts.meanJudged(), l.starts.together()
}

// explorer spends a share of fetches on targets with little evidence, so that a model that is wrong about
// a host or kind of page can be corrected. From a sample of queued targets it takes the one whose host
// was fetched least; ties go to the best score.
type explorer struct {
	share  float64
	credit float64  // fetches owed
	sample []uint64 // page.Key of targets, a uniform sample
	seen   int      // targets offered
	rng    *rand.Rand
	ours   func(url string) bool // which targets may be fetched; nil: all
}

const sampleSize = 64

// offer adds a new target to the sample by reservoir sampling.
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

// choose marks a target for each fetch owed; score breaks ties.
func (x *explorer) choose(links *linkGraph, score func(*evidence) float64) {
	x.credit += x.share
	for x.credit >= 1 {
		x.credit--
		best, at := (*evidence)(nil), 0
		waiting := x.sample[:0]
		for _, key := range x.sample {
			e, ok := links.waiting.Peek(key)
			if !ok || e.explored {
				continue // fetched, forgotten or already chosen
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

// question is a page, fetched or queued, whose label would be informative.
type question struct {
	URL         string  // of the page; for a queued target, of a page that links to it
	Link        uint64  // page.Key of a queued target; otherwise 0
	Probability float64 // that it is on topic, as currently believed
	Reach       float64 // share of the next targets whose links share words with it, in [0,1]
}

const (
	// askTargets is how many of the best targets determine which words matter.
	askTargets = 2000
	// askedAlready is the factor on a word's demand after a question about it.
	askedAlready = 0.5
	// modelDoubt distrusts the crawl's certainty: a label is most informative where the crawl is
	// certain and wrong.
	modelDoubt = 0.5
	// linkWorth is the value of a link's label relative to that of a page, which has more words; see
	// docs/topics.md.
	linkWorth = 0.25
)

// Ask returns up to n unlabelled pages, fetched or among the best queued, most informative first. A label
// moves all pages and links that share words with it (see correction), more so if it contradicts the
// crawl's belief.
func (l *Scorer) Ask(n int) []question {
	l.mu.Lock()
	defer l.mu.Unlock()
	next := l.comeNext()
	demand := l.demand(next)
	all := l.candidates(next, demand)
	heap.Init(all)
	var asked []question
	for len(asked) < n && len(all) > 0 && all[0].worth > 0 {
		best := &all[0]
		if now := best.telling(demand); now < best.worth { // others may now be better: worth only falls
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
		asked = append(asked, best.question)
		best.worth = 0
		heap.Fix(all, 0)
	}
	return asked
}

type candidate struct {
	question
	words []token // of the page, or of links to it
	worth float64
	place int // in the crawl, then in the queue; breaks ties
}

// candidates returns the fetched pages, and the best targets with a link on a remembered page, which the
// person is shown.
func (l *Scorer) candidates(next []waiter, demand map[token]float64) candidates {
	var all candidates
	add := func(q question, words []token) {
		c := candidate{question: q, words: words, place: len(all)}
		c.worth = c.telling(demand)
		all = append(all, c)
	}
	for _, p := range l.history.pages {
		if l.labels.pages[p.key] == nil && l.history.find(p.key) == p {
			add(question{URL: p.url, Probability: p.now}, p.words)
		}
	}
	for _, t := range next {
		for _, s := range t.named() {
			if p := l.history.find(s.key); p != nil {
				add(question{URL: p.url, Link: t.key, Probability: t.promise}, t.words[:t.count])
				break
			}
		}
	}
	return all
}

type candidates []candidate

func (c candidates) Len() int      { return len(c) }
func (c candidates) Swap(i, j int) { c[i], c[j] = c[j], c[i] }
func (c candidates) Less(i, j int) bool {
	return c[i].worth > c[j].worth || c[i].worth == c[j].worth && c[i].place < c[j].place
}

// Push implements heap.Interface; it is never called.
func (c candidates) Push(any) {}

// Pop implements heap.Interface; it is never called.
func (c candidates) Pop() any { return nil }

type waiter struct {
	*evidence
	key     uint64
	promise float64
}

// comeNext returns the best queued targets, best first.
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

// demand weights each word by how far it would move the next targets, and by its rarity.
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

// telling is the expected effect of the page's label on the next targets.
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

// reach is the share of targets whose links have any of the words.
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

// distinct removes repeated words. It serves one goroutine.
type distinct struct{ seen map[token]struct{} }

func newDistinct() distinct { return distinct{map[token]struct{}{}} }

// of removes repetitions in place and keeps the order.
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
