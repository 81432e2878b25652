package learned

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
)

// Question is a fetched page whose label would tell much.
type Question struct {
	URL         string
	Probability float64 // that it is on topic, as the crawl sees it now
	Reach       float64 // share of the targets that come next whose links have words of the page, in [0,1]
}

const (
	// askTargets is how many of the best waiting targets say which words matter next.
	askTargets = 2000
	// askedAlready is by how much a question about a word takes from its worth for the next.
	askedAlready = 0.5
	// modelDoubt is how far the crawl's own certainty is distrusted: where it is sure and
	// wrong, a label tells most.
	modelDoubt = 0.5
)

// Ask returns up to n pages that were fetched and nobody labelled, the most telling
// first. A label moves all that shares words with its page (see correction), the more the
// further it is from what the crawl believes. So a page tells much when the crawl is not
// sure of it, and its words are those of the links that come next. A question makes its
// words count for less in those that follow, so that these ask for something else.
func (l *Scorer) Ask(n int) []Question {
	l.mu.Lock()
	defer l.mu.Unlock()
	next := l.comeNext()
	demand := l.demand(next)
	var all candidates
	for _, p := range l.history.pages {
		if l.labels.pages[p.key] == nil && l.history.find(p.key) == p {
			all = append(all, candidate{page: p, worth: telling(p, demand), place: len(all)})
		}
	}
	heap.Init(all)
	var asked []Question
	for len(asked) < n && len(all) > 0 && all[0].worth > 0 {
		best := &all[0]
		if now := telling(best.page, demand); now < best.worth { // others may be better: a worth only falls
			best.worth = now
			heap.Fix(all, 0)
			continue
		}
		for _, w := range best.page.words {
			if d, wanted := demand[w]; wanted {
				demand[w] = d * askedAlready
			}
		}
		asked = append(asked, Question{URL: best.page.url, Probability: best.page.now, Reach: reach(best.page, next)})
		best.worth = 0
		heap.Fix(all, 0)
	}
	return asked
}

// candidate is a page that may be asked about, with what that was worth when it was last
// worked out.
type candidate struct {
	page  *pastPage
	worth float64
	place int // in the crawl; of two alike the earlier is asked about
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

// comeNext returns the best targets that wait, in order.
func (l *Scorer) comeNext() []*evidence {
	type target struct {
		key     uint64
		e       *evidence
		promise float64
	}
	var all []target
	for key, e := range l.links.waiting.All() {
		if e.label == unlabelled && e.parents > 0 {
			all = append(all, target{key, e, l.model.promise(e, l.labels.fix)})
		}
	}
	slices.SortFunc(all, func(a, b target) int { return cmp.Or(cmp.Compare(b.promise, a.promise), cmp.Compare(a.key, b.key)) })
	next := make([]*evidence, min(len(all), askTargets))
	for i := range next {
		next[i] = all[i].e
	}
	return next
}

// demand is what a word counts for: how far the targets that come next would move with
// it, the more the rarer it is on the crawl's pages.
func (l *Scorer) demand(next []*evidence) map[token]float64 {
	demand := map[token]float64{}
	for _, e := range next {
		for _, w := range e.words[:e.count] {
			demand[w] += l.model.promise(e, l.labels.fix) / math.Sqrt(float64(int(e.count)+shortText))
		}
	}
	for w := range demand {
		demand[w] *= l.model.rarity(w)
	}
	return demand
}

// telling is how far a label of the page can be expected to move what comes next.
func telling(past *pastPage, demand map[token]float64) float64 {
	sum := 0.0
	for _, w := range past.words {
		sum += demand[w]
	}
	p := modelDoubt/2 + (1-modelDoubt)*past.now
	return p * (1 - p) * sum / math.Sqrt(float64(len(past.words)+shortText))
}

// reach is the share of targets whose links have words of the page.
func reach(p *pastPage, next []*evidence) float64 {
	has := make(map[token]bool, len(p.words))
	for _, w := range p.words {
		has[w] = true
	}
	reached := 0.0
	for _, e := range next {
		if slices.ContainsFunc(e.words[:e.count], func(w token) bool { return has[w] }) {
			reached++
		}
	}
	return reached / float64(max(1, len(next)))
}
