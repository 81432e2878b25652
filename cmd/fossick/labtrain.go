package main

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"fossick/classify"
	"fossick/datasets"
	"fossick/features"
	"fossick/judge"
	"fossick/lab"
	"fossick/models"
	"fossick/relevance"
	"fossick/topics"
	"fossick/train"
)

// truth says by what pages are judged.
func (r *labRun) truth(opt *lab.DrawOptions) (err error) {
	switch {
	case r.Truth != "":
		if opt.Truth, err = datasets.ReadTruth(r.Truth); err != nil {
			return err
		}
		if err := opt.Truth.Known(r.Topic); err != nil {
			return usagef("%w; choose one with --topic", err)
		}
	case r.Judge != "":
		return r.judged()
	case !slices.ContainsFunc(r.corpus.Rows, func(row *lab.Row) bool { return row.Labels.Match(r.Topic) }):
		return usagef("--topic %s: no page of %s has this label; it has %s", r.Topic, r.Corpus, strings.Join(r.corpusLabels(), ", "))
	}
	return nil
}

// corpusLabels returns the labels of the corpus, sorted.
func (r *labRun) corpusLabels() []string {
	var labels []string
	for _, row := range r.corpus.Rows {
		if row.Labels.Label != "" && !slices.Contains(labels, row.Labels.Label) {
			labels = append(labels, row.Labels.Label)
		}
	}
	slices.Sort(labels)
	return labels
}

// judged gives every page of the corpus the label that the judge would, by its own
// threshold.
func (r *labRun) judged() error {
	_, c, err := loadModel(r.Judge)
	if err != nil {
		return err
	}
	topic, err := judge.NewTopic(c, r.Judge, r.Topic, "")
	if err != nil {
		return err
	}
	r.work.Step("judging the pages", 0)
	defer func() { r.judgeTrained = topic.Known.Share() }()
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for _, row := range r.corpus.Rows {
		g.Go(func() error {
			row.Labels = datasets.Labels{}
			if row.Page == nil {
				return nil
			}
			row.Labels.Label = train.Other
			if topic.Relevant(features.Doc(row.Page.Fields())) {
				row.Labels.Label = r.Topic
			}
			return nil
		})
	}
	return g.Wait()
}

// trainedOn marks the pages of the corpus that the training set has too.
func (r *labRun) trainedOn() ([]bool, error) {
	set, err := r.app.openSet(r.Train, datasets.Options{})
	if err != nil {
		return nil, err
	}
	marks := make([]bool, len(r.corpus.Rows))
	for e, err := range set.Examples() {
		if err != nil {
			return nil, err
		}
		if n := r.corpus.Find(e.URL); n >= 0 {
			marks[n] = true
		}
	}
	return marks, nil
}

// train makes the topics, one a page classifier: its model, read or trained on what
// was drawn, and K.
func (r *labRun) train() error {
	for i := range r.draw.Training {
		topic := &models.Topic{Name: r.Topic, Keywords: r.Keywords}
		var err error
		if r.Model != "" {
			topic.Model, err = topics.Model(r.Model)
			if err == nil && topic.Model.Class(r.Topic) < 0 {
				err = usagef("--topic %s: the model has no such label; it knows %s", r.Topic, strings.Join(topic.Model.Classes, ", "))
			}
		} else {
			topic.Model, err = r.trainModel(i)
		}
		if err != nil {
			return err
		}
		r.topics = append(r.topics, topic)
	}
	return nil
}

func (r *labRun) trainModel(i int) (*models.Model, error) {
	examples := func(yield func(*datasets.Example, error) bool) {
		for n, training := range r.draw.Training[i] {
			if training && !yield(r.example(n), nil) {
				return
			}
		}
	}
	data := r.Corpus
	if r.Train != "" {
		set, err := r.app.openSet(r.Train, datasets.Options{})
		if err != nil {
			return nil, err
		}
		examples, data = set.Examples(), r.Train
	}
	r.work.Step("training", 0)
	r.app.say("training page classifier %d of %d on %s", i+1, len(r.draw.Training), data)
	m, _, err := train.Train(r.app.ctx, examples, train.Options{
		Classifier: models.LinearSVM, Topic: r.Topic, Seed: r.app.seed, Data: []string{filepath.Base(data)}, Log: r.app.log, Step: stepsOf(r.work),
	})
	if err != nil {
		return nil, fmt.Errorf("page classifier: %w", err)
	}
	return m, nil
}

// keywords returns K for every start set: what --keywords says, else that of a model
// that was given, else chosen from the training pages of the set's classifier and its
// start pages (paper A, section 3: from a dictionary and the start pages).
func (r *labRun) keywords() ([]*relevance.Keywords, error) {
	all := make([]*relevance.Keywords, r.StartSets)
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for set := range all {
		g.Go(func() error {
			words, err := r.keywordsOf(set)
			if err == nil {
				all[set], err = relevance.NewKeywords(words)
			}
			if err == nil {
				all[set].Remember()
			}
			if err != nil {
				return usagef("topic %s: %w", r.Topic, err)
			}
			return nil
		})
	}
	return all, g.Wait()
}

func (r *labRun) keywordsOf(set int) ([]string, error) {
	model := r.draw.ModelOf(set)
	if len(r.Keywords) > 0 || r.Model != "" || r.Train != "" {
		if len(r.Keywords) > 0 {
			return r.Keywords, nil
		}
		return r.topics[model].Model.Keywords[r.Topic], nil
	}
	examples := func(yield func(*datasets.Example, error) bool) {
		for _, n := range r.draw.Starts[set] {
			if !yield(r.example(n), nil) {
				return
			}
		}
		for n, training := range r.draw.Training[model] {
			if training && !yield(r.example(n), nil) {
				return
			}
		}
	}
	k, err := train.Keywords(r.app.ctx, examples, train.Options{Topic: r.Topic, Seed: r.app.seed, Log: r.app.log})
	return k[r.Topic], err
}

// example is a row with the label that the truth gives it.
func (r *labRun) example(n int) *datasets.Example {
	e := r.corpus.Example(n)
	e.Label, e.Labels = train.Other, nil
	if r.draw.Relevant[n] {
		e.Label = r.Topic
	}
	return e
}

// quality is how good the page classifiers are on the pages that they weren't trained
// on, all together.
func (r *labRun) quality() (lab.Quality, error) {
	var kept, right, all atomic.Int64
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, topic := range r.topics {
		c, err := classify.New(topic.Model)
		if err != nil {
			return lab.Quality{}, err
		}
		class, cut := topic.Model.Class(r.Topic), topic.Model.Threshold(r.Topic)
		for n, row := range r.corpus.Rows {
			if row.Page == nil || r.draw.Training[i][n] {
				continue
			}
			g.Go(func() error {
				yes := c.Classify(features.Doc(row.Page.Fields())).Probs[class] >= cut
				if yes {
					kept.Add(1)
				}
				if r.draw.Relevant[n] {
					all.Add(1)
					if yes {
						right.Add(1)
					}
				}
				return nil
			})
		}
	}
	err := g.Wait()
	return lab.Quality{Precision: shareOrNil(right.Load(), kept.Load()), Recall: shareOrNil(right.Load(), all.Load())}, err
}

func shareOrNil(k, n int64) *float64 {
	if n == 0 {
		return nil
	}
	s := float64(k) / float64(n)
	return &s
}
