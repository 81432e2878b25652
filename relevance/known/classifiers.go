package known

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"

	"fossick/internal/page"
	"fossick/relevance"
)

// ache is the policy of the ACHE crawler (Barbosa and Freire 2007, "An adaptive crawler for locating
// hidden-Web entry points", and its releases, type FORWARD_CLASSIFIER_BINARY). A naive Bayes classifier
// of links, by the words of anchor, context and URL, learns which links led to relevant pages. It is
// replaced periodically. Until it is trained, a link has its page's similarity.
type ache struct {
	linkPolicy
	model *bayes // in use; linkPolicy's is in training
	pages int
}

const (
	acheEvery  = 50 // pages
	acheLevels = 100
)

// NewACHE returns the policy. A page is relevant from similarity cut.
func NewACHE(cut float64) *ache {
	a := &ache{linkPolicy: newLinkPolicy(cut)}
	a.rank = a.priority
	return a
}

// ScorePage learns from the link that led to p.
func (a *ache) ScorePage(p *page.Page, similarity float64) relevance.Score {
	a.mu.Lock()
	defer a.mu.Unlock()
	terms := []relevance.Term{{Name: "similarity", Value: similarity, Note: "to the topic"}}
	_, t, first := a.arrive(p.URL, similarity)
	if !first {
		return relevance.Score{Value: similarity, Terms: terms}
	}
	if t != nil {
		terms = append(terms, relevance.Term{Name: "link", Value: a.worth(t), Note: "that led here, by what links taught so far"})
	}
	if a.pages++; a.pages%acheEvery == 0 && a.links.ready() {
		a.model = a.links.clone()
	}
	return relevance.Score{Value: similarity, Terms: terms}
}

// worth is the probability that a link leads to a relevant page.
func (a *ache) worth(t *hostLink) float64 {
	if a.model == nil {
		return t.page
	}
	return (t.page + softmax(a.model.logs(a.scratch[:0], t.words))[1]) / 2
}

// priority is the link's level; within a level, hosts with fewer pages come first.
func (a *ache) priority(t *hostLink) float64 {
	level := math.Floor(a.worth(t) * (acheLevels - 1e-9))
	return (level + 1/(1+t.host.pages)) / (acheLevels + 1)
}

// anthelion focuses by host (Meusel, Mika and Blanco 2014, "Focused crawling for structured data"). Each
// host is an arm of a bandit, and the next URL is on the host with the highest share of relevant pages;
// a new host has 1/2. Within a host an online naive Bayes classifier of links decides, by the words of
// anchor, context and URL. Until it is trained, a link has its page's similarity.
type anthelion struct{ linkPolicy }

// hostLevels is the resolution of success rates.
const hostLevels = 1000

// NewAnthelion returns the policy. A page is relevant from similarity cut.
func NewAnthelion(cut float64) *anthelion {
	a := &anthelion{newLinkPolicy(cut)}
	a.rank = a.priority
	return a
}

// ScorePage learns from the page and the link that led to it.
func (a *anthelion) ScorePage(p *page.Page, similarity float64) relevance.Score {
	a.mu.Lock()
	defer a.mu.Unlock()
	terms := []relevance.Term{{Name: "similarity", Value: similarity, Note: "to the topic"}}
	if h, _, first := a.arrive(p.URL, similarity); first {
		terms = append(terms, relevance.Term{Name: "host", Value: h.success(), Note: "share of its pages that were on topic"})
	}
	return relevance.Score{Value: similarity, Terms: terms}
}

// priority is the level of the target's host; within a level the link decides.
func (a *anthelion) priority(t *hostLink) float64 {
	link := t.page
	if a.links.ready() {
		link = softmax(a.links.logs(a.scratch[:0], t.words))[1]
	}
	return (math.Floor(t.host.success()*hostLevels) + link*(1-1e-6)) / (hostLevels + 1)
}

// bayes is an online multinomial naive Bayes classifier (McCallum and Nigam 1998) with Laplace smoothing.
// All classes have equal priors, because class sizes reflect the crawl rather than the web.
type bayes struct {
	classes int
	words   map[token][]float32 // by class
	total   []float64           // words, by class
	texts   []int
}

// maxWords bounds the vocabulary; further words are ignored.
const maxWords = 1 << 17

func newBayes(classes int) *bayes {
	return &bayes{classes: classes, words: map[token][]float32{}, total: make([]float64, classes), texts: make([]int, classes)}
}

func (b *bayes) learn(text []token, class int) {
	b.texts[class]++
	for _, t := range text {
		counts := b.words[t]
		if counts == nil {
			if len(b.words) >= maxWords {
				continue
			}
			counts = make([]float32, b.classes)
			b.words[t] = counts
		}
		counts[class]++
		b.total[class]++
	}
}

func (b *bayes) clone() *bayes {
	c := newBayes(b.classes)
	for t, counts := range b.words {
		c.words[t] = slices.Clone(counts)
	}
	copy(c.total, b.total)
	copy(c.texts, b.texts)
	return c
}

// ready reports whether every class has a text.
func (b *bayes) ready() bool {
	for _, n := range b.texts {
		if n == 0 {
			return false
		}
	}
	return true
}

