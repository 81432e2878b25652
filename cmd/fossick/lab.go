package main

import (
	"slices"
	"time"

	"fossick/crawler"
	"fossick/datasets"
	"fossick/internal/terminal"
	"fossick/internal/usage"
	"fossick/lab"
	"fossick/models"
	"fossick/policy"
	"fossick/relevance"
)

// labCmd crawls a stored corpus virtually by many policies.
type labCmd struct {
	Corpus string   `arg:"" name:"CORPUS" help:"Corpus to crawl: demo, a folder, or a .jsonl file." complete:"sets"`
	Topic  string   `required:"" placeholder:"T" help:"Label of the truth that is the topic."`
	Policy []string `placeholder:"A,B" help:"Policies to compare, by comma: ${scores}; paper:0.5 is paper with that ρ; parent-oracle and target-oracle know the truth." complete:"policies"`

	Truth      string       `placeholder:"FILE" xor:"truth" help:"Labels by URL: url TAB label TAB label|label, also .gz and .zst [the corpus's labels]."`
	Judge      string       `placeholder:"MODEL" xor:"truth" help:"Model, a file or a topic's name, that says which pages are on topic, where there is no truth; better not the crawl's own." complete:"models"`
	Train      string       `placeholder:"SET" xor:"train" help:"Labelled set to train the page classifier on." group:"sets" expert:"" complete:"sets"`
	TrainSets  int          `default:"1" placeholder:"N" help:"Page classifiers, each trained on pages of its own, for the start sets in turn: then intervals are also over training pages [1]." group:"sets" expert:""`
	TrainPages int          `placeholder:"N" xor:"train" help:"Pages of the corpus, drawn at random, to train the page classifier on [600]." group:"sets" expert:""`
	Model      string       `placeholder:"M" xor:"train" help:"Model to crawl with, instead of training one." complete:"models"`
	Keywords   []string     `placeholder:"WORDS" help:"K: words and phrases of the topic, by comma [chosen from training and start pages, or the model's]."`
	RhoSweep   lab.RhoRange `name:"rho-sweep" placeholder:"A:B:STEP" help:"Also crawl by paper with each ρ from A to B, as 0:0.9:0.1, and draw harvest against ρ." group:"score" expert:""`
	Threshold  *float64     `placeholder:"R" help:"Links that score less are dropped by paper [0.2]." group:"score" expert:""`
	Explore    *float64     `placeholder:"SHARE" help:"Share of fetches that learned spends on URLs of which little is known [${explore}]." group:"score" expert:""`
	Links      string       `enum:"all,external,site" default:"all" placeholder:"WHICH" help:"Which links to follow: ${enum} [all]." group:"score" expert:""`

	Starts          int    `default:"10" placeholder:"N" help:"Start pages of a crawl: pages on topic, drawn at random, none of them trained on [10]."`
	StartSets       int    `default:"10" aliases:"seed-sets" placeholder:"N" help:"Crawls of each policy, each from start pages of its own [10]." group:"sets" expert:""`
	Pages           int    `placeholder:"M" help:"Pages a crawl, start pages included [5 % of the corpus]."`
	At              []int  `placeholder:"N,N" help:"Numbers of pages at which to give the figures as well." group:"sets" expert:""`
	Curve           int    `placeholder:"STEP" help:"Pages between two points of a curve [about 50 points]." group:"sets" expert:""`
	MaxPagesPerHost uint64 `placeholder:"N" help:"Pages of one host, at most." group:"sets" expert:""`
	Reachable       bool   `help:"Also recall of the pages on topic that can be reached from the start pages at all, for corpora whose links do not lead everywhere." group:"sets" expert:""`
	HTML            string `name:"html" placeholder:"FILE" help:"Write a report of one self-contained page."`
}

func (labCmd) Help() string {
	return `Compares crawl policies on a stored web: virtual crawls from several random start sets, thousands of pages a second, by the same code as focus. Gives harvest, recall and the areas under their curves with 95 % intervals over the start sets, and paired tests between the policies. The same --rand gives the same figures.

Example:
  fossick lab demo --topic banking --policy bfs,paper,learned \
      --starts 3 --pages 60 --html lab.html`
}

