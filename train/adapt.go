package train

import (
	"context"
	"errors"
	"fmt"

	"fossick/classify"
	"fossick/datasets"
	"fossick/models"
)

// Adapted says what training with unlabelled pages did.
type Adapted struct {
	Pages    int            `json:"pages"`     // that could be read
	PerClass map[string]int `json:"per_class"` // that were sure enough in the last round
}

// adapt trains a model anew with pages that have no label, those that the model
// before it is surest of. So it knows the words of the place where it will be
// used. Figures of quality stay those of the labelled pages, by the first
// model.
func (p *Plan) adapt(ctx context.Context, first *models.Model, opt Options) (*models.Model, *Adapted, error) {
	opt.Explain, opt.Log = false, nil // both were had with the first
	m := first
	result := &Adapted{}
	for round := range PseudoRounds {
		probs, err := p.unlabelledProbs(ctx, m)
		if err != nil {
			return nil, nil, err
		}
		if len(probs) == 0 {
			return nil, nil, errors.New("--unlabelled: no page of it can be read; give a set with pages")
		}
		labels := Pseudo(probs, classShares(first), round)
		result.Pages, result.PerClass = len(probs), map[string]int{}
		for _, class := range labels {
			if class >= 0 {
				result.PerClass[m.Classes[class]]++
			}
		}
		p.Say("training again with %d of %d unlabelled pages, round %d of %d", count(labels), len(probs), round+1, PseudoRounds)
		parts, err := p.Parts() // the sets once more, from their start
		if err != nil {
			return nil, nil, err
		}
		opt.Split = parts.How
		rows := datasets.Chain(parts.Train, p.pseudo(m.Classes, labels))
		if m, _, err = Train(ctx, rows, opt); err != nil {
			return nil, nil, fmt.Errorf("training with unlabelled pages: %w", err)
		}
	}
	m.Card.CV, m.Card.Pages, m.Card.PerClass = first.Card.CV, first.Card.Pages, first.Card.PerClass
	m.Card.Settings["unlabelled_pages"] = fmt.Sprintf("%d of %d", sumOf(result.PerClass), result.Pages)
	return m, result, nil
}

// readable yields the unlabelled pages, with their text, in the order of the sets.
func (p *Plan) readable() datasets.Stream {
	return func(yield func(*datasets.Example, error) bool) {
		set, err := p.Open.Stream(p.Unlabelled, nil, p.Level.N, nil)
		if err != nil {
			yield(nil, err)
			return
		}
		for e, err := range set {
			if err != nil && datasets.IsRow(err) {
				continue // a page less
			}
			if err == nil {
				if _, bad := Doc(e); bad != nil {
					continue
				}
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// unlabelledProbs returns what a model says of the unlabelled pages.
func (p *Plan) unlabelledProbs(ctx context.Context, m *models.Model) ([][]float64, error) {
	clf, err := classify.New(m)
	if err != nil {
		return nil, err
	}
	var probs [][]float64
	for e, err := range p.readable() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("--unlabelled: %w", err)
		}
		d, err := Doc(e)
		if err != nil {
			return nil, fmt.Errorf("--unlabelled: %w", err)
		}
		probs = append(probs, clf.Classify(d).Probs)
	}
	return probs, nil
}

// pseudo yields the unlabelled pages that got a class, under its label.
func (p *Plan) pseudo(classes []string, labels []int) datasets.Stream {
	return func(yield func(*datasets.Example, error) bool) {
		i := 0
		for e, err := range p.readable() {
			if err != nil {
				yield(nil, err)
				return
			}
			class := -1
			if i < len(labels) {
				class = labels[i]
			}
			if i++; class < 0 {
				continue
			}
			if !yield(e.Labelled(classes[class]), nil) {
				return
			}
		}
	}
}

// shares returns which part of the training pages each class has.
func classShares(m *models.Model) []float64 {
	s := make([]float64, len(m.Classes))
	for i, label := range m.Classes {
		s[i] = float64(m.Card.PerClass[label]) / float64(max(1, m.Card.Pages))
	}
	return s
}

func count(labels []int) (n int) {
	for _, class := range labels {
		if class >= 0 {
			n++
		}
	}
	return n
}

func sumOf(n map[string]int) (all int) {
	for _, k := range n {
		all += k
	}
	return all
}
