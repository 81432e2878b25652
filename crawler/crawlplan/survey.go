package crawlplan

import (
	"cmp"
	"slices"
	"time"

	"fossick/crawler"
	"fossick/graph/orders"
	"fossick/internal/page"
	"fossick/internal/usage"
	"fossick/models"
	"fossick/relevance/propose"
	"fossick/store"
)

// A survey is a crawl that goes party by party (paper E, E1 and E2): breadth-first through
// what can be reached from each start page without leaving its site. It needs no topic.

// The defaults of a survey, where they are not those of a crawl for a topic. Paper E went
// to depth 5 for its statistics (E5), and to 3,000 pages a site for changes (E6).
const (
	surveyTopic   = "survey" // the name of what is no topic
	surveyLinks   = string(crawler.LinksSite)
	surveyDepth   = 5
	surveyPerSite = 3000
	partyRest     = 30 * time.Second // of a seed context, at least
	partyRestFold = 10               // times what its last exchange took
	surveyOrder   = "depth"          // what is told of a survey's order
)

// beginSurvey sets the defaults of a survey, so that its store has them too.
func (c *Crawl) beginSurvey() {
	c.Topic = cmp.Or(c.Topic, surveyTopic)
	c.Links = cmp.Or(c.Links, surveyLinks)
	c.MaxDepth = cmp.Or(c.MaxDepth, surveyDepth)
	c.MaxPagesPerSite = cmp.Or(c.MaxPagesPerSite, surveyPerSite)
}

// topicless says whether nothing counts as on topic.
func (c *Crawl) topicless() bool { return c.Parties && c.Topic == surveyTopic }

// checkSurvey refuses what a survey cannot have.
func (c *Crawl) checkSurvey() error {
	if !c.Parties {
		return nil
	}
	for flag, given := range map[string]bool{"--keywords": len(c.Keywords) > 0, "--model": c.Model != ""} {
		if given && c.topicless() {
			return usage.Errorf("%s needs a topic: give --topic T as well, or leave %[1]s out", flag)
		}
	}
	parties := []crawler.LinkPolicy{crawler.LinksSite, crawler.LinksHost}
	if !slices.Contains(parties, crawler.LinkPolicy(c.Links)) {
		return usage.Errorf("--links %s: a party stays on one site or one host; give site or host", c.Links)
	}
	return nil
}

// survey makes a plan that of a survey.
func (c *Crawl) survey(p *Plan) {
	opt := &p.Crawl
	opt.Ordering, opt.Threshold = orders.ByDepth, 0
	opt.Scope.Parties = true
	opt.MaxPages = c.MaxPages // 0: none, as depth and pages a site bound it
	opt.Delay = partyDelay(opt.Delay)
	if p.NoTopic = c.topicless(); p.NoTopic {
		opt.Scorer = noTopic{}
	}
}

// partyDelay is the rest of a seed context, max(30 s, 10 × the exchange), in proportion to
// the one that --delay asks for in place of the 30 s.
func partyDelay(asked crawler.Delay) crawler.Delay {
	if !asked.Fixed {
		return crawler.Delay{Fixed: true, Rest: partyRest, Fold: partyRestFold}
	}
	asked.Fold = partyRestFold * float64(asked.Rest) / float64(partyRest)
	return asked
}

// noTopic is the scorer of a survey without a topic: no page is on it.
type noTopic struct{}

// ScorePage implements crawler.Scorer.
func (noTopic) ScorePage(*page.Page, float64) crawler.Score { return crawler.Score{} }

// ScoreLinks implements crawler.Scorer.
func (noTopic) ScoreLinks(dst []float64, p *page.Page, _ crawler.Score) []float64 {
	return append(dst, make([]float64, len(p.Links))...)
}

// topics finds the topics of a crawl; that of a survey may be none.
func (c *Crawl) topics() ([]*models.Topic, error) {
	if c.topicless() {
		return []*models.Topic{{Name: surveyTopic}}, nil
	}
	return c.find()
}

// surveyed is what the store of a survey says of its settings.
type surveyed struct {
	Seeds []string // as given, in normal form

	scope crawler.Scope
}

// SurveyOf reads the settings of a survey.
func SurveyOf(s *store.Store) (*surveyed, error) {
	saved, err := Stored(s)
	if err != nil {
		return nil, err
	}
	if !saved.Parties {
		return nil, usage.Errorf("%s is the store of a crawl for a topic; only a survey has parties", s.Dir())
	}
	var opt crawler.Options
	if err := saved.scope.apply(&opt); err != nil {
		return nil, err
	}
	if opt.Scope.Forgotten, err = store.ForgetsOf(s); err != nil {
		return nil, err
	}
	if err := takeFile(&saved.Seeds, propose.StoredSeeds(s.Dir())); err != nil {
		return nil, err
	}
	list, err := propose.ReadStartPages(opt.URLs, saved.Seed, saved.Seeds, surveyTopic)
	if err != nil {
		return nil, err
	}
	return &surveyed{Seeds: list.URLs, scope: opt.Scope}, nil
}

// Wants says whether a URL may be a start page of the survey.
func (s *surveyed) Wants(url string) bool { return s.scope.Excludes(url) == "" }
