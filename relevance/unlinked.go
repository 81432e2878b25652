package relevance

import (
	"math"

	"fossick/features"
)

// ScoreUnlinked returns the score of a URL that no page links to, such as one
// that only a sitemap names: that of a link from a page as good as
// its host's mean so far, with no words but those of the URL, and without the
// weight of having a parent. It keeps
// nothing: a first link to the URL counts as its first.
func (l *Learned) ScoreUnlinked(url string) float64 {
	words, none := float32(logOdds(l.judge(features.Doc{URL: url}))), float32(logOdds(l.judge(features.Doc{})))
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.host(url)
	mean := (h.onTopic + 0.3*hostPages) / (h.pages + hostPages)
	e := evidence{
		host: h, parents: 1, prob: extreme{float32(mean), float32(mean)}, anchor: extreme{words, words}, context: extreme{none, none},
	}
	x := e.features()
	x[partParents], x[partOnTopic], x[partShare] = math.Log1p(0), 0, 0
	return l.model.probability(x)
}

// ScoreUnlinked is R of a URL that no page links to: as if a page without a word
// of K led to it, itself found by a page of the score given (eq. 1 with λ = 0).
func (s *Paper) ScoreUnlinked(parent float64) float64 { return s.rho * parent }
