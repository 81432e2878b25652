package relevance

import (
	"fmt"
	"strings"

	"fossick/internal/page"
)

// Score is a degree of relevance and how it came about.
type Score struct {
	Value   float64 // in [0,1]
	Terms   []Term
	Account []byte // further terms, from which Spell makes them; nil when there are none
	Echo    bool   // the page says hardly more than others at such URLs did
	Giver   []byte // what another scorer of the crawl has to know of the page, see page.Excerpt; nil when there is none
}

// Term is one part of a score.
type Term struct {
	Name  string
	Value float64
	Note  string
}

// Paper scores pages as paper A does. Safe for concurrent use.
type Paper struct {
	keywords *Keywords
	rho      float64
}

// NewPaper returns a scorer by K and ρ. ρ is in [0,1): 0 turns inheritance off.
func NewPaper(k *Keywords, rho float64) (*Paper, error) {
	if !(rho >= 0 && rho < 1) {
		return nil, fmt.Errorf("ρ is %g; it must be at least 0 and less than 1", rho)
	}
	return &Paper{keywords: k, rho: rho}, nil
}

// Degree returns the degree of relevance (paper A eq. 1):
//
//	R_i = (1 − ρ) · λ_i / |K| + ρ · R_j
//
// lambda counts the words of K on page i, and k is |K|. parent is R_j, the
// degree of the collected page that links to i; a start page's parent has 1.
func Degree(lambda, k int, rho, parent float64) float64 {
	return (1-rho)*float64(lambda)/float64(k) + rho*parent
}

// Terms of R that PaperMean tells in its own words.
const (
	termParent = "R of the parent"
	termDegree = "R"
)

// ScorePage returns R of a page whose parent has the degree given.
func (s *Paper) ScorePage(p *page.Page, parent float64) Score {
	found := s.keywords.Found(p)
	lambda, k := len(found), s.keywords.Len()
	r := Degree(lambda, k, s.rho, parent)
	return Score{Value: r, Terms: []Term{
		{"λ", float64(lambda), strings.Join(found, ", ")},
		{"|K|", float64(k), ""},
		{"ρ", s.rho, ""},
		{termParent, parent, ""},
		{termDegree, r, "(1 − ρ) · λ/|K| + ρ · R of the parent"},
	}}
}

// ScoreLinks appends a score for each link: the page's own R (paper A2).
func (s *Paper) ScoreLinks(dst []float64, p *page.Page, r float64) []float64 {
	for range p.Links {
		dst = append(dst, r)
	}
	return dst
}

// ScoreUnlinked is R of a URL that no page links to. It is as if a page without
// a word of K led to it, itself found by a page of the score given (eq. 1 with
// λ = 0).
func (s *Paper) ScoreUnlinked(parent float64) float64 { return s.rho * parent }
