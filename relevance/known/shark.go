package known

import (
	"sync"

	"fossick/internal/page"
	"fossick/models/features"
	"fossick/relevance"
)

// Shark is Shark-Search (Hersovici, Jacovi, Maarek, Pelleg, Shtalhaim and Ur 1998,
// "The shark-search algorithm. An application: tailored Web site mapping"):
//
//	inherited(child) = δ · sim(page)        if the page is relevant
//	                 = δ · inherited(page)  otherwise
//	neighbourhood    = β · sim(anchor) + (1 − β) · context
//	context          = 1 if the anchor is relevant, else sim(words around it)
//	potential(child) = γ · inherited(child) + (1 − γ) · neighbourhood
//
// with β = 0.8, γ = δ = 0.5 as published. sim is the judge, where the paper has
// the cosine to a query, which is 0 for most texts. So "relevant" is from a cut
// on, where the paper has "above 0". Of several links to a URL the best counts.
// Safe for concurrent use.
type Shark struct {
	judge relevance.Judge
	cut   float64

	mu        sync.Mutex             // guards the rest
	inherited page.Recent[inherited] // by page.Key of targets
}

// inherited is what a target has from the best link to it.
type inherited struct{ inherited, potential float64 }

const (
	sharkAnchor = 0.8 // β
	sharkPage   = 0.5 // γ
	sharkDecay  = 0.5 // δ
)

// NewShark returns the policy. cut is the similarity from which a text is relevant.
func NewShark(judge relevance.Judge, cut float64) *Shark {
	return &Shark{judge: judge, cut: cut, inherited: page.NewRecent[inherited](maxEvidence)}
}

// ScorePage returns the similarity.
func (s *Shark) ScorePage(p *page.Page, similarity float64) relevance.Score {
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
func (s *Shark) ScoreLinks(dst []float64, p *page.Page, similarity float64) []float64 {
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
		potential := sharkPage*from + (1-sharkPage)*neighbours[i]
		key := page.Key(p.Links[i].URL)
		if old, ok := s.inherited.Get(key); !ok {
			s.inherited.Put(key, inherited{from, potential})
		} else if potential > old.potential {
			s.inherited.Set(key, inherited{from, potential})
		} else {
			potential = old.potential
		}
		dst = append(dst, potential)
	}
	return dst
}

func (s *Shark) neighbourhood(p *page.Page, link *page.Link) float64 {
	anchor := s.judge(features.Doc{Title: link.Anchor, URL: link.URL, Lang: p.Lang})
	context := 1.0
	if anchor < s.cut {
		context = s.judge(features.Doc{Text: link.Context, Lang: p.Lang})
	}
	return sharkAnchor*anchor + (1-sharkAnchor)*context
}

// Rescore returns the potential score of a target.
func (s *Shark) Rescore(key uint64) (float64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.inherited.Peek(key)
	return t.potential, ok
}
