package crawlplan

import (
	"cmp"
	"fmt"
	"math"

	"fossick/crawler"
	"fossick/graph/orders"
	"fossick/internal/usage"
	"fossick/models"
	"fossick/relevance"
)

// Scoring is how the links of a crawl are scored and ordered.
type Scoring struct {
	Score     string   `placeholder:"HOW" help:"How links are scored: $${scores}; see above [learned with a model, else paper]." group:"score" expert:"" predictor:"policies"`
	Rho       *float64 `placeholder:"ρ" help:"Share of R that a page inherits from the page that led to it [0.3]." group:"score" expert:""`
	Explore   *float64 `kong:"-"`
	Threshold *float64 `placeholder:"R" help:"Drop links that score less [0.2 in the order of relevance; other orders never drop]." group:"score" expert:""`
	Order     string   `placeholder:"ORDER" help:"Order of the crawl: $${orders}; or a mix, each with a share of the pages: 'mcs*0.3+relevance*0.7'. lexbfs compares the first two visits that led to a URL and no more; simulate compares all [relevance]." group:"score" expert:"" predictor:"orders"`
	Alike     bool     `kong:"-"`
}

func (s *Scoring) settings(saved *Scoring) []setting {
	var rho, explore, threshold string
	if p, err := Named(s.Score); err == nil && p.ByDegree() { // "" is of a crawl that was never planned
		if rho = fmt.Sprint(DefaultRho); s.byPolicy() {
			threshold = fmt.Sprint(DefaultThreshold)
		}
	}
	if s.Score == byLearned {
		explore = fmt.Sprint(DefaultExplore)
	}
	share := pointed(func(x float64) string { return fmt.Sprint(x) })
	return []setting{
		of("score", "", &s.Score, &saved.Score, itself),
		of("rho", rho, &s.Rho, &saved.Rho, share),
		of("explore", explore, &s.Explore, &saved.Explore, share),
		of("threshold", threshold, &s.Threshold, &saved.Threshold, share),
		of("order", byScore, &s.Order, &saved.Order, itself),
		of("alike", "", &s.Alike, &saved.Alike, yesNo),
	}
}

const (
	byScore   = "relevance" // the order in which the best score is first
	byLearned = "learned"   // the policy of a crawl with a model
)

func (s *Scoring) check() error {
	if s.Threshold != nil && (math.IsNaN(*s.Threshold) || math.IsInf(*s.Threshold, 0)) {
		return usage.Errorf("--threshold %g: give a number, such as 0.2", *s.Threshold)
	}
	return nil
}

// byPolicy says whether the policy of --score alone orders the crawl, as it does unless
// --order takes over. In a mix nothing is dropped: what one ordering wants last another
// may want first.
func (s *Scoring) byPolicy() bool { return cmp.Or(s.Order, byScore) == byScore }

// how returns what --score says, or the default for a topic; ownWords says that keywords
// were given, and no model.
func (s *Scoring) how(t *models.Topic, ownWords bool) string {
	switch {
	case s.Score != "":
		return s.Score
	case t.Model == nil || s.Rho != nil || s.Threshold != nil || ownWords:
		return "paper" // flags that only paper A's score has
	}
	return byLearned
}

// order sets the order of the crawl and the score below which it drops links.
func (s *Scoring) order(opt *crawler.Options, how string) (err error) {
	order := cmp.Or(s.Order, byScore)
	if opt.Ordering, err = orders.OrderingByName(order); err != nil {
		return usage.Errorf("--order: %w", err)
	}
	if s.Alike {
		var tells bool
		if opt.Ordering, tells = orders.CountAlike(opt.Ordering); !tells {
			return usage.Errorf("--alike: --order %s counts all links alike anyway; leave the flag out, or choose dfs, mcs, mcs-sites, mns, lexbfs or lexdfs", order)
		}
	}
	switch {
	case !s.byPolicy() && s.Threshold != nil:
		return usage.Errorf("--threshold works only with --order relevance; --order %s drops no links", order)
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

// scorer builds the crawl's scorer. Without --order the policy has an order of its own.
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
	return usage.Of(err)
}

// useScores lets a policy say how its scores order the crawl, where --order goes by them,
// alone or in a mix.
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

// input is what the scorer of a topic is built from.
func (s *Scoring) input(opt *crawler.Options, t *models.Topic, p policy, how string, seed int64) (in Input, err error) {
	in = Input{Rho: DefaultRho, Threshold: cmp.Or(opt.Threshold, DefaultThreshold), Seed: uint64(seed)}
	if t.Model != nil {
		if in.Labeller, err = NewLabeller(t); err != nil {
			return in, err
		}
	}
	if len(t.Keywords) > 0 {
		if in.Keywords, err = relevance.NewKeywords(t.Keywords); err != nil {
			return in, usage.Errorf("topic %s: %w", t.Name, err)
		}
	}
	if s.Rho != nil {
		if in.Rho = *s.Rho; !p.ByDegree() {
			return in, usage.Errorf("--rho %v works only with --score paper and paper-mean; this crawl has --score %s; leave --rho out", in.Rho, how)
		}
	}
	_, scored := orders.Scored(opt.Ordering)
	in.Explore, err = exploreShare(s.Explore, scored, how)
	return in, err
}
