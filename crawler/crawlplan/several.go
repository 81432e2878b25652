package crawlplan

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"fossick/crawler"
	"fossick/graph/orders"
	"fossick/internal/page"
	"fossick/store"
)

// several scores for topics that share a crawl, each by a scorer of its own. A page is
// judged for all of them, and those learn from it that asked for it. A link is worth
// the number of pages on topic that it is expected to bring, a page counting once for
// each topic that wants it; see docs/topics.md.
type several struct {
	parts []part
	wants atomic.Pointer[[]float64] // how much each topic wants pages, in (0,1]
	tells atomic.Uint64             // turns of Told
}

// topic is one of several.
type topic struct {
	Name   string
	Scorer crawler.Scorer
	Budget float64  // pages that it may pay for
	Starts []string // its own start pages, in normal form

	Labeller *Labeller // what its Scorer labels by; nil without a model
}

type part struct {
	topic
	rescorer crawler.Rescorer // Scorer, or what remembers for it
	starts   map[uint64]bool  // page.Key of its start pages
	sites    map[string]bool  // and their sites, for those that a redirect has moved
	begun    *atomic.Bool     // it has, or had, a start page of its own
}

// newSeveral makes one scorer of several topics.
func newSeveral(topics []topic) *several {
	s := &several{}
	for _, t := range topics {
		p := part{topic: t, starts: map[uint64]bool{}, sites: map[string]bool{}, begun: new(atomic.Bool)}
		p.begun.Store(len(t.Starts) > 0)
		if p.rescorer, _ = t.Scorer.(crawler.Rescorer); p.rescorer == nil {
			p.rescorer = newRemembering(t.Scorer)
		}
		for _, url := range t.Starts {
			p.starts[page.Key(url)], p.sites[page.Site(url)] = true, true
		}
		s.parts = append(s.parts, p)
	}
	s.Paid(nil)
	return s
}

// pace is how fast a topic that is ahead of the others wants less: by a factor e for each
// twentieth of its budget. So one whose links are worth a tenth of the others' lags behind
// them by ln 10 / 20 of its budget, and no more.
const pace = 20

// Paid is how the crawl says what each topic has paid so far. All topics are to have used
// up the same share of their budgets at any time, whatever their links are worth.
func (s *several) Paid(counts []store.TopicCounts) {
	spent := make([]float64, len(s.parts))
	for i, p := range s.parts {
		if i < len(counts) && p.Budget > 0 {
			spent[i] = counts[i].Paid / p.Budget
		}
	}
	least := slices.Min(spent)
	wants := spent
	for i := range wants {
		wants[i] = math.Exp(pace * (least - spent[i]))
	}
	s.wants.Store(&wants)
}

// OfTopic returns the scorer of a topic, by its place from 1, nil where there is none.
func (s *several) OfTopic(topic int) crawler.Scorer {
	if topic < 1 || topic > len(s.parts) {
		return nil
	}
	return s.parts[topic-1].Scorer
}

// ScorePage judges a page for every topic.
func (s *several) ScorePage(p *page.Page, parent float64) crawler.Score {
	verdicts := s.expected(p, parent == ofStart)
	var best crawler.Score
	relevant := false
	for i, t := range s.parts {
		v := &verdicts[i]
		score := t.show(p, v.Expected, t.learns(verdicts, i))
		v.Score, v.Relevant = score.Value, score.Relevant
		if score.Relevant {
			v.Rule = score.Rule
		}
		if i == 0 || better(&score, &best) {
			best = score
		}
		relevant = relevant || score.Relevant
	}
	best.Relevant, best.Topics = relevant, verdicts
	return best
}

// better says whether the topic of a score is the one to tell a page by.
func better(a, b *crawler.Score) bool {
	if a.Relevant != b.Relevant {
		return a.Relevant
	}
	return a.Value > b.Value
}

// expected begins the verdicts of a page: what each topic expected of it, and what it
// pays. That goes by the squares of what made the crawl ask for the page: topics that
// want it alike share it, and who hardly expects anything of others' pages does not pay
// for them all the time. A start page is its topics' own.
func (s *several) expected(p *page.Page, start bool) []store.Verdict {
	verdicts, wants := make([]store.Verdict, len(s.parts)), *s.wants.Load()
	key := page.Key(p.URL)
	owns := func(part) bool { return false }
	if start {
		owns = s.owners(key, p)
	}
	sum := 0.0
	for i, t := range s.parts {
		v := &verdicts[i]
		switch {
		case owns(t):
			v.Expected = ofStart
			t.begun.Store(true)
		case !start:
			score, _ := promised(t.rescorer, key)
			v.Expected = min(score, mostExpected)
		}
		sum += square(wants[i] * v.Expected)
	}
	for i := range verdicts {
		if sum > 0 {
			verdicts[i].Paid = square(wants[i]*verdicts[i].Expected) / sum
		} else {
			verdicts[i].Paid = 1 / float64(len(verdicts)) // a page that nobody knew of
		}
	}
	return verdicts
}

// mostExpected is below ofStart: a person who wants a page does not make it a start page.
const mostExpected = ofStart - 1e-6

