package known

import (
	"math"
	"strings"
	"sync"
	"unicode"

	"fossick/internal/page"
	"fossick/models/features"
	"fossick/relevance"
)

// fish is Fish-Search (De Bra, Houben, Kornatzky and Post 1994, "Information retrieval in distributed
// hypertexts"). The first α · width links of a relevant page go to the front of the list; the first width
// links of another page go behind the links of relevant pages. A path without relevant pages ends at a
// given depth. The paper drops all other links; here they come last, so that the crawl does not end early.
// α = 1.5 as published; width and depth, which the paper leaves open, are 10 and 3. Safe for concurrent
// use.
type fish struct {
	cut float64

	mu     sync.Mutex          // guards the rest
	pages  int                 // so far
	places page.Recent[placed] // by page.Key of targets
}

type placed struct {
	depth    int
	priority float64
}

const (
	fishAlpha = 1.5
	fishWidth = 10
	fishDepth = 3
)

// The parts of the list, front to back.
const (
	fishRelevant = 3 // links of relevant pages
	fishOther    = 2 // first links of other pages
	fishRest     = 1 // further links
	fishDead     = 0 // too deep
)

// NewFish returns the policy. A page is relevant from similarity cut.
func NewFish(cut float64) *fish {
	return &fish{cut: cut, places: page.NewRecent[placed](maxEvidence)}
}

// ScorePage returns the similarity.
func (f *fish) ScorePage(p *page.Page, similarity float64) relevance.Score {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pages++
	return relevance.Score{Value: similarity, Terms: []relevance.Term{
		{Name: "similarity", Value: similarity, Note: "to the topic"},
		{Name: "depth", Value: float64(f.depth(page.Key(p.URL))), Note: "pages that may follow without a relevant one"},
	}}
}

// depth returns how many more pages may follow without a relevant one; fishDepth for a start page.
func (f *fish) depth(key uint64) int {
	if at, ok := f.places.Get(key); ok {
		return at.depth
	}
	return fishDepth
}

// ScoreLinks appends the place of each link: 0 is the end of the list, 1 its front.
func (f *fish) ScoreLinks(dst []float64, p *page.Page, similarity float64) []float64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	part, width, depth := fishOther, fishWidth, f.depth(page.Key(p.URL))-1
	if similarity >= f.cut {
		part, width, depth = fishRelevant, int(fishAlpha*fishWidth), fishDepth
	}
	for i := range p.Links {
		own := part
		switch {
		case depth <= 0:
			own = fishDead
		case i >= width:
			own = fishRest
		}
		dst = append(dst, f.place(page.Key(p.Links[i].URL), own, depth))
	}
	return dst
}

// place inserts a target and returns its priority. Within a part the latest comes first, except in the
// last parts, where it comes last.
func (f *fish) place(key uint64, part, depth int) float64 {
	age := float64(f.pages) / float64(f.pages+1000) // in [0,1), increasing
	if part <= fishRest {
		age = 1 - age
	}
	at := placed{max(depth, 0), (float64(part) + age) / 4}
	old, ok := f.places.Get(key)
	switch {
	case !ok:
		f.places.Put(key, at)
	case at.priority > old.priority:
		at.depth = max(at.depth, old.depth)
		f.places.Set(key, at)
	default:
		return old.priority
	}
	return at.priority
}

// Rescore returns the place of a target.
func (f *fish) Rescore(key uint64) (float64, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, ok := f.places.Peek(key)
	return at.priority, ok
}

// shark is Shark-Search (Hersovici, Jacovi, Maarek, Pelleg, Shtalhaim and Ur 1998, "The shark-search
// algorithm. An application: tailored Web site mapping"):
//
//	inherited(child) = δ · sim(page)        if the page is relevant
//	                 = δ · inherited(page)  otherwise
//	neighbourhood    = β · sim(anchor) + (1 − β) · context
//	context          = 1 if the anchor is relevant, else sim(words around it)
//	potential(child) = γ · inherited(child) + (1 − γ) · neighbourhood
//
// with β = 0.8, γ = δ = 0.5 as published. The paper's sim is the cosine to a query, which is 0 for most
// texts, and relevant means sim > 0; here sim is the judge, and relevant means sim ≥ cut. The best of
// several links to a URL counts. Safe for concurrent use.
type shark struct {
	judge relevance.Judge
	cut   float64

	mu        sync.Mutex             // guards the rest
	inherited page.Recent[inherited] // by page.Key of targets
}

