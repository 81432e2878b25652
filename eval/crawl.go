package eval

import (
	"context"
	"fmt"
	"net/url"

	"fossick/store"
)

// Page is what the measures need of a stored page.
type Page struct {
	Number      uint64
	At          int64 // when it was fetched, Unix milliseconds
	URL         string
	Title       string
	Score       float64 // R, with which it was crawled
	Crawled     bool    // relevant by the crawl's own model or threshold
	Label       string  // by the crawl's model, "" without one
	Probability float64
	Refined     *store.Label // nil before refine
	Mark        *store.Mark  // nil where no person said anything, or several topics share the crawl
	Topics      uint64       // of those that share the crawl, bit by bit, which it is on
	Marked      uint64       // likewise, for which a person said whether it is
	Rank        *float64     // by its links; nil before rank

	Verdict // filled by the Judge methods of Crawl
}

// Crawl is a store's pages in the order of the crawl, and its totals.
type Crawl struct {
	Dir           string
	Info          store.Info
	Counts        store.Counts
	Pages         []Page
	Source        Source  // who filled the verdicts
	Trail         *Trail  // nil until LoadTrail
	Probabilities bool    // the scores by which URLs waited are probabilities, as the crawl saw it
	Blocks        []Block // nil until Drift
	Caps          []int   // pages a host by which to count the harvest as well; nil: see ReachOf

	Politeness *Politeness
	Ranking    *store.Ranking // nil before rank
}

// Load reads the pages of a store, without their bodies: some 300 bytes a page
// of memory. The verdicts are the crawl's own until another source judges.
func Load(ctx context.Context, s *store.Store) (*Crawl, error) {
	c := &Crawl{Dir: s.Dir(), Info: s.Info()}
	var err error
	if c.Counts, err = s.Counts(); err != nil {
		return nil, err
	}
	marks, err := marksOf(s)
	if err != nil {
		return nil, err
	}
	at := map[uint64]int{}
	for p, err := range s.Pages() {
		if err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		at[p.Number] = len(c.Pages)
		c.Pages = append(c.Pages, Page{
			Number: p.Number, At: p.At, URL: p.URL, Title: p.Title, Score: p.Score,
			Crawled: p.Relevant, Label: p.Label, Probability: p.Probability, Topics: topicsOf(p),
		})
		c.Pages[len(c.Pages)-1].heed(marks[p.ID])
	}
	for l, err := range s.Labels() {
		if err != nil {
			return nil, err
		}
		i, ok := at[l.Page]
		if !ok {
			return nil, fmt.Errorf("store %s: label of page %d, which it does not have; run refine again", s.Dir(), l.Page)
		}
		c.Pages[i].Refined = &l.Label
	}
	if err := c.loadRanks(s, at); err != nil {
		return nil, err
	}
	c.judgeByCrawl()
	c.Politeness, err = MeasurePoliteness(ctx, s)
	return c, err
}

// Relevant returns the verdicts in the order of the crawl.
func (c *Crawl) Relevant() []bool {
	r := make([]bool, len(c.Pages))
	for i := range c.Pages {
		r[i] = c.Pages[i].Relevant
	}
	return r
}

// Kept returns what refine kept, in the order of the crawl. It is nil when refine has
// not seen all pages: a part of a cluster has no quality.
func (c *Crawl) Kept() []bool {
	k := make([]bool, len(c.Pages))
	for i := range c.Pages {
		if c.Pages[i].Refined == nil {
			return nil
		}
		k[i] = c.Pages[i].Refined.Kept
	}
	if len(k) == 0 {
		return nil
	}
	return k
}

// URLs returns the pages' URLs in the order of the crawl.
func (c *Crawl) URLs() []string {
	u := make([]string, len(c.Pages))
	for i := range c.Pages {
		u[i] = c.Pages[i].URL
	}
	return u
}

// relevantURLs returns the URLs of the relevant pages, in the order of the crawl.
func (c *Crawl) relevantURLs() []string {
	var u []string
	for i := range c.Pages {
		if c.Pages[i].Relevant {
			u = append(u, c.Pages[i].URL)
		}
	}
	return u
}

// host returns the host of a URL, the URL itself when it has none.
func host(raw string) string {
	if u, err := url.Parse(raw); err == nil && u.Host != "" {
		return u.Host
	}
	return raw
}
