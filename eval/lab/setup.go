package lab

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"fossick/classify"
	"fossick/crawler"
	"fossick/crawler/plan"
	"fossick/datasets"
	"fossick/internal/cli"
	"fossick/models"
	"fossick/models/features"
	"fossick/relevance"
	"fossick/relevance/learned"
	"fossick/train"
	"fossick/train/topics"
)

// Setup is a plan with everything that its crawls need.
type Setup struct {
	experiment
	Topic *models.Topic // holds the page classifier

	plan         *Plan
	keywords     []*relevance.Keywords // K by start set; nil when no policy needs it
	judgeTrained *float64              // share of the corpus in the judge's training set
	order        *learned.Order        // nil: that of this build
	loaded       time.Time             // when corpus and page classifier were ready
}

// Prepare loads the corpus, draws, trains, and builds the policies.
func (p *Plan) Prepare(ctx context.Context) (*Setup, error) {
	s := &Setup{plan: p}
	err := s.read(ctx)
	if err != nil {
		return nil, err
	}
	if s.Manners, err = p.manners(); err != nil {
		return nil, err
	}
	if s.Pages = p.Pages; s.Pages == 0 {
		s.Pages = max(p.Starts, len(s.Corpus.Rows)/20)
	}
	opt := drawOptions{Topic: p.Topic, Starts: p.Starts, Sets: p.StartSets}
	if opt.Truth, err = s.truth(); err != nil {
		return nil, err
	}
	switch {
	case p.Train != "":
		if opt.Training, err = s.trainedOn(); err != nil {
			return nil, err
		}
	case p.Model == "":
		if opt.Train = p.TrainPages; opt.Train == 0 {
			opt.Train = defaultTrainPages
		}
	}
	if s.Draw, err = newDraw(s.Corpus, opt, p.Random(0x1ab)); err != nil {
		return nil, err
	}
	if err := s.train(ctx); err != nil {
		return nil, err
	}
	s.loaded = time.Now()
	s.Policies, err = s.policies(ctx)
	return s, err
}

func (s *Setup) read(ctx context.Context) error {
	set, err := s.plan.Open(s.plan.Corpus, datasets.Options{})
	if err != nil {
		return err
	}
	s.Corpus, err = Load(ctx, set)
	return err
}

func (s *Setup) trainedOn() ([]bool, error) {
	set, err := s.plan.Open(s.plan.Train, datasets.Options{})
	if err != nil {
		return nil, err
	}
	marks := make([]bool, len(s.Corpus.Rows))
	for e, err := range set.Examples() {
		if err != nil {
			return nil, err
		}
		if n := s.Corpus.Find(e.URL); n >= 0 {
			marks[n] = true
		}
	}
	return marks, nil
}

// examples yields the rows first, then the training pages, labelled by the truth.
func (s *Setup) examples(first []int) datasets.Stream {
	return func(yield func(*datasets.Example, error) bool) {
		for _, n := range first {
			if !yield(s.example(n), nil) {
				return
			}
		}
		for n, training := range s.Draw.Training {
			if training && !yield(s.example(n), nil) {
				return
			}
		}
	}
}

// truth returns the truth to judge by; nil for the labels of the corpus or the judge.
func (s *Setup) truth() (*datasets.Truth, error) {
	p := s.plan
	switch {
	case p.Truth != "":
		truth, err := datasets.ReadTruth(p.Truth)
		if err != nil {
			return nil, err
		}
		if err := truth.Known(p.Topic); err != nil {
			return nil, cli.Usagef("%w; choose one with --topic", err)
		}
		return truth, nil
	case p.Judge != "":
		return nil, s.judge()
	case !slices.ContainsFunc(s.Corpus.Rows, func(row *corpusRow) bool { return row.Labels.Match(p.Topic) }):
		return nil, cli.Usagef("--topic %s: no page of %s has this label; it has %s", p.Topic, p.Corpus, cli.SomeNames(p.Topic, s.labels()))
	}
	return nil, nil
}

