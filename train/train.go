package train

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"fossick/datasets"
	"fossick/features"
	"fossick/models"

	"golang.org/x/sync/errgroup"
)

// Options say what to train. The zero value chooses the classifier itself.
type Options struct {
	Classifier string   // one of Classifiers; "" is auto
	Words      int      // keep this many terms, those that gain most; 0 is the classifier's default
	Mu         float64  // keep terms that gain this much at least (paper A eq. 5), in nats
	Explain    bool     // also find out what Report.Held and Report.Curve say
	Labels     []string // only these classes; see Class
	Topic      string   // this class against the rest
	Unlabelled bool     // with Topic: the pages that are not of it are unlabelled; see PU
	Folds      int      // of the cross-validation; 0 is 5
	MinSites   int      // keep only terms of so many sites, for the names of a few are no topic's; 0 is 1
	BySite     bool     // folds hold whole sites: what is learnt of a site's menus must not count
	Keywords   int      // words of K a class; 0 is 20
	Seed       int64
	CN2        CN2  // how rules are learnt
	NN         NN   // how networks are trained
	Loss       Loss // what linear minimises; "" is Hinge
	Pairs      bool // pairs of words are terms too
	Chars      int  // runs of so many characters in a word are terms too; 0 is none

	Select features.Measure // how words are ranked for Words and Mu; "" is information gain
	Memory int64            // bytes that a run may hold, about; 0 is 1 GiB. See docs/training.md
	Tmp    string           // folder for rows that do not fit; "" is the system's

	Data  []string // the sets, for the card
	Split string   // which part of them, for the card

	Log *slog.Logger // nil is silent
	// Step is told what goes on, in a few words, from any goroutine; nil when nobody asks.
	Step func(what string)

	plain bool // no model is made: K needs no words
}

// Auto chooses the classifier by cross-validation.
const Auto = "auto"

// Classifiers returns what Options.Classifier may be.
func Classifiers() []string {
	return []string{Auto, models.C45, models.CN2, models.NN, models.LinearSVM, models.NaiveBayes, models.Voting}
}

// auto reports whether learners are chosen, or vote.
func (o *Options) auto() bool { return o.Classifier == "" || o.Classifier == Auto || o.mustVote() }

func (o *Options) mustVote() bool { return o.Classifier == models.Voting }

func (o *Options) learners() ([]learner, error) {
	nb := []learner{bayes{complement: true}, bayes{}}
	switch o.Classifier {
	case "", Auto, models.Voting:
		all := append([]learner{linear{}, c45{}}, nb...)
		if o.Words > 0 || o.Mu > 0 {
			// Rules win on few words at times; on all words linear does, so their time
			// is saved. Train adds networks, when words and pages are few enough.
			all = append(all, cn2{})
		}
		return all, nil
	case models.LinearSVM:
		return []learner{linear{}}, nil
	case models.NaiveBayes:
		return nb, nil
	case models.C45:
		return []learner{c45{}}, nil
	case models.CN2:
		return []learner{cn2{}}, nil
	case models.NN:
		return []learner{nn{}}, nil
	}
	return nil, fmt.Errorf("no classifier %q; there are %s", o.Classifier, strings.Join(Classifiers(), ", "))
}

// extractor returns what terms pages have. Stop words stay, for "I" and "my"
// tell a student's page from a course's. Pairs of words gain less than half a
// point of accuracy and make models five times as large: see docs/classifiers.md.
func (o *Options) extractor() features.ExtractorOptions {
	return features.ExtractorOptions{
		Analyzer: features.AnalyzerOptions{KeepStop: true, Numbers: features.NumbersShape},
		Fields:   true,
		Lead:     o.lead(),
		Bigrams:  o.Pairs,
		Chars:    o.Chars,
	}
}

// leadWords is the length of the lead, see features.ExtractorOptions: of 25, 50 and
// 100 words, folds of whole universities of WebKB like 25 best, those of
// Wikispeedia 50.
const leadWords = 32

// lead returns the length of the lead: none where words are selected, for its terms
// are words of the text again, and of a few hundred they would be half.
func (o *Options) lead() int {
	all := o.auto() || o.Classifier == models.LinearSVM || o.Classifier == models.NaiveBayes
	if !all || o.plain || o.Words > 0 || o.Mu > 0 {
		return 0
	}
	return leadWords
}

