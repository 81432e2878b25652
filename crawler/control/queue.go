package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"fossick/crawler"
	"fossick/internal/cli"
	"fossick/internal/page"
	"fossick/store"
)

// Best is a URL that waits in the queue.
type Best struct {
	URL     string   `json:"url"`
	Host    string   `json:"host"`
	Score   float64  `json:"score"` // that orders the crawl, or where its order needs none, of the page that links to it
	Text    string   `json:"text"`  // of the link; "" if it has none
	From    *string  `json:"from"`  // page with the best link to it; null for a start page
	Reasons []string `json:"reasons"`
}

// chooser is an engine that knows the present order of its queue.
type chooser interface {
	Best(ctx context.Context, n int) (best []crawler.Waiting, total int, err error)
}

// Queue returns the n best URLs that wait, and how many wait.
func (c *Socket) Queue(ctx context.Context, n int) ([]Best, int, error) {
	s, done, err := c.Open(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer done()
	engine, ok := c.Engine.(chooser)
	if !ok {
		return queueOf(s, c.URLs, c.Scorer, n)
	}
	waiting, total, err := engine.Best(ctx, n)
	if err != nil {
		return nil, 0, err
	}
	d := describer{store: s, urls: c.URLs, scorer: c.Scorer}
	best := []Best{}
	for _, w := range waiting {
		discovery, queued, err := s.URLs().Waiting(w.ID)
		if errors.Is(err, store.ErrUnknown) {
			continue // it was taken meanwhile
		}
		if err != nil {
			return nil, 0, err
		}
		if math.IsNaN(w.Score) {
			w.Score = queued.Score
		}
		one, err := d.describe(discovery.URL, queued, w.Score)
		if err != nil {
			return nil, 0, err
		}
		best = append(best, one)
	}
	return best, total, nil
}

// QueueStored returns the n best URLs that wait in a store without a running crawl, and how many wait.
func QueueStored(s *store.Store, urls *page.Normalizer, n int) ([]Best, int, error) {
	return queueOf(s, urls, nil, n)
}

func queueOf(s *store.Store, urls *page.Normalizer, scorer crawler.Scorer, n int) ([]Best, int, error) {
	var best []store.Waiter
	total := 0
	most := n
	if scorer != nil {
		most = max(n, candidates)
	}
	keep := func() {
		slices.SortStableFunc(best, func(a, b store.Waiter) int { return cmp.Compare(b.Priority, a.Priority) })
		best = best[:min(most, len(best))]
	}
	for w, err := range s.URLs().Waiters() {
		if err != nil {
			return nil, 0, err
		}
		total++
		if best = append(best, w); len(best) >= 4*most {
			keep()
		}
	}
	keep()
	n = min(n, len(best))
	now := scoresNow(best, scorer)
	d := describer{store: s, urls: urls, scorer: scorer}
	links := []Best{}
	for _, w := range best[:n] {
		one, err := d.describe(w.URL, w.Queued, now[w.ID])
		if err != nil {
			return nil, 0, err
		}
		links = append(links, one)
	}
	return links, total, nil
}

// candidates is how many of the best links by the journal are ordered again by a scorer that has
// learned since.
const candidates = 1000

// scoresNow returns the present scores of URLs, and puts them into their order; without a scorer, the
// scores and the order are those of the journal.
func scoresNow(best []store.Waiter, scorer crawler.Scorer) map[store.ID]float64 {
	scores := map[store.ID]float64{}
	e, ok := scorer.(explainer)
	for _, w := range best {
		scores[w.ID] = w.Queued.Score
		if !ok {
			continue
		}
		if now, known := e.Explain(w.URL); known {
			scores[w.ID] = now.Value
		}
	}
	if ok {
		slices.SortStableFunc(best, func(a, b store.Waiter) int { return cmp.Compare(scores[b.ID], scores[a.ID]) })
	}
	return scores
}

// describer describes waiting URLs. It parses each page with links to them once.
type describer struct {
	store  *store.Store
	urls   *page.Normalizer
	scorer crawler.Scorer // nil without a running crawl
	pages  map[string]*page.Page
}

func (d *describer) describe(url string, q store.Queued, score float64) (Best, error) {
	b := Best{URL: url, Host: page.Host(url), Score: min(max(score, 0), 1), Reasons: []string{}}
	if q.Parent != 0 {
		from, err := d.store.URLs().Discovery(q.Parent)
		if err != nil && !errors.Is(err, store.ErrUnknown) {
			return b, err
		}
		if err == nil {
			b.From = &from.URL
			if b.Text, err = d.anchor(from.URL, url); err != nil {
				return b, err
			}
		}
	}
	if e, ok := d.scorer.(explainer); ok {
		if now, ok := e.Explain(url); ok {
			b.Reasons = termReasons(now.Terms)
		}
	}
	return b, nil
}

// anchor returns the text of a page's link; "" where the page has no such link, or is not stored.
func (d *describer) anchor(from, to string) (string, error) {
	p, ok := d.pages[from]
	if !ok {
		var err error
		p, err = crawler.Parse(d.store, d.urls, from)
		if err != nil && !errors.Is(err, store.ErrNoPage) && !errors.Is(err, store.ErrUnknown) && !errors.Is(err, store.ErrDamaged) {
			return "", err
		}
		if d.pages == nil {
			d.pages = map[string]*page.Page{}
		}
		d.pages[from] = p
	}
	if p == nil {
		return "", nil
	}
	for i := range p.Links {
		if l := &p.Links[i]; l.URL == to && l.Anchor != "" {
			return cli.Cut(l.Anchor, textShown), nil
		}
	}
	return "", nil
}

// termsShown is how many terms of a score are given as reasons.
const termsShown = 5

// termReasons returns the terms with the most weight, in words.
func termReasons(terms []store.Term) []string {
	terms = slices.Clone(terms)
	slices.SortStableFunc(terms, func(a, b store.Term) int { return cmp.Compare(math.Abs(b.Value), math.Abs(a.Value)) })
	all := []string{}
	for _, t := range terms[:min(termsShown, len(terms))] {
		text := fmt.Sprintf("%s %+.2f", t.Name, t.Value)
		if t.Note != "" {
			text += ": " + t.Note
		}
		all = append(all, text)
	}
	return all
}