// owners says whose start page this is: by its URL; of one that a redirect has moved by
// its site; of one that was named for all topics by their models; else it is everybody's.
func (s *several) owners(key uint64, p *page.Page) func(part) bool {
	site := page.Site(p.URL)
	byKey := func(t part) bool { return t.starts[key] }
	bySite := func(t part) bool { return t.sites[site] }
	byModel := func(t part) bool { return t.Labeller != nil && t.Labeller.finds(p) }
	for _, owns := range []func(part) bool{byKey, bySite, byModel} {
		if slices.ContainsFunc(s.parts, owns) {
			return owns
		}
	}
	return func(part) bool { return true }
}

// promised is what a topic expects of a URL, without what makes it explore.
func promised(t crawler.Rescorer, key uint64) (float64, bool) {
	if p, ok := t.(interface {
		Promise(key uint64) (float64, bool)
	}); ok {
		return p.Promise(key)
	}
	return t.Rescore(key)
}

// ScoreLinks shows a page's links to the topics that learn from it.
func (s *several) ScoreLinks(dst []float64, p *page.Page, score crawler.Score) []float64 {
	wants := *s.wants.Load()
	worth, of := make([]float64, len(p.Links)), make([]float64, 0, len(p.Links))
	for i, t := range s.parts {
		own, learns := crawler.Score{}, true
		if i < len(score.Topics) {
			own.Value, own.Relevant = score.Topics[i].Score, score.Topics[i].Relevant
			learns = t.learns(score.Topics, i)
		}
		of = t.links(of[:0], p, own, learns)
		for k, x := range of {
			worth[k] += wants[i] * x
		}
	}
	for _, sum := range worth {
		dst = append(dst, priority(sum))
	}
	return dst
}

// priority makes a place in the queue of how many pages on topic a link is expected to
// bring. It keeps their order, and one hardly expected is worth what it is to one topic
// alone: it is the chance of a Poisson variable of that mean not to be 0.
func priority(expected float64) float64 { return -math.Expm1(-expected) }

// Rescore says what a URL that waits is worth now.
func (s *several) Rescore(key uint64) (float64, bool) {
	wants := *s.wants.Load()
	sum, known := 0.0, false
	for i, t := range s.parts {
		score, ok := t.rescorer.Rescore(key)
		sum, known = sum+wants[i]*score, known || ok
	}
	return priority(sum), known
}

// Promise is the probability that a URL is on one of the topics, whoever wants it.
func (s *several) Promise(key uint64) (float64, bool) {
	none, known := 1.0, false
	for _, t := range s.parts {
		score, ok := promised(t.rescorer, key)
		none, known = none*(1-score), known || ok
	}
	return 1 - none, known
}

// Led has a number for each topic, as crawler.Redirected says; 0 for one that heeds no
// redirects.
func (s *several) Led(url uint64) (led []float64) {
	for _, p := range s.parts {
		if r, ok := p.Scorer.(crawler.Redirected); ok {
			led = append(led, r.Led(url)...)
		} else {
			led = append(led, 0)
		}
	}
	return led
}

// Lead tells each topic its number.
func (s *several) Lead(url uint64, led []float64) {
	if len(led) != len(s.parts) {
		return // of an agent with other topics
	}
	for i, p := range s.parts {
		if r, ok := p.Scorer.(crawler.Redirected); ok {
			r.Lead(url, led[i:i+1])
		}
	}
}

// Begun is how many topics have had their first lesson.
func (s *several) Begun() (n int) {
	for _, p := range s.parts {
		if b, ok := p.Scorer.(interface{ Begun() int }); ok {
			n += b.Begun()
		}
	}
	return n
}

// ScoreUnlinked returns the score of a URL that only a sitemap names.
func (s *several) ScoreUnlinked(url string, parent float64) float64 {
	wants := *s.wants.Load()
	sum := 0.0
	for i, t := range s.parts {
		score := parent
		if u, ok := t.Scorer.(crawler.SitemapScorer); ok {
			score = u.ScoreUnlinked(url, parent)
		}
		sum += wants[i] * score
	}
	return priority(sum)
}

// SharedOrdering is that of a crawl by topics of one policy.
func (p policy) SharedOrdering() (orders.Ordering, error) {
	if p.order != "" {
		return orders.OrderingByName(p.order)
	}
	return orders.Latest, nil // every topic weighs, or remembers, all links to a URL itself
}

// Explain returns what the topics think of a URL now, if any does: its place in the queue,
// and of each topic what it expects and how much it wants pages.
func (s *several) Explain(url string) (crawler.Score, bool) {
	wants := *s.wants.Load()
	key := page.Key(url)
	score, known := crawler.Score{}, false
	sum := 0.0
	for i, t := range s.parts {
		x, ok := t.rescorer.Rescore(key)
		if !ok {
			continue
		}
		known = true
		sum += wants[i] * x
		score.Terms = append(score.Terms, store.Term{Name: t.Name, Value: x, Note: fmt.Sprintf("that it is on topic; the topic now asks for %.2g of a page", wants[i])})
	}
	score.Value = priority(sum)
	return score, known
}

func square(x float64) float64 { return x * x }