// inherited has a target's scores from its best link.
type inherited struct{ inherited, potential float64 }

const (
	sharkAnchor = 0.8 // β
	sharkPage   = 0.5 // γ
	sharkDecay  = 0.5 // δ
)

// NewShark returns the policy. A text is relevant from cut.
func NewShark(judge relevance.Judge, cut float64) *shark {
	return &shark{judge: judge, cut: cut, inherited: page.NewRecent[inherited](maxEvidence)}
}

// ScorePage returns the similarity.
func (s *shark) ScorePage(p *page.Page, similarity float64) relevance.Score {
	s.mu.Lock()
	defer s.mu.Unlock()
	from, _ := s.inherited.Get(page.Key(p.URL))
	return relevance.Score{Value: similarity, Terms: []relevance.Term{
		{Name: "similarity", Value: similarity, Note: "to the topic"},
		{Name: "inherited", Value: from.inherited, Note: "from the pages that led here"},
		{Name: "potential", Value: from.potential, Note: "when it was fetched"},
	}}
}

// ScoreLinks appends the potential score of each link.
func (s *shark) ScoreLinks(dst []float64, p *page.Page, similarity float64) []float64 {
	neighbours := make([]float64, len(p.Links))
	for i := range p.Links {
		neighbours[i] = s.neighbourhood(p, &p.Links[i])
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	own, _ := s.inherited.Get(page.Key(p.URL))
	from := sharkDecay * own.inherited
	if similarity >= s.cut {
		from = sharkDecay * similarity
	}
	for i := range p.Links {
		best := s.inherited.Raise(page.Key(p.Links[i].URL), inherited{from, sharkPage*from + (1-sharkPage)*neighbours[i]},
			func(a, b inherited) bool { return a.potential < b.potential })
		dst = append(dst, best.potential)
	}
	return dst
}

func (s *shark) neighbourhood(p *page.Page, link *page.Link) float64 {
	anchor := s.judge(features.Doc{Title: link.Anchor, URL: link.URL, Lang: p.Lang})
	context := 1.0
	if anchor < s.cut {
		context = s.judge(features.Doc{Text: link.Context, Lang: p.Lang})
	}
	return sharkAnchor*anchor + (1-sharkAnchor)*context
}

// Rescore returns the potential score of a target.
func (s *shark) Rescore(key uint64) (float64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.inherited.Peek(key)
	return t.potential, ok
}

// infoSpiders follows the adaptive agents of Menczer and Belew 2000, "Adaptive retrieval agents", in the
// crawler form of Menczer, Pant and Srinivasan 2004, "Topical Web crawlers: evaluating adaptive
// algorithms". The input for a link is, for each keyword k,
//
//	in_k = Σ 1 / dist(k, link)    over the occurrences of k around the link
//
// and a neural network, one neuron per keyword without hidden layer, estimates the target's relevance λ.
// It learns from fetched pages with the lookahead of Q-learning; the wanted output for a link is
//
//	sim(target) + μ · max of λ over the target's links
//
// A link's score is β · λ + (1 − β) · sim(page), with μ = β = 0.5. Departures: one agent in place of an
// evolving population, so keywords are fixed; the best link is taken rather than drawn by a softmax; the
// best of several links to a URL counts; keywords match as words, not stems. Safe for concurrent use.
type infoSpiders struct {
	words map[string]int // lower-case keyword → its neuron

	mu      sync.Mutex // guards the rest
	weight  []float64
	targets page.Recent[*spiderLink]
}

// spiderLink is the best link to a target.
type spiderLink struct {
	in   []float64 // by keyword
	page float64
}

const (
	spiderLookahead = 0.5
	spiderNet       = 0.5  // β
	spiderRate      = 0.05 // learning rate
)

// NewInfoSpiders returns the policy for a topic's keywords.
func NewInfoSpiders(k *relevance.Keywords) *infoSpiders {
	s := &infoSpiders{words: map[string]int{}, targets: page.NewRecent[*spiderLink](maxEvidence)}
	for _, w := range k.Words() {
		for part := range strings.FieldsSeq(strings.ToLower(w)) { // each word of a phrase counts
			if _, known := s.words[part]; !known {
				s.words[part] = len(s.words)
			}
		}
	}
	s.weight = make([]float64, len(s.words)+1) // the last is the bias
	for i := range s.weight {
		s.weight[i] = 1 // initially a keyword favours a link
	}
	s.weight[len(s.words)] = -1
	return s
}

// sense returns the network's input for a link.
func (s *infoSpiders) sense(link *page.Link) []float64 {
	in := make([]float64, len(s.words)+1)
	in[len(s.words)] = 1
	for word := range strings.FieldsFuncSeq(link.Anchor, notLetter) {
		if k, ok := s.words[strings.ToLower(word)]; ok {
			in[k]++ // distance 1
		}
	}
	around := strings.FieldsFunc(link.Context, notLetter)
	for i, word := range around {
		if k, ok := s.words[strings.ToLower(word)]; ok {
			// The anchor is in the middle of the context.
			in[k] += 1 / (1 + math.Abs(float64(i)-float64(len(around)-1)/2))
		}
	}
	return in
}

func (s *infoSpiders) estimate(in []float64) float64 {
	z := 0.0
	for i, x := range in {
		z += s.weight[i] * x
	}
	return 1 / (1 + math.Exp(-z))
}

// ScorePage returns the similarity. Learning waits for ScoreLinks, because it needs the page's links.
func (s *infoSpiders) ScorePage(p *page.Page, similarity float64) relevance.Score {
	s.mu.Lock()
	defer s.mu.Unlock()
	terms := []relevance.Term{{Name: "similarity", Value: similarity, Note: "to the topic"}}
	if t, ok := s.targets.Get(page.Key(p.URL)); ok {
		terms = append(terms, relevance.Term{Name: "λ", Value: s.estimate(t.in), Note: "by the keywords around the link that led here"})
	}
	return relevance.Score{Value: similarity, Terms: terms}
}

// ScoreLinks learns from the page and its links, and appends the score of each link.
func (s *infoSpiders) ScoreLinks(dst []float64, p *page.Page, similarity float64) []float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	in, best := make([][]float64, len(p.Links)), 0.0
	for i := range p.Links {
		in[i] = s.sense(&p.Links[i])
		best = max(best, s.estimate(in[i]))
	}
	own := page.Key(p.URL)
	if t, ok := s.targets.Get(own); ok {
		s.learn(t.in, min(1, similarity+spiderLookahead*best))
		s.targets.Remove(own)
	}
	for i := range p.Links {
		key := page.Key(p.Links[i].URL)
		t, ok := s.targets.Get(key)
		if !ok {
			t = &spiderLink{in: in[i], page: similarity}
			s.targets.Put(key, t)
		} else if s.score(in[i], similarity) > s.score(t.in, t.page) {
			t.in, t.page = in[i], similarity
		}
		dst = append(dst, s.score(t.in, t.page))
	}
	return dst
}

