package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fossick/datasets"
	"fossick/features"
	"fossick/internal/nearest"
	"fossick/internal/process"
	"fossick/internal/values"
	"fossick/models"
	"fossick/train"
	"fossick/train/made"
	"fossick/train/plan"
	"fossick/train/trials"
)

// trainCmd makes a model; the flags of each of its tasks are a struct.
type trainCmd struct {
	Sets []string `arg:"" name:"set" help:"Labelled sets: demo, a .jsonl file (.gz, .zst), a folder with pages.jsonl, a folder of one folder a label, a web archive (.warc)." complete:"sets"`
	Out  string   `short:"o" placeholder:"MODEL" help:"Model file to write; needed, but for --mu-sweep and --protocol." group:"made"`

	methodFlags
	wordFlags
	classFlags
	rowFlags
	foldFlags
	trialFlags
	spaceFlags
}

// methodFlags say how to classify.
type methodFlags struct {
	Classifier   string  `default:"auto" placeholder:"NAME" help:"How to classify: $${classifiers}; auto takes what does best in cross-validation, vote several together. --mu-sweep and --protocol take several [auto]." group:"methods" complete:"classifiers"`
	CN2          string  `name:"cn2" enum:"ordered,unordered" default:"unordered" help:"Rules as a decision list, or for each class: ${enum} [unordered]." placeholder:"HOW" group:"methods" expert:""`
	Beam         int     `default:"5" placeholder:"N" help:"Conjunctions that cn2 keeps a step [5]." group:"methods" expert:""`
	Significance float64 `default:"0" placeholder:"P" help:"How sure cn2 must be that a rule is not chance, above 0 and below 1 [0.999, ordered: 0.99]." group:"methods" expert:""`
	Covers       int     `default:"6" placeholder:"N" help:"How many of its unordered rules may cover a page, 16 at most [6]." group:"methods" expert:""`
	Loss         string  `enum:"svm,logistic,best" default:"svm" help:"What linear minimises: ${enum}; best takes what does better in cross-validation [svm]." placeholder:"LOSS" group:"methods" expert:""`
	Hidden       int     `default:"32" placeholder:"N" help:"Hidden units of each of nn's networks [32]." group:"methods" expert:""`
	Networks     int     `default:"5" placeholder:"N" help:"Networks that nn trains apart and averages into one [5]." group:"methods" expert:""`
}

// wordFlags say by which words.
type wordFlags struct {
	Words    int      `xor:"selection" placeholder:"N" help:"Keep the N words that gain most [c45, cn2: 300, nn: 500, others: all]." group:"words" expert:""`
	Mu       float64  `xor:"selection" placeholder:"X" help:"Keep the words whose information gain is at least X nats, or what --select ranks them by at least X." group:"words" expert:""`
	Select   []string `help:"How words are chosen for --words, --mu and as keywords: tfdf+gain, of those that are frequent in a class the ones that gain most; gain, the ones that gain most of all; by other measures chi2, bns or mi. Several are for --mu-sweep and --protocol [c45, cn2, nn, keywords: tfdf+gain, others: gain; --mu-sweep: tfdf+gain,gain; --protocol: tfdf+gain]." placeholder:"HOW" group:"words" expert:""`
	Pairs    bool     `help:"Two words that follow each other are a term too: five times as many terms." group:"words" expert:""`
	Chars    int      `placeholder:"N" help:"Runs of N characters in a word are terms too, for languages without stems and misspelt words; 4 is a good number [none]." group:"words" expert:""`
	MinSites int      `placeholder:"N" help:"Keep only words that occur on at least N sites: the name of one is no topic's [1]." group:"words" expert:""`
}

// classFlags say which labels are classes.
type classFlags struct {
	Labels []string `xor:"classes" placeholder:"A,B" help:"Only these labels; rows without are left out [all]." group:"rows"`
	Topic  string   `xor:"classes" placeholder:"LABEL" help:"LABEL against the rest, which is called other." group:"rows"`
}