func (s *Setup) labels() []string {
	labels := map[string]bool{}
	for _, row := range s.Corpus.Rows {
		if l := row.Labels.Label; l != "" {
			labels[l] = true
		}
	}
	return cli.SortedKeys(labels)
}

// judge labels every page of the corpus with the judge model, by the model's own threshold.
func (s *Setup) judge() error {
	p := s.plan
	c, err := topics.Classifier(p.Judge)
	if err != nil {
		return err
	}
	topic, err := train.NewTopic(c, p.Judge, p.Topic, "")
	if err != nil {
		return err
	}
	p.Work.Step("judging the pages", 0)
	for _, row := range s.Corpus.Rows {
		row.Labels = datasets.Labels{}
	}
	eachPage(s.Corpus, func(n int, d features.Doc) {
		s.Corpus.Rows[n].Labels.Label = p.labelOf(topic.Relevant(d))
	})
	s.judgeTrained = topic.Known.Share()
	return nil
}

func (p *Plan) labelOf(onTopic bool) string {
	if onTopic {
		return p.Topic
	}
	return train.Other
}

func eachPage(c *Corpus, do func(n int, d features.Doc)) {
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for n, row := range c.Rows {
		if row.Page != nil {
			g.Go(func() error { do(n, features.Doc(row.Page.Fields())); return nil })
		}
	}
	_ = g.Wait() // the functions return no error
}

// train sets the topic and its model, read from a file or trained on the drawn pages.
func (s *Setup) train(ctx context.Context) (err error) {
	p := s.plan
	s.Topic = &models.Topic{Name: p.Topic, Keywords: p.Keywords}
	if p.Model == "" {
		s.Topic.Model, err = s.trainModel(ctx)
		return err
	}
	s.Topic.Model, err = topics.Model(p.Model)
	if err == nil && s.Topic.Model.Class(p.Topic) < 0 {
		err = cli.Usagef("--topic %s: the model has no such label; it knows %s", p.Topic, cli.SomeNames(p.Topic, s.Topic.Model.Classes))
	}
	return err
}

func (s *Setup) trainModel(ctx context.Context) (*models.Model, error) {
	p := s.plan
	examples, data := s.examples(s.startsInstead()), p.Corpus
	if p.Train != "" {
		set, err := p.Open(p.Train, datasets.Options{})
		if err != nil {
			return nil, err
		}
		examples, data = set.Examples(), p.Train
	}
	p.Work.Step("training", 0)
	p.Say("training the page classifier on %s", data)
	m, _, err := train.Train(ctx, examples, train.Options{
		Target: train.Target{Topic: p.Topic}, Seed: p.Seed,
		Data: []string{filepath.Base(data)}, Log: p.Log,
		Step: func(what string) { p.Work.Step(what, 0) },
	})
	if err != nil {
		return nil, fmt.Errorf("page classifier: %w", err)
	}
	return m, nil
}

const fewOnTopic = 2

