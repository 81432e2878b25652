package main

import (
	"fmt"

	"fossick/classify"
	"fossick/datasets"
	"fossick/features"
)

// pageScore says how far a page is on topic, in [0,1], and whether it is.
type pageScore func(e *datasets.Example) (score float64, on bool, err error)

// score gives every page of the graph its score on the topic: by the labels of the
// corpus 1 or 0, by a model its probability. Pages that the corpus does not have,
// as those that a store only knows of, have 0.
func (r *simulateRun) score() error {
	if r.Topic == "" {
		return nil
	}
	of, err := r.scorer()
	if err != nil {
		return err
	}
	set, err := openSet(r.app, r.Graph, datasets.Options{})
	if err != nil {
		return fmt.Errorf("--topic %s: %w; a topic needs pages: name a corpus or a store", r.Topic, err)
	}
	r.scores, r.on = make([]float32, r.g.Nodes()), make([]bool, r.g.Nodes())
	for e, err := range set.Examples() {
		if err == nil {
			err = r.app.ctx.Err()
		}
		if err != nil {
			return err
		}
		v, ok, err := r.g.Node(e.URL)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		score, on, err := of(e)
		if err != nil {
			return err
		}
		r.scores[v] = float32(score)
		if on && !r.on[v] {
			r.on[v] = true
			r.relevant++
		}
	}
	if r.relevant == 0 {
		return fmt.Errorf("--topic %s: no page of %s is on it; choose another label", r.Topic, r.Graph)
	}
	r.app.say("%d of %d pages are on topic", r.relevant, r.g.Nodes())
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
	m, c, err := loadModel(r.Model)
	if err != nil {
		return nil, err
	}
	target, err := topicOf(m, r.Model, r.Topic, "")
	if err != nil {
		return nil, err
	}
	return byModel(c, m.Class(target), m.Threshold(target)), nil
}

// byModel scores by a model's probability of a class; on topic is what reaches its
// threshold.
func byModel(c *classify.Classifier, class int, cut float64) pageScore {
	return func(e *datasets.Example) (float64, bool, error) {
		p, err := e.Page()
		if err != nil {
			return 0, false, err
		}
		score := c.Classify(features.Doc(p.Fields())).Probs[class]
		return score, score >= cut, nil
	}
}
