package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"fossick/crawler"
	"fossick/crawler/fetch"
	"fossick/crawler/render"
	"fossick/graph/orders"
	"fossick/internal/cli"
	"fossick/internal/fileio"
	"fossick/internal/page"
	"fossick/models"
	"fossick/relevance/propose"
	"fossick/store"
	"fossick/train/topics"
)

// A Crawl is the request: a topic, a store, and settings. The store keeps the settings, so
// that a resumed crawl continues unchanged.
type Crawl struct {
	Topic   string        `placeholder:"T" help:"The topic: $${topics}, one of your own, or any name with --model or --keywords. Several by comma share one crawl: a,b with equal parts of --max-pages, or a=500,b=1000." group:"what" predictor:"topics"`
	Resume  bool          `help:"Resume the crawl in --store with its settings." group:"run"`
	Store   string        `placeholder:"DIR" help:"Folder of the crawl's store [fossick-TOPIC]." group:"run"`
	Refresh time.Duration `placeholder:"AGE" help:"With --resume: first ask again for the stored pages not seen for this time, as 7d, by conditional requests (If-None-Match, If-Modified-Since)." group:"run" expert:""`

	Also []string `placeholder:"WHAT,..." help:"What to take in besides, by comma: sitemaps (that robots.txt names), cookies (kept in memory, one jar a site), traps (calendars, host farms and other endless spaces), near-duplicates (such as printer versions), parameters (of sessions and campaigns in URLs). none takes in none of them; a resumed crawl keeps its own unless the flag is given [none]." group:"scope" expert:"" predictor:"sitemaps,cookies,traps,near-duplicates,parameters,none"`

	Settings

	Shared []sharing `kong:"-"` // the topics, where several share the crawl
}

// A Plan is a crawl ready to begin, except for store and fetcher.
type Plan struct {
	Crawl    crawler.Options
	Fetch    fetch.Options
	Render   *render.Options // nil: no scripts run
	Keywords []string        // K
	Topics   []budgeted      // topics that share the crawl; none for a single one
	NoTopic  bool            // nothing counts as on topic

	models []*models.Model // one per topic; nil without one
	scored string          // how links are scored, see --score
}

// budgeted is one of several topics, with its share of --max-pages.
type budgeted struct {
	Name  string
	Pages float64
}

// Names returns the topics that share the crawl.
func (p *Plan) Names() (names []string) {
	for _, t := range p.Topics {
		names = append(names, t.Name)
	}
	return names
}

// Program is what the calling program provides.
type Program struct {
	Version string
	Seed    int64 // of the policies with chance
	Log     *slog.Logger
	Say     func(format string, args ...any) // prints to the user
}

// NameStore chooses the store's folder.
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
		return cli.Usagef("give --topic T, the topic to crawl for; fossick focus --help has examples")
	case c.Store != "":
	case c.Topic == "":
		return cli.Usagef("--resume needs --store DIR or --topic T to find the crawl")
	default:
		c.Store = "fossick-" + topics.FileName(c.Topic)
	}
	return nil
}