// MoreHelp implements help.More.
func (labCmd) MoreHelp() string {
	return `Policies: ` + policy.Help() + `.`
}

// defaultTrainPages is how many pages of the corpus the page classifier is trained
// on.
const defaultTrainPages = 600

// labRun is one run of the verb.
type labRun struct {
	*labCmd
	app    *app
	corpus *lab.Corpus
	draw   *lab.Draw
	topics []*models.Topic       // one a page classifier
	sets   []*relevance.Keywords // K of each start set; nil when no policy needs it
	work   *terminal.Task

	judgeTrained *float64 // share of the corpus that the judge was trained on
}

func (c *labCmd) Run(a *app) error {
	if err := c.check(); err != nil {
		return err
	}
	r := &labRun{labCmd: c, app: a, work: a.task("reading "+c.Corpus, "crawls")}
	defer r.work.End()
	began := time.Now()
	if err := r.load(); err != nil {
		return err
	}
	loaded := time.Now()
	policies, err := r.policies()
	if err != nil {
		return err
	}
	a.say("%d pages, %d of them on topic; %d crawls of %d pages", len(r.corpus.Rows), r.draw.Targets, len(policies)*c.StartSets, c.Pages)
	crawling := time.Now()
	x := lab.Experiment{Corpus: r.corpus, Draw: r.draw, Policies: policies, Pages: c.Pages, MaxPerHost: c.MaxPagesPerHost}
	pages := 0
	r.work.Step("crawling", len(policies)*c.StartSets)
	crawls, err := x.Run(a.ctx, func(done *lab.Crawl) {
		pages += len(done.URLs)
		r.work.Add(1)
		a.say("%-14s set %2d: %d pages, harvest %.3f", policies[done.Policy].Name, done.Set+1, len(done.URLs), harvestOfCrawl(done))
	})
	if err != nil {
		return err
	}
	r.work.Step("measuring", 0)
	result := r.result(x, crawls)
	if c.Reachable {
		if err := r.reach(&x, crawls, result); err != nil {
			return err
		}
	}
	if result.Classifier, err = r.quality(); err != nil {
		return err
	}
	result.LoadSeconds, result.CrawlSeconds = loaded.Sub(began).Seconds(), time.Since(crawling).Seconds()
	result.PagesPerSecond = float64(pages) / result.CrawlSeconds
	if c.HTML != "" {
		result.HTML = c.HTML
		if err := r.writeReport(result); err != nil {
			return err
		}
	}
	return a.emit(result, result.Print)
}

func harvestOfCrawl(c *lab.Crawl) float64 {
	n := 0
	for _, r := range c.Relevant {
		if r {
			n++
		}
	}
	return float64(n) / float64(max(1, len(c.Relevant)))
}

// check refuses numbers that mean nothing.
func (c *labCmd) check() error {
	if c.Starts < 1 || c.StartSets < 1 || c.StartSets > 64 || c.Pages < 0 || c.TrainPages < 0 || c.Curve < 0 {
		return usagef("--starts %d, --start-sets %d, --pages %d, --train-pages %d, --curve %d: want 1 start page and start set at least, 64 start sets at most, and no negative numbers",
			c.Starts, c.StartSets, c.Pages, c.TrainPages, c.Curve)
	}
	if c.Pages > 0 && c.Pages < c.Starts {
		return usagef("--pages %d: start pages count, and there are %d; ask for more pages or fewer --starts", c.Pages, c.Starts)
	}
	for _, name := range c.RhoSweep.Policies() {
		if !slices.Contains(c.Policy, name) {
			c.Policy = append(c.Policy, name)
		}
	}
	if len(c.Policy) == 0 {
		return usagef("name the policies to compare with --policy, or a sweep with --rho-sweep")
	}
	for _, name := range c.Policy {
		if name == "parent-oracle" || name == "target-oracle" {
			continue
		}
		if _, _, err := policy.Parse(name); err != nil {
			return usage.Of(err)
		}
	}
	if c.TrainSets < 1 || c.TrainSets > c.StartSets || c.TrainSets > 1 && (c.Train != "" || c.Model != "") {
		return usagef("--train-sets %d: want from 1 to as many as there are start sets, and pages of the corpus to train on", c.TrainSets)
	}
	return nil
}

