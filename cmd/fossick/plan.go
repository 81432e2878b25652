package main

import (
	"cmp"
	"errors"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"

	"fossick/crawler"
	"fossick/fetch"
	"fossick/internal/usage"
	"fossick/models"
	"fossick/page"
	"fossick/policy"
	"fossick/relevance"
	"fossick/seeds"
	"fossick/topics"
)

// crawlPlan is a crawl ready to begin, but for store and fetcher.
type crawlPlan struct {
	crawl    crawler.Options
	fetch    fetch.Options
	model    *models.Model // nil without one
	keywords []string      // K
	scored   string        // how links are, see --score
}

// plan puts topic, flags and defaults together.
func (c *focusCmd) plan(a *app) (*crawlPlan, error) {
	p := &crawlPlan{}
	err := c.check()
	if err != nil {
		return nil, err
	}
	if err = c.readDropParams(); err != nil {
		return nil, err
	}
	if p.fetch, err = c.fetchOptions(a); err != nil {
		return nil, err
	}
	topic, err := c.topic()
	if err != nil {
		return nil, err
	}
	p.model = topic.Model
	p.keywords, p.scored = topic.Keywords, c.howScored(topic)
	if p.crawl, err = c.options(p.scored); err != nil {
		return nil, err
	}
	if err = c.refresh(&p.crawl); err != nil {
		return nil, err
	}
	p.crawl.Log = a.log
	if p.crawl.Scorer, err = c.scorer(a, topic, &p.crawl); err != nil {
		return nil, err
	}
	if p.crawl.Seeds, err = c.startPages(a, p.crawl.URLs, topic.Seeds); err != nil {
		return nil, err
	}
	if err = seedsInScope(&p.crawl); err != nil && !c.Resume {
		return nil, err
	}
	return p, c.checkReachable(a, p.crawl.Seeds)
}

// topic finds the topic that --topic, --model and --keywords name.
func (c *focusCmd) topic() (*models.Topic, error) {
	t, err := topics.Find(c.Topic)
	if errors.Is(err, models.ErrNoTopic) {
		if c.Model == "" && len(c.Keywords) == 0 {
			return nil, usagef("%w; or give --model or --keywords", err)
		}
		t, err = &models.Topic{Name: c.Topic}, nil
	}
	if err != nil {
		return nil, err
	}
	if c.Model != "" {
		if t.Model, err = topics.Model(c.Model); err != nil {
			return nil, err
		}
		t.Keywords = nil // they belong to the topic's own model
	}
	if t.Model != nil && !slices.Contains(t.Model.Classes, t.Name) {
		return nil, usagef("--topic %s: the model has no such label; it knows %s", t.Name, strings.Join(t.Model.Classes, ", "))
	}
	if len(c.Keywords) > 0 {
		t.Keywords = c.Keywords
	}
	if len(t.Keywords) == 0 && t.Model != nil {
		t.Keywords = t.Model.Keywords[t.Name]
	}
	return t, nil
}

// startPages returns the start pages in normal form: those named by flags, else
// the topic's.
func (c *focusCmd) startPages(a *app, urls *page.Normalizer, ofTopic []string) ([]string, error) {
	named := c.Seed
	if len(named) == 0 && c.Seeds == "" {
		named = ofTopic
	}
	list := seeds.New(urls)
	for _, raw := range named {
		if info, err := os.Stat(raw); err == nil && info.Mode().IsRegular() {
			return nil, usagef("start page %q is a file; --seeds %s takes the start pages that it lists", raw, raw)
		}
		if err := list.Add(raw, ""); err != nil {
			return nil, err
		}
	}
	if c.Seeds != "" {
		if err := list.AddFile(c.Seeds); err != nil {
			return nil, err
		}
	}
	if assumed := list.Assumed(); assumed != "" {
		a.say("%s", assumed)
	}
	if len(list.URLs) == 0 {
		return nil, usagef("no start pages: name some with --seed URL or --seeds FILE; fossick propose SOURCE --topic %s -o seeds.txt finds some in a corpus, an old crawl, a sitemap or a list of URLs", orName(c.Topic))
	}
	return list.URLs, nil
}

// checkReachable refuses a crawl of the public web that its sites' owners could
// not complain about.
func (c *focusCmd) checkReachable(a *app, seeds []string) error {
	if c.Proxy != "" || c.Hosts != "" || len(seeds) > 0 && !slices.ContainsFunc(seeds, isPublic) {
		return nil
	}
	if standsForNone(c.Contact) {
		a.say("--contact %s: an address for examples, at which nobody can be reached; give your own", c.Contact)
	}
	if c.Contact != "" {
		return nil
	}
	return usagef("a crawl of the public web needs --contact MAIL or URL: it goes into the user agent, so that the owner of a site can reach you before blocking you")
}

func isPublic(u string) bool {
	parsed, err := url.Parse(u)
	if err != nil {
		return true
	}
	addr, err := netip.ParseAddr(parsed.Hostname())
	return err != nil || !addr.IsLoopback()
}

// scorer builds the crawl's scorer, learned where there is a model to learn from,
// else R as paper A has it; without --order the policy has its own.
func (c *focusCmd) scorer(a *app, t *models.Topic, opt *crawler.Options) (crawler.Scorer, error) {
	in := policy.Input{Rho: policy.DefaultRho, Threshold: cmp.Or(opt.Threshold, policy.DefaultThreshold), Seed: uint64(a.seed)}
	var err error
	if t.Model != nil {
		if in.Labeller, err = policy.NewLabeller(t); err != nil {
			return nil, err
		}
	}
	if len(t.Keywords) > 0 {
		if in.Keywords, err = relevance.NewKeywords(t.Keywords); err != nil {
			return nil, usagef("topic %s: %w", t.Name, err)
		}
	}
	how := c.howScored(t)
	if c.Rho != nil {
		if in.Rho = *c.Rho; how != "paper" && how != "paper-mean" {
			return nil, usagef("--rho %v: only --score paper and paper-mean have it, and this crawl is scored by %s; leave it out", in.Rho, how)
		}
	}
	if in.Explore, err = policy.ExploreShare(c.Explore, c.byPolicy(), how); err != nil {
		return nil, err
	}
	p, err := policy.Named(how)
	if err != nil {
		return nil, err
	}
	s, err := p.Scorer(in)
	if err == nil && c.byPolicy() {
		opt.Ordering, err = p.Ordering(s)
	}
	return s, usage.Of(err)
}

// howScored returns what --score says, or the default for the topic.
func (c *focusCmd) howScored(t *models.Topic) string {
	switch {
	case c.Score != "":
		return c.Score
	case t.Model == nil || c.Rho != nil || c.Threshold != nil || len(c.Keywords) > 0 && c.Model == "":
		return "paper" // flags that only paper A's score has
	}
	return "learned"
}

// refresh is --refresh's part of the plan.
func (c *focusCmd) refresh(opt *crawler.Options) error {
	if c.Refresh > 0 && !c.Resume {
		return usagef("--refresh looks again at pages that are stored: it goes with --resume")
	}
	opt.Refresh = c.Refresh
	return nil
}
