package plan

import (
	"context"
	"strings"
	"time"

	"fossick/crawler"
	"fossick/crawler/crawlplan"
	"fossick/eval/lab"
	"fossick/internal/usage"
)

// topics are those that share a crawl; one alone does not.
func (p *Plan) topics() []string { return strings.Split(p.Topic, ",") }

// Shares says whether the plan is of several topics, for RunShared.
func (p *Plan) Shares() bool { return len(p.topics()) > 1 }

// checkShared refuses what several topics cannot have.
func (p *Plan) checkShared() error {
	seen := map[string]bool{}
	for _, name := range p.topics() {
		if name == "" || seen[name] {
			return usage.Errorf("--topic %s: give each topic once, separated by commas", p.Topic)
		}
		seen[name] = true
	}
	if p.Judge != "" || p.Reachable || p.RhoSweep.Policies() != nil || len(p.Keywords) > 0 {
		return usage.Errorf("--topic %s: --judge, --reachable, --rho-sweep and --keywords work with one topic only; leave them out, or give one topic", p.Topic)
	}
	return nil
}

// RunShared makes one crawl of all topics and one a topic, from each start set.
func (p *Plan) RunShared(ctx context.Context) (*lab.SharedResult, error) {
	if err := p.checkShared(); err != nil {
		return nil, err
	}
	read := &Setup{plan: p}
	if err := read.read(ctx); err != nil {
		return nil, err
	}
	x := &lab.Shared{}
	for _, name := range p.topics() {
		one := *p
		one.Topic, one.Web = name, read.Corpus
		s, err := one.Prepare(ctx)
		if err != nil {
			return nil, err
		}
		x.Topics = append(x.Topics, &s.Experiment)
	}
	sets := p.StartSets
	for _, t := range x.Topics {
		sets = min(sets, len(t.Draw.Starts))
	}
	for _, t := range x.Topics {
		t.Draw.Starts = t.Draw.Starts[:sets]
	}
	x.Share = func(n int, own []crawler.Options) (crawler.Options, error) {
		return together(p.Policy[n], own)
	}
	began := time.Now()
	p.Work.Step("crawling", (len(x.Topics)+1)*len(p.Policy)*sets)
	alone, shared, err := x.Run(ctx, func() { p.Work.Add(1) })
	if err != nil {
		return nil, err
	}
	r := &lab.SharedResult{Corpus: p.Corpus, Starts: p.Starts, StartSetsAsked: p.StartSets, Manners: p.mannersResult(x.Topics[0].Manners)}
	x.Sum(r, p.topics(), alone, shared)
	r.Seconds = time.Since(began).Seconds()
	return r, nil
}

// together makes one crawl of those that topics would have alone, each with the budget of
// its own.
func together(name string, own []crawler.Options) (opt crawler.Options, err error) {
	opt.Scope = own[0].Scope
	var topics []crawlplan.Topic
	for _, o := range own {
		topics = append(topics, crawlplan.Topic{Scorer: o.Scorer, Budget: float64(o.MaxPages), Starts: o.Seeds})
		opt.Seeds = append(opt.Seeds, o.Seeds...)
	}
	opt.Scorer = crawlplan.NewSeveral(topics)
	opt.Ordering = own[0].Ordering
	if p, _, err := crawlplan.Parse(name); err == nil {
		opt.Ordering, err = p.SharedOrdering()
		return opt, err
	}
	return opt, nil
}