// rowFlags say which rows train and test the model; they are plan.Rows.
type rowFlags struct {
	Level plan.Level `placeholder:"LEVEL" help:"Which of a row's labels is its class: theme the first, category the second, or its number from 0; both for --mu-sweep and --protocol [theme; there both, where there are]." group:"rows" expert:"" complete:"theme,category,both"`

	Rename     plan.Renames `sep:"none" placeholder:"OLD=NEW,..." help:"Give rows with the label OLD the label NEW, or with OLD= leave them out; OLD may be any of a row's labels, and the finest one counts. May be repeated." group:"rows" expert:""`
	PerSite    int          `placeholder:"N" help:"Of a site at most N pages of a label, drawn at random, so that no site dominates." group:"rows" expert:""`
	Train      string       `xor:"part" placeholder:"N|SHARE" help:"Train on so many pages, or on this share of each class, drawn at random; the rest is the test." group:"rows"`
	PerClass   string       `xor:"part" placeholder:"N|A=N,B=N" help:"Train on so many pages of each class; the rest is the test." group:"rows" expert:""`
	All        bool         `xor:"part" help:"Train on all rows, whatever split the sets have." group:"rows" expert:""`
	Partial    bool         `help:"Train on what can be read of an archive that is cut off or damaged; without, that is an error." group:"rows" expert:""`
	Where      []string     `sep:"none" placeholder:"FIELD=VALUE" help:"Only rows with this value; may be repeated." group:"rows"`
	Test       string       `xor:"test" placeholder:"SET" help:"Test on this set." group:"rows" complete:"sets"`
	Unlabelled []string     `sep:"none" placeholder:"SET" help:"Pages of the place where the model will be used, whatever their labels: those that it is surest of teach it their words. With --topic and training pages all on topic, what is surely off topic is found among them. May be repeated." group:"rows" expert:"" complete:"sets"`
	TestWhere  string       `xor:"test" placeholder:"FIELD=VALUE" help:"Test on the rows with this value, train on the others." group:"rows"`
}

// foldFlags say how the model is judged, and shown.
type foldFlags struct {
	Folds   int    `default:"5" placeholder:"K" help:"Folds of the cross-validation [5]." group:"methods" expert:""`
	Explain string `placeholder:"FILE" help:"Write a page of the whole model: its words, tree or rules, how good it is by class, learning curve, reliability, surest mistakes. Trains as often again." group:"made"`
	BySite  bool   `help:"Folds hold whole sites, so that the figures are those of sites never seen." group:"methods" expert:""`
}

// trialFlags are those that try settings instead of making a model.
type trialFlags struct {
	MuSweep  trials.MuRange `name:"mu-sweep" placeholder:"A:B:STEP" help:"Train at each μ from A to B, as 0.01:0.18:0.01, each classifier of --classifier, at the --level; without -o no model is made." group:"trials" expert:""`
	Protocol string         `enum:",banksearch" default:"" placeholder:"banksearch" help:"The experiment published for the BankSearch set of themes and categories: 77 words, 100 training pages a category (--words, --per-class), the rest to test; each classifier of --classifier, and golearn's own." group:"trials" expert:""`
	Themes   plan.Themes    `sep:"none" placeholder:"LABEL=THEME,..." help:"Themes of a set that has one level of labels; LABEL may end in * for all that begin so. newsgroups is those of 20 Newsgroups." group:"trials" expert:"" complete:"newsgroups"`
	HTML     string         `name:"html" placeholder:"FILE" help:"Draw the figures of --mu-sweep on one self-contained page." group:"trials" expert:""`
}

// spaceFlags bound what training takes.
type spaceFlags struct {
	Memory values.Size `default:"1GB" placeholder:"SIZE" help:"Memory that training may take, about; a larger set goes through a temporary file [1GB]." group:"space" expert:""`
	Tmp    string      `type:"existingdir" placeholder:"DIR" help:"Folder of the temporary file [the system's]." group:"space" expert:""`
}

func (trainCmd) Help() string {
	return `Trains a classifier and says how good it is: on the test rows when there are some (the set's own split, --test, --test-where, --train, --per-class), else by cross-validation; then test_pages is null in JSON. Thresholds and the calibration of probabilities come from cross-validation on the training rows alone.

Examples:
  fossick train demo -o demo.model
  fossick train demo --topic sport --classifier linear \
      --explain sport.html -o sport.model`
}

