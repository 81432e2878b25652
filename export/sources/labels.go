package sources

import (
	"context"
	"errors"
	"fmt"

	"fossick/datasets"
	"fossick/graph"
	"fossick/internal/usage"
	"fossick/store"
)

// Labels calls do with the labels of all nodes that have some. A store has what refine
// says, else the crawl's model or topic; a corpus has its own.
func (s Source) Labels(ctx context.Context, g *graph.Graph, do func(v uint32, labels []string)) error {
	of := func(url string, labels []string) error {
		v, ok, err := g.Node(url)
		if ok && len(labels) > 0 {
			do(v, labels)
		}
		return err
	}
	switch {
	case s.Pages != 0 || s.isList():
		return usage.Errorf("%s has no labels; give nodes with --personal FILE, or blocks with --block FILE", s.Name)
	case store.Exists(s.Name):
		crawl, done, err := s.OpenStore(s.Name)
		if err != nil {
			return err
		}
		return errors.Join(storeLabels(crawl, of), done())
	}
	set, err := s.OpenSet(s.Name)
	if err != nil {
		return err
	}
	for e, err := range set.Examples() {
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		labels := e.Labels
		if len(labels) == 0 && e.Label != "" {
			labels = []string{e.Label}
		}
		if err := of(e.URL, labels); err != nil {
			return err
		}
	}
	return nil
}

// storeLabels calls do with the label of each page of a store.
func storeLabels(s *store.Store, do func(url string, labels []string) error) error {
	topic, topics := s.Info().Topic, s.Info().Topics
	for p, err := range s.Pages() {
		if err != nil {
			return err
		}
		refined, err := s.Label(p.Number)
		if err != nil {
			return err
		}
		label := p.Label
		var labels []string
		for i, v := range p.Topics {
			if v.Relevant && i < len(topics) {
				labels = append(labels, topics[i])
			}
		}
		switch {
		case refined == nil && len(labels) > 0: // of several topics that share the crawl
			if err := do(p.URL, labels); err != nil {
				return err
			}
			continue
		case refined != nil:
			label = refined.Label
		case label == "" && p.Relevant: // by keywords
			label = topic
		}
		if label == "" {
			continue
		}
		if err := do(p.URL, []string{label}); err != nil {
			return err
		}
	}
	return nil
}

// Labelled returns 1 for the nodes with a label, 0 for others, and how many nodes each
// label has.
func (s Source) Labelled(ctx context.Context, g *graph.Graph, label string) (is []float64, counts map[string]int, err error) {
	is, counts = make([]float64, g.Nodes()), map[string]int{}
	err = s.Labels(ctx, g, func(v uint32, labels []string) {
		for _, l := range labels {
			if counts[l]++; l == label {
				is[v] = 1
			}
		}
	})
	return is, counts, err
}

// Scores are how far nodes are on a topic.
type Scores struct {
	Score    []float32 // by node, in [0,1]; 0 for those that are no pages of the corpus
	Relevant []bool    // by node: it is on topic
	Count    int       // of those
}

// Scores gives every page of a corpus, or of a store, its score on a topic.
func (s Source) Scores(ctx context.Context, g *graph.Graph, score func(e *datasets.Example) (score float64, relevant bool, err error)) (*Scores, error) {
	set, err := s.OpenSet(s.Name)
	if err != nil {
		return nil, fmt.Errorf("%w; a topic needs pages: give a corpus or a store", err)
	}
	all := &Scores{Score: make([]float32, g.Nodes()), Relevant: make([]bool, g.Nodes())}
	for e, err := range set.Examples() {
		if err := errors.Join(err, ctx.Err()); err != nil {
			return nil, err
		}
		v, ok, err := g.Node(e.URL)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		x, relevant, err := score(e)
		if err != nil {
			return nil, err
		}
		all.Score[v] = float32(x)
		if relevant && !all.Relevant[v] {
			all.Relevant[v] = true
			all.Count++
		}
	}
	return all, nil
}
