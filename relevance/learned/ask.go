package learned

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
)

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
	// modelDoubt is how far the crawl's own certainty is distrusted: where it is sure and
	// wrong, a label tells most.
	modelDoubt = 0.5
	// linkWorth is what a label of a link is worth against one of a page, which has all the
	// words of the page; see docs/topics.md.
	linkWorth = 0.25
)

// Ask returns up to n pages that nobody labelled, the most telling first: pages that were
// fetched, and of those that wait the best. A label moves all that shares words with its
// page, or with the links to it while it waits (see correction), the more the further it
// is from what the crawl believes. So a page tells much when the crawl is not sure of it,
// and its words are those of the links that come next. A question makes its words count
// for less in those that follow, so that these ask for something else.
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

// candidate is a page that may be asked about, with what that was worth when it was last
// worked out.
type candidate struct {
	Question
	words []token // of the page, or of links to it
	worth float64
	place int // in the crawl, then in the queue; of two alike the earlier is asked about
}

// candidates returns pages that were fetched, and of those that come next the ones that a
// page which is remembered links to: it says what the person is shown.
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

// demand is what a word counts for: how far the targets that come next would move with
// it, the more the rarer it is on the crawl's pages.
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
