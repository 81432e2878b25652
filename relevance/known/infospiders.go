package known

import (
	"math"
	"strings"
	"sync"

	"fossick/internal/page"
	"fossick/relevance"
)

// InfoSpiders is after the adaptive agents of that name (Menczer and Belew
// 2000, "Adaptive retrieval agents"). As a crawler they are in Menczer, Pant
// and Srinivasan 2004, "Topical Web crawlers: evaluating adaptive algorithms".
// An agent sees of a link only the keywords near to it,
//
//	in_k = Σ 1 / dist(k, link)    over the occurrences of k around the link
//
// and a neural network turns that into an estimate λ of how relevant the target is. It
// learns by the pages that it fetches, with the lookahead of Q-learning: the wanted
// output for a link is
//
//	sim(target) + μ · max of λ over the target's links
//
// A link's score is β · λ + (1 − β) · sim(page). μ is 0.5, β 0.5, the network
// one neuron a keyword and no hidden layer, as in the crawler. What is
// otherwise: there is one agent, not a population that breeds and dies, so
// keywords do not change. The best link is taken, not one drawn by a softmax.
// Of several links to a URL the best counts. Keywords are met as words and not
// by stem. Safe for concurrent use.
type InfoSpiders struct {
	words map[string]int // keyword, in lower case → its neuron

	mu      sync.Mutex // guards the rest
	weight  []float64
	targets page.Recent[*spiderLink]
}

// spiderLink is what is known of a target: the best link to it.
type spiderLink struct {
	in   []float64 // by keyword
	page float64
}

const (
	spiderLookahead = 0.5
	spiderNet       = 0.5  // β
	spiderRate      = 0.05 // of learning
)

// NewInfoSpiders returns the policy for a topic's keywords.
func NewInfoSpiders(k *relevance.Keywords) *InfoSpiders {
	s := &InfoSpiders{words: map[string]int{}, targets: page.NewRecent[*spiderLink](maxEvidence)}
	for _, w := range k.Words() {
		for part := range strings.FieldsSeq(strings.ToLower(w)) { // of a phrase each word counts
			if _, known := s.words[part]; !known {
				s.words[part] = len(s.words)
			}
		}
	}
	s.weight = make([]float64, len(s.words)+1) // and a bias
	for i := range s.weight {
		s.weight[i] = 1 // a keyword speaks for a link until pages say otherwise
	}
	s.weight[len(s.words)] = -1
	return s
}

// sense returns what the network sees of a link.
func (s *InfoSpiders) sense(link *page.Link) []float64 {
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
			// The context has the words before the anchor, then those behind.
			in[k] += 1 / (1 + math.Abs(float64(i)-float64(len(around)-1)/2))
		}
	}
	return in
}

// estimate is λ.
func (s *InfoSpiders) estimate(in []float64) float64 {
	z := 0.0
	for i, x := range in {
		z += s.weight[i] * x
	}
	return 1 / (1 + math.Exp(-z))
}

// ScorePage returns the similarity; the network learns in ScoreLinks, which knows
// what the page leads to.
func (s *InfoSpiders) ScorePage(p *page.Page, similarity float64) relevance.Score {
	s.mu.Lock()
	defer s.mu.Unlock()
	terms := []relevance.Term{{Name: "similarity", Value: similarity, Note: "to the topic"}}
	if t, ok := s.targets.Get(page.Key(p.URL)); ok {
		terms = append(terms, relevance.Term{Name: "λ", Value: s.estimate(t.in), Note: "by the keywords around the link that led here"})
	}
	return relevance.Score{Value: similarity, Terms: terms}
}

// ScoreLinks learns from the page, which now shows what it leads to, and appends the
// score of each link.
func (s *InfoSpiders) ScoreLinks(dst []float64, p *page.Page, similarity float64) []float64 {
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

func (s *InfoSpiders) score(in []float64, similarity float64) float64 {
	return spiderNet*s.estimate(in) + (1-spiderNet)*similarity
}

// learn moves the weights towards the wanted output (delta rule).
func (s *InfoSpiders) learn(in []float64, want float64) {
	out := s.estimate(in)
	for i, x := range in {
		s.weight[i] += spiderRate * (want - out) * x
	}
}

// Rescore returns the present score of a target.
func (s *InfoSpiders) Rescore(key uint64) (float64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.targets.Peek(key)
	if !ok {
		return 0, false
	}
	return s.score(t.in, t.page), true
}
