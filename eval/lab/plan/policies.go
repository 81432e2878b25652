package plan

import (
	"context"
	"slices"

	"fossick/crawler"
	"fossick/crawler/crawlplan"
	"fossick/eval/lab"
	"fossick/internal/usage"
)

// oracles come from the lab; they know the truth.
var oracles = map[string]func() lab.Policy{"parent-oracle": lab.ParentOracle, "target-oracle": lab.TargetOracle}

// policies builds those that the plan names.
func (s *Setup) policies(ctx context.Context) ([]lab.Policy, error) {
	explore, err := crawlplan.ExploreShare(s.plan.Explore, true, s.plan.Policy...)
	if err != nil {
		return nil, err
	}
	ins := make([]crawlplan.Input, len(s.Topics))
	for i, topic := range s.Topics {
		l, err := crawlplan.NewLabeller(topic)
		if err != nil {
			return nil, err
		}
		l.Remember()
		ins[i] = crawlplan.Input{Labeller: l, Threshold: crawlplan.DefaultThreshold, Explore: explore}
	}
	if slices.ContainsFunc(s.plan.Policy, needsKeywords) {
		if err := s.chooseKeywords(ctx); err != nil {
			return nil, err
		}
	}
	var all []lab.Policy
	for _, name := range s.plan.Policy {
		if slices.ContainsFunc(all, func(p lab.Policy) bool { return p.Name == name }) {
			return nil, usage.Errorf("policy %s is given twice", name)
		}
		p, err := s.policy(name, ins)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// needsKeywords says whether a policy looks for keywords.
func needsKeywords(name string) bool {
	p, _, err := crawlplan.Parse(name)
	return err == nil && p.NeedsKeywords()
}

// policy builds one, of the input of each page classifier.
func (s *Setup) policy(name string, ins []crawlplan.Input) (lab.Policy, error) {
	if oracle := oracles[name]; oracle != nil {
		return oracle(), nil
	}
	p, rho, err := crawlplan.Parse(name)
	if err != nil {
		return lab.Policy{}, err
	}
	return lab.Policy{Name: name, New: func(run lab.Run) (crawler.Options, error) {
		own := ins[run.Model]
		if s.keywords != nil && p.NeedsKeywords() { // learned has its model's own, whatever it is compared with
			own.Keywords = s.keywords[run.Set]
		}
		if own.Rho = crawlplan.DefaultRho; rho != nil {
			own.Rho = *rho
		}
		own.Topics = run.Topics
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
