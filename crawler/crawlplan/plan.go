package crawlplan

import (
	"log/slog"
	"time"

	"fossick/crawler"
	"fossick/crawler/fetch"
	"fossick/internal/usage"
	"fossick/models"
	"fossick/relevance/propose"
	"fossick/train/topics"
)

// A Crawl is what was asked for: a topic, a store, and how to look. Its settings are kept
// in the store, so that a resumed crawl goes on as it began.
type Crawl struct {
	Topic   string        `placeholder:"T" help:"The topic: $${topics}, one of your own, or any name with --model or --keywords. Several by comma share one crawl: a,b with equal parts of --max-pages, or a=500,b=1000." group:"what" predictor:"topics"`
	Resume  bool          `help:"Resume the crawl in --store with its settings." group:"run"`
	Store   string        `placeholder:"DIR" help:"Folder of the crawl's store [fossick-TOPIC]." group:"run"`
	Refresh time.Duration `placeholder:"AGE" help:"With --resume: first ask again for the stored pages not seen for this time, as 7d, by conditional requests (If-None-Match, If-Modified-Since)." group:"run" expert:""`

	Also []string `placeholder:"WHAT,..." help:"What to take in besides, by comma: sitemaps (that robots.txt names), cookies (kept in memory, one jar a site), traps (calendars, host farms and other endless spaces), near-duplicates (such as printer versions), parameters (of sessions and campaigns in URLs). none takes in none of them; a resumed crawl keeps its own unless the flag is given [none]." group:"scope" expert:"" predictor:"sitemaps,cookies,traps,near-duplicates,parameters,none"`

	KeepVersions bool `kong:"-"` // of refreshed pages; watch sets it
	Settings

	Shared []sharing `kong:"-"` // the topics, where several share the crawl
}

// A Plan is a crawl ready to begin, but for store and fetcher.
type Plan struct {
	Crawl    crawler.Options
	Fetch    fetch.Options
	Keywords []string   // K
	Topics   []budgeted // that share the crawl; none of one alone
	NoTopic  bool       // nothing counts as on topic

	models []*models.Model // one a topic, nil of one without
	scored string          // how links are, see --score
}

// budgeted is one of several topics, with its part of --max-pages.
type budgeted struct {
	Name  string
	Pages float64
}

// Names are those of the topics that share the crawl.
func (p *Plan) Names() (names []string) {
	for _, t := range p.Topics {
		names = append(names, t.Name)
	}
	return names
}

// Program is what a plan takes from the program that makes it.
type Program struct {
	Version string
	Seed    int64 // of the policies that draw
	Log     *slog.Logger
	Say     func(format string, args ...any) // to who asked for the crawl
}

// NameStore says which store the crawl is in.
func (c *Crawl) NameStore() error {
	if err := c.readAlso(); err != nil {
		return err
	}
	if err := c.readTopics(); err != nil {
		return err
	}
	if c.Parties && c.Topic == "" && (!c.Resume || c.Store == "") {
		c.Topic = surveyTopic
	}
	switch {
	case c.Topic == "" && !c.Resume:
		return usage.Errorf("give --topic T, the topic to crawl for; fossick focus --help has examples")
	case c.Store != "":
	case c.Topic == "":
		return usage.Errorf("--resume needs --store DIR or --topic T to find the crawl")
	default:
		c.Store = "fossick-" + topics.FileName(c.Topic)
	}
	return nil
}

// Plan puts topic, settings and defaults together.
func (c *Crawl) Plan(in Program) (*Plan, error) {
	if c.Parties {
		c.beginSurvey()
	}
	p := &Plan{Crawl: crawler.Options{Log: in.Log, Refresh: c.Refresh, KeepVersions: c.KeepVersions}, Fetch: fetch.Options{Logger: in.Log}}
	if err := c.check(); err != nil {
		return nil, err
	}
	if err := c.readDropParams(); err != nil {
		return nil, err
	}
	if err := c.Network.apply(&p.Fetch, &c.scope); err != nil {
		return nil, err
	}
	found, err := c.topics()
	if err != nil {
		return nil, err
	}
	p.scored = byLearned
	for _, t := range found {
		if hides := topics.Hides(t.Name); hides != "" && c.Model == "" {
			in.Say("%s", hides)
		}
		p.models, p.Keywords = append(p.models, t.Model), append(p.Keywords, t.Keywords...)
		if how := c.how(t, len(c.Keywords) > 0 && c.Model == ""); how != byLearned {
			p.scored = how
		}
	}
	for i, pages := range c.budgets() {
		p.Topics = append(p.Topics, budgeted{found[i].Name, pages})
	}
	if err := c.apply(p, in.Version); err != nil {
		return nil, err
	}
	if err := c.ownStarts(&p.Crawl, found); err != nil {
		return nil, err
	}
	if !c.topicless() {
		if err := c.scorer(&p.Crawl, found, p.scored, in.Seed); err != nil {
			return nil, err
		}
	}
	if c.Parties {
		c.survey(p)
	}
	return p, c.begin(p, found[0], in.Say)
}

// check refuses values that no crawl can have, before anything is made. A zero is
// "not given", so of most numbers only those below are left to refuse.
func (c *Crawl) check() error {
	for _, check := range []func() error{c.Manners.check, c.Scoring.check, c.scope.check, c.checkSurvey} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// apply turns the settings into options of crawler and fetcher.
func (c *Crawl) apply(p *Plan, version string) error {
	if err := c.scope.apply(&p.Crawl); err != nil {
		return err
	}
	if err := c.Budget.apply(&p.Crawl); err != nil {
		return err
	}
	if err := c.Manners.apply(&p.Crawl, &p.Fetch, version); err != nil {
		return err
	}
	if err := c.order(&p.Crawl, p.scored); err != nil {
		return err
	}
	if c.Refresh > 0 && !c.Resume {
		return usage.Errorf("--refresh visits stored pages again; give --resume with it")
	}
	return nil
}

// begin sets the start pages in normal form.
func (c *Crawl) begin(p *Plan, topic *models.Topic, say func(string, ...any)) error {
	named, file := c.startsAt(topic)
	if len(c.Shared) > 0 && len(c.Seed) == 0 && c.Seeds == "" {
		named = nil
		for _, t := range c.Shared {
			named = append(named, t.Starts...)
		}
	}
	list, err := propose.ReadStartPages(p.Crawl.URLs, named, file, c.Topic)
	if err != nil {
		return err
	}
	if assumed := list.Assumed(); assumed != "" {
		say("%s", assumed)
	}
	p.Crawl.Seeds = list.URLs
	if err := seedsInScope(&p.Crawl); err != nil && !c.Resume {
		return err
	}
	if c.Sign != "" {
		key, err := c.key()
		if err != nil {
			return err
		}
		say("requests are signed. For sites to find the key, give --contact https://HOST and publish this at https://HOST/.well-known/http-message-signatures-directory: %s", key.Directory())
	}
	if c.Proxy != "" || c.Hosts != "" { // not the public web
		return nil
	}
	note, err := c.checkReachable(list.URLs)
	if note != "" {
		say("%s", note)
	}
	return err
}
