package relevance

import (
	"fmt"
	"strings"
	"sync"

	"fossick/internal/page"
	"fossick/models/features"
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
// lambda counts the words of K on page i, and k is |K|. parent is R_j, the degree of the collected page
// that links to i; a start page's parent has 1.
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

// ScoreUnlinked is R of a URL that no page links to. It is as if a page without a word of K led to it,
// itself found by a page of the score given (eq. 1 with λ = 0).
func (s *Paper) ScoreUnlinked(parent float64) float64 { return s.rho * parent }

// PaperMean is Paper with another answer to a question that eq. 1 leaves open. It speaks of the page j
// that links to i. When several collected pages do, Paper takes the best of them, as the queue of paper
// A keeps a URL's best place. PaperMean takes the mean of all of them:
//
//	R_i = (1 − ρ) · λ_i / |K| + ρ · mean_j R_j
//
// and that mean is the priority of i while it waits. Wide pages, to which everything links, have some
// good page among their many parents, so the best parent fetches them early; in the mean they stay
// behind. With one parent both are eq. 1. Safe for concurrent use.
type PaperMean struct {
	Paper
	mu      sync.Mutex // guards parents
	parents page.Recent[parentsOf]
}

// maxParents is how many targets are remembered, in each half.
const maxParents = 1 << 18

// parentsOf is what is known of the pages that link to a target.
type parentsOf struct {
	sum   float64 // of their R
	count float64
}

// NewPaperMean returns a scorer by K and ρ, which is in [0,1).
func NewPaperMean(k *Keywords, rho float64) (*PaperMean, error) {
	p, err := NewPaper(k, rho)
	if err != nil {
		return nil, err
	}
	return &PaperMean{Paper: *p, parents: page.NewRecent[parentsOf](maxParents)}, nil
}

// ScorePage returns R of a page by the mean R of the pages that are known to link to it. parents is
// that mean as it was some links ago, and counts where none is known.
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

// ScoreLinks takes in that a page of degree r links to its targets, once to each. It appends the mean R
// of the pages that are known to link to each.
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

// tell counts a page of degree r that links to a target.
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

// Rescore returns the mean R of the pages that link to a target.
func (s *PaperMean) Rescore(key uint64) (float64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mean(key)
}

// Policy orders a crawl: it is told of every page that was fetched, and turns its links into
// priorities. similarity says how far the page is on topic, in [0,1]: the classifier's probability, or,
// where there is no model, the page's similarity to the keywords. Policies are safe for concurrent use.
type Policy interface {
	// ScorePage takes in that p was fetched. Value of the score is the similarity.
	ScorePage(p *page.Page, similarity float64) Score
	// ScoreLinks appends the priority of each link of p to dst, in [0,1]. It follows ScorePage of the
	// same page.
	ScoreLinks(dst []float64, p *page.Page, similarity float64) []float64
}

// Rescorer is a Policy whose opinion of a target can change after the page that named it was scored.
type Rescorer interface {
	Policy
	// Rescore returns the present priority of a target that waits, named by its page.Key; false when
	// nothing is known of it.
	Rescore(key uint64) (priority float64, known bool)
}

// Judge returns the probability that a text is on topic.
type Judge func(features.Doc) float64
