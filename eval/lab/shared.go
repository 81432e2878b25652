package lab

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"fossick/crawler"
)

// Shared is several topics of one corpus, each with an experiment of its own, and for
// each policy and start set one crawl that they share.
type Shared struct {
	Topics []*Experiment // same corpus, policies, start sets and pages
	// Share makes one crawl of what the topics' own would be: of their options, and their
	// start pages.
	Share func(policy int, own []crawler.Options) (crawler.Options, error)
}

// SharedCrawl is what topics fetched together, from one start set of each.
type SharedCrawl struct {
	Policy, Set int
	Pages       int
	Took        time.Duration // by the crawl's own clock
	Found       [][]int       // by topic: pages on it among the first 0, 1, …
}

// Run makes the crawls of each topic alone, then those that they share, each with as many
// pages as those alone have together.
func (x *Shared) Run(ctx context.Context, done func()) (alone [][][]*Crawl, shared [][]*SharedCrawl, err error) {
	for _, t := range x.Topics {
		crawls, err := t.Run(ctx, func(*Crawl) { done() })
		if err != nil {
			return nil, nil, err
		}
		alone = append(alone, crawls)
	}
	first := x.Topics[0]
	var mu sync.Mutex // of done
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(first.workers())
	shared = make([][]*SharedCrawl, len(first.Policies))
	for p := range first.Policies {
		shared[p] = make([]*SharedCrawl, len(first.Draw.Starts))
		for set := range first.Draw.Starts {
			g.Go(func() error {
				c, err := x.crawl(ctx, p, set)
				if err != nil {
					return fmt.Errorf("policy %s, start set %d, all topics: %w", first.Policies[p].Name, set+1, err)
				}
				shared[p][set] = c
				mu.Lock()
				defer mu.Unlock()
				done()
				return nil
			})
		}
	}
	return alone, shared, g.Wait()
}

func (x *Shared) crawl(ctx context.Context, p, set int) (*SharedCrawl, error) {
	own := make([]crawler.Options, len(x.Topics))
	for i, t := range x.Topics {
		var err error
		if own[i], err = t.options(p, set, len(x.Topics), t.truth()); err != nil {
			return nil, err
		}
	}
	opt, err := x.Share(p, own)
	if err != nil {
		return nil, err
	}
	first := x.Topics[0]
	opt.MaxPages, opt.MaxPerHost = uint64(first.Pages*len(x.Topics)), first.MaxPerHost
	r, err := first.virtual(ctx, opt)
	if err != nil {
		return nil, err
	}
	c := &SharedCrawl{Policy: p, Set: set, Pages: len(r.Pages), Took: r.Took}
	for _, t := range x.Topics {
		on := make([]bool, len(r.Pages))
		for i, v := range r.Pages {
			n := t.Corpus.Find(v.Page.URL)
			on[i] = n >= 0 && t.Draw.Relevant[n]
		}
		c.Found = append(c.Found, cumulate(on, len(on)))
	}
	return c, nil
}
