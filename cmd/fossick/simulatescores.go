package main

import (
	"fmt"

	"fossick/datasets"
	"fossick/features"
	"fossick/graph/sources"
	"fossick/judge"
	"fossick/topics"
)

// pageScore says how far a page is on topic, in [0,1], and whether it is.
type pageScore func(e *datasets.Example) (score float64, on bool, err error)

// score gives every page of the graph its score on the topic: by the labels of the
// corpus 1 or 0, by a model its probability.
func (r *simulateRun) score(source sources.Source) error {
	if r.Topic == "" {
		return nil
	}
	of, err := r.scorer()
	if err != nil {
		return err
	}
	if r.scores, err = source.Scores(r.app.ctx, r.g, of); err != nil {
		return fmt.Errorf("--topic %s: %w", r.Topic, err)
	}
	if r.scores.Count == 0 {
		return fmt.Errorf("--topic %s: no page of %s is on it; choose another label", r.Topic, r.Graph)
	}
	r.app.say("%d of %d pages are on topic", r.scores.Count, r.g.Nodes())
	return nil
}

// scorer returns what scores pages.
func (r *simulateRun) scorer() (pageScore, error) {
	if r.Model == "" {
		return func(e *datasets.Example) (float64, bool, error) {
			if e.Matches(r.Topic) {
				return 1, true, nil
			}
			return 0, false, nil
		}, nil
	}
	c, err := topics.Classifier(r.Model)
	if err != nil {
		return nil, err
	}
	topic, err := judge.NewTopic(c, r.Model, r.Topic, "")
	if err != nil {
		return nil, err
	}
	return byModel(topic), nil
}

// byModel scores by a model's probability of a class; on topic is what reaches its
// threshold.
func byModel(t *judge.Topic) pageScore {
	return func(e *datasets.Example) (float64, bool, error) {
		p, err := e.Page()
		if err != nil {
			return 0, false, err
		}
		score, _ := t.Probability(features.Doc(p.Fields()))
		return score, score >= t.Cut, nil
	}
}
