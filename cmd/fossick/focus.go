package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"fossick/control"
	"fossick/crawler"
	"fossick/fetch"
	"fossick/internal/reading"
	"fossick/internal/usage"
	"fossick/monitor"
	"fossick/policy"
	"fossick/seeds"
	"fossick/store"
)

// focusCmd crawls for a topic. Its flags are kept in the store, so that a
// resumed crawl goes on as it began; see crawlSettings.
type focusCmd struct {
	Topic   string        `placeholder:"T" help:"The topic: ${topics}, one of your own, or any name with --model or --keywords." group:"what" complete:"topics"`
	Resume  bool          `help:"Go on with the crawl in --store, by its settings." group:"run"`
	Store   string        `placeholder:"DIR" help:"Folder of the crawl's store [fossick-TOPIC]." group:"run"`
	Refresh time.Duration `placeholder:"AGE" help:"With --resume: first ask again for the stored pages that were not seen for so long, as 7d, each by its version (If-None-Match, If-Modified-Since)." group:"run" expert:""`
	Pprof   bool          `help:"With --listen: also Go's profiles, at /debug/pprof, for the machine itself only." group:"net" expert:""` // not kept in the store: each session asks anew
	crawlSettings
}

func (focusCmd) Help() string {
	return `Examples:
  fossick focus --topic banking --contact you@example.org --max-pages 500
  fossick focus --topic bees --keywords bee,hive,honey \
      --seed example.org/bees --contact you@example.org
  fossick focus --resume --store fossick-banking --max-pages 2k`
}

// MoreHelp implements help.More.
func (focusCmd) MoreHelp() string {
	return `German pages only, until they get rare:
  fossick focus --topic banking --lang de --min-harvest 0.05 \
      --max-pages 100k --store german --contact you@example.org

A week later, what has changed of it, before anything new:
  fossick focus --resume --store fossick-banking --refresh 7d --max-time 2h

A corpus instead of the web, while fossick serve demo --addr 127.0.0.1:8090 runs:
  fossick focus --topic science --proxy http://127.0.0.1:8090 --delay 0 \
      --seed http://nightsky-almanac.test/links/science.html

Scores of --score: ` + policy.Help() + `.`
}

// Run crawls and prints the result; an interrupted crawl prints it as well.
func (c *focusCmd) Run(a *app) error {
	result, err := c.crawl(a.ctx, a)
	if result == nil {
		return err
	}
	if emitErr := a.emit(result, result.Print); emitErr != nil {
		return emitErr
	}
	if err == nil && result.Stopped == crawler.StopInterrupted {
		return errInterrupted
	}
	return errors.Join(err, result.Failed.Err())
}

// crawl does the work of focus, for demo as well.
func (c *focusCmd) crawl(ctx context.Context, a *app) (result *monitor.Result, err error) {
	if err := c.nameStore(); err != nil {
		return nil, err
	}
	var s *store.Store
	if c.Resume {
		if s, err = c.reopen(ctx, a); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, s.Close()) }()
	}
	plan, err := c.plan(a)
	if err != nil {
		return nil, err
	}
	fetcher, err := fetch.New(plan.fetch)
	if err != nil {
		return nil, usage.Of(err)
	}
	defer fetcher.Close()
	shown, err := monitor.Listen(c.Listen, c.Pprof, c.Topic, c.Store)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, shown.Stop()) }()
	if addr := shown.Addr(); addr != nil {
		a.say("status at http://%s/status, metrics at http://%s/metrics", addr, addr)
	}
	if !c.Resume { // only now: a mistake in the command line must leave no store behind
		if s, err = c.create(ctx); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, s.Close()) }()
	}
	if err := c.remember(s, plan); err != nil {
		return nil, err
	}
	plan.crawl.Store, plan.crawl.Fetcher = s, fetcher
	return c.run(ctx, a, plan, shown)
}

// nameStore says which store the crawl is in.
func (c *focusCmd) nameStore() error {
	if c.Topic == "" && !c.Resume {
		return usagef("--topic T says what to look for; fossick focus --help has examples")
	}
	if c.Store != "" {
		return nil
	}
	if c.Topic == "" {
		return usagef("--resume needs --store DIR or --topic T to know which crawl")
	}
	c.Store = "fossick-" + safeName(c.Topic)
	return nil
}

