package crawlplan

import (
	"hash/maphash"
	"sync"

	"fossick/crawler"
	"fossick/internal/page"
	"fossick/models/features"
)

// memo keeps what a model said of pages and of texts, for crawls that see the same
// pages again and again. Pages are known by their address: they are shared and do
// not change. Reasons are left out. Safe for concurrent use.
type memo struct {
	seed  maphash.Seed
	parts [64]memoPart // by hash, so that crawls side by side do not wait for each other
}

type memoPart struct {
	mu    sync.Mutex // guards the rest
	pages map[*page.Page]memoLabel
	texts map[features.Doc]float64
}

type memoLabel struct {
	label                   string
	score, topicProbability float64
}

func newMemo() *memo {
	m := &memo{seed: maphash.MakeSeed()}
	for i := range m.parts {
		m.parts[i].pages = map[*page.Page]memoLabel{}
		m.parts[i].texts = map[features.Doc]float64{}
	}
	return m
}

// label is labeller.label.
func (m *memo) label(l *Labeller, p *page.Page, score *crawler.Score) float64 {
	part := &m.parts[maphash.Comparable(m.seed, p)%uint64(len(m.parts))]
	part.mu.Lock()
	known, ok := part.pages[p]
	part.mu.Unlock()
	if !ok {
		r := l.classifier.Classify(features.Doc(p.Fields()))
		known = memoLabel{r.Label, r.Score, r.Probs[l.class]}
		part.mu.Lock()
		part.pages[p] = known
		part.mu.Unlock()
	}
	score.Label, score.Probability = known.label, known.score
	score.Relevant = known.topicProbability >= l.cut
	return known.topicProbability
}

// judge is labeller.judge.
func (m *memo) judge(l *Labeller, d features.Doc) float64 {
	part := &m.parts[maphash.Comparable(m.seed, d)%uint64(len(m.parts))]
	part.mu.Lock()
	known, ok := part.texts[d]
	part.mu.Unlock()
	if ok {
		return known
	}
	known = l.score(d)
	part.mu.Lock()
	part.texts[d] = known
	part.mu.Unlock()
	return known
}
