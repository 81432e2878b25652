package plan

import (
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"

	"fossick/internal/usage"
	"fossick/relevance"
	"fossick/train"
)

// chooseKeywords finds K for every start set. It is what --keywords says, else
// that of a model that was given. Else it is chosen from the training pages of
// the set's classifier and its start pages (paper A, section 3: from a
// dictionary and the start pages).
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
				return usage.Errorf("topic %s: %w", s.plan.Topic, err)
			}
			s.keywords[set].Remember()
			return nil
		})
	}
	return g.Wait()
}

func (s *Setup) keywordsOf(ctx context.Context, set int) ([]string, error) {
	p, model := s.plan, s.Draw.ModelOf(set)
	switch {
	case len(p.Keywords) > 0:
		return p.Keywords, nil
	case p.Model != "" || p.Train != "":
		return s.Topics[model].Model.Keywords[p.Topic], nil
	}
	k, _, err := train.Keywords(ctx, s.examples(s.Draw.Starts[set], model), train.Options{Target: train.Target{Topic: p.Topic}, Seed: p.Seed, Log: p.Log})
	return k[p.Topic], err
}
