package main

import (
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"fossick/crawler/plan"
	"fossick/datasets"
	"fossick/eval/lab"
	"fossick/export"
	"fossick/graph"
	"fossick/graph/orders"
	"fossick/internal/cli"
	"fossick/internal/fileio"
	"fossick/internal/report"
	"fossick/models/features"
	"fossick/train"
	"fossick/train/topics"
)

type simulateCmd struct {
	Graph     string         `arg:"" name:"GRAPH" help:"A graph file, an edge list, a corpus with links, a store, demo, or synthetic:N." predictor:"sets"`
	Order     []string       `required:"" placeholder:"A,B" help:"Orderings to compare, by comma: $${sequences}; or mixes, each a share of the pages: 'mcs*0.3+relevance*0.7'." predictor:"sequences"`
	Topic     string         `placeholder:"LABEL" help:"Label of the corpus to which pages are relevant; harvest is measured too."`
	Model     string         `placeholder:"M" help:"Model that scores how relevant pages are to the topic, instead of their labels." predictor:"models"`
	Seeds     string         `placeholder:"FILE" xor:"starts" help:"Start pages, one a line, # comments: one crawl of each ordering."`
	Starts    int            `placeholder:"N" xor:"starts" help:"Start pages of a crawl, drawn at random among the pages with links [3]."`
	StartSets int            `default:"10" placeholder:"N" help:"Crawls of each ordering, each from its own start pages [10]." group:"sets" expert:""`
	MaxPages  int            `placeholder:"N" help:"Pages per crawl, start pages included [all that can be reached]."`
	Points    int            `default:"20" placeholder:"N" help:"Points of a curve [20]." group:"sets" expert:""`
	Alike     bool           `help:"Count all links alike. Without it, links within a site that has no start page discover pages but do not count in their order." group:"sets" expert:""`
	Polite    bool           `help:"Simulate one request at a time per host, and rests, in simulated time." group:"polite" expert:""`
	Workers   int            `placeholder:"N" help:"With --polite: fetches at a time [32]." group:"polite" expert:""`
	FetchTime *time.Duration `placeholder:"D" help:"With --polite: how long a fetch takes [500ms]." group:"polite" expert:""`
	Delay     string         `placeholder:"D" help:"With --polite: rest after each fetch from a host, auto or a time [auto: 10 fetches, but at least 2s]." type:"delay" group:"polite" expert:""`
	HTML      string         `name:"html" placeholder:"FILE" help:"Write a report as one self-contained page."`
}

// defaultStarts is the number of portal sites in paper B3.
const defaultStarts = 3

func (simulateCmd) Help() string {
	return `Crawls a stored graph of links by several orderings, as if every page existed and every fetch took no time, and shows which ordering collects important pages first. At each point of a crawl it measures the share of all PageRank that the crawled pages hold, the number of their sites, and how well PageRank computed from these pages alone ranks them (Kendall's tau). Figures are means over the start sets, with 95 % intervals.

Reads ` + export.GraphKinds + `.

Examples:
  fossick simulate demo --order mcs,bfs,lexbfs --html orders.html
  fossick simulate demo --order 'bfs,mcs*0.3+relevance*0.7' --topic sport`
}

type simulateRun struct {
	*simulateCmd
	app  *app
	g    *graph.Graph
	sim  lab.Simulation
	sets [][]uint32 // start pages
	work *cli.Task

	scores *export.GraphScores // of the topic; nil without one
}

func (c *simulateCmd) Run(a *app) error {
	if err := c.check(); err != nil {
		return err
	}
	r := &simulateRun{simulateCmd: c, app: a, work: a.task("ranking "+c.Graph, "crawls")}
	defer r.work.End()
	if err := r.load(); err != nil {
		return err
	}
	r.work.Step("crawling "+cli.Cut(c.Graph, 60), len(c.Order)*len(r.sets))
	out := r.sim.Compare(c.Graph)
	if c.Topic != "" {
		out.Topic, out.Relevant = &c.Topic, &r.scores.Count
	}
	for _, name := range c.Order {
		crawls, err := r.crawls(name)
		if err != nil {
			return err
		}
		out.Add(name, crawls, r.sim.MeanCurve(crawls))
	}
	if c.HTML != "" {
		out.HTML = c.HTML
		made := []report.Fact{{Name: "made by", Value: "fossick " + version}, {Name: "random seed", Value: fmt.Sprint(a.seed)}}
		if err := fileio.WritePage(c.HTML, func(w io.Writer) error { return out.WriteReport(w, made...) }); err != nil {
			return err
		}
	}
	return a.emit(out, out.Print)
}

func (c *simulateCmd) check() error {
	if c.Starts < 0 || c.StartSets < 1 || c.MaxPages < 0 || c.Points < 1 || c.Points > 10_000 {
		return usagef("--starts %d, --start-sets %d, --max-pages %d, --points %d: want no negative numbers, at least 1 start set, and 1 to 10000 points", c.Starts, c.StartSets, c.MaxPages, c.Points)
	}
	if c.Model != "" && c.Topic == "" {
		return usagef("--model %s: give --topic, one of the model's labels", c.Model)
	}
	if _, err := c.manners(); err != nil {
		return err
	}
	for i, name := range c.Order {
		shares, err := orders.ParseMix(name)
		if err != nil {
			return cli.Usage(err)
		}
		byScore := func(s orders.Share) bool { return s.Name == "relevance" }
		if c.Topic == "" && slices.ContainsFunc(shares, byScore) {
			return usagef("--order %s: relevance needs a topic; give --topic, a label of the corpus", name)
		}
		if slices.Contains(c.Order[:i], name) {
			return usagef("ordering %s is given twice", name)
		}
	}
	return nil
}

