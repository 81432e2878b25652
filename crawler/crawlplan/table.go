package crawlplan

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fossick/crawler"
	"fossick/graph/orders"
	"fossick/internal/printable"
	"fossick/internal/usage"
	"fossick/models/features"
	"fossick/relevance"
	"fossick/relevance/known"
)

// policy is a way to score links, by the name that focus --score and lab --policy
// take.
type policy struct {
	Name, About string
	needsModel  bool
	needsK      bool
	order       string // "" is relevance
	build       func(in Input) (crawler.Scorer, error)
}

// Input is what policies are built from.
type Input struct {
	Labeller  *Labeller           // nil without a model
	Keywords  *relevance.Keywords // nil without keywords
	Rho       float64             // of the policies by R
	Threshold float64             // of R, for relevance without a model
	Explore   float64             // share of fetches that learned spends on URLs little known
	Seed      uint64
	Topics    int // that share the crawl: they explore as much as one, and divide the memory; 0 is 1
}

// The defaults of Input.
const (
	// DefaultRho is paper A's ρ.
	DefaultRho = 0.3
	// DefaultThreshold is the R below which paper A drops links.
	DefaultThreshold = 0.2
	// DefaultExplore is a share of the fetches (docs/relevance.md).
	DefaultExplore = 0.02
)

// table has the known policies, in the order in which help lists them.
var table = []policy{
	{Name: "paper", About: "degree of relevance R, by keywords", needsK: true, build: buildPaper},
	{Name: "learned", About: "by the model's labels of the pages so far", needsModel: true,
		build: adapt(func(in Input) relevance.Policy { return in.learned() })},
	{Name: "paper-mean", About: "R from the mean of the pages that link to a URL, not from the best", needsK: true, build: buildPaperMean},
	{Name: "best-first", About: "the page's similarity to the topic, the same for all its links",
		build: adapt(func(Input) relevance.Policy { return known.BestFirst{} })},
	{Name: "shark", About: "Shark-Search: inherited and neighbourhood scores",
		build: adapt(func(in Input) relevance.Policy { return known.NewShark(in.judge(), in.cut()) })},
	{Name: "fish", About: "Fish-Search: depth first after pages on topic",
		build: adapt(func(in Input) relevance.Policy { return known.NewFish(in.cut()) })},
	{Name: "ache", About: "a classifier of links that learns from the page classifier",
		build: adapt(func(in Input) relevance.Policy { return known.NewACHE(in.cut()) })},
	{Name: "anthelion", About: "the host whose pages were on topic most often, its best links first",
		build: adapt(func(in Input) relevance.Policy { return known.NewAnthelion(in.cut()) })},
	{Name: "context-graph", About: "layers of links away from the topic",
		build: adapt(func(in Input) relevance.Policy { return known.NewContextGraph(in.cut()) })},
	{Name: "infospiders", About: "a network that learns from keywords near links", needsK: true,
		build: adapt(func(in Input) relevance.Policy { return known.NewInfoSpiders(in.Keywords) })},
	{Name: "hits", About: "pages on topic and the hubs among them",
		build: adapt(func(Input) relevance.Policy { return known.NewHITS() })},
	{Name: "opic", About: "on-line page importance, without a topic",
		build: adapt(func(Input) relevance.Policy { return known.NewOPIC() })},
	{Name: "bfs", About: "breadth first", order: "bfs",
		build: adapt(func(Input) relevance.Policy { return known.BestFirst{} })},
	{Name: "random", About: "any URL that waits",
		build: adapt(func(in Input) relevance.Policy { return known.NewRandom(in.Seed) })},
}

// Named returns a policy.
func Named(name string) (policy, error) {
	i := slices.IndexFunc(table, func(p policy) bool { return p.Name == name })
	if i < 0 {
		return policy{}, usage.Errorf("no policy %q; choose one of %s", name, printable.SomeNames(name, Names()))
	}
	return table[i], nil
}

// Parse reads NAME, paper:ρ or paper-mean:ρ; rho is nil where the text has none.
func Parse(text string) (p policy, rho *float64, err error) {
	name, value, has := strings.Cut(text, ":")
	p, err = Named(name)
	if err != nil || !has {
		return p, nil, err
	}
	x, err := strconv.ParseFloat(value, 64)
	if err != nil || !p.ByDegree() {
		return p, nil, usage.Errorf("policy %q: only paper and paper-mean take a number, their ρ, as paper:0.3", text)
	}
	return p, &x, nil
}

// All returns the policies, in the order in which help lists them.
func All() []policy { return slices.Clone(table) }

// Names returns those of all policies.
func Names() []string {
	var names []string
	for _, p := range table {
		names = append(names, p.Name)
	}
	return names
}

// Help describes the policies in a sentence.
func Help() string {
	var all []string
	for _, p := range table {
		all = append(all, fmt.Sprintf("%s (%s)", p.Name, p.About))
	}
	return strings.Join(all, ", ")
}

// NeedsKeywords says whether a policy looks for keywords even where there is a model.
func (p policy) NeedsKeywords() bool { return p.needsK }

// ByDegree says whether a policy goes by paper A's degree of relevance, which takes ρ
// and drops links below a threshold.
func (p policy) ByDegree() bool { return p.Name == "paper" || p.Name == "paper-mean" }

// Scorer builds the policy's scorer.
func (p policy) Scorer(in Input) (crawler.Scorer, error) {
	switch {
	case p.needsModel && in.Labeller == nil:
		return nil, usage.Errorf("--score %s learns from a model's labels: give --model M, or choose --score paper", p.Name)
	case in.Keywords == nil && (p.needsK || in.Labeller == nil):
		return nil, usage.Errorf("--score %s needs keywords: give --keywords", p.Name)
	}
	return p.build(in)
}

// Ordering returns the order of the crawl that belongs to a scorer of the policy.
func (p policy) Ordering(s crawler.Scorer) (orders.Ordering, error) {
	if _, ok := s.(crawler.Rescorer); ok {
		return orders.Latest, nil // it weighs all links to a URL itself
	}
	return orders.OrderingByName(cmp.Or(p.order, "relevance"))
}

// Threshold is the score below which the policy drops links when nothing else is said;
// 0 drops none.
func (p policy) Threshold() float64 {
	if p.ByDegree() {
		return DefaultThreshold
	}
	return 0
}

// exploreShare reads --explore, for a crawl by one of the policies named; byPolicy is
// false where another order takes over.
func exploreShare(given *float64, byPolicy bool, policies ...string) (float64, error) {
	if given == nil {
		return DefaultExplore, nil
	}
	if !(*given >= 0 && *given < 1) {
		return 0, usage.Errorf("--explore %v: want a share of the fetches, from 0 to less than 1", *given)
	}
	if !byPolicy || !slices.Contains(policies, "learned") {
		return 0, usage.Errorf("--explore %v works only with --score learned in its own order; leave it out, or give --model and no --order", *given)
	}
	return *given, nil
}

// judge returns what says of any text how far it is on topic: the model, else the share
// of the keywords that the text has.
func (in Input) judge() relevance.Judge {
	if in.Labeller != nil {
		return in.Labeller.judge
	}
	return func(d features.Doc) float64 {
		return float64(len(in.Keywords.FoundIn(d.Lang, d.Title, d.Text))) / float64(in.Keywords.Len())
	}
}

// cut is from where on a text is on topic, by what judge says.
func (in Input) cut() float64 {
	if in.Labeller != nil {
		return in.Labeller.cut
	}
	return in.Threshold
}
