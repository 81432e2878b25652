package train

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"

	"fossick/datasets"
	"fossick/models"
	"fossick/models/features"

	"golang.org/x/sync/errgroup"
)

// Report says what a run read and found.
type Report struct {
	Pages      int
	PerClass   map[string]int
	LeftOut    int                // rows without a wanted label
	Unreadable int                // rows that could not be read, logged
	Accuracy   map[string]float64 // in cross-validation, by classifier
	CV         *Measures          // of the model's classifier, calibrated; nil when the set was too small
	KeywordsBy string             // which words K is of, in words
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
		learners = append(learners, fiveNets)
	}
	var m *models.Model
	var k map[string][]string
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) { // beside the rest: it takes one core, and a second or two
		k, err = c.keywords(ctx, &opt)
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

// learn chooses a learner, and makes a model of all pages by it.
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
		f.explain() // folds do without
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

// choose cross-validates the learners and returns the best, the first of equal
// ones, or a vote of theirs that does better; see poll.
func choose(ctx context.Context, c *corpus, learners []learner, opt *Options, rep *Report) (*heldOut, error) {
	fold, n := c.folds(opt)
	if n < 2 {
		opt.log().Warn("a class has a single page: no cross-validation; probabilities are not calibrated")
		return &heldOut{learner: learners[0]}, nil
	}
	every := upTo(n)
	votes := opt.together() || opt.auto() && c.room == nil // the scores of all need room
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

// judge calibrates m on the held-out pages, sets its thresholds, and measures.
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
	var cv Measures
	cv, rep.Calibrated = MeasureJudged(len(c.classes), pages)
	if len(held.ins) > 0 && !opt.BySite {
		cv.crossValidated(float64(len(held.ins[0])) / float64(len(c.y)))
	}
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
		Terms: f.terms(c), Weighting: f.weighting, Frequency: f.frequency(c), ClassPages: f.classPages(c), Titles: c.titles, Linear: f.linear, Tree: f.tree, Rules: f.rules, Network: f.network, Forest: f.forest,
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
	if c.room != nil && c.room.short.Load() {
		m.Card.Settings["words_at_most"] = fmt.Sprint(c.room.most)
	}
	for class, n := range c.classRows(c.all()) {
		m.Card.PerClass[c.classes[class]] = n
	}
	return m
}