// Plan combines topic, settings and defaults.
func (c *Crawl) Plan(in Program) (*Plan, error) {
	if c.Parties {
		c.beginSurvey()
	}
	p := &Plan{Crawl: crawler.Options{Log: in.Log, Refresh: c.Refresh, Seed: in.Seed}, Fetch: fetch.Options{Logger: in.Log}}
	if err := c.check(); err != nil {
		return nil, err
	}
	if c.Dropped == nil {
		c.Dropped = page.DefaultDrop()
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

// check refuses invalid values before anything is created. Zero means "not given".
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
	if c.renders() {
		p.Render = &render.Options{Program: c.Browser, UserAgent: p.Fetch.UserAgent, OnDemand: c.Render == renderPriced, Log: p.Fetch.Logger}
	}
	if err := c.order(&p.Crawl, p.scored); err != nil {
		return err
	}
	if c.Refresh > 0 && !c.Resume {
		return cli.Usagef("--refresh visits stored pages again; give --resume with it")
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
	if p.Fetch.Signer != nil {
		say("requests are signed; sites look for the key at %s", p.Fetch.Signer)
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

// A survey is a crawl party by party (paper E, E1 and E2): breadth-first from each start page
// within its site. It needs no topic.

// Defaults of a survey that differ from a topic's crawl. Paper E went to depth 5 for its
// statistics (E5), and to 3,000 pages a site for changes (E6).
const (
	surveyTopic   = "survey" // the topic's name when there is none
	surveyLinks   = string(crawler.LinksSite)
	surveyDepth   = 5
	surveyPerSite = 3000
	partyRest     = 30 * time.Second // minimum for a seed context
	partyRestFold = 10               // times its last exchange
	surveyOrder   = "depth"          // the reported order of a survey
)

// beginSurvey sets a survey's defaults, so that its store keeps them too.
func (c *Crawl) beginSurvey() {
	c.Topic = cmp.Or(c.Topic, surveyTopic)
	c.Links = cmp.Or(c.Links, surveyLinks)
	c.MaxDepth = cmp.Or(c.MaxDepth, surveyDepth)
	c.MaxPagesPerSite = cmp.Or(c.MaxPagesPerSite, surveyPerSite)
}

// topicless reports whether no page counts as on topic.
func (c *Crawl) topicless() bool { return c.Parties && c.Topic == surveyTopic }

// checkSurvey refuses settings that a survey cannot have.
func (c *Crawl) checkSurvey() error {
	if !c.Parties {
		return nil
	}
	for flag, given := range map[string]bool{"--keywords": len(c.Keywords) > 0, "--model": c.Model != ""} {
		if given && c.topicless() {
			return cli.Usagef("%s needs a topic: give --topic T as well, or leave %[1]s out", flag)
		}
	}
	parties := []crawler.LinkPolicy{crawler.LinksSite, crawler.LinksHost}
	if !slices.Contains(parties, crawler.LinkPolicy(c.Links)) {
		return cli.Usagef("--links %s: a party stays on one site or one host; give site or host", c.Links)
	}
	return nil
}

// survey sets a plan's options for a survey.
func (c *Crawl) survey(p *Plan) {
	opt := &p.Crawl
	opt.Ordering, opt.Threshold = orders.ByDepth, 0
	opt.Scope.Parties = true
	opt.MaxPages = c.pages(0) // 0: no limit, as depth and pages per site bound it
	opt.Delay = partyDelay(opt.Delay)
	if p.NoTopic = c.topicless(); p.NoTopic {
		opt.Scorer = noTopic{}
	}
}

// partyDelay returns the rest of a seed context: max(30 s, 10 × the exchange), or with --delay
// in place of the 30 s and the multiple in proportion.
func partyDelay(asked crawler.Delay) crawler.Delay {
	if !asked.Fixed {
		return crawler.Delay{Fixed: true, Rest: partyRest, Fold: partyRestFold}
	}
	asked.Fold = partyRestFold * float64(asked.Rest) / float64(partyRest)
	return asked
}

// noTopic is the scorer of a survey without a topic: no page is on topic.
type noTopic struct{}

func (noTopic) ScorePage(*page.Page, float64) crawler.Score { return crawler.Score{} }

func (noTopic) ScoreLinks(dst []float64, p *page.Page, _ crawler.Score) []float64 {
	return append(dst, make([]float64, len(p.Links))...)
}

// topics finds the topics of a crawl; a survey may have none.
func (c *Crawl) topics() ([]*models.Topic, error) {
	if c.topicless() {
		return []*models.Topic{{Name: surveyTopic}}, nil
	}
	return c.find()
}

// surveyed holds a survey's settings from its store.
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
		return nil, cli.Usagef("%s is the store of a crawl for a topic; only a survey has parties", s.Dir())
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

// Wants reports whether a URL may be a start page of the survey.
func (s *surveyed) Wants(url string) bool { return s.scope.Excludes(url) == "" }

func modelFile(dir string) string { return filepath.Join(dir, "model.fossick") }

// kept is a store's record of its crawl.
type kept struct {
	Settings
	Shared []sharing `json:",omitempty"`
}

// Stored returns the settings of a store's crawl; none from an empty store.
func Stored(s *store.Store) (saved *Settings, err error) {
	k, err := keptIn(s)
	return &k.Settings, err
}

func keptIn(s *store.Store) (*kept, error) {
	k := &kept{}
	if text := s.Info().Settings; len(text) > 0 {
		if err := json.Unmarshal(text, k); err != nil {
			return k, fmt.Errorf("%s: settings: %w", s.Dir(), err)
		}
	}
	return k, nil
}

// URLs returns the normal form of URLs in a store's crawl.
func URLs(s *store.Store) (*page.Normalizer, error) {
	saved, err := Stored(s)
	if err != nil {
		return nil, err
	}
	if saved.Dropped == nil {
		saved.Dropped = page.DefaultDrop()
	}
	return page.NewNormalizer(saved.Dropped), nil
}

// Keep writes the settings and the model of a new crawl into its store.
func (c *Crawl) Keep(s *store.Store, p *Plan) error {
	if err := c.keepModels(p.models); err != nil {
		return err
	}
	saved := c.Settings
	saved.Proxy = RedactProxy(saved.Proxy)
	if len(c.Shared) > 0 {
		saved.Model = "" // each topic has its own file
	} else {
		saved.Keywords = p.Keywords
	}
	if !c.Parties {
		saved.Score = p.scored // else a resumed crawl would derive it from its present settings
	}
	var err error
	if saved.Seed, err = propose.Keep(c.Store, p.Crawl.Seeds); err != nil {
		return err
	}
	saved.Seeds = "" // the file may be gone at the resume
	text, err := json.Marshal(kept{saved, c.Shared})
	if err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	return s.SetSettings(text)
}

// Changed returns the settings in a store as change leaves them, for Store.SetSettings.
func Changed(s *store.Store, change func(*Settings)) ([]byte, error) {
	k, err := keptIn(s)
	if err != nil {
		return nil, err
	}
	change(&k.Settings)
	return json.Marshal(k)
}

// Recall fills in from the store the settings that c leaves open. It returns the store's
// settings that open the network, to warn the user.
func (c *Crawl) Recall(s *store.Store) (opened string, err error) {
	info := s.Info()
	if c.Topic != "" && c.Topic != info.Topic {
		return "", cli.Usagef("the store's topic is %q, not %q; leave --topic out", info.Topic, c.Topic)
	}
	c.Topic = info.Topic
	saved, err := keptIn(s)
	if err != nil {
		return "", err
	}
	if len(info.Settings) > 0 { // else a kill came before Keep, and c begins the crawl
		c.Parties = saved.Parties
	}
	if len(saved.Shared) > 0 {
		if err := c.recallShared(saved.Shared); err != nil {
			return "", err
		}
	} else if err := takeFile(&saved.Model, modelFile(c.Store)); err != nil {
		return "", err
	}
	if err := takeFile(&saved.Seeds, propose.StoredSeeds(c.Store)); err != nil {
		return "", err
	}
	if c.Dropped != nil && saved.Dropped != nil && !slices.Equal(c.Dropped, saved.Dropped) {
		return "", cli.Usagef("--also parameters: the crawl in the store began with another list of parameters, which shaped the URLs in it; leave the word out, or start a new store")
	}
	saved.Browser = saved.remote() // a stranger's store must not name the program to run
	if c.Render == "never" {
		saved.Rendering = Rendering{}
	}
	opened = saved.opened(&c.Settings)
	c.inherit(&saved.Settings)
	return opened, nil
}

// takeFile names a file of the store itself, if it exists; it must be a regular file.
func takeFile(name *string, path string) error {
	if _, err := os.Stat(path); err != nil {
		return nil
	}
	if !fileio.Regular(path) {
		return fmt.Errorf("%s: %w; remove the existing file or folder", path, fileio.ErrKind)
	}
	*name = path
	return nil
}