// logs returns the log-likelihood of a text for each class, in dst; −∞ for a class without texts.
func (b *bayes) logs(dst []float64, text []token) []float64 {
	dst = dst[:0]
	for c := range b.classes {
		if b.texts[c] == 0 {
			dst = append(dst, math.Inf(-1))
		} else {
			dst = append(dst, 0)
		}
	}
	for _, t := range text {
		counts := b.words[t]
		if counts == nil {
			continue // unknown words do not distinguish classes
		}
		for c := range dst {
			dst[c] += math.Log((float64(counts[c]) + 1) / (b.total[c] + float64(len(b.words)) + 1))
		}
	}
	return dst
}

// softmax turns log-likelihoods into probabilities in place.
func softmax(logs []float64) []float64 {
	best, sum := math.Inf(-1), 0.0
	for _, x := range logs {
		best = max(best, x)
	}
	for i, x := range logs {
		logs[i] = math.Exp(x - best)
		sum += logs[i]
	}
	for i := range logs {
		logs[i] /= sum
	}
	return logs
}

// BestFirst gives a link its page's similarity (Cho, Garcia-Molina and Page 1998; the baseline of Menczer,
// Pant and Srinivasan 2004). The frontier keeps the best of several links.
type BestFirst struct{}

// ScorePage returns the similarity.
func (BestFirst) ScorePage(_ *page.Page, similarity float64) relevance.Score {
	return relevance.Score{Value: similarity, Terms: []relevance.Term{{Name: "similarity", Value: similarity, Note: "to the topic; the score of its links"}}}
}

// ScoreLinks appends the page's similarity for every link.
func (BestFirst) ScoreLinks(dst []float64, p *page.Page, similarity float64) []float64 {
	for range p.Links {
		dst = append(dst, similarity)
	}
	return dst
}

// contextGraph follows context graphs (Diligenti, Coetzee, Lawrence, Giles and Gori 2000, "Focused
// crawling using context graphs"). Pages on topic are layer 0, pages that link to them layer 1, and so
// on. A naive Bayes classifier predicts a page's layer, or none, from its words. Links are queued by the
// layer of their page.
type contextGraph struct {
	cut float64

	mu      sync.Mutex // guards the rest
	pages   []*layered // the latest maxLayered
	ring    int
	at      map[uint64]*layered
	from    map[uint64][]*layered // target → pages that link to it
	targets page.Recent[float64]  // priority
	model   *bayes
	seen    int
	every   int
}

type layered struct {
	key   uint64
	layer int // layerOther if no page on topic is near
	words []token
	links []uint64
}

const (
	layers     = 4 // besides layer 0
	layerOther = layers + 1
	layerSure  = 0.5
	layerEvery = 50 // pages, plus a tenth of those so far
	maxLayered = 1 << 12
	layerWords = 300 // per page
)

// NewContextGraph returns the policy. A page is on topic from similarity cut.
func NewContextGraph(cut float64) *contextGraph {
	return &contextGraph{
		cut: cut, at: map[uint64]*layered{}, from: map[uint64][]*layered{},
		targets: page.NewRecent[float64](maxEvidence), every: layerEvery,
	}
}

// ScorePage adds the page to the graph.
func (g *contextGraph) ScorePage(p *page.Page, similarity float64) relevance.Score {
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

// add inserts a page and lowers the layers of pages that lead to it.
func (g *contextGraph) add(n *layered, onTopic bool) {
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

// nearer lowers the layers of the pages that lead to n, recursively.
func (g *contextGraph) nearer(n *layered) {
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

func (g *contextGraph) forget(n *layered) {
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

func (g *contextGraph) fit() {
	g.model = newBayes(layerOther + 1)
	for _, n := range g.pages {
		g.model.learn(n.words, n.layer)
	}
}

// classify returns the most likely layer of a page off topic, or layerOther if its probability is below
// layerSure.
func (g *contextGraph) classify(words []token) (layer int, sure float64) {
	if g.model == nil {
		return layerOther, 0
	}
	probs := softmax(g.model.logs(nil, words))
	layer = layerOther
	for i := 1; i <= layers; i++ { // layer 0 is excluded by the page classifier
		if probs[i] > sure {
			layer, sure = i, probs[i]
		}
	}
	if sure < layerSure {
		return layerOther, sure
	}
	return layer, sure
}

// ScoreLinks appends the priority of each link: by the layer of its page, then by the layer's probability.
func (g *contextGraph) ScoreLinks(dst []float64, p *page.Page, similarity float64) []float64 {
	words := tokens(nil, fieldText, p.Title)
	words = tokens(words, fieldText, p.Text[:min(len(p.Text), 4096)])
	g.mu.Lock()
	defer g.mu.Unlock()
	layer, sure := 0, similarity
	if similarity < g.cut {
		layer, sure = g.classify(words[:min(len(words), layerWords)])
	}
	if layer == layerOther {
		sure = similarity // far from the topic, order by similarity
	}
	priority := (float64(layerOther-layer) + sure) / (layerOther + 1)
	for i := range p.Links {
		dst = append(dst, g.targets.Raise(page.Key(p.Links[i].URL), priority, cmp.Less[float64]))
	}
	return dst
}

// Rescore returns the priority of a target.
func (g *contextGraph) Rescore(key uint64) (float64, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.targets.Peek(key)
}
