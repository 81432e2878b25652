package lab

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"fossick/crawler"
	"fossick/datasets"
	"fossick/graph/orders"
	"fossick/internal/page"
)

type crawlPolicy struct {
	Name   string
	Oracle bool
	// New returns a crawl's Scorer, Ordering, Threshold and Scope. Each crawl needs its own scorer.
	New func(crawlRun) (crawler.Options, error)
}

type crawlRun struct {
	Set      int                   // number of the start set, from 0
	Relevant func(key uint64) bool // truth by page.Key, for oracles
}

// experiment runs many policies on one corpus and topic.
type experiment struct {
	Corpus   *Corpus
	Draw     *startDraw
	Policies []crawlPolicy
	Pages    int            // per crawl, start pages included
	Manners  *politeManners // nil: one worker, no rests between requests
}

// policyCrawl is one policy's crawl from one start set.
type policyCrawl struct {
	URLs     []string        // in crawl order
	At       []time.Duration // completion time of each, on the virtual clock
	Relevant []bool          // by the truth
	Training []bool          // whether each is a training page
	Took     time.Duration   // on the virtual clock
}

// Harvest returns the harvest ratio.
func (c *policyCrawl) Harvest() float64 {
	found := cumulate(c.Relevant, len(c.Relevant))
	return ratio(found[len(found)-1], len(c.Relevant))
}