// MoreHelp implements help.More.
func (trainCmd) MoreHelp() string {
	return `Two labels, half of their pages to test on; and a site that the model has not seen:
  fossick train demo --labels banking,sport --classifier c45 \
      --train 0.5 -o two.model
  fossick train demo --test-where site=attic.test --classifier nb \
      -o unseen.model

How good are so many words, and by which classifier:
  fossick train demo --mu-sweep 0.02:0.06:0.02 --classifier c45,nb \
      --html sweep.html`
}

// leastMemory is the least --memory: the word lists and caches of a few languages.
const leastMemory = 16 << 20

// programMemory is what the program takes beside what grows with a set: readers,
// caches of words, the tagger.
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
		defer process.LimitHeap(int64(c.Memory) + programMemory)()
	}
	a.say("training on %s", strings.Join(c.Sets, ", "))
	work := a.task("reading the training pages", "pages")
	defer work.End()
	p.Options.Step = stepsOf(work)
	making := made.Making{Plan: p, Out: c.Out, Explain: c.Explain, Version: version}
	r, err := making.Make(a.ctx, func(rows datasets.Stream) datasets.Stream { return datasets.Counted(rows, work.Add) })
	if err != nil {
		return err
	}
	r.Result = tried
	return a.emit(r, r.Print)
}

// plan says what the flags name.
func (c trainCmd) plan(a *app) *plan.Plan {
	return &plan.Plan{
		Sets: c.Sets, Rows: plan.Rows(c.rowFlags), Themes: c.Themes, Tried: c.tries(),
		Options: c.options(a), Open: a.openSet, Say: a.say, Log: a.log,
	}
}

// options are the options of training that the flags name.
func (c trainCmd) options(a *app) train.Options {
	first, _, _ := strings.Cut(c.Classifier, ",") // of several the first makes the model
	var by features.Measure                       // likewise
	if len(c.Select) > 0 {
		by = features.Measure(c.Select[0])
	}
	return train.Options{
		Target: train.Target{Labels: c.Labels, Topic: c.Topic},
		Method: train.Method{
			Classifier: first, Loss: train.Loss(c.Loss), NN: train.NN{Hidden: c.Hidden, Networks: c.Networks},
			CN2: train.CN2{Ordered: c.CN2 == "ordered", Beam: c.Beam, Significance: c.Significance, Covers: c.Covers},
		},
		Terms:      train.Terms{Words: c.Words, Mu: c.Mu, Select: by, MinSites: c.MinSites, Pairs: c.Pairs, Chars: c.Chars},
		Validation: train.Validation{Folds: c.Folds, BySite: c.BySite},
		Space:      train.Space{Memory: int64(c.Memory), Tmp: c.Tmp},
		Origin:     train.Origin{Data: c.Sets},
		Seed:       a.seed, Explain: c.Explain != "", Log: a.log,
	}
}

// check refuses numbers that mean nothing.
func (c trainCmd) check() error {
	if c.Chars != 0 && (c.Chars < 2 || c.Chars > 8) { // 0 is none
		return usagef("--chars %d: want from 2 to 8 characters", c.Chars)
	}
	if c.Words < 0 || c.Mu < 0 || c.Folds < 2 || c.PerSite < 0 || c.MinSites < 0 {
		return usagef("--words %d, --mu %v, --folds %d, --per-site %d, --min-sites %d: want no negative numbers, and two folds at least", c.Words, c.Mu, c.Folds, c.PerSite, c.MinSites)
	}
	if c.Beam < 0 || c.Covers < 0 || c.Covers > 16 || !(c.Significance >= 0 && c.Significance < 1) { // 0 is the default, which demo takes
		return usagef("--beam %d, --significance %v, --covers %d: want no negative numbers, a significance below 1, and 16 covers at most", c.Beam, c.Significance, c.Covers)
	}
	if c.Hidden < 0 || c.Networks < 0 { // 0 is the default, which demo takes
		return usagef("--hidden %d, --networks %d: want 1 of each at least", c.Hidden, c.Networks)
	}
	if c.Memory != 0 && c.Memory < leastMemory { // 0 is the default, which demo takes
		return usagef("--memory %d: want 16MB at least", c.Memory)
	}
	if _, err := c.classifiers(); err != nil {
		return err
	}
	if _, err := c.selections(); err != nil {
		return err
	}
	if len(c.Unlabelled) > 0 && c.tries() && c.Out == "" {
		return usagef("--unlabelled teaches a model, and --mu-sweep and --protocol only try settings: name a model with -o, or leave --unlabelled out")
	}
	for flag, path := range map[string]string{"-o": c.Out, "--explain": c.Explain, "--html": c.HTML} {
		if path == "" {
			continue
		}
		if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() { // not after minutes of training
			return usagef("%s %s: there is no folder %s; make it first", flag, path, filepath.Dir(path))
		}
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return usagef("%s %s: it is a folder; name a file in it", flag, path)
		}
	}
	return nil
}

