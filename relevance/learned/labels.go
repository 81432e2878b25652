package learned

import (
	"maps"
	"slices"
	"sync"

	"fossick/internal/page"
	"fossick/models/features"
)

// Marked is what a person says of a URL.
type Marked struct {
	URL     string
	Page    *page.Page // nil while it was not fetched
	OnTopic bool
}

// labelWeight is how many pages a page that a person labelled counts for, in
// the vocabularies and in the records of places. The classifier's word on it is
// one opinion among many, a person's is not.
const labelWeight = 5

// maxAnchors is how many pages that nobody labelled a correction is held by: a sample
// of those remembered.
const maxAnchors = 1000

// labels is what people said, and what follows from it. The scorer's mutex guards it,
// but for fitting.
type labels struct {
	said  map[uint64]bool          // by page.Key: on topic or not
	pages map[uint64]*pastPage     // those of them that were fetched
	links map[uint64]*labelledLink // those of them that wait
	names map[token]string         // words of these
	fix   *correction              // nil as long as there are none
	stale bool                     // fix does not know all of pages

	fitting sync.Mutex // one correction is learned at a time; taken before the scorer's
}

func newLabels() labels {
	return labels{said: map[uint64]bool{}, pages: map[uint64]*pastPage{}, links: map[uint64]*labelledLink{}, names: map[token]string{}}
}

// Mark takes in what people say. The pages count as they say from now on, with
// more weight than the judge's word, and the judge is corrected. What it said
// of all pages that are remembered, of all that will be fetched, and of links,
// is shifted by the words that they share with the labelled ones. A URL that
// was not fetched yet has the priority 1 or 0. What waits is to be rescored
// afterwards.
func (l *Scorer) Mark(said []Marked) {
	for _, m := range said {
		l.mark(m)
	}
	l.refit()
}

func (l *Scorer) mark(m Marked) {
	key := page.Key(m.URL)
	var words []token
	r, names := namingReader()
	judged := 0.0
	if m.Page != nil {
		words = r.page(m.Page)
		judged = l.texts.judge(features.Doc(m.Page.Fields()))
	} else {
		r.link(nil, "", &page.Link{URL: m.URL})
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.labels.said[key] = m.OnTopic
	if e, ok := l.links.waiting.Peek(key); ok {
		e.label = labelOf(m.OnTopic)
		if m.Page == nil && e.parents > 0 {
			maps.Copy(l.labels.names, names)
			l.labelLink(key, e, m.OnTopic)
		}
	}
	p := l.labels.pages[key]
	if p == nil {
		p = l.history.find(key) // also of one that has come since the person looked
	}
	if p == nil && m.Page == nil {
		return
	}
	maps.Copy(l.labels.names, names)
	if p == nil { // forgotten: its words are known again, what it counted for is not
		p = &pastPage{key: key, url: m.URL, words: words, judged: judged, now: judged, host: &record{}, folder: &record{}, source: &source{}}
	}
	l.labels.add(p)
	l.recount(p, truth(m.OnTopic), labelWeight)
}

// add enters a page that was labelled.
func (b *labels) add(p *pastPage) {
	b.pages[p.key] = p
	b.stale = true
}

func truth(onTopic bool) float64 {
	if onTopic {
		return 1
	}
	return 0
}

// A target's label, in its evidence.
const (
	unlabelled int8 = iota
	labelledOn
	labelledOff
)

func labelOf(onTopic bool) int8 {
	if onTopic {
		return labelledOn
	}
	return labelledOff
}

// namingReader returns a reader, and each word's text of what it reads.
func namingReader() (*wordReader, map[token]string) {
	names := map[token]string{}
	return &wordReader{tokens: features.NewTokens(wordOptions, func(term string) token {
		t := tokenOf(term)
		names[t] = term
		return t
	}), seen: newDistinct()}, names
}

// refitStale is refit for a caller that need not wait for another who is at it.
func (l *Scorer) refitStale() {
	l.mu.Lock()
	stale := l.labels.stale
	l.mu.Unlock()
	if stale {
		l.refit()
	}
}

// refit learns the correction anew, if there is something new, and applies it
// to the pages that are remembered. It takes some at a time, so that nobody
// waits long for the scorer.
func (l *Scorer) refit() {
	l.labels.fitting.Lock()
	defer l.labels.fitting.Unlock()
	l.mu.Lock()
	if !l.labels.stale {
		l.mu.Unlock()
		return
	}
	l.labels.stale = false
	labelled, anchors := l.labels.examples(&l.history)
	l.mu.Unlock()
	fix := learnCorrection(labelled, anchors)
	l.mu.Lock()
	if l.labels.fix == nil {
		l.model.weights.steady()
	}
	l.labels.fix = fix
	past := slices.Clone(l.history.pages)
	l.mu.Unlock()
	const turn = 64 // pages: some milliseconds
	for some := range slices.Chunk(past, turn) {
		l.mu.Lock()
		for _, p := range some {
			if l.labels.pages[p.key] != p {
				l.recount(p, corrected(p.judged, fix.shift(p.words)+p.similar), 1)
			}
		}
		l.mu.Unlock()
	}
}

// examples returns the labelled pages, in the order of their keys, and a sample of the
// others, which should stay as they are.
func (b *labels) examples(h *history) (labelled, anchors []example) {
	for _, key := range slices.Sorted(maps.Keys(b.pages)) {
		p := b.pages[key]
		labelled = append(labelled, example{p.words, bound(logit(inside(p.judged))), truth(b.said[key]), 1, false})
	}
	for _, key := range slices.Sorted(maps.Keys(b.links)) {
		if v := b.links[key]; b.pages[key] == nil {
			labelled = append(labelled, example{v.words, bound(logit(inside(v.expected))), v.counts, 1, true})
		}
	}
	var others []*pastPage
	for _, p := range h.pages {
		if b.pages[p.key] == nil {
			others = append(others, p)
		}
	}
	n := min(len(others), maxAnchors)
	for i := range n {
		p := others[i*len(others)/n]
		offset := bound(logit(inside(p.judged)))
		anchors = append(anchors, example{p.words, offset, sigmoid(offset), anchorWeight * float64(len(labelled)) / float64(n), false})
	}
	return labelled, anchors
}

// inside keeps a probability off 0 and 1, whose log-odds nobody can add to.
func inside(p float64) float64 { return max(1e-9, min(1-1e-9, p)) }

// remember keeps a page that was fetched for what people will say, and takes in
// what they said of its URL already.
func (l *Scorer) remember(past *pastPage, p *page.Page) {
	l.history.add(past)
	onTopic, labelled := l.labels.said[past.key]
	if !labelled {
		return
	}
	r, names := namingReader()
	r.page(p)
	maps.Copy(l.labels.names, names)
	l.labels.add(past)
	l.recount(past, truth(onTopic), labelWeight)
}
