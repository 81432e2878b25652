package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fossick/datasets"
	"fossick/internal/cli"
	"fossick/models"
	"fossick/models/features"
	"fossick/train"
)

// trainCmd makes a model, or tries settings.
type trainCmd struct {
	Sets []string `arg:"" name:"set" help:"Labelled sets: demo, a .jsonl file (.gz, .zst), a folder with pages.jsonl, a folder of one folder a label, a web archive (.warc)." predictor:"sets"`
	Out  string   `short:"o" placeholder:"MODEL" help:"Model file to write; needed except with --mu-sweep and --protocol." group:"made"`

	Classifier string `default:"auto" placeholder:"NAME" help:"Kind of classifier: $${classifiers}; auto takes the best in cross-validation, vote combines several. --mu-sweep and --protocol take several [auto]." group:"methods" predictor:"classifiers"`
	CN2        string `name:"cn2" enum:"ordered,unordered" default:"unordered" help:"Rules as a decision list, or for each class: ${enum} [unordered]." placeholder:"HOW" group:"methods" expert:""`

	Words    int      `xor:"selection" placeholder:"N" help:"Keep the N words with the highest information gain [c45, cn2: 300, nn: 500, others: all]." group:"words" expert:""`
	Mu       float64  `xor:"selection" placeholder:"X" help:"Keep the words whose information gain is at least X nats, or whose measure by --select is at least X." group:"words" expert:""`
	Select   []string `help:"Measure that chooses words for --words, --mu and keywords: tfdf+gain, information gain among the words frequent in a class; or gain, information gain among all words. --mu-sweep and --protocol take several [c45, cn2, nn, keywords: tfdf+gain, others: gain; --mu-sweep: tfdf+gain,gain; --protocol: tfdf+gain]." placeholder:"HOW" group:"words" expert:""`
	MinSites int      `placeholder:"N" help:"Keep only words that occur on at least N sites, so that the name of a site does not stand for a topic [1]." group:"words" expert:""`

	Labels []string `xor:"classes" placeholder:"A,B" help:"Only rows with these labels [all]." group:"rows"`
	Topic  string   `xor:"classes" placeholder:"LABEL" help:"LABEL against the rest, which is called other." group:"rows"`

	train.Rows

	Folds   int    `default:"5" placeholder:"K" help:"Folds of the cross-validation [5]." group:"methods" expert:""`
	Explain string `placeholder:"FILE" help:"Write a page about the whole model: its words, tree or rules, figures by class, learning curve, reliability, most confident mistakes. Doubles the number of trainings." group:"made"`
	BySite  bool   `help:"Keep each site in one fold, so that the figures hold for sites never seen." group:"methods" expert:""`

	// trials of settings instead of a model
	MuSweep  train.MuRange `name:"mu-sweep" placeholder:"A:B:STEP" help:"Train each classifier of --classifier at each μ from A to B, as 0.01:0.18:0.01, at the --level; without -o no model is made." group:"trials" expert:""`
	Protocol string        `enum:",banksearch" default:"" placeholder:"banksearch" help:"Run the experiment published for the BankSearch set of themes and categories: 77 words, 100 training pages a category (--words, --per-class), the rest to test; with each classifier of --classifier." group:"trials" expert:""`
	HTML     string        `name:"html" placeholder:"FILE" help:"Draw the figures of --mu-sweep on one self-contained page." group:"trials" expert:""`

	Memory byteSize `default:"1GB" placeholder:"SIZE" help:"Approximate memory for training; a larger set goes through a temporary file [1GB]." group:"space" expert:""`
}

func (trainCmd) Help() string {
	return `Trains a classifier and measures how good it is: on the test rows if there are any (the set's own split, --test, --test-where, --train, --per-class), else by cross-validation, and then test_pages is null in JSON. Thresholds and the calibration of probabilities come from cross-validation on the training rows alone.

Examples:
  fossick train demo -o demo.model
  fossick train demo --topic sport --classifier linear \
      --explain sport.html -o sport.model`
}

func (trainCmd) MoreHelp() string {
	return `A test on half the pages of two labels; and one on a site that the model has not seen:
  fossick train demo --labels banking,sport --classifier c45 \
      --train 0.5 -o two.model
  fossick train demo --test-where site=attic.test --classifier nb \
      -o unseen.model

Accuracy by number of words and by classifier:
  fossick train demo --mu-sweep 0.02:0.06:0.02 --classifier c45,nb \
      --html sweep.html`
}

// leastMemory is the least --memory: the word lists and caches of a few languages.
const leastMemory = 16 << 20

// programMemory is what the program takes besides what grows with a set: readers, word caches, the tagger.
const programMemory = 128 << 20

func (c trainCmd) Run(a *app) error {
	if err := c.check(); err != nil {
		return err
	}
	p := c.plan(a)
	tried, err := c.trials(a, p)
	if err != nil || c.Out == "" {
		return err
	}
	if c.Memory > 0 {
		defer limitHeap(int64(c.Memory) + programMemory)()
	}
	a.say("training on %s", strings.Join(c.Sets, ", "))
	work := a.task("reading the training pages", "pages")
	defer work.End()
	p.Options.Step = stepsOf(work)
	r, err := p.Make(a.ctx, func(rows datasets.Stream) datasets.Stream { return datasets.Counted(rows, work.Add) })
	if err != nil {
		return err
	}
	r.TrialResult = tried
	return a.emit(r, r.Print)
}

func (c trainCmd) plan(a *app) *train.Plan {
	return &train.Plan{
		Sets: c.Sets, Rows: c.Rows, Tried: c.tries(),
		Out: c.Out, Explain: c.Explain, Version: version,
		Options: c.options(a), Open: a.openSet, Say: a.say, Log: a.log,
	}
}

