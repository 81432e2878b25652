package known

import (
	"fmt"
	"slices"
	"sync"

	"fossick/internal/page"
	"fossick/relevance"
)

// ContextGraph follows context graphs (Diligenti, Coetzee, Lawrence, Giles and
// Gori 2000, "Focused crawling using context graphs"). Pages on topic are layer
// 0, those that link to them layer 1, and so on. A naive Bayes classifier says
// by a page's words in which layer it is, or in none. There is a queue a layer
// for the links of its pages. The next URL comes from the first queue that has
// any, that of layer 0 before that of layer 1. So a page that is off topic, but
// of the kind that is so many links away from the topic, counts more than
// another.
//
// The paper makes the graphs before the crawl, from a search engine's lists of the
// pages that link to its examples. Here they come from the crawl itself: a fetched
// page's layer is its distance to the nearest fetched page on topic, and the
// classifier is made anew as layers grow. Layers and the share of words from which a
// layer is believed are the paper's: 4, and 0.5 as for its "other". Safe for
// concurrent use.
type ContextGraph struct {
	cut float64

	mu      sync.Mutex // guards the rest
	pages   []*layered // the last maxLayered
	ring    int
	at      map[uint64]*layered
	from    map[uint64][]*layered // by target: pages that link to it
	targets page.Recent[float64]  // priority
	model   *bayes
	seen    int
	every   int
}

// layered is a fetched page.
type layered struct {
	key   uint64
	layer int // layerOther when no page on topic is near
	words []token
	links []uint64
}

const (
	layers     = 4 // 1 … 4, beside layer 0
	layerOther = layers + 1
	layerSure  = 0.5
	layerEvery = 50 // pages, and a tenth of those so far
	maxLayered = 1 << 12
	layerWords = 300 // of a page
)

// NewContextGraph returns the policy. cut is the similarity from which a page is
// on topic.
func NewContextGraph(cut float64) *ContextGraph {
	return &ContextGraph{
		cut: cut, at: map[uint64]*layered{}, from: map[uint64][]*layered{},
		targets: page.NewRecent[float64](maxEvidence), every: layerEvery,
	}
}

// ScorePage takes the page into the graph.
func (g *ContextGraph) ScorePage(p *page.Page, similarity float64) relevance.Score {
	words := tokens(nil, fieldText, p.Title)
	words = tokens(words, fieldText, p.Text[:min(len(p.Text), 4096)])
	n := &layered{key: page.Key(p.URL), layer: layerOther, words: words[:min(len(words), layerWords)], links: distinctKeys(p)}
	g.mu.Lock()
	defer g.mu.Unlock()
	terms := []relevance.Term{{Name: "similarity", Value: similarity, Note: "to the topic"}}
	if similarity < g.cut {
		layer, sure := g.classify(n.words)
		terms = append(terms, relevance.Term{Name: "layer", Value: float64(layer), Note: fmt.Sprintf("links away from the topic, with probability %.2f; %d is none", sure, layerOther)})
	}
	if g.at[n.key] == nil {
		g.add(n, similarity >= g.cut)
	}
	return relevance.Score{Value: similarity, Terms: terms}
}

// add enters a page and moves those that lead to it nearer to the topic.
func (g *ContextGraph) add(n *layered, onTopic bool) {
	if len(g.pages) == maxLayered {
		g.forget(g.pages[g.ring])
		g.pages[g.ring] = n
		g.ring = (g.ring + 1) % maxLayered
	} else {
		g.pages = append(g.pages, n)
	}
	g.at[n.key] = n
	for _, key := range n.links {
		g.from[key] = append(g.from[key], n)
		if to := g.at[key]; to != nil {
			n.layer = min(n.layer, to.layer+1)
		}
	}
	if onTopic {
		n.layer = 0
	}
	g.nearer(n)
	if g.seen++; g.seen >= g.every {
		g.fit()
		g.every = g.seen + max(layerEvery, g.seen/10)
	}
}

// nearer tells the pages that link to n, and those that link to them.
func (g *ContextGraph) nearer(n *layered) {
	if n.layer >= layers {
		return
	}
	for _, parent := range g.from[n.key] {
		if parent.layer > n.layer+1 {
			parent.layer = n.layer + 1
			g.nearer(parent)
		}
	}
}

func (g *ContextGraph) forget(n *layered) {
	delete(g.at, n.key)
	for _, key := range n.links {
		left := slices.DeleteFunc(g.from[key], func(p *layered) bool { return p == n })
		if len(left) == 0 {
			delete(g.from, key)
		} else {
			g.from[key] = left
		}
	}
}

// fit makes the classifier of layers anew.
func (g *ContextGraph) fit() {
	g.model = newBayes(layerOther + 1)
	for _, n := range g.pages {
		g.model.learn(n.words, n.layer)
	}
}

// classify returns the layer of a page that is not on topic, and how sure that is.
func (g *ContextGraph) classify(words []token) (layer int, sure float64) {
	if g.model == nil {
		return layerOther, 0
	}
	probs := softmax(g.model.logs(nil, words))
	layer = layerOther
	for i := 1; i <= layers; i++ { // the page classifier has said that it is not 0
		if probs[i] > sure {
			layer, sure = i, probs[i]
		}
	}
	if sure < layerSure {
		return layerOther, sure
	}
	return layer, sure
}

// ScoreLinks appends the priority of each link: that of its page's queue, and in
// it by how sure the layer is.
func (g *ContextGraph) ScoreLinks(dst []float64, p *page.Page, similarity float64) []float64 {
	words := tokens(nil, fieldText, p.Title)
	words = tokens(words, fieldText, p.Text[:min(len(p.Text), 4096)])
	g.mu.Lock()
	defer g.mu.Unlock()
	layer, sure := 0, similarity
	if similarity < g.cut {
		layer, sure = g.classify(words[:min(len(words), layerWords)])
	}
	if layer == layerOther {
		sure = similarity // of pages that are far from all, the likelier first
	}
	priority := (float64(layerOther-layer) + sure) / (layerOther + 1)
	for i := range p.Links {
		key := page.Key(p.Links[i].URL)
		old, ok := g.targets.Get(key)
		switch {
		case !ok:
			g.targets.Put(key, priority)
		case priority > old:
			g.targets.Set(key, priority)
		default:
			dst = append(dst, old)
			continue
		}
		dst = append(dst, priority)
	}
	return dst
}

// Rescore returns the priority of a target.
func (g *ContextGraph) Rescore(key uint64) (float64, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.targets.Peek(key)
}
