package plan

import (
	"context"
	"time"

	"fossick/datasets"
	"fossick/eval/lab"
	"fossick/models"
	"fossick/relevance"
)

// Setup is a plan with all that its crawls need.
type Setup struct {
	lab.Experiment
	Topics []*models.Topic // one a page classifier

	plan         *Plan
	keywords     []*relevance.Keywords // K of each start set; nil when no policy needs it
	judgeTrained *float64              // share of the corpus that the judge was trained on
	loaded       time.Time             // corpus and page classifiers
}

// Prepare reads the corpus, draws, trains, and builds the policies.
func (p *Plan) Prepare(ctx context.Context) (*Setup, error) {
	s := &Setup{plan: p}
	err := s.read(ctx)
	if err != nil {
		return nil, err
	}
	s.MaxPerHost = p.MaxPagesPerHost
	if s.Manners, err = p.manners(); err != nil {
		return nil, err
	}
	if s.Pages = p.Pages; s.Pages == 0 && p.MaxTime > 0 {
		s.Pages, s.Unlimited = len(s.Corpus.Rows), true
	} else if s.Pages == 0 {
		s.Pages = max(p.Starts, len(s.Corpus.Rows)/20)
	}
	opt := lab.DrawOptions{Topic: p.Topic, Starts: p.Starts, Sets: p.StartSets, Models: p.TrainSets}
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
	if s.Draw, err = lab.NewDraw(s.Corpus, opt, p.Random(0x1ab)); err != nil {
		return nil, err
	}
	if err := s.train(ctx); err != nil {
		return nil, err
	}
	s.loaded = time.Now()
	s.Policies, err = s.policies(ctx)
	return s, err
}

// read reads the corpus, unless it was given.
func (s *Setup) read(ctx context.Context) error {
	if s.Corpus = s.plan.Web; s.Corpus != nil {
		return nil
	}
	set, err := s.plan.Open(s.plan.Corpus, datasets.Options{})
	if err != nil {
		return err
	}
	s.Corpus, err = lab.Load(ctx, set)
	return err
}

// trainedOn marks the pages of the corpus that the training set has too.
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

// examples yields rows with the labels that the truth gives them: first, then those
// that a page classifier is trained on.
func (s *Setup) examples(first []int, model int) datasets.Stream {
	return func(yield func(*datasets.Example, error) bool) {
		for _, n := range first {
			if !yield(s.example(n), nil) {
				return
			}
		}
		for n, training := range s.Draw.Training[model] {
			if training && !yield(s.example(n), nil) {
				return
			}
		}
	}
}
