package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"fossick/crawler"
	"fossick/graph/orders"
	"fossick/internal/cli"
	"fossick/internal/page"
	"fossick/models"
	"fossick/models/features"
	"fossick/relevance"
	"fossick/relevance/known"
	"fossick/relevance/learned"
)

// policy is a way to score links, named as in focus --score and lab --policy.
type policy struct {
	Name, About string
	needsModel  bool
	needsK      bool
	order       string // "" is relevance
	build       func(in Input) (crawler.Scorer, error)
}

// Input is what a policy is built from.
type Input struct {
	Labeller  *Labeller           // nil without a model
	Keywords  *relevance.Keywords // nil without keywords
	Rho       float64             // of the policies by R
	Threshold float64             // of R, for relevance without a model
	Seed      uint64
	Order     *learned.Order // nil: that of this build
	Topics    int            // topics that share the crawl; they share exploration and memory; 0 is 1
}

const (
	// DefaultRho is paper A's ρ.
	DefaultRho = 0.3
	// DefaultThreshold is the R below which paper A drops links.
	DefaultThreshold = 0.2
	// explore is the share of its fetches that learned spends on little-known URLs
	// (docs/relevance.md).
	explore = 0.02
)

// table holds the policies in the order of help.
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
		return policy{}, cli.Usagef("no policy %q; choose one of %s", name, cli.SomeNames(name, Names()))
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
		return p, nil, cli.Usagef("policy %q: only paper and paper-mean take a number, their ρ, as paper:0.3", text)
	}
	return p, &x, nil
}

// All returns the policies in the order of help.
func All() []policy { return slices.Clone(table) }

// Names returns the names of all policies.
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

// NeedsKeywords reports whether a policy uses keywords even with a model.
func (p policy) NeedsKeywords() bool { return p.needsK }

// ByDegree reports whether a policy uses paper A's degree of relevance, with ρ and a threshold
// for links.
func (p policy) ByDegree() bool { return p.Name == "paper" || p.Name == "paper-mean" }

// Scorer builds the policy's scorer.
func (p policy) Scorer(in Input) (crawler.Scorer, error) {
	switch {
	case p.needsModel && in.Labeller == nil:
		return nil, cli.Usagef("--score %s learns from a model's labels: give --model M, or choose --score paper", p.Name)
	case in.Keywords == nil && (p.needsK || in.Labeller == nil):
		return nil, cli.Usagef("--score %s needs keywords: give --keywords", p.Name)
	}
	return p.build(in)
}

// Ordering returns the order of a crawl by a scorer of the policy.
func (p policy) Ordering(s crawler.Scorer) (orders.Ordering, error) {
	if _, ok := s.(crawler.Rescorer); ok {
		return orders.Latest, nil // it weighs all links to a URL itself
	}
	return orders.OrderingByName(cmp.Or(p.order, "relevance"))
}

// Threshold returns the default score below which the policy drops links; 0 drops none.
func (p policy) Threshold() float64 {
	if p.ByDegree() {
		return DefaultThreshold
	}
	return 0
}

// judge returns the model's judgement of a text, or without a model the share of the keywords
// in it.
func (in Input) judge() relevance.Judge {
	if in.Labeller != nil {
		return in.Labeller.judge
	}
	return func(d features.Doc) float64 {
		return float64(len(in.Keywords.FoundIn(d.Lang, d.Title, d.Text))) / float64(in.Keywords.Len())
	}
}

// cut returns judge's threshold for a text on topic.
func (in Input) cut() float64 {
	if in.Labeller != nil {
		return in.Labeller.cut
	}
	return in.Threshold
}

// degree is paper A's degree of relevance: relevance.Paper, or PaperMean.
type degree interface {
	ScorePage(p *page.Page, parent float64) relevance.Score
	ScoreLinks(dst []float64, p *page.Page, r float64) []float64
	ScoreUnlinked(parent float64) float64
}

// paperScorer orders by R; a model only labels.
type paperScorer struct {
	degree    degree
	threshold float64 // of R, for relevance without a model
	labeller  *Labeller
}

func (s *paperScorer) ScorePage(p *page.Page, parent float64) crawler.Score {
	r := s.degree.ScorePage(p, parent)
	score := crawler.Score{Value: r.Value, Relevant: r.Value >= s.threshold, Terms: Terms(r.Terms)}
	if s.labeller != nil {
		s.labeller.label(p, &score)
	}
	return score
}

func (s *paperScorer) ScoreLinks(dst []float64, p *page.Page, score crawler.Score) []float64 {
	return s.degree.ScoreLinks(dst, p, score.Value)
}

func (s *paperScorer) ScoreUnlinked(_ string, parent float64) float64 {
	return s.degree.ScoreUnlinked(parent)
}

// paperMeanScorer is a paperScorer whose scores of waiting URLs change with each page that
// links to them.
type paperMeanScorer struct {
	paperScorer
	mean *relevance.PaperMean
}

func (s *paperMeanScorer) Rescore(key uint64) (float64, bool) { return s.mean.Rescore(key) }