func (o *Options) step(format string, args ...any) {
	if o.Step != nil {
		o.Step(fmt.Sprintf(format, args...))
	}
}

func (o *Options) log() *slog.Logger {
	if o.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return o.Log
}

// Report says what a run read and found.
type Report struct {
	Pages      int
	PerClass   map[string]int
	LeftOut    int                // rows without a wanted label
	Unreadable int                // rows that could not be read, logged
	Accuracy   map[string]float64 // in cross-validation, by classifier
	CV         *Measures          // of the model's classifier, calibrated; nil when the set was too small
	LostBelow  int                // terms on so many pages or fewer may be missing; 0: none is
	Spilled    int64              // bytes of rows that went to a file
	Calibrated Reliability        // of CV
	Held       []Judged           // what CV sums up, by page; with Options.Explain
	Curve      []CurvePoint       // the learning curve; with Options.Explain
	PU         *PU                // with Options.Unlabelled
}

// Train trains a model. The examples are read once.
func Train(ctx context.Context, examples iter.Seq2[*datasets.Example, error], opt Options) (*models.Model, *Report, error) {
	if err := opt.complete(); err != nil {
		return nil, nil, err
	}
	if err := opt.NN.check(); err != nil {
		return nil, nil, err
	}
	if !slices.Contains([]Loss{"", Hinge, Logistic, BestLoss}, opt.Loss) {
		return nil, nil, fmt.Errorf("no loss %q; there are %s, %s and %s", opt.Loss, Hinge, Logistic, BestLoss)
	}
	learners, err := opt.learners()
	if err != nil {
		return nil, nil, err
	}
	rep := &Report{Accuracy: map[string]float64{}}
	c, err := gather(ctx, examples, &opt, rep)
	if err != nil {
		return nil, nil, err
	}
	if opt.auto() && c.few(&opt) {
		learners = append(learners, nn{})
	}
	var m *models.Model
	var k map[string][]string
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) { // beside the rest: it takes one core, and a second or two
		k, err = keywords(ctx, c, &opt)
		return err
	})
	g.Go(func() (err error) {
		if opt.Unlabelled {
			m, err = learnPU(ctx, c, &opt, rep)
			return err
		}
		m, err = learn(ctx, c, learners, &opt, rep)
		return err
	})
	if err := g.Wait(); err != nil {
		return nil, nil, err
	}
	m.Keywords = k
	if err := m.Check(); err != nil {
		return nil, nil, err
	}
	return m, rep, nil
}

// complete fills in defaults and refuses what makes no sense.
func (o *Options) complete() (err error) {
	if o.Folds == 0 {
		o.Folds = 5
	}
	if o.Folds < 2 || o.Words < 0 || o.MinSites < 0 || o.Mu < 0 || o.Memory < 0 || o.Chars < 0 {
		return fmt.Errorf("training with %d folds, %d words, μ %v; want 2 folds at least, and no negative numbers", o.Folds, o.Words, o.Mu)
	}
	if o.Select, err = features.ParseMeasure(string(o.Select)); err != nil {
		return err
	}
	return o.CN2.check()
}

// learn chooses a learner, and makes a model of all pages by it.
func learn(ctx context.Context, c *corpus, learners []learner, opt *Options, rep *Report) (*models.Model, error) {
	held, err := choose(ctx, c, learners, opt, rep)
	if err != nil {
		return nil, err
	}
	if opt.Explain && held.scores != nil {
		opt.step("drawing the learning curve")
		if rep.Curve, err = learningCurve(ctx, c, held, opt); err != nil {
			return nil, err
		}
	}
	opt.step("training %s on all pages", held.learner.name())
	f, err := held.learner.fit(ctx, c, c.all(), opt)
	if err != nil {
		return nil, err
	}
	if f.explain != nil {
		f.explain() // folds do without
	}
	m := f.model(c, held.learner.name(), opt)
	judge(m, c, held, rep)
	if rep.LostBelow > 0 {
		m.Card.Settings["terms_lost_below"] = fmt.Sprint(rep.LostBelow)
	}
	return m, nil
}

func (c *corpus) all() []int {
	pages := make([]int, len(c.y))
	for i := range pages {
		pages[i] = i
	}
	return pages
}