// load reads the corpus, draws, and trains.
func (r *labRun) load() error {
	set, err := r.app.openSet(r.Corpus, datasets.Options{})
	if err != nil {
		return err
	}
	if r.corpus, err = lab.Load(r.app.ctx, set); err != nil {
		return err
	}
	if r.Pages == 0 {
		r.Pages = max(r.Starts, len(r.corpus.Rows)/20)
	}
	opt := lab.DrawOptions{Topic: r.Topic, Starts: r.Starts, Sets: r.StartSets, Models: r.TrainSets}
	if err := r.truth(&opt); err != nil {
		return err
	}
	switch {
	case r.Train != "":
		if opt.Training, err = r.trainedOn(); err != nil {
			return err
		}
	case r.Model == "":
		opt.Train = r.TrainPages
		if opt.Train == 0 {
			opt.Train = defaultTrainPages
		}
	}
	if r.draw, err = lab.NewDraw(r.corpus, opt, r.app.random(0x1ab)); err != nil {
		return err
	}
	return r.train()
}

// policies builds what the command line names. The oracles come from the lab.
func (r *labRun) policies() ([]lab.Policy, error) {
	explore, err := exploreShare(r.Explore, true, r.Policy...)
	if err != nil {
		return nil, err
	}
	ins := make([]policy.Input, len(r.topics))
	for i, topic := range r.topics {
		l, err := policy.NewLabeller(topic)
		if err != nil {
			return nil, err
		}
		l.Remember()
		ins[i] = policy.Input{Labeller: l, Threshold: policy.DefaultThreshold, Explore: explore}
	}
	if r.needK() {
		r.app.say("choosing keywords")
		r.work.Step("choosing keywords", 0)
		if r.sets, err = r.keywords(); err != nil {
			return nil, err
		}
	}
	var all []lab.Policy
	for _, name := range r.Policy {
		if slices.ContainsFunc(all, func(p lab.Policy) bool { return p.Name == name }) {
			return nil, usagef("policy %s is named twice", name)
		}
		p, err := r.policy(name, ins)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// needK says whether a policy looks for keywords.
func (r *labRun) needK() bool {
	return slices.ContainsFunc(r.Policy, func(name string) bool {
		p, _, err := policy.Parse(name)
		return err == nil && p.NeedsKeywords()
	})
}

func (r *labRun) policy(name string, ins []policy.Input) (lab.Policy, error) {
	switch name {
	case "parent-oracle":
		return lab.ParentOracle(), nil
	case "target-oracle":
		return lab.TargetOracle(), nil
	}
	p, rho, err := policy.Parse(name)
	if err != nil {
		return lab.Policy{}, usage.Of(err)
	}
	return lab.Policy{Name: name, New: func(run lab.Run) (crawler.Options, error) {
		own := ins[run.Model]
		if r.sets != nil {
			own.Keywords = r.sets[run.Set]
		}
		if own.Rho = policy.DefaultRho; rho != nil {
			own.Rho = *rho
		}
		own.Seed = r.app.random(0x5eed + uint64(run.Set)).Uint64()
		opt := crawler.Options{Threshold: p.Threshold()}
		if opt.Threshold > 0 && r.Threshold != nil {
			opt.Threshold = *r.Threshold
		}
		opt.Scope.Links = crawler.LinkPolicy(r.Links)
		var err error
		if opt.Scorer, err = p.Scorer(own); err != nil {
			return opt, usage.Of(err)
		}
		opt.Ordering, err = p.Ordering(opt.Scorer)
		return opt, err
	}}, nil
}