func (r *simulateRun) load() error {
	source, g, err := graphOf(r.app, r.Graph)
	if err != nil {
		return err
	}
	r.g = g
	if r.g.Nodes() == 0 {
		return fmt.Errorf("%s: an empty graph; there is nothing to crawl", r.Graph)
	}
	if err := r.start(source); err != nil {
		return err
	}
	if err := r.score(source); err != nil {
		return err
	}
	r.sim = lab.Simulation{
		Graph: r.g, Starts: r.sets, MaxPages: r.MaxPages, Points: r.Points, Alike: r.Alike, Damping: 0.85,
		Rand: func(set int) *rand.Rand { return r.app.random(0x0dde + uint64(set)) },
	}
	if r.scores != nil {
		r.sim.Relevant = func(v uint32) bool { return r.scores.Relevant[v] }
		r.sim.Score = func(v uint32) float64 { return float64(r.scores.Score[v]) }
	}
	if r.sim.Manners, err = r.manners(); err != nil {
		return err
	}
	whole, err := r.sim.Prepare(r.app.ctx)
	if err != nil {
		return err
	}
	r.app.say("%d pages, %d links; PageRank after %d iterations, residual %.1g", r.g.Nodes(), r.g.Edges(), whole.Iterations, whole.Residual)
	return nil
}

func (r *simulateRun) start(source export.GraphSource) error {
	if r.Seeds != "" {
		set, err := source.StartPages(r.g, r.Seeds)
		r.sets = [][]uint32{set}
		return err
	}
	rng := r.app.random(0x57a7)
	seen := map[string]bool{}
	for range r.StartSets {
		set, err := lab.DrawStarts(r.g, cmp.Or(r.Starts, defaultStarts), rng.IntN)
		if err != nil {
			return fmt.Errorf("%s: %w", r.Graph, err)
		}
		if key := fmt.Sprint(slices.Sorted(slices.Values(set))); !seen[key] {
			seen[key] = true
			r.sets = append(r.sets, set)
		}
	}
	if n := len(r.sets); n < r.StartSets {
		r.app.say("only %d of %d start sets differ, because few pages have links; repeated crawls say nothing about chance", n, r.StartSets)
	}
	return nil
}

func (r *simulateRun) crawls(name string) ([]*lab.GraphCurve, error) {
	return r.sim.Crawls(r.app.ctx, name, func(int, *lab.GraphCurve) { r.work.Add(1) })
}

const (
	simulatedFetch   = 500 * time.Millisecond
	simulatedWorkers = 32 // as in focus
)

// manners returns the manners of the crawls, nil without --polite.
func (c *simulateCmd) manners() (*lab.GraphManners, error) {
	if !c.Polite {
		if c.Workers != 0 || c.FetchTime != nil || c.Delay != "" {
			return nil, usagef("--workers, --fetch-time and --delay work only with --polite; add it")
		}
		return nil, nil
	}
	m := &lab.GraphManners{Workers: cmp.Or(c.Workers, simulatedWorkers), Fetch: simulatedFetch}
	if m.Workers < 1 {
		return nil, usagef("--workers %d: want at least 1", c.Workers)
	}
	if c.FetchTime != nil {
		if m.Fetch = *c.FetchTime; m.Fetch <= 0 {
			return nil, usagef("--fetch-time %s: want a time above 0, such as 500ms", m.Fetch)
		}
	}
	delay, err := plan.ParseDelay(c.Delay)
	if err != nil {
		return nil, err
	}
	if m.Rest = delay.Rest; !delay.Fixed {
		m.Rest = max(2*time.Second, 10*m.Fetch)
	}
	return m, nil
}

// score gives every page of the graph its score on the topic.
func (r *simulateRun) score(source export.GraphSource) error {
	if r.Topic == "" {
		return nil
	}
	of, err := r.scorer()
	if err != nil {
		return err
	}
	if r.scores, err = source.Scores(r.app.ctx, r.g, of); err != nil {
		return fmt.Errorf("--topic %s: %w", r.Topic, err)
	}
	if r.scores.Count == 0 {
		return fmt.Errorf("--topic %s: no page of %s has this label; choose another", r.Topic, r.Graph)
	}
	r.app.say("%d of %d pages are on topic", r.scores.Count, r.g.Nodes())
	return nil
}

// scorer returns a function that says how far a page is on topic, in [0,1], and whether it is: by the
// corpus's labels 1 or 0, by a model its probability.
func (r *simulateRun) scorer() (func(e *datasets.Example) (score float64, on bool, err error), error) {
	if r.Model == "" {
		return func(e *datasets.Example) (float64, bool, error) {
			if e.Matches(r.Topic) {
				return 1, true, nil
			}
			return 0, false, nil
		}, nil
	}
	c, err := topics.Classifier(r.Model)
	if err != nil {
		return nil, err
	}
	topic, err := train.NewTopic(c, r.Model, r.Topic, "")
	if err != nil {
		return nil, err
	}
	return func(e *datasets.Example) (float64, bool, error) {
		p, err := e.Page()
		if err != nil {
			return 0, false, err
		}
		score, _, unknown := topic.Probability(features.Doc(p.Fields()))
		return score, score >= topic.Cut && unknown == "", nil
	}, nil
}