func (s *infoSpiders) score(in []float64, similarity float64) float64 {
	return spiderNet*s.estimate(in) + (1-spiderNet)*similarity
}

func (s *infoSpiders) learn(in []float64, want float64) {
	out := s.estimate(in)
	for i, x := range in {
		s.weight[i] += spiderRate * (want - out) * x
	}
}

// Rescore returns the current score of a target.
func (s *infoSpiders) Rescore(key uint64) (float64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.targets.Peek(key)
	if !ok {
		return 0, false
	}
	return s.score(t.in, t.page), true
}

// token is the 32-bit hash of a word; among 100,000 words one or two collide.
type token = uint32

// Sources of words; the same word is a different token in each.
const (
	fieldText byte = iota
	fieldAnchor
	fieldContext
	fieldURL
)

// tokens appends the lower-case words of a text, except numbers and one-byte words.
func tokens(dst []token, field byte, text string) []token {
	for word := range strings.FieldsFuncSeq(text, notLetter) {
		if len(word) > 1 {
			dst = append(dst, token(page.Key(string(field)+strings.ToLower(word))))
		}
	}
	return dst
}

func notLetter(r rune) bool { return !unicode.IsLetter(r) }

// linkTokens appends the words of a link's anchor, context and URL.
func linkTokens(dst []token, link *page.Link) []token {
	dst = tokens(dst, fieldAnchor, link.Anchor)
	dst = tokens(dst, fieldContext, link.Context)
	_, rest, _ := strings.Cut(link.URL, "://")
	return tokens(dst, fieldURL, rest)
}
