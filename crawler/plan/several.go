package plan

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"fossick/crawler"
	"fossick/graph/orders"
	"fossick/internal/page"
	"fossick/relevance/learned"
	"fossick/store"
)

// several scores for topics that share a crawl, each with its own scorer. Every topic judges
// each page, and the topics that asked for it learn from it. A link's value is the expected
// number of pages on topic, counted once for each topic that wants them; see docs/topics.md.
type several struct {
	parts []part
	wants atomic.Pointer[[]float64] // each topic's want of pages, in (0,1]
	tells atomic.Uint64             // turns of Told
}

// topic is one of the topics that share a crawl.
type topic struct {
	Name   string
	Scorer crawler.Scorer
	Budget float64  // pages that it may pay for
	Starts []string // its own start pages, in normal form

	Labeller *Labeller // its Scorer's; nil without a model
}

type part struct {
	topic
	rescorer crawler.Rescorer // Scorer, or a cache in front of it
	starts   map[uint64]bool  // page.Key of its start pages
	sites    map[string]bool  // and their sites, for redirected ones
	begun    *atomic.Bool     // it has, or had, its own start page
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

// pace sets how fast a topic ahead of the others wants less: by a factor e for each twentieth
// of its budget. A topic whose links are worth a tenth of the others' then lags by at most ln
// 10 / 20 of its budget.
const pace = 20

// Paid reports each topic's payments so far. All topics should use up the same share of their
// budgets, whatever their links are worth.
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

// OfTopic returns the scorer of a topic, by its place from 1; nil where there is none.
func (s *several) OfTopic(topic int) crawler.Scorer {
	if topic < 1 || topic > len(s.parts) {
		return nil
	}
	return s.parts[topic-1].Scorer
}

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

// better reports whether topic a describes a page better than b.
func better(a, b *crawler.Score) bool {
	if a.Relevant != b.Relevant {
		return a.Relevant
	}
	return a.Value > b.Value
}

// expected begins a page's verdicts with each topic's expectation and payment. The payment is
// proportional to the square of the expectation, so that topics that want a page alike share
// it, and a topic hardly pays for others' pages. A start page is paid by its own topics.
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
			verdicts[i].Paid = 1 / float64(len(verdicts)) // a page that no topic expected
		}
	}
	return verdicts
}

// mostExpected is below ofStart: a person's label does not make a page a start page.
const mostExpected = ofStart - 1e-6

// owners returns a start page's topics: by its URL; after a redirect by its site; for a page
// named for all topics by their models; else all.
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

// promised returns a topic's expectation of a URL, without exploration.
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

// priority turns an expected number of pages on topic into a priority. It is the chance that a
// Poisson variable of that mean is not 0: it keeps the order, and a small expectation stays
// almost unchanged.
func priority(expected float64) float64 { return -math.Expm1(-expected) }

// Rescore returns the present value of a waiting URL.
func (s *several) Rescore(key uint64) (float64, bool) {
	wants := *s.wants.Load()
	sum, known := 0.0, false
	for i, t := range s.parts {
		score, ok := t.rescorer.Rescore(key)
		sum, known = sum+wants[i]*score, known || ok
	}
	return priority(sum), known
}

// Promise returns the probability that a URL is on any of the topics.
func (s *several) Promise(key uint64) (float64, bool) {
	none, known := 1.0, false
	for _, t := range s.parts {
		score, ok := promised(t.rescorer, key)
		none, known = none*(1-score), known || ok
	}
	return 1 - none, known
}

// Led implements crawler.Redirected with a number for each topic; 0 for one without redirects.
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

// Lead gives each topic its number.
func (s *several) Lead(url uint64, led []float64) {
	if len(led) != len(s.parts) {
		return // from an agent with other topics
	}
	for i, p := range s.parts {
		if r, ok := p.Scorer.(crawler.Redirected); ok {
			r.Lead(url, led[i:i+1])
		}
	}
}

// Begun returns the number of topics that learned something.
func (s *several) Begun() (n int) {
	for _, p := range s.parts {
		if b, ok := p.Scorer.(interface{ Begun() int }); ok {
			n += b.Begun()
		}
	}
	return n
}

// ScoreUnlinked scores a URL that only a sitemap names.
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

// SharedOrdering returns the order of a crawl by several topics of one policy.
func (p policy) SharedOrdering() (orders.Ordering, error) {
	if p.order != "" {
		return orders.OrderingByName(p.order)
	}
	return orders.Latest, nil // every topic weighs, or remembers, all links to a URL
}

// Explain returns the topics' present view of a URL, if any: its priority, and each topic's
// expectation and want.
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

// Share and the methods that follow implement crawler.Learner.
func (s *learnedScorer) Share(ours func(url string) bool) { s.learned.Share(ours) }

func (s *learnedScorer) Lesson() []byte {
	if sums := s.learned.Learned(); sums != nil {
		return sums.Pack()
	}
	return nil
}

func (s *learnedScorer) Lessons() (parts [][]byte) {
	for _, sums := range s.learned.Lessons() {
		parts = append(parts, sums.Pack())
	}
	return parts
}

func (s *learnedScorer) Learn(lesson []byte) (pages uint64, err error) {
	sums, err := learned.UnpackSums(lesson)
	if err != nil {
		return 0, err
	}
	s.learned.Learn(sums)
	return sums.Pages(), nil
}

// Share and the methods that follow implement crawler.Learner for the learning topics. Each
// message begins with the topic's index.
func (s *several) Share(ours func(url string) bool) {
	for _, p := range s.parts {
		if t, ok := p.Scorer.(crawler.Learner); ok {
			t.Share(ours)
		}
	}
}

// Told returns what one topic learned; the topics take turns.
func (s *several) Lesson() []byte {
	for range s.parts {
		i := int(s.tells.Add(1)) % len(s.parts)
		if t, ok := s.parts[i].Scorer.(crawler.Learner); ok {
			if lesson := t.Lesson(); lesson != nil {
				return append(binary.AppendUvarint(nil, uint64(i)), lesson...)
			}
		}
	}
	return nil
}

func (s *several) Lessons() (parts [][]byte) {
	for i, p := range s.parts {
		if t, ok := p.Scorer.(crawler.Learner); ok {
			for _, lesson := range t.Lessons() {
				parts = append(parts, append(binary.AppendUvarint(nil, uint64(i)), lesson...))
			}
		}
	}
	return parts
}

var errTopic = errors.New("another agent sent what it learned for an unknown topic; give all agents the same --topic")

func (s *several) Learn(lesson []byte) (pages uint64, err error) {
	i, n := binary.Uvarint(lesson)
	if n <= 0 || i >= uint64(len(s.parts)) {
		return 0, errTopic
	}
	t, ok := s.parts[i].Scorer.(crawler.Learner)
	if !ok {
		return 0, errTopic
	}
	pages, err = t.Learn(lesson[n:])
	if i > 0 { // the first counts the same pages
		pages = 0
	}
	return pages, err
}
