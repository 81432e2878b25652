package lab

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"fossick/crawler"
	"fossick/datasets"
	"fossick/internal/page"
)

// Policy is a way to order a crawl.
type Policy struct {
	Name   string
	Oracle bool // it knows the truth
	// New returns the options of a crawl, of which Scorer, Ordering, Threshold and
	// Scope count. Every crawl gets a scorer of its own.
	New func(Run) (crawler.Options, error)
}

// Run is what a policy may know of the crawl that it is made for.
type Run struct {
	Set      int                   // number of the start set, from 0
	Model    int                   // number of its page classifier
	Topics   int                   // that share the crawl
	Relevant func(key uint64) bool // the truth, by page.Key: for oracles
}

// Experiment is many policies on one corpus and topic.
type Experiment struct {
	Corpus     *Corpus
	Draw       *Draw
	Policies   []Policy
	Pages      int      // a crawl, start pages included
	Unlimited  bool     // Pages is how many are measured, and no limit of a crawl
	MaxPerHost uint64   // pages; 0: no limit
	Workers    int      // crawls at a time; 0: one a core
	Manners    *Manners // nil: one worker, and no host rests
}

// Crawl is what one policy fetched from one start set.
type Crawl struct {
	Policy, Set int
	URLs        []string        // in the order of the crawl
	At          []time.Duration // when each was there, by the crawl's own clock
	Relevant    []bool          // by the truth
	Training    []bool          // the page is one of those trained on
	Missing     int             // URLs that the corpus does not have
	Took        time.Duration   // by the crawl's own clock
	Stopped     crawler.Stop
}

// Harvest is the share of the fetched pages that are on topic.
func (c *Crawl) Harvest() float64 {
	found := cumulate(c.Relevant, len(c.Relevant))
	return ratio(found[len(found)-1], len(c.Relevant))
}

// Run makes every crawl, several at a time; done is told of each as it ends, one at
// a time. The crawls come back by policy, then by start set, whatever order they
// were made in.
func (x *Experiment) Run(ctx context.Context, done func(*Crawl)) ([][]*Crawl, error) {
	out := make([][]*Crawl, len(x.Policies))
	truth := x.truth()
	var mu sync.Mutex // of done
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(x.workers())
	for p := range x.Policies {
		out[p] = make([]*Crawl, len(x.Draw.Starts))
		for set := range x.Draw.Starts {
			g.Go(func() error {
				c, err := x.crawl(ctx, p, set, truth)
				if err != nil {
					return fmt.Errorf("policy %s, start set %d: %w", x.Policies[p].Name, set+1, err)
				}
				out[p][set] = c
				mu.Lock()
				defer mu.Unlock()
				if done != nil {
					done(c)
				}
				return nil
			})
		}
	}
	return out, g.Wait()
}

func (x *Experiment) workers() int {
	if x.Workers > 0 {
		return x.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// truth says by page.Key which pages are on topic. It is made once and only read.
func (x *Experiment) truth() func(uint64) bool {
	on := map[uint64]struct{}{}
	for n, row := range x.Corpus.Rows {
		if x.Draw.Relevant[n] {
			on[page.Key(row.URL)] = struct{}{}
			on[page.Key(datasets.URLKey(row.URL))] = struct{}{} // as links spell it
		}
	}
	return func(key uint64) bool { _, ok := on[key]; return ok }
}

func (x *Experiment) crawl(ctx context.Context, p, set int, truth func(uint64) bool) (*Crawl, error) {
	opt, err := x.options(p, set, 1, truth)
	if err != nil {
		return nil, err
	}
	r, err := x.virtual(ctx, opt)
	if err != nil {
		return nil, err
	}
	c := &Crawl{Policy: p, Set: set, Missing: r.Missing, Took: r.Took, Stopped: r.Stopped}
	for _, v := range r.Pages {
		n := x.Corpus.Find(v.Page.URL)
		c.URLs = append(c.URLs, v.Page.URL)
		c.At = append(c.At, v.Began+x.Manners.exchange(v.Page.URL))
		c.Relevant = append(c.Relevant, n >= 0 && x.Draw.Relevant[n])
		c.Training = append(c.Training, n >= 0 && x.Draw.Training[x.Draw.ModelOf(set)][n])
	}
	return c, nil
}

// options are those of a policy's crawl from a start set, of a topic that shares it with
// others: so many in all.
func (x *Experiment) options(p, set, topics int, truth func(uint64) bool) (crawler.Options, error) {
	opt, err := x.Policies[p].New(Run{Set: set, Model: x.Draw.ModelOf(set), Topics: topics, Relevant: truth})
	if err != nil {
		return opt, err
	}
	for _, n := range x.Draw.Starts[set] {
		opt.Seeds = append(opt.Seeds, x.Corpus.Rows[n].Page.URL)
	}
	opt.MaxPages, opt.MaxPerHost = uint64(x.Pages), x.MaxPerHost
	return opt, nil
}

// virtual makes a crawl by the experiment's manners.
func (x *Experiment) virtual(ctx context.Context, opt crawler.Options) (crawler.VirtualResult, error) {
	if m := x.Manners; m != nil {
		opt.Workers, opt.Delay, opt.MaxTime, opt.Patience = m.Workers, m.Delay, m.MaxTime, m.Patience
		if x.Unlimited {
			opt.MaxPages = 0
		}
	}
	return crawler.Virtual(ctx, opt, x.Manners.web(x.Corpus))
}