func (c trainCmd) options(a *app) train.Options {
	first, _, _ := strings.Cut(c.Classifier, ",") // with several, the first makes the model
	var by features.Measure                       // likewise
	if len(c.Select) > 0 {
		by = features.Measure(c.Select[0])
	}
	return train.Options{
		Target:     train.Target{Labels: c.Labels, Topic: c.Topic},
		Classifier: first, Ordered: c.CN2 == "ordered",
		Words: c.Words, Mu: c.Mu, Select: by, MinSites: c.MinSites,
		Folds: c.Folds, BySite: c.BySite,
		Memory: int64(c.Memory),
		Data:   c.Sets,
		Seed:   a.seed, Explain: c.Explain != "", Log: a.log,
	}
}

func (c trainCmd) check() error {
	if c.Words < 0 || c.Mu < 0 || c.Folds < 2 || c.PerSite < 0 || c.MinSites < 0 {
		return usagef("--words %d, --mu %v, --folds %d, --per-site %d, --min-sites %d: want no negative numbers, and at least two folds", c.Words, c.Mu, c.Folds, c.PerSite, c.MinSites)
	}
	if c.Memory != 0 && c.Memory < leastMemory { // 0 is the default, which demo takes
		return usagef("--memory %d: want at least 16MB", c.Memory)
	}
	if _, err := c.classifiers(); err != nil {
		return err
	}
	if _, err := c.selections(); err != nil {
		return err
	}
	if len(c.Unlabelled) > 0 && c.tries() && c.Out == "" {
		return usagef("--unlabelled needs a model to teach, and --mu-sweep and --protocol make none: give -o MODEL, or leave --unlabelled out")
	}
	for flag, path := range map[string]string{"-o": c.Out, "--explain": c.Explain, "--html": c.HTML} {
		if path == "" {
			continue
		}
		if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() { // fails before the training, not after it
			return usagef("%s %s: there is no folder %s; make it first", flag, path, filepath.Dir(path))
		}
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return usagef("%s %s: it is a folder; give a file in it", flag, path)
		}
	}
	return nil
}

// tries reports whether settings are tried, instead of a model made.
func (c trainCmd) tries() bool { return !c.MuSweep.None() || c.Protocol != "" }

func (c trainCmd) classifiers() ([]string, error) {
	var names []string
	for name := range strings.SplitSeq(c.Classifier, ",") {
		if name = strings.TrimSpace(name); !slices.Contains(train.Classifiers(), name) {
			return nil, usagef("--classifier %s: want one of %s", c.Classifier, cli.SomeNames(c.Classifier, train.Classifiers()))
		}
		names = append(names, name)
	}
	switch {
	case !c.tries() && len(names) > 1:
		return nil, usagef("--classifier %s: give one classifier to make a model; several work only with --mu-sweep and --protocol", c.Classifier)
	case c.tries() && slices.Equal(names, []string{train.Auto}):
		return without(train.Classifiers(), train.Auto, "nb", models.Voting, models.Stack), nil // paper A's three, and linear
	case c.tries() && (slices.Contains(names, train.Auto) || slices.Contains(names, models.Voting) || slices.Contains(names, models.Stack)):
		return nil, usagef("--classifier %s: auto, vote and stack choose anew for each number of words; give the classifiers to try", c.Classifier)
	}
	return names, nil
}

func (c trainCmd) selections() (ways []features.Measure, err error) {
	for _, name := range c.Select {
		way, err := features.ParseMeasure(name)
		if err != nil {
			return nil, usagef("--select: %w", err)
		}
		ways = append(ways, way)
	}
	if !c.tries() && len(ways) > 1 {
		return nil, usagef("--select %s: give one measure to make a model; several work only with --mu-sweep and --protocol", strings.Join(c.Select, ","))
	}
	return ways, nil
}

func without(all []string, out ...string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(out, s) })
}

// trials runs the trials that the flags ask for, and prints them unless a model is made too.
func (c trainCmd) trials(a *app, p *train.Plan) (*train.TrialResult, error) {
	switch {
	case !c.tries() && c.Out == "":
		return nil, usagef("give -o MODEL, the file for the model; only --mu-sweep and --protocol need none")
	case !c.tries() && c.HTML != "":
		return nil, usagef("--html %s: it draws a sweep; give --mu-sweep, as 0.01:0.18:0.01", c.HTML)
	case !c.tries() && c.Level.Both:
		return nil, usagef("--level both: a model has classes of one level; give theme or category")
	case !c.tries():
		return nil, nil
	case c.HTML != "" && c.MuSweep.None():
		return nil, usagef("--html %s: it draws a sweep; give --mu-sweep too", c.HTML)
	case !c.MuSweep.None() && c.Protocol == "" && c.Out == "" && (c.Words > 0 || c.Mu > 0):
		return nil, usagef("--mu-sweep chooses words by μ; leave out --words and --mu, or give -o MODEL to make a model with them")
	}
	defer limitHeap(int64(c.Memory) + programMemory)()
	names, err := c.classifiers()
	if err != nil {
		return nil, err
	}
	ways, err := c.selections()
	if err != nil {
		return nil, err
	}
	t := train.Trials{Plan: *p, MuSweep: c.MuSweep, Protocol: c.Protocol, Classifiers: names, Select: ways, HTML: c.HTML, Task: a.task}
	r, err := t.Run(a.ctx)
	if err != nil || c.Out != "" {
		return r, err
	}
	return r, a.emit(r, r.Print)
}
