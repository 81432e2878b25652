package relevance

import (
	"sync"

	"fossick/internal/page"
)

// PaperMean is Paper with another answer to a question that eq. 1 leaves open.
// It speaks of the page j that links to i. When several collected pages do,
// Paper takes the best of them, as the queue of paper A keeps a URL's best
// place. PaperMean takes the mean of all of them:
//
//	R_i = (1 − ρ) · λ_i / |K| + ρ · mean_j R_j
//
// and that mean is the priority of i while it waits. Wide pages, to which everything
// links, have some good page among their many parents, so the best parent fetches
// them early; in the mean they stay behind. With one parent both are eq. 1. Safe for
// concurrent use.
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

// ScorePage returns R of a page by the mean R of the pages that are known to
// link to it. parents is that mean as it was some links ago, and counts where
// none is known.
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

// ScoreLinks takes in that a page of degree r links to its targets, once to
// each. It appends the mean R of the pages that are known to link to each.
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
