package train

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"fossick/datasets"
	"fossick/internal/cli"
	"fossick/models"
	"fossick/models/features"
)

// Report says what a training run read and found.
type Report struct {
	Pages      int
	PerClass   map[string]int
	LeftOut    int                // rows without a wanted label
	Unreadable int                // rows that could not be read, logged
	Accuracy   map[string]float64 // in cross-validation, by classifier
	CV         *measures          // of the model's classifier, calibrated; nil if the set was too small
	KeywordsBy string             // description of the words of K
	LostBelow  int                // terms on this many pages or fewer may be missing; 0: none
	Spilled    int64              // bytes of rows that went to a temporary file
	Calibrated reliabilityFigures // of CV
	Held       []judgedPage       // the pages of CV; with Options.Explain
	Curve      []CurvePoint       // the learning curve; with Options.Explain
	PU         *PU                // with Options.Unlabelled
}

// Train trains a model. It reads the examples once.
func Train(ctx context.Context, examples iter.Seq2[*datasets.Example, error], opt Options) (*models.Model, *Report, error) {
	if err := opt.complete(); err != nil {
		return nil, nil, err
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
	rep.KeywordsBy = c.nouns.how()
	if opt.auto() && !opt.stacks() && c.few(&opt) {
		learners = append(learners, nn{})
	}
	var m *models.Model
	var k map[string][]string
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) { // in parallel: it takes one core for a second or two
		k, err = c.keywords(ctx)
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

// learn chooses a learner and makes a model of all pages by it.
func learn(ctx context.Context, c *corpus, learners []learner, opt *Options, rep *Report) (*models.Model, error) {
	by := choose
	if opt.Topic != "" && opt.Classifier != models.Voting {
		by = chooseTopical
	}
	held, err := by(ctx, c, learners, opt, rep)
	if err != nil {
		return nil, err
	}
	if opt.Explain && held.scores != nil {
		opt.step("drawing the learning curve")
		if rep.Curve, err = learningCurve(ctx, c, held, opt.BySite, opt.fitting()); err != nil {
			return nil, err
		}
	}
	opt.step("training %s on all pages", held.learner.name())
	f, err := held.learner.fit(ctx, c, c.all(), opt.fitting())
	if err != nil {
		return nil, err
	}
	if f.explain != nil {
		f.explain() // not needed in folds
	}
	m := f.model(c, held.learner.name(), opt)
	judge(m, c, held, opt, rep)
	m.Domain = c.domain(f, m, held)
	if rep.LostBelow > 0 {
		m.Card.Settings["terms_lost_below"] = fmt.Sprint(rep.LostBelow)
	}
	return m, nil
}

func (c *corpus) all() []int { return upTo(len(c.y)) }

// choose returns the best cross-validated learner, the first of ties, or a better vote; see poll.
func choose(ctx context.Context, c *corpus, learners []learner, opt *Options, rep *Report) (*heldOut, error) {
	fold, n := c.folds(opt)
	if n < 2 {
		opt.log().Warn("a class has a single page: no cross-validation; probabilities are not calibrated")
		return &heldOut{learner: learners[0]}, nil
	}
	every := upTo(n)
	votes := opt.together() || opt.auto() && c.room == nil // keeping the scores of all needs room
	var all []*heldOut
	var top *heldOut
	for _, l := range learners {
		var h *heldOut
		var err error
		opt.step("cross-validating %s", l.name())
		if _, ok := l.(linear); ok {
			h, err = tune(ctx, c, fold, enoughFolds(every, len(c.y), len(learners)), opt.fitting())
		} else {
			h, err = crossValidate(ctx, c, l, fold, every, opt.fitting())
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
		var v *heldOut
		if opt.stacks() {
			v = stacked(nominees(all, c.y, opt.Seed), c.y)
		} else {
			v = poll(all, c.y, opt.together(), opt.Seed)
		}
		if v != top {
			top = v
			opt.log().Info("cross-validated", "classifier", v.learner.name(), "accuracy", v.score, "members", v.learner)
			rep.Accuracy[v.learner.name()] = v.score
		}
	}
	top.ins, top.outs = top.parts(fold, n)
	return top, nil
}

// judge calibrates m, sets its thresholds and measures it, on the held-out pages.
func judge(m *models.Model, c *corpus, held *heldOut, opt *Options, rep *Report) {
	m.Thresholds = slices.Repeat([]float64{0.5}, len(c.classes))
	m.Calibration.Scale = 1
	if held.scores == nil {
		return
	}
	scores, y := held.judged(c.y)
	if held.rounds != nil {
		m.Calibration, m.Thresholds = c.topical(held)
	} else {
		m.Calibration = calibrate(scores, y)
		m.Thresholds = thresholds(scores, y)
	}
	pages := c.judged(held.scores, opt.BySite)
	var cv measures
	cv, rep.Calibrated = measureJudged(len(c.classes), pages)
	if len(held.ins) > 0 && !opt.BySite {
		cv.crossValidated(float64(len(held.ins[0])) / float64(len(c.y)))
	}
	rep.CV = &cv
	if c.from != nil {
		rep.Held = pages
	}
	m.Card.CV = &models.Score{Pages: cv.Pages, Accuracy: cv.Accuracy, MacroF1: cv.MacroF1}
}

func (f *fitted) model(c *corpus, name string, opt *Options) *models.Model {
	pages := f.classPages(c)
	m := &models.Model{
		Classifier: name, Classes: c.classes, Extractor: c.extractor,
		Terms: f.terms(c), Weighting: f.weighting, Frequency: frequency(pages, len(c.rows)), ClassPages: pages, Titles: c.titles,
		Linear: f.linear, Tree: f.tree, Rules: f.rules, Network: f.network, Forest: f.forest,
		Card: models.Card{
			Data: opt.Data, Split: opt.Split, Pages: len(c.rows), PerClass: map[string]int{},
			Settings: maps.Clone(f.settings), Seed: opt.Seed, Marks: c.marks,
		},
	}
	if !slices.ContainsFunc(m.Terms, features.IsLead) {
		m.Extractor.Lead = 0 // the extractor need not look for one
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
	if c.room != nil && c.room.short.Load() {
		m.Card.Settings["words_at_most"] = fmt.Sprint(c.room.most)
	}
	for class, n := range c.classRows(c.all()) {
		m.Card.PerClass[c.classes[class]] = n
	}
	return m
}

// Options say what to train. The zero value chooses the classifier by cross-validation.
type Options struct {
	Target
	Classifier string // one of Classifiers; "" is auto
	Ordered    bool   // cn2 learns a decision list (Clark & Niblett 1989), not rules per class (Clark & Boswell 1991)

	Words    int              // keep this many terms, those with the highest gain; 0 is the classifier's default
	Mu       float64          // keep the terms that gain at least this much (paper A eq. 5), in nats
	Select   features.Measure // ranks words for Words, Mu and K; "" is each learner's own
	MinSites int              // keep only terms of at least this many sites, because a site's own names are no topic; 0 is 1

	Folds  int  // of the cross-validation; 0 is 5
	BySite bool // folds hold whole sites, so that knowing a site's menus does not help

	Memory int64 // bytes that training may hold, approximately; 0 is 1 GiB (docs/classifiers.md)

	Data  []string // names of the sets, for the model's card
	Split string   // the part of them used, for the card

	Seed    int64
	Explain bool // also fill Report.Held and Report.Curve

	Log *slog.Logger // nil is silent
	// Step receives a description of each step, from any goroutine; it may be nil.
	Step func(what string)
}

// Target says which class a page has; see Class.
type Target struct {
	Labels     []string // only these classes
	Topic      string   // this class against the rest
	Unlabelled bool     // with Topic: pages that are not of it are unlabelled; see PU
}

type selection struct {
	words int
	mu    float64
	by    features.Measure // "" is the learner's own
}

// or fills in the learner's own defaults.
func (s selection) or(words int, by features.Measure) selection {
	if !s.asked() {
		s.words = words
	}
	s.by = cmp.Or(s.by, by)
	return s
}

func (s selection) asked() bool { return s.words > 0 || s.mu > 0 }

type fitting struct {
	selection
	seed  int64
	trial bool // the classifier is judged and discarded
}

func (o *Options) fitting() fitting {
	return fitting{selection: selection{o.Words, o.Mu, o.Select}, seed: o.Seed}
}

// measures returns the ways in which the learners may rank words: two steps for rules, trees and networks,
// gain alone for linear ones. plain is for trials, which may use any.
func (o *Options) measures(plain bool) []features.Measure {
	two, one := features.ByTFDFGain, features.ByGain
	switch {
	case o.Select != "":
		return []features.Measure{o.Select}
	case plain, o.auto():
		return []features.Measure{two, one}
	case o.weighs():
		return []features.Measure{one}
	}
	return []features.Measure{two}
}

// Auto chooses the classifier by cross-validation.
const Auto = "auto"

// Classifiers returns the values that Options.Classifier may have.
func Classifiers() []string {
	return []string{Auto, models.C45, models.CN2, models.NN, models.LinearSVM, models.NaiveBayes, models.Trees, models.Voting, models.Stack}
}

// auto reports whether learners compete or vote.
func (o *Options) auto() bool {
	return o.Classifier == "" || o.Classifier == Auto || o.together()
}

// together reports whether several learners make the model.
func (o *Options) together() bool { return o.Classifier == models.Voting || o.stacks() }

func (o *Options) stacks() bool { return o.Classifier == models.Stack }

// weighs reports whether the classifier is a table of weights.
func (o *Options) weighs() bool {
	return o.Classifier == models.LinearSVM || o.Classifier == models.NaiveBayes
}

func (o *Options) selected() bool { return o.Words > 0 || o.Mu > 0 }

func (o *Options) learners() ([]learner, error) {
	rules := newCN2(o.Ordered)
	nb := []learner{bayes{complement: true}, bayes{}}
	switch o.Classifier {
	case "", Auto, models.Voting:
		all := append([]learner{linear{}, c45{}}, nb...)
		if o.selected() {
			// Rules win on few words at times, never on all. Train adds networks where words and pages are
			// few enough.
			all = append(all, rules)
		}
		return all, nil
	case models.LinearSVM:
		return []learner{linear{}}, nil
	case models.NaiveBayes:
		return nb, nil
	case models.C45:
		return []learner{c45{}}, nil
	case models.CN2:
		return []learner{rules}, nil
	case models.Trees:
		return []learner{forest{}}, nil
	case models.Stack:
		return []learner{linear{}, forest{}, rules}, nil
	case models.NN:
		return []learner{nn{}}, nil
	}
	return nil, fmt.Errorf("no classifier %q; choose one of %s", o.Classifier, cli.SomeNames(o.Classifier, Classifiers()))
}

// extractor returns how terms are extracted; plain is for trials. Stop words stay, because "I" and "my"
// tell a student's page from a course's.
func (o *Options) extractor(plain bool) features.ExtractorOptions {
	return features.ExtractorOptions{
		Analyzer: features.AnalyzerOptions{KeepStop: true, Numbers: features.NumbersShape},
		Fields:   true,
		Lead:     o.lead(plain),
	}
}

// leadWords is the length of the lead (features.ExtractorOptions): a compromise between home pages, for
// which 25 words do best, and articles, for which 50 do.
const leadWords = 32

// lead returns the lead's length: 0 for selected words, half of which would repeat words of the text.
func (o *Options) lead(plain bool) int {
	if !o.auto() && !o.weighs() || plain || o.selected() {
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

func (o *Options) complete() (err error) {
	if o.Folds == 0 {
		o.Folds = 5
	}
	if o.Folds < 2 || o.Words < 0 || o.MinSites < 0 || o.Mu < 0 || o.Memory < 0 {
		return fmt.Errorf("training with %d folds, %d words, μ %v; want at least 2 folds, and no negative numbers", o.Folds, o.Words, o.Mu)
	}
	o.Select, err = features.ParseMeasure(string(o.Select))
	return err
}

// Costs in Options.Memory, in bytes.
const (
	defaultMemory = 1 << 30

	// A term: its string twice, entries in two maps, its frequencies, its written forms.
	termBytes = 256
	// A term of a page, as number and count: in the rows, and in each fold's copy.
	cellBytes = 8
)

func (o *Options) memory() int64 { return cmp.Or(o.Memory, defaultMemory) }

// lexiconTerms is the most terms of the lexicon, which gets a quarter of the memory.
func (o *Options) lexiconTerms() int { return int(max(1000, o.memory()/4/termBytes)) }

// rowBytes is the most bytes of rows in memory while the set is read.
func (o *Options) rowBytes() int { return int(o.memory() / 8) }

// cells is how many terms of pages fit when so many folds are trained at once. They get three quarters of
// the memory, because the lexicon is freed by then.
func (o *Options) cells(folds int) int64 { return max(1, o.memory()*3/4/int64(cellBytes*(1+folds))) }

// countedTerms is how many terms can be counted by class at once.
func (o *Options) countedTerms(classes int) int {
	return int(max(1000, o.memory()/4/8/int64(classes)))
}

// parallel calls f with 0 to n−1, at most limit at a time, until one fails.
func parallel(ctx context.Context, limit, n int, f func(ctx context.Context, i int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(limit)
	for i := range n {
		g.Go(func() error { return f(ctx, i) })
	}
	return g.Wait()
}

// upTo returns 0 to n−1.
func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}