// startsInstead returns all start pages when the training set has fewer than fewOnTopic on-topic pages.
func (s *Setup) startsInstead() []int {
	onTopic := 0
	for n, training := range s.Draw.Training {
		if training && s.Draw.Relevant[n] {
			onTopic++
		}
	}
	if onTopic >= fewOnTopic {
		return nil
	}
	var all []int
	for _, rows := range s.Draw.Starts {
		all = append(all, rows...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (s *Setup) example(n int) *datasets.Example {
	e := s.Corpus.example(n)
	e.Label, e.Labels = s.plan.labelOf(s.Draw.Relevant[n]), nil
	return e
}

// quality measures the page classifier outside its training set. It warns of a model trained on the corpus.
func (s *Setup) quality() (modelQuality, error) {
	c, err := classify.New(s.Topic.Model)
	if err != nil {
		return modelQuality{}, err
	}
	topic, err := train.NewTopic(c, s.plan.Model, s.Topic.Name, "")
	if err != nil {
		return modelQuality{}, err
	}
	var kept, right, all atomic.Int64
	eachPage(s.Corpus, func(n int, d features.Doc) {
		if s.Draw.Training[n] {
			return
		}
		yes := topic.Relevant(d)
		if yes {
			kept.Add(1)
		}
		if s.Draw.Relevant[n] {
			all.Add(1)
			if yes {
				right.Add(1)
			}
		}
	})
	if text := topic.Known.Warning(); text != "" && s.plan.Model != "" {
		s.plan.Say("%s: %s", s.plan.Model, text)
	}
	return modelQuality{Precision: share(right.Load(), kept.Load()), Recall: share(right.Load(), all.Load())}, nil
}

func share(k, n int64) *float64 {
	if n == 0 {
		return nil
	}
	s := float64(k) / float64(n)
	return &s
}

// chooseKeywords sets K for every start set: --keywords, else the model's, else chosen from training and start
// pages (paper A, section 3: from a dictionary and the start pages).
func (s *Setup) chooseKeywords(ctx context.Context) error {
	s.plan.Say("choosing keywords")
	s.plan.Work.Step("choosing keywords", 0)
	s.keywords = make([]*relevance.Keywords, len(s.Draw.Starts))
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for set := range s.keywords {
		g.Go(func() error {
			words, err := s.keywordsOf(ctx, set)
			if err == nil {
				s.keywords[set], err = relevance.NewKeywords(words)
			}
			if err != nil {
				return cli.Usagef("topic %s: %w", s.plan.Topic, err)
			}
			s.keywords[set].Remember()
			return nil
		})
	}
	return g.Wait()
}

func (s *Setup) keywordsOf(ctx context.Context, set int) ([]string, error) {
	p := s.plan
	switch {
	case len(p.Keywords) > 0:
		return p.Keywords, nil
	case p.Model != "" || p.Train != "":
		return s.Topic.Model.Keywords[p.Topic], nil
	}
	k, _, err := train.Keywords(ctx, s.examples(s.Draw.Starts[set]), train.Options{Target: train.Target{Topic: p.Topic}, Seed: p.Seed, Log: p.Log})
	return k[p.Topic], err
}

func (s *Setup) policies(ctx context.Context) ([]crawlPolicy, error) {
	l, err := plan.NewLabeller(s.Topic)
	if err != nil {
		return nil, err
	}
	l.Remember()
	in := plan.Input{Labeller: l, Threshold: plan.DefaultThreshold, Topics: 1, Order: s.order}
	if slices.ContainsFunc(s.plan.Policy, needsKeywords) {
		if err := s.chooseKeywords(ctx); err != nil {
			return nil, err
		}
	}
	var all []crawlPolicy
	for _, name := range s.plan.Policy {
		if slices.ContainsFunc(all, func(p crawlPolicy) bool { return p.Name == name }) {
			return nil, cli.Usagef("policy %s is given twice", name)
		}
		p, err := s.policy(name, in)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

func needsKeywords(name string) bool {
	p, _, err := plan.Parse(name)
	return err == nil && p.NeedsKeywords()
}

func (s *Setup) policy(name string, in plan.Input) (crawlPolicy, error) {
	if _, is := oracles[name]; is {
		return oraclePolicy(name), nil
	}
	p, rho, err := plan.Parse(name)
	if err != nil {
		return crawlPolicy{}, err
	}
	return crawlPolicy{Name: name, New: func(run crawlRun) (crawler.Options, error) {
		own := in
		if s.keywords != nil && p.NeedsKeywords() { // the policy learned uses its model's own keywords
			own.Keywords = s.keywords[run.Set]
		}
		if own.Rho = plan.DefaultRho; rho != nil {
			own.Rho = *rho
		}
		own.Seed = s.plan.Random(0x5eed + uint64(run.Set)).Uint64()
		opt := crawler.Options{Threshold: p.Threshold()}
		if opt.Threshold > 0 && s.plan.Threshold != nil {
			opt.Threshold = *s.plan.Threshold
		}
		opt.Scope.Links = crawler.LinkPolicy(s.plan.Links)
		var err error
		if opt.Scorer, err = p.Scorer(own); err != nil {
			return opt, err
		}
		opt.Ordering, err = p.Ordering(opt.Scorer)
		return opt, err
	}}, nil
}
