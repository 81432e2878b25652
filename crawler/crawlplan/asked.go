package crawlplan

import (
	"fossick/crawler"
	"fossick/internal/page"
	"fossick/store"
)

// A topic that shares a crawl learns from the pages that it asked for, as in a crawl of its
// own. It was tuned for such a crawl: pages that others asked for change its base rate,
// and lead it astray where its model takes them for its own.

// askedShare is what a topic expects of a page, against who expects most of it, from which
// on it has asked for it too. What the topics want just now does not matter: a resumed
// crawl knows no more of that.
const askedShare = 0.05

// learns says whether the topic, which the verdict of that number is of, asked for the page.
// One of which nobody expected anything is everybody's, and a topic that has no start page
// yet may find its way from any.
func (t *part) learns(verdicts []store.Verdict, topic int) bool {
	if !t.begun.Load() {
		return true
	}
	most := 0.0
	for _, v := range verdicts {
		most = max(most, v.Expected)
	}
	return verdicts[topic].Expected >= askedShare*most
}

// A glancer is a scorer that can judge a page without learning from it.
type glancer interface {
	glance(*page.Page) crawler.Score
}

// show has the topic judge a page, and learn from it if it asked for it.
func (t *part) show(p *page.Page, expected float64, asked bool) crawler.Score {
	if g, can := t.Scorer.(glancer); can && !asked {
		return g.glance(p)
	}
	return t.rescorer.ScorePage(p, expected)
}

// links appends what the topic thinks of a page's links; of a page that it did not ask for
// what it knows of them already.
func (t *part) links(dst []float64, p *page.Page, score crawler.Score, asked bool) []float64 {
	if _, can := t.Scorer.(glancer); !can || asked {
		return t.rescorer.ScoreLinks(dst, p, score)
	}
	for i := range p.Links {
		x, _ := t.rescorer.Rescore(page.Key(p.Links[i].URL))
		dst = append(dst, x)
	}
	return dst
}

// glance labels a page by the model alone.
func (s *learnedScorer) glance(p *page.Page) (score crawler.Score) {
	score.Value = s.labeller.label(p, &score)
	return score
}
