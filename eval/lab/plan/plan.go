package plan

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"fossick/crawler"
	"fossick/crawler/crawlplan"
	"fossick/datasets"
	"fossick/eval/lab"
	"fossick/internal/terminal"
	"fossick/internal/usage"
)

// Plan says what a run is made of, and how.
type Plan struct {
	Options

	Seed   int64
	Random func(purpose uint64) *rand.Rand // of the seed, a source for one purpose
	Open   datasets.Opener
	Say    func(format string, args ...any)
	Log    *slog.Logger
	Work   *terminal.Task // shown; nil: nowhere
	Web    *lab.Corpus    // the corpus, read already; nil: it is read
}

// Options are what lab's flags say.
type Options struct {
	Corpus string
	Topic  string
	Policy []string // by name, or paper:ρ

	Truth      string // file of labels by URL; "": the corpus's own
	Judge      string // model that judges the pages instead
	Train      string // set to train the page classifier on
	TrainSets  int    // page classifiers
	TrainPages int    // of the corpus, to train each on; 0 is 600
	Classifier string // of the page classifiers; "" is what train chooses by itself
	Model      string // to crawl with, instead of training one
	Keywords   []string
	RhoSweep   lab.RhoRange
	Threshold  *float64
	Explore    *float64
	Links      string

	Starts          int // pages a start set
	StartSets       int
	Pages           int   // a crawl; 0 is 5 % of the corpus
	At              []int // pages at which to give the figures as well
	Curve           int   // pages between two points of a curve
	MaxPagesPerHost uint64
	Reachable       bool // recall of what can be reached, too

	Polite   bool
	Workers  int            // fetches at a time; 0 is 32, as focus has
	Delay    string         // as of focus
	Latency  *time.Duration // mean time of an exchange
	MaxTime  time.Duration  // of a crawl, simulated
	Patience string         // as of focus
}

// defaultTrainPages is how many pages of the corpus the page classifier is trained
// on.
const defaultTrainPages = 600

// Check refuses what means nothing, and adds the policies of a sweep to the named.
func (p *Plan) Check() error {
	if p.Starts < 1 || p.StartSets < 1 || p.StartSets > 64 || p.Pages < 0 || p.TrainPages < 0 || p.Curve < 0 {
		return usage.Errorf("--starts %d, --start-sets %d, --pages %d, --train-pages %d, --curve %d: want at least 1 start page, 1 to 64 start sets, and no negative numbers",
			p.Starts, p.StartSets, p.Pages, p.TrainPages, p.Curve)
	}
	if p.Pages > 0 && p.Pages < p.Starts {
		return usage.Errorf("--pages %d includes the start pages, of which there are %d; ask for more pages or fewer --starts", p.Pages, p.Starts)
	}
	if _, err := p.manners(); err != nil {
		return err
	}
	for _, name := range p.RhoSweep.Policies() {
		if !slices.Contains(p.Policy, name) {
			p.Policy = append(p.Policy, name)
		}
	}
	if len(p.Policy) == 0 {
		return usage.Errorf("give the policies to compare with --policy, or a sweep with --rho-sweep")
	}
	for _, name := range p.Policy {
		if oracles[name] != nil {
			continue
		}
		if _, _, err := crawlplan.Parse(name); err != nil {
			return err
		}
	}
	if p.TrainSets < 1 || p.TrainSets > p.StartSets || p.TrainSets > 1 && (p.Train != "" || p.Model != "") {
		return usage.Errorf("--train-sets %d: want 1 to the number of start sets, and training pages from the corpus", p.TrainSets)
	}
	return nil
}

// Run makes the crawls, and says what they came to.
func (p *Plan) Run(ctx context.Context) (*Setup, *lab.Result, error) {
	began := time.Now()
	s, err := p.Prepare(ctx)
	if err != nil {
		return nil, nil, err
	}
	loading := s.loaded.Sub(began)
	p.Say("%d pages, %d of them on topic; %d crawls of %d pages", len(s.Corpus.Rows), s.Draw.Targets, len(s.Policies)*len(s.Draw.Starts), s.Pages)
	quality, err := s.quality() // first: it may say that the model knows these pages
	if err != nil {
		return nil, nil, err
	}
	crawling := time.Now()
	pages := 0
	p.Work.Step("crawling", len(s.Policies)*len(s.Draw.Starts))
	crawls, err := s.Experiment.Run(ctx, func(done *lab.Crawl) {
		pages += len(done.URLs)
		p.Work.Add(1)
	})
	if err != nil {
		return nil, nil, err
	}
	p.Work.Step("measuring", 0)
	r, err := s.result(ctx, crawls)
	if err != nil {
		return nil, nil, err
	}
	r.Classifier = quality
	r.LoadSeconds, r.CrawlSeconds = loading.Seconds(), time.Since(crawling).Seconds()
	r.PagesPerSecond = float64(pages) / r.CrawlSeconds
	return s, r, nil
}

// result measures the crawls.
func (s *Setup) result(ctx context.Context, crawls [][]*lab.Crawl) (*lab.Result, error) {
	p := s.plan
	r := &lab.Result{
		Corpus: p.Corpus, Topic: p.Topic, Keywords: []string{}, TrainSets: p.TrainSets, Starts: p.Starts, StartSets: len(s.Draw.Starts), StartSetsAsked: p.StartSets,
		JudgeTrained: s.judgeTrained, Manners: p.mannersResult(s.Manners),
	}
	if s.keywords != nil {
		r.Keywords = s.keywords[0].Words()
	}
	r.Sum(s.Experiment, crawls, lab.ResultOptions{At: p.At, Step: p.Curve, Rho: p.RhoSweep.Values, Rand: p.Random(0x7e57)})
	if p.Reachable {
		p.Work.Step("finding the pages that can be reached", 0)
		p.Say("finding the pages that can be reached")
		reachable, err := s.Experiment.Reachable(ctx, crawler.Scope{Links: crawler.LinkPolicy(p.Links)})
		if err != nil {
			return nil, err
		}
		r.Reach(crawls, reachable)
	}
	return r, nil
}
