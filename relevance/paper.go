package relevance

import (
	"fmt"
	"strings"
	"sync"

	"fossick/internal/page"
	"fossick/models/features"
)

// Score is a degree of relevance and its explanation.
type Score struct {
	Value        float64 // in [0,1]
	Terms        []Term
	Account      []byte // packed further terms, see learned.Spell; may be nil
	Echo         bool   // near-duplicate of earlier pages at similar URLs
	Introduction []byte // what another scorer of the crawl must know of the page, see page.Excerpt; may be nil
}

// Term is one part of a score.
type Term struct {
	Name  string
	Value float64
	Note  string
}

// Paper scores pages as in paper A. Safe for concurrent use.
type Paper struct {
	keywords *Keywords
	rho      float64
}

// NewPaper returns a scorer with ρ in [0,1); 0 turns inheritance off.
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
// lambda counts the words of K on page i, and k is |K|. parent is R_j, the degree of the page that links to
// i; use 1 for a start page.
func Degree(lambda, k int, rho, parent float64) float64 {
	return (1-rho)*float64(lambda)/float64(k) + rho*parent
}

// Terms of R that PaperMean renames.
const (
	termParent = "R of the parent"
	termDegree = "R"
)

// ScorePage returns R of a page from its parent's R.
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

// ScoreLinks appends the page's own R for each link (paper A2).
func (s *Paper) ScoreLinks(dst []float64, p *page.Page, r float64) []float64 {
	for range p.Links {
		dst = append(dst, r)
	}
	return dst
}

// ScoreUnlinked returns R for a URL without links, as if a page without words of K, whose parent has the
// given R, linked to it (eq. 1 with λ = 0).
func (s *Paper) ScoreUnlinked(parent float64) float64 { return s.rho * parent }

// PaperMean is Paper with the mean over all known parents in place of one:
//
//	R_i = (1 − ρ) · λ_i / |K| + ρ · mean_j R_j
//
// The mean is also the priority of i in the queue. Eq. 1 has one parent j; of several, Paper takes the
// best, as paper A's queue keeps a URL's best place. Broad pages that everything links to have some good
// parent among many, so Paper fetches them early and PaperMean late. Safe for concurrent use.
type PaperMean struct {
	Paper
	mu      sync.Mutex // guards parents
	parents page.Recent[parentsOf]
}

// maxParents is the number of targets remembered, in each half.
const maxParents = 1 << 18

// parentsOf sums the known parents of a target.
type parentsOf struct {
	sum   float64 // of their R
	count float64
}

// NewPaperMean returns a scorer with ρ in [0,1).
func NewPaperMean(k *Keywords, rho float64) (*PaperMean, error) {
	p, err := NewPaper(k, rho)
	if err != nil {
		return nil, err
	}
	return &PaperMean{Paper: *p, parents: page.NewRecent[parentsOf](maxParents)}, nil
}

// ScorePage returns R of a page from the mean R of its known parents, or from parents if none is known.
func (s *PaperMean) ScorePage(p *page.Page, parents float64) Score {
	if mean, known := s.Rescore(page.Key(p.URL)); known {
		parents = mean
	}
	score := s.Paper.ScorePage(p, parents)
	for i := range score.Terms {
		switch t := &score.Terms[i]; t.Name {
		case termParent:
			t.Name = "mean R of the pages that link here"
		case termDegree:
			t.Note = "(1 − ρ) · λ/|K| + ρ · that mean"
		}
	}
	return score
}

// ScoreLinks records a page of degree r as a parent of its targets, once each, and appends the mean R of
// each target's known parents.
func (s *PaperMean) ScoreLinks(dst []float64, p *page.Page, r float64) []float64 {
	told := make(map[uint64]bool, len(p.Links))
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range p.Links {
		key := page.Key(p.Links[i].URL)
		if !told[key] {
			told[key] = true
			s.tell(key, r)
		}
		mean, _ := s.mean(key)
		dst = append(dst, mean)
	}
	return dst
}

func (s *PaperMean) tell(key uint64, r float64) {
	if known, ok := s.parents.Get(key); ok {
		s.parents.Set(key, parentsOf{known.sum + r, known.count + 1})
	} else {
		s.parents.Put(key, parentsOf{r, 1})
	}
}

func (s *PaperMean) mean(key uint64) (float64, bool) {
	known, ok := s.parents.Peek(key)
	if !ok {
		return 0, false
	}
	return known.sum / known.count, true
}

// Rescore returns the mean R of a target's known parents.
func (s *PaperMean) Rescore(key uint64) (float64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mean(key)
}

// Policy orders a crawl: it sees every fetched page and turns its links into priorities. similarity, in
// [0,1], is how far the page is on topic: the classifier's probability, or without a model the similarity
// to the keywords. Policies are safe for concurrent use.
type Policy interface {
	// ScorePage learns from a fetched page. The score's Value is the similarity.
	ScorePage(p *page.Page, similarity float64) Score
	// ScoreLinks appends the priority, in [0,1], of each link of p. Call it after ScorePage of p.
	ScoreLinks(dst []float64, p *page.Page, similarity float64) []float64
}

// Rescorer is a Policy whose priority of a target can change after its links were scored.
type Rescorer interface {
	Policy
	// Rescore returns the current priority of a queued target, given its page.Key, or false if it is
	// unknown.
	Rescore(key uint64) (priority float64, known bool)
}

// Judge returns the probability that a text is on topic.
type Judge func(features.Doc) float64