// run is the session itself.
func (c *focusCmd) run(ctx context.Context, a *app, plan *crawlPlan, shown *monitor.Server) (result *monitor.Result, err error) {
	line := monitor.NewLine(a.screen, plan.crawl.MaxPages, plan.crawl.MaxTime)
	plan.crawl.Progress = func(p crawler.Progress) { line.Show(p); shown.Show(p) }
	a.endsInOrder()
	defer limitMemory()() // before a million start pages are planted
	planting := a.step("filling the queue")
	engine, err := crawler.New(plan.crawl)
	planting()
	if err != nil {
		return nil, err
	}
	plan.crawl.Seeds = slices.Clone(plan.crawl.Seeds[:min(len(plan.crawl.Seeds), monitor.StartPagesTold)])
	socket, err := control.Open(control.Options{
		Store: plan.crawl.Store, URLs: plan.crawl.URLs, Engine: engine, Explain: explains(plan.crawl.Scorer), Status: shown.ServeStatus,
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, socket.Close()) }()
	a.say("%s", monitor.Beginning(c.Resume, engine.Progress()))
	done, err := engine.Run(ctx)
	line.End()
	result = monitor.ResultOf(monitor.Session{Topic: c.Topic, Store: c.Store, Keywords: plan.keywords, Refresh: c.Refresh > 0},
		done, engine.Progress().Queue)
	defer a.step("reading the journal")()
	result.Politeness = politeness(ctx, a, plan.crawl.Store)
	result.Failed = monitor.FailedOf(plan.crawl.Store, plan.crawl.Seeds, redactProxy(c.Proxy), done)
	return result, err
}

// explains returns how a scorer says what it thinks of a URL now, nil when it cannot.
func explains(scorer crawler.Scorer) func(url string) (crawler.Score, bool) {
	if e, ok := scorer.(interface {
		Explain(string) (crawler.Score, bool)
	}); ok {
		return e.Explain
	}
	return nil
}

// create makes the crawl's store. Somebody may look into it as soon as it is there.
func (c *focusCmd) create(ctx context.Context) (*store.Store, error) {
	s, err := store.Create(c.Store, store.Info{Version: version, Topic: c.Topic})
	if errors.Is(err, store.ErrBusy) && !errors.Is(err, store.ErrExists) {
		return store.OpenWhenFree(ctx, c.Store)
	}
	return s, err
}

// reopen opens the store to resume and takes its settings.
func (c *focusCmd) reopen(ctx context.Context, a *app) (*store.Store, error) {
	s, err := store.OpenWhenFree(ctx, c.Store)
	if err != nil {
		return nil, err
	}
	if err := c.recall(a, s); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// remember keeps the settings and the model in the store.
func (c *focusCmd) remember(s *store.Store, p *crawlPlan) error {
	if p.model != nil {
		if err := p.model.WriteFile(storedModel(c.Store)); err != nil {
			return err
		}
	}
	saved := c.crawlSettings
	saved.DropParams = "" // Dropped has what it said
	saved.Proxy = redactProxy(saved.Proxy)
	saved.Keywords = p.keywords
	saved.Score = p.scored // which a resumed crawl would else find out from what it has now
	var err error
	if saved.Seed, err = seeds.Keep(c.Store, p.crawl.Seeds); err != nil {
		return err
	}
	saved.Seeds = "" // the file may be gone when the crawl is resumed
	text, err := json.Marshal(saved)
	if err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	return s.SetSettings(text)
}

// regularOrNone refuses what stands in the place of a store's own files: these are read
// as if somebody had named them.
func regularOrNone(paths ...string) error {
	for _, path := range paths {
		if exists(path) && !reading.Regular(path) {
			return fmt.Errorf("%s: %w; take away what stands there", path, reading.ErrKind)
		}
	}
	return nil
}

// recall fills in from the store what the command line leaves open.
func (c *focusCmd) recall(a *app, s *store.Store) error {
	info := s.Info()
	if c.Topic != "" && c.Topic != info.Topic {
		return usagef("the store's topic is %q, not %q; leave --topic out", info.Topic, c.Topic)
	}
	c.Topic = info.Topic
	saved, err := settingsOf(s)
	if err != nil {
		return err
	}
	if err := regularOrNone(storedModel(c.Store), seeds.Stored(c.Store)); err != nil {
		return err
	}
	if exists(storedModel(c.Store)) {
		saved.Model = storedModel(c.Store)
	}
	if exists(seeds.Stored(c.Store)) {
		saved.Seeds = seeds.Stored(c.Store)
	}
	saved.tellOpened(a, c.crawlSettings, c.Store)
	c.inherit(&saved)
	return nil
}