// choose cross-validates the learners and returns the best, the first of equal
// ones, or a vote of theirs that does better; see poll.
func choose(ctx context.Context, c *corpus, learners []learner, opt *Options, rep *Report) (*heldOut, error) {
	fold, n := c.folds(opt)
	if n < 2 {
		opt.log().Warn("a class has a single page: no cross-validation; probabilities are not calibrated")
		return &heldOut{learner: learners[0]}, nil
	}
	every := everyFold(n)
	votes := opt.mustVote() || opt.auto() && c.room == nil // the scores of all need room
	var all []*heldOut
	var top *heldOut
	for _, l := range learners {
		var h *heldOut
		var err error
		opt.step("cross-validating %s", l.name())
		if _, ok := l.(linear); ok {
			h, err = tune(ctx, c, fold, enoughFolds(every, len(c.y), len(learners)), opt)
		} else {
			h, err = crossValidate(ctx, c, l, fold, every, opt)
		}
		if err != nil {
			return nil, err
		}
		opt.log().Info("cross-validated", "classifier", l.name(), "accuracy", h.score)
		rep.Accuracy[l.name()] = max(rep.Accuracy[l.name()], h.score)
		if top == nil || h.score > top.score {
			top = h
		}
		if votes {
			all = append(all, h)
		}
	}
	if votes {
		if v := poll(all, c.y, opt.mustVote(), opt.Seed); v != top {
			top = v
			opt.log().Info("cross-validated", "classifier", v.learner.name(), "accuracy", v.score, "members", v.learner)
			rep.Accuracy[v.learner.name()] = v.score
		}
	}
	top.ins, top.outs = top.parts(fold, n)
	return top, nil
}

// judge calibrates m on the held-out pages, sets its thresholds, and measures.
func judge(m *models.Model, c *corpus, held *heldOut, rep *Report) {
	m.Thresholds = slices.Repeat([]float64{0.5}, len(c.classes))
	if m.Tree == nil {
		m.Calibration.Scale = 1
	}
	if held.scores == nil {
		return
	}
	scores, y := held.judged(c.y)
	if m.Tree == nil {
		m.Calibration = calibrate(scores, y)
	}
	m.Thresholds = thresholds(scores, y)
	pages := c.judged(held.scores)
	var cv Measures
	cv, rep.Calibrated = MeasureJudged(len(c.classes), pages)
	rep.CV = &cv
	if c.from != nil {
		rep.Held = pages
	}
	m.Card.CV = &models.Score{Pages: cv.Pages, Accuracy: cv.Accuracy, MacroF1: cv.MacroF1}
}

// model makes a model of f, without calibration.
func (f *fitted) model(c *corpus, name string, opt *Options) *models.Model {
	m := &models.Model{
		Classifier: name, Classes: c.classes, Extractor: c.extractor,
		Terms: f.terms(c), Weighting: f.weighting, Frequency: f.frequency(c), ClassPages: f.classPages(c), Titles: c.titles, Linear: f.linear, Tree: f.tree, Rules: f.rules, Network: f.network,
		Card: models.Card{
			Data: opt.Data, Split: opt.Split, Pages: len(c.rows), PerClass: map[string]int{},
			Settings: maps.Clone(f.settings), Seed: opt.Seed, Marks: c.marks,
		},
	}
	if !slices.ContainsFunc(m.Terms, features.IsLead) {
		m.Extractor.Lead = 0 // not to be looked for
	}
	if f.ballot != nil {
		m.Vote = f.ballot.model(m, f, c, opt)
	}
	if opt.BySite {
		m.Card.Settings["folds"] = "whole sites"
	}
	if opt.MinSites > 0 {
		m.Card.Settings["min_sites"] = fmt.Sprint(opt.MinSites)
	}
	if opt.Words > 0 {
		m.Card.Settings["words"] = fmt.Sprint(opt.Words)
	}
	if opt.Mu > 0 {
		m.Card.Settings["mu"] = fmt.Sprint(opt.Mu)
	}
	if c.measure != features.ByGain {
		m.Card.Settings["select"] = string(c.measure)
	}
	if c.room != nil && c.room.short.Load() {
		m.Card.Settings["words_at_most"] = fmt.Sprint(c.room.most)
	}
	for class, n := range c.classRows(c.all()) {
		m.Card.PerClass[c.classes[class]] = n
	}
	return m
}
