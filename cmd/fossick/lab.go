package main

import (
	"io"
	"time"

	"fossick/crawler/plan"
	"fossick/eval/lab"
	"fossick/internal/fileio"
)

type labCmd struct {
	labFlags
	HTML string `name:"html" placeholder:"FILE" help:"Write a report as one self-contained page."`
}

// labFlags are the flags for lab.Options.
type labFlags struct {
	Corpus string   `arg:"" name:"CORPUS" help:"Corpus to crawl: demo, a folder, a .jsonl file, or a web archive (.warc)." predictor:"sets"`
	Topic  string   `required:"" placeholder:"T" help:"Label of the truth that is the topic."`
	Policy []string `placeholder:"A,B" help:"Policies to compare, by comma: $${scores}; paper:0.5 is paper with that ρ; parent-oracle and target-oracle know the truth." predictor:"policies"`

	Truth      string       `placeholder:"FILE" xor:"truth" help:"Labels by URL: url TAB label TAB label|label, also .gz and .zst [the corpus's labels]."`
	Judge      string       `placeholder:"MODEL" xor:"truth" help:"Model, a file or a topic's name, that decides which pages are on topic if there is no truth; choose one other than the crawl's own." predictor:"models"`
	Train      string       `placeholder:"SET" xor:"train" help:"Labelled set to train the page classifier on." group:"sets" expert:"" predictor:"sets"`
	TrainPages int          `placeholder:"N" xor:"train" help:"Pages of the corpus, drawn at random, to train the page classifier on [600]." group:"sets" expert:""`
	Model      string       `placeholder:"M" xor:"train" help:"Model to crawl with, instead of training one." predictor:"models"`
	Keywords   []string     `placeholder:"WORDS" help:"Words and phrases of the topic, by comma [chosen from training and start pages, or the model's]."`
	RhoSweep   lab.RhoRange `name:"rho-sweep" placeholder:"A:B:STEP" help:"Also crawl by the policy paper at each ρ from A to B, as 0:0.9:0.1, and plot harvest against ρ." group:"score" expert:""`
	Threshold  *float64     `placeholder:"R" help:"The policy paper drops links that score less [0.2]." group:"score" expert:""`
	Links      string       `enum:"all,external,site" default:"all" placeholder:"WHICH" help:"Which links to follow: ${enum} [all]." group:"score" expert:""`

	Starts    int `default:"10" placeholder:"N" help:"Start pages of a crawl: pages on topic, drawn at random, none of them trained on [10]."`
	StartSets int `default:"10" aliases:"seed-sets" placeholder:"N" help:"Crawls of each policy, each from its own start pages [10]." group:"sets" expert:""`
	Pages     int `placeholder:"M" help:"Pages per crawl, start pages included [5 % of the corpus]."`

	Polite  bool           `help:"Crawl in simulated time with many workers, slow exchanges and hosts that rest." group:"polite"`
	Workers int            `placeholder:"N" help:"With --polite: fetches at a time [32]." group:"polite" expert:""`
	Delay   string         `placeholder:"D" help:"With --polite: rest after each fetch from a host, auto or a time [auto]." type:"delay" group:"polite" expert:""`
	Latency *time.Duration `placeholder:"D" help:"With --polite: mean time of an exchange; that of a URL is 0.5 to 1.5 times the mean [100ms]." group:"polite" expert:""`
}

func (labCmd) Help() string {
	return `Compares crawl policies on a stored web. It runs virtual crawls from several random start sets with the code of focus, thousands of pages a second. Gives harvest, recall and the areas under their curves with 95 % intervals over the start sets, and paired tests between the policies. The same --rand gives the same figures.

Example:
  fossick lab demo --topic banking --policy bfs,paper,learned \
      --starts 3 --train-pages 300 --pages 60 --html lab.html`
}

func (labCmd) MoreHelp() string {
	return `Policies: ` + plan.Help() + `.`
}

func (c *labCmd) Run(a *app) error {
	p := c.plan(a)
	if err := p.Check(); err != nil {
		return err
	}
	p.Work = a.task("reading "+c.Corpus, "crawls")
	defer p.Work.End()
	setup, result, err := p.Run(a.ctx)
	if err != nil {
		return err
	}
	if c.HTML != "" {
		result.HTML = c.HTML
		if err := fileio.WritePage(c.HTML, func(w io.Writer) error { return setup.WriteReport(w, result, version) }); err != nil {
			return err
		}
	}
	return a.emit(result, result.Print)
}

func (c *labCmd) plan(a *app) *lab.Plan {
	return &lab.Plan{Options: lab.Options(c.labFlags), Seed: a.seed, Random: a.random, Open: a.openSet, Say: a.say, Log: a.log}
}
