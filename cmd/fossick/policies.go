package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fossick/crawler"
	"fossick/features"
	"fossick/frontier"
	"fossick/relevance"
)

// policy is a way to score links, by the name that focus --score and lab --policy
// take.
type policy struct {
	name, about string
	needsModel  bool
	needsK      bool
	order       string // "" is relevance
	build       func(in policyInput) (crawler.Scorer, error)
}

// policyInput is what policies are built from.
type policyInput struct {
	labeller  *labeller           // nil without a model
	keywords  *relevance.Keywords // nil without keywords
	rho       float64
	threshold float64 // of R, for relevance without a model
	explore   float64 // share of fetches
	seed      uint64
}

// policies are the known ones, in the order in which help lists them.
var policies = []policy{
	{name: "paper", about: "degree of relevance R, by keywords", needsK: true, build: buildPaper},
	{name: "learned", about: "by what the model says of the pages so far", needsModel: true,
		build: func(in policyInput) (crawler.Scorer, error) {
			return in.adapt(relevance.NewLearned(in.labeller.judge, relevance.LearnedOptions{
				Cut: in.labeller.cut, Explore: in.explore, Seed: in.seed, Reader: in.labeller.reader(), Background: in.labeller.background(), Lesson: in.labeller.lesson(), Share: in.labeller.share()}))
		}},
	{name: "paper-mean", about: "R by the mean of the pages that link to a URL, not the best", needsK: true, build: buildPaperMean},
	{name: "best-first", about: "a page's similarity to the topic, for all its links",
		build: func(in policyInput) (crawler.Scorer, error) { return in.adapt(relevance.BestFirst{}) }},
	{name: "shark", about: "Shark-Search: inherited and neighbourhood scores",
		build: func(in policyInput) (crawler.Scorer, error) { return in.adapt(relevance.NewShark(in.judge())) }},
	{name: "fish", about: "Fish-Search: depth first behind pages on topic",
		build: func(in policyInput) (crawler.Scorer, error) {
			_, cut := in.judge()
			return in.adapt(relevance.NewFish(cut))
		}},
	{name: "ache", about: "a classifier of links that learns from that of pages",
		build: func(in policyInput) (crawler.Scorer, error) {
			_, cut := in.judge()
			return in.adapt(relevance.NewACHE(cut))
		}},
	{name: "context-graph", about: "layers of links away from the topic",
		build: func(in policyInput) (crawler.Scorer, error) {
			_, cut := in.judge()
			return in.adapt(relevance.NewContextGraph(cut))
		}},
	{name: "infospiders", about: "a network that learns from keywords near links", needsK: true,
		build: func(in policyInput) (crawler.Scorer, error) {
			return in.adapt(relevance.NewInfoSpiders(in.keywords))
		}},
	{name: "hits", about: "pages on topic and the hubs among them",
		build: func(in policyInput) (crawler.Scorer, error) { return in.adapt(relevance.NewHITS()) }},
	{name: "opic", about: "on-line page importance, without a topic",
		build: func(in policyInput) (crawler.Scorer, error) { return in.adapt(relevance.NewOPIC()) }},
	{name: "bfs", about: "breadth first", order: "bfs",
		build: func(in policyInput) (crawler.Scorer, error) { return in.adapt(relevance.BestFirst{}) }},
	{name: "random", about: "any URL that waits",
		build: func(in policyInput) (crawler.Scorer, error) { return in.adapt(relevance.NewRandom(in.seed)) }},
}

// policyNamed returns a policy.
func policyNamed(name string) (policy, error) {
	i := slices.IndexFunc(policies, func(p policy) bool { return p.name == name })
	if i < 0 {
		return policy{}, usagef("no policy %q; there are %s", name, strings.Join(policyNames(), ", "))
	}
	return policies[i], nil
}

func policyNames() []string {
	var names []string
	for _, p := range policies {
		names = append(names, p.name)
	}
	return names
}

// policyHelp describes the policies for --help.
func policyHelp() string {
	var all []string
	for _, p := range policies {
		all = append(all, fmt.Sprintf("%s (%s)", p.name, p.about))
	}
	return strings.Join(all, ", ")
}

// scorer builds the policy's scorer.
func (p policy) scorer(in policyInput) (crawler.Scorer, error) {
	switch {
	case p.needsModel && in.labeller == nil:
		return nil, usagef("--score %s needs a model whose labels it learns from: give --model M, or --score paper", p.name)
	case in.keywords == nil && (p.needsK || in.labeller == nil):
		return nil, usagef("--score %s needs keywords: give --keywords", p.name)
	}
	return p.build(in)
}

// ordering returns the order of the crawl that belongs to a scorer of the policy.
func (p policy) ordering(s crawler.Scorer) (frontier.Ordering, error) {
	if _, ok := s.(crawler.Rescorer); ok {
		return frontier.Latest, nil // it weighs all links to a URL itself
	}
	return frontier.OrderingByName(cmp.Or(p.order, "relevance"))
}

// options are a crawl's by this policy, without scorer and ordering.
func (p policy) options() (opt crawler.Options) {
	if p.byDegree() {
		opt.Threshold = paperThreshold
	}
	return opt
}

// judge returns what says of any text how far it is on topic, and from where on it
// is: the model, else the share of the keywords that the text has.
func (in policyInput) judge() (relevance.Judge, float64) {
	if in.labeller != nil {
		return in.labeller.judge, in.labeller.cut
	}
	return func(d features.Doc) float64 {
		return float64(len(in.keywords.FoundIn(d.Lang, d.Title, d.Text))) / float64(in.keywords.Len())
	}, in.threshold
}

// adapt makes a scorer of a policy of package relevance.
func (in policyInput) adapt(p relevance.Policy) (crawler.Scorer, error) {
	s := policyScorer{policy: p, labeller: in.labeller, keywords: in.keywords, threshold: in.threshold,
		words: newWordScorer(p, in.labeller)}
	if l, ok := p.(*relevance.Learned); ok {
		return &learnedScorer{rescoringScorer{s, l}, l}, nil
	}
	if r, ok := p.(relevance.Rescorer); ok {
		return &rescoringScorer{s, r}, nil
	}
	return &s, nil
}

// splitPolicy reads NAME, paper:ρ or paper-mean:ρ.
func splitPolicy(text string) (policy, *float64, error) {
	name, value, has := strings.Cut(text, ":")
	p, err := policyNamed(name)
	if err != nil || !has {
		return p, nil, err
	}
	rho, err := strconv.ParseFloat(value, 64)
	if err != nil || !p.byDegree() {
		return p, nil, usagef("policy %q: only paper and paper-mean take a number, their ρ, as paper:0.3", text)
	}
	return p, &rho, nil
}
