package main

import (
	"fossick/page"
	"fossick/relevance"
)

// ofStart is what the crawler gives as the score of a start page's parent (paper A
// eq. 1); no link has it.
const ofStart = 1

// start tells a policy that learns from start pages that p is one.
func (s *policyScorer) start(p *page.Page, parent float64) {
	if parent != ofStart {
		return
	}
	if learns, ok := s.policy.(relevance.Starter); ok {
		learns.Start(page.Key(p.URL))
	}
}