// tries says whether the flags ask to try settings.
func (f *trialFlags) tries() bool { return !f.MuSweep.None() || f.Protocol != "" }

// classifiers returns those that the flag names.
func (c trainCmd) classifiers() ([]string, error) {
	var names []string
	for name := range strings.SplitSeq(c.Classifier, ",") {
		if name = strings.TrimSpace(name); !slices.Contains(train.Classifiers(), name) {
			return nil, usagef("--classifier %s: want one of %s", c.Classifier, nearest.Some(c.Classifier, train.Classifiers()))
		}
		names = append(names, name)
	}
	switch {
	case !c.tries() && len(names) > 1:
		return nil, usagef("--classifier %s: one makes a model; several are for --mu-sweep and --protocol", c.Classifier)
	case c.tries() && slices.Equal(names, []string{train.Auto}):
		return without(train.Classifiers(), train.Auto, "nb", models.Voting, models.Stack), nil // paper A's three, and linear
	case c.tries() && (slices.Contains(names, train.Auto) || slices.Contains(names, models.Voting) || slices.Contains(names, models.Stack)):
		return nil, usagef("--classifier %s: auto, vote and stack choose anew for each number of words; name those to try", c.Classifier)
	}
	return names, nil
}

// selections returns the ways to choose words that the flag names.
func (c trainCmd) selections() (ways []features.Measure, err error) {
	for _, name := range c.Select {
		way, err := features.ParseMeasure(name)
		if err != nil {
			return nil, usagef("--select: %w", err)
		}
		ways = append(ways, way)
	}
	if !c.tries() && len(ways) > 1 {
		return nil, usagef("--select %s: one makes a model; several are for --mu-sweep and --protocol", strings.Join(c.Select, ","))
	}
	return ways, nil
}

func without(all []string, out ...string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(out, s) })
}

// trials runs the trials that the flags ask for, nil when none, and prints them
// unless a model is to be made too.
func (c trainCmd) trials(a *app, p *plan.Plan) (*trials.Result, error) {
	switch {
	case !c.tries() && c.Out == "":
		return nil, usagef("-o MODEL says where the model goes; only --mu-sweep and --protocol do without")
	case !c.tries() && c.HTML != "":
		return nil, usagef("--html %s: draws a sweep; give --mu-sweep, as 0.01:0.18:0.01", c.HTML)
	case !c.tries() && c.Level.Both:
		return nil, usagef("--level both: a model has classes of one level; give theme or category")
	case !c.tries():
		return nil, nil
	case c.HTML != "" && c.MuSweep.None():
		return nil, usagef("--html %s: draws a sweep; give --mu-sweep too", c.HTML)
	case !c.MuSweep.None() && c.Protocol == "" && c.Out == "" && (c.Words > 0 || c.Mu > 0):
		return nil, usagef("--mu-sweep chooses words by μ; leave out --words and --mu, or make a model of them with -o")
	}
	defer process.LimitHeap(int64(c.Memory) + programMemory)()
	names, err := c.classifiers()
	if err != nil {
		return nil, err
	}
	ways, err := c.selections()
	if err != nil {
		return nil, err
	}
	t := trials.Trials{Plan: *p, MuSweep: c.MuSweep, Protocol: c.Protocol, Classifiers: names, Select: ways, HTML: c.HTML, Task: a.task}
	r, err := t.Run(a.ctx)
	if err != nil || c.Out != "" {
		return r, err
	}
	return r, a.emit(r, r.Print)
}