// Run makes the crawls in parallel and returns them by policy and start set; calls of done are serialised.
func (x *experiment) Run(ctx context.Context, done func(*policyCrawl)) ([][]*policyCrawl, error) {
	out := make([][]*policyCrawl, len(x.Policies))
	truth := x.truth()
	var mu sync.Mutex // serialises done
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for p := range x.Policies {
		out[p] = make([]*policyCrawl, len(x.Draw.Starts))
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

func (x *experiment) truth() func(uint64) bool {
	on := map[uint64]struct{}{}
	for n, row := range x.Corpus.Rows {
		if x.Draw.Relevant[n] {
			on[page.Key(row.URL)] = struct{}{}
			on[page.Key(datasets.URLKey(row.URL))] = struct{}{} // the spelling used in links
		}
	}
	return func(key uint64) bool { _, ok := on[key]; return ok }
}

func (x *experiment) crawl(ctx context.Context, p, set int, truth func(uint64) bool) (*policyCrawl, error) {
	opt, err := x.options(p, set, truth)
	if err != nil {
		return nil, err
	}
	r, err := x.virtual(ctx, opt)
	if err != nil {
		return nil, err
	}
	c := &policyCrawl{Took: r.Took}
	for _, v := range r.Pages {
		n := x.Corpus.Find(v.Page.URL)
		c.URLs = append(c.URLs, v.Page.URL)
		c.At = append(c.At, v.Began+x.Manners.exchange(v.Page.URL))
		c.Relevant = append(c.Relevant, n >= 0 && x.Draw.Relevant[n])
		c.Training = append(c.Training, n >= 0 && x.Draw.Training[n])
	}
	return c, nil
}

func (x *experiment) options(p, set int, truth func(uint64) bool) (crawler.Options, error) {
	opt, err := x.Policies[p].New(crawlRun{Set: set, Relevant: truth})
	if err != nil {
		return opt, err
	}
	for _, n := range x.Draw.Starts[set] {
		opt.Seeds = append(opt.Seeds, x.Corpus.Rows[n].Page.URL)
	}
	opt.MaxPages = uint64(x.Pages)
	return opt, nil
}

func (x *experiment) virtual(ctx context.Context, opt crawler.Options) (crawler.VirtualResult, error) {
	if m := x.Manners; m != nil {
		opt.Workers, opt.Delay = m.Workers, m.Delay
	}
	return crawler.Virtual(ctx, opt, x.Manners.web(x.Corpus))
}

// startDraw holds the random choices made before the crawls.
type startDraw struct {
	Relevant []bool  // by row, by the truth
	Training []bool  // by row: in the page classifier's training set
	Starts   [][]int // rows of the start pages, by set
	Targets  int     // rows on topic
}

type drawOptions struct {
	Topic    string
	Truth    *datasets.Truth // nil: the corpus's own labels
	Train    int             // training pages to draw among the labelled ones
	Training []bool          // by row: pages already trained on, instead of Train
	Starts   int             // start pages per set
	Sets     int
}

// newDraw draws training pages among the labelled ones, then each set's start pages among the parsable
// on-topic pages outside the training set. Sets may share pages but must differ; a rare topic may yield fewer.
func newDraw(c *Corpus, opt drawOptions, rng *rand.Rand) (*startDraw, error) {
	d := &startDraw{Relevant: make([]bool, len(c.Rows))}
	labelled := d.judge(c, opt)
	if opt.Train > len(labelled) {
		return nil, fmt.Errorf("%d training pages are needed, but only %d pages of %s have a label; ask for fewer", opt.Train, len(labelled), c.Name)
	}
	if d.Training = opt.Training; d.Training == nil {
		d.Training = make([]bool, len(c.Rows))
	}
	rng.Shuffle(len(labelled), func(i, j int) { labelled[i], labelled[j] = labelled[j], labelled[i] })
	for _, n := range labelled[:opt.Train] {
		d.Training[n] = true
	}
	seen := map[string]bool{} // start sets drawn
	for range opt.Sets {
		var free []int
		for n, row := range c.Rows {
			if d.Relevant[n] && !d.Training[n] && row.Page != nil {
				free = append(free, n)
			}
		}
		if len(free) < opt.Starts {
			return nil, fmt.Errorf("topic %s: %d start pages are needed, but only %d pages are on topic and not used for training; ask for fewer with --starts", opt.Topic, opt.Starts, len(free))
		}
		for range redraws {
			rng.Shuffle(len(free), func(i, j int) { free[i], free[j] = free[j], free[i] })
			starts := slices.Clone(free[:opt.Starts])
			if key := fmt.Sprint(slices.Sorted(slices.Values(starts))); !seen[key] {
				seen[key] = true
				d.Starts = append(d.Starts, starts)
				break
			}
		}
	}
	return d, nil
}

const redraws = 50

func (d *startDraw) judge(c *Corpus, opt drawOptions) (labelled []int) {
	for n, row := range c.Rows {
		l := row.Labels
		if opt.Truth != nil {
			l, _ = opt.Truth.Of(row.URL)
		}
		if l.Label != "" {
			labelled = append(labelled, n)
		}
		if l.Match(opt.Topic) {
			d.Relevant[n] = true
			d.Targets++
		}
	}
	return labelled
}

type politeManners struct {
	Workers int
	Delay   crawler.Delay
	Latency time.Duration // mean time of an exchange; a URL's own is uniform in [½, 1½) of it
}

// exchange returns the time that a URL's exchange takes, the same in every crawl.
func (m *politeManners) exchange(url string) time.Duration {
	if m == nil || m.Latency <= 0 {
		return 0
	}
	draw := rand.New(rand.NewPCG(page.Key(url), 0))
	return m.Latency/2 + time.Duration(draw.Int64N(int64(m.Latency)))
}

func (m *politeManners) web(c *Corpus) func(url string) crawler.Answer {
	if m == nil {
		return c.Answer
	}
	return func(url string) crawler.Answer {
		a := c.Answer(url)
		a.Took = m.exchange(url)
		return a
	}
}

// The oracles know the truth and serve as upper references: best-first with a perfect page classifier, and a
// perfect link scorer that looks only one link ahead.

// The parent oracle fetches links from truly on-topic pages first, the target oracle links to such pages;
// ties by discovery.
var oracles = map[string]oracle{"parent-oracle": {}, "target-oracle": {target: true}}

func oraclePolicy(name string) crawlPolicy {
	return crawlPolicy{name, true, func(r crawlRun) (crawler.Options, error) {
		ordering, err := orders.OrderingByName("relevance")
		return crawler.Options{Scorer: oracle{r.Relevant, oracles[name].target}, Ordering: ordering}, err
	}}
}

type oracle struct {
	relevant func(key uint64) bool
	target   bool
}

func (o oracle) ScorePage(p *page.Page, _ float64) crawler.Score {
	if o.relevant(page.Key(p.URL)) {
		return crawler.Score{Value: 1, Relevant: true}
	}
	return crawler.Score{}
}

func (o oracle) ScoreLinks(dst []float64, p *page.Page, s crawler.Score) []float64 {
	for i := range p.Links {
		score := s.Value
		if o.target {
			score = 0
			if o.relevant(page.Key(p.Links[i].URL)) {
				score = 1
			}
		}
		dst = append(dst, score)
	}
	return dst
}