func buildPaper(in Input) (crawler.Scorer, error) {
	p, err := relevance.NewPaper(in.Keywords, in.Rho)
	if err != nil {
		return nil, cli.Usagef("--rho: %w", err)
	}
	return &paperScorer{degree: p, threshold: in.Threshold, labeller: in.Labeller}, nil
}

func buildPaperMean(in Input) (crawler.Scorer, error) {
	p, err := relevance.NewPaperMean(in.Keywords, in.Rho)
	if err != nil {
		return nil, cli.Usagef("--rho: %w", err)
	}
	return &paperMeanScorer{paperScorer{degree: p, threshold: in.Threshold, labeller: in.Labeller}, p}, nil
}

// Scoring selects how links are scored and ordered.
type Scoring struct {
	Score     string   `placeholder:"HOW" help:"How links are scored: $${scores}; see above [learned with a model, else paper]." group:"score" expert:"" predictor:"policies"`
	Rho       *float64 `placeholder:"ρ" help:"Share of R that a page inherits from the page that led to it [0.3]." group:"score" expert:""`
	Threshold *float64 `placeholder:"R" help:"Drop links that score less [0.2 in the order of relevance; other orders never drop]." group:"score" expert:""`
	Order     string   `without:"relevance" placeholder:"ORDER" help:"Order of the crawl: $${orders}; or a mix, each with a share of the pages: 'mcs*0.3+relevance*0.7'. lexbfs compares the first two visits that led to a URL and no more; simulate compares all [relevance]." group:"score" expert:"" predictor:"orders"`
}

const (
	byScore   = "relevance" // best score first
	byLearned = "learned"   // the policy of a crawl with a model
)

func (s *Scoring) check() error {
	if s.Threshold != nil && (math.IsNaN(*s.Threshold) || math.IsInf(*s.Threshold, 0)) {
		return cli.Usagef("--threshold %g: give a number, such as 0.2", *s.Threshold)
	}
	return nil
}

// byPolicy reports whether --score alone orders the crawl, without --order. A mix drops no
// links: one ordering's last may be another's first.
func (s *Scoring) byPolicy() bool { return cmp.Or(s.Order, byScore) == byScore }

// how returns --score or its default for a topic; ownWords: keywords were given and no model.
func (s *Scoring) how(t *models.Topic, ownWords bool) string {
	switch {
	case s.Score != "":
		return s.Score
	case t.Model == nil || s.Rho != nil || s.Threshold != nil || ownWords:
		return "paper" // flags that only paper A's score has
	}
	return byLearned
}

// order sets the crawl's order and the score below which it drops links.
func (s *Scoring) order(opt *crawler.Options, how string) (err error) {
	order := cmp.Or(s.Order, byScore)
	if opt.Ordering, err = orders.OrderingByName(order); err != nil {
		return cli.Usagef("--order: %w", err)
	}
	switch {
	case !s.byPolicy() && s.Threshold != nil:
		return cli.Usagef("--threshold works only with --order relevance; --order %s drops no links", order)
	case !s.byPolicy():
	case s.Threshold != nil:
		opt.Threshold = *s.Threshold
	default:
		p, err := Named(how)
		if err != nil {
			return err
		}
		opt.Threshold = p.Threshold()
	}
	return nil
}

// scorer builds the crawl's scorer, and without --order its order.
func (c *Crawl) scorer(opt *crawler.Options, topics []*models.Topic, how string, seed int64) error {
	if len(c.Shared) > 0 {
		return c.share(opt, topics, how, seed)
	}
	p, err := Named(how)
	if err != nil {
		return err
	}
	in, err := c.input(opt, topics[0], p, how, seed)
	if err != nil {
		return err
	}
	if opt.Scorer, err = p.Scorer(in); err == nil {
		err = useScores(opt, func() (orders.Ordering, error) { return p.Ordering(opt.Scorer) })
	}
	return cli.Usage(err)
}

// useScores lets a policy set the order by scores where --order uses it, alone or in a mix.
func useScores(opt *crawler.Options, of func() (orders.Ordering, error)) error {
	if _, scored := orders.Scored(opt.Ordering); !scored {
		return nil
	}
	ordering, err := of()
	if err == nil {
		opt.Ordering = orders.WithScores(opt.Ordering, ordering)
	}
	return err
}

// input returns the input of a topic's scorer.
func (s *Scoring) input(opt *crawler.Options, t *models.Topic, p policy, how string, seed int64) (in Input, err error) {
	in = Input{Rho: DefaultRho, Threshold: cmp.Or(opt.Threshold, DefaultThreshold), Seed: uint64(seed)}
	if t.Model != nil {
		if in.Labeller, err = NewLabeller(t); err != nil {
			return in, err
		}
	}
	if len(t.Keywords) > 0 {
		if in.Keywords, err = relevance.NewKeywords(t.Keywords); err != nil {
			return in, cli.Usagef("topic %s: %w", t.Name, err)
		}
	}
	if s.Rho != nil {
		if in.Rho = *s.Rho; !p.ByDegree() {
			return in, cli.Usagef("--rho %v works only with --score paper and paper-mean; this crawl has --score %s; leave --rho out", in.Rho, how)
		}
	}
	return in, nil
}
