package plan

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"

	"fossick/classify"
	"fossick/datasets"
	"fossick/eval/lab"
	"fossick/internal/printable"
	"fossick/internal/usage"
	"fossick/models"
	"fossick/models/features"
	"fossick/train"
	"fossick/train/judge"
	"fossick/train/topics"
)

// train makes the topics, one a page classifier: its model, read or trained on what
// was drawn, and K.
func (s *Setup) train(ctx context.Context) error {
	p := s.plan
	for i := range s.Draw.Training {
		topic := &models.Topic{Name: p.Topic, Keywords: p.Keywords}
		var err error
		if p.Model != "" {
			topic.Model, err = topics.Model(p.Model)
			if err == nil && topic.Model.Class(p.Topic) < 0 {
				err = usage.Errorf("--topic %s: the model has no such label; it knows %s", p.Topic, printable.SomeNames(p.Topic, topic.Model.Classes))
			}
		} else {
			topic.Model, err = s.trainModel(ctx, i)
		}
		if err != nil {
			return err
		}
		s.Topics = append(s.Topics, topic)
	}
	return nil
}

func (s *Setup) trainModel(ctx context.Context, i int) (*models.Model, error) {
	p := s.plan
	examples, data := s.examples(s.startsInstead(i), i), p.Corpus
	if p.Train != "" {
		set, err := p.Open(p.Train, datasets.Options{})
		if err != nil {
			return nil, err
		}
		examples, data = set.Examples(), p.Train
	}
	p.Work.Step("training", 0)
	p.Say("training page classifier %d of %d on %s", i+1, len(s.Draw.Training), data)
	m, _, err := train.Train(ctx, examples, train.Options{
		Target: train.Target{Topic: p.Topic}, Method: train.Method{Classifier: p.Classifier}, Seed: p.Seed,
		Origin: train.Origin{Data: []string{filepath.Base(data)}}, Log: p.Log,
		Step: func(what string) { p.Work.Step(what, 0) },
	})
	if err != nil {
		return nil, fmt.Errorf("page classifier: %w", err)
	}
	return m, nil
}

// fewOnTopic is how many training pages on topic are too few to train on.
const fewOnTopic = 2

// startsInstead are a page classifier's start pages where its training pages have fewer on
// topic than that: a user would give these as examples.
func (s *Setup) startsInstead(model int) []int {
	onTopic := 0
	for n, training := range s.Draw.Training[model] {
		if training && s.Draw.Relevant[n] {
			onTopic++
		}
	}
	if onTopic >= fewOnTopic {
		return nil
	}
	var all []int
	for set, rows := range s.Draw.Starts {
		if s.Draw.ModelOf(set) == model {
			all = append(all, rows...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// example is a row with the label that the truth gives it.
func (s *Setup) example(n int) *datasets.Example {
	e := s.Corpus.Example(n)
	e.Label, e.Labels = s.plan.labelOf(s.Draw.Relevant[n]), nil
	return e
}

// quality is how good the page classifiers are on the pages that they weren't trained
// on, all together. Of a model that was given, its card may tell that they were.
func (s *Setup) quality() (lab.Quality, error) {
	var kept, right, all atomic.Int64
	for i, t := range s.Topics {
		c, err := classify.New(t.Model)
		if err != nil {
			return lab.Quality{}, err
		}
		topic, err := judge.NewTopic(c, s.plan.Model, t.Name, "")
		if err != nil {
			return lab.Quality{}, err
		}
		eachPage(s.Corpus, func(n int, d features.Doc) {
			if s.Draw.Training[i][n] {
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
	}
	return lab.Quality{Precision: share(right.Load(), kept.Load()), Recall: share(right.Load(), all.Load())}, nil
}

// share is null of nothing.
func share(k, n int64) *float64 {
	if n == 0 {
		return nil
	}
	s := float64(k) / float64(n)
	return &s
}
