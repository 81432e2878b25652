package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"time"

	"fossick/crawler"
	"fossick/crawler/control"
	"fossick/crawler/fetch"
	"fossick/crawler/plan"
	"fossick/crawler/render"
	"fossick/eval"
	"fossick/eval/monitor"
	"fossick/internal/cli"
	"fossick/internal/page"
	"fossick/store"
	"fossick/ui"
)

// focusCmd crawls for a topic; package plan has its flags.
type focusCmd struct {
	plan.Crawl
	UI bool `name:"ui" help:"Show the crawl in the browser, as fossick ui does." group:"net" expert:""`

	revisits *revisiting // of watch; nil for other verbs
}

func (focusCmd) Help() string {
	return `Examples:
  fossick focus --topic banking --contact you@example.org --max-pages 500
  fossick focus --topic bees --keywords bee,hive,honey \
      --seed example.org/bees --contact you@example.org
  fossick focus --topic science,sport --contact you@example.org
  fossick focus --resume --store fossick-banking --max-pages 2k`
}

func (focusCmd) MoreHelp() string {
	return `German pages only, until they get rare:
  fossick focus --topic banking --lang de --min-harvest 0.05 \
      --max-pages 100k --store german --contact you@example.org

A week later, first the pages that have changed, then new ones:
  fossick focus --resume --store fossick-banking --refresh 7d --max-time 2h

A corpus instead of the web, while fossick serve demo --addr 127.0.0.1:8090 runs:
  fossick focus --topic science --proxy http://127.0.0.1:8090 --delay 0 \
      --seed http://nightsky-almanac.test/links/science.html

Scores of --score: ` + plan.Help() + `.`
}

// Run crawls and prints the result; an interrupted crawl prints it as well.
func (c *focusCmd) Run(a *app) error {
	result, err := c.crawl(a.ctx, a)
	return emitCrawl(a, result, err)
}

// crawl is focus without its output; demo, survey and watch use it too.
func (c *focusCmd) crawl(ctx context.Context, a *app) (result *monitor.Result, err error) {
	if err := c.seen(a); err != nil {
		return nil, err
	}
	if err := c.NameStore(); err != nil {
		return nil, err
	}
	if c.Agents > 1 || c.Resume && store.Exists(store.AgentDir(c.Store, 0)) {
		return c.crawlTeam(ctx, a)
	}
	var s *store.Store
	if c.Resume {
		if s, err = c.reopen(ctx, a); err != nil {
			return nil, err
		}
	}
	defer func() {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if s != nil {
		if err := c.whole(s); err != nil {
			return nil, err
		}
	}
	p, fetcher, err := c.planned(a)
	if err != nil {
		return nil, err
	}
	defer fetcher.Close()
	session := c.session(p)
	shown, err := monitor.Listen(c.Listen, a.verbose, session)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, shown.Stop()) }()
	if addr := shown.Addr(); addr != nil {
		a.say("status at http://%s/status, metrics at http://%s/metrics", addr, addr)
	}
	if !c.Resume { // only now: a mistake in the command line must leave no store behind
		if s, err = c.create(ctx, p); err != nil {
			return nil, err
		}
	}
	if c.revisits == nil {
		if err := c.Keep(s, p); err != nil {
			return nil, err
		}
	}
	if err := c.revisits.adapt(p, s); err != nil {
		return nil, err
	}
	p.Crawl.Store, p.Crawl.Fetcher = s, fetcher
	closeBrowser, err := startBrowser(ctx, p)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closeBrowser()) }()
	result, err = c.run(ctx, &crawling{a: a, refresh: c.Refresh, revisits: c.revisits, plan: p, shown: shown}, session)
	s = p.Crawl.Store // another one, if pages were forgotten
	return result, err
}

// crawlMemory is the heap in bytes at which the garbage collector works harder. Mapped files
// and the program itself take some 140 MiB more; the sum must stay below 512 MiB.
const crawlMemory = 272 << 20

func (c *focusCmd) run(ctx context.Context, x *crawling, session monitor.Session) (result *monitor.Result, err error) {
	a, p := x.a, x.plan
	a.signals.InOrder()
	defer limitHeap(crawlMemory)() // before the queue takes a million start pages
	filling := a.step("filling the queue")
	err = x.begin()
	filling()
	if err != nil {
		return nil, err
	}
	socket, err := openSocket(control.Options{
		Store: p.Crawl.Store, URLs: p.Crawl.URLs, Engine: x.engine, Scorer: p.Crawl.Scorer,
	}, x.shown, x.change)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, socket.Close()) }()
	closePage, err := c.showPage(a, p.Crawl.Store.Dir())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closePage()) }()
	a.say("%s", monitor.Beginning(c.Resume, p.NoTopic, x.engine.Progress()))
	done, err := x.toTheEnd(ctx, socket)
	x.line.End()
	result = monitor.ResultOf(session, done, x.engine.Progress().After(x.past))
	if p.Crawl.Store == nil {
		return result, err
	}
	addPoliteness(ctx, a, result, p, p.Crawl.Store)
	result.Started(x.starts, plan.RedactProxy(c.Proxy), done)
	return result, err
}

// seen refuses a page whose address nobody would see.
func (c *focusCmd) seen(a *app) error {
	if c.UI && a.quiet {
		return usagef("--ui prints an address; leave --quiet out")
	}
	return nil
}

// showPage shows the crawls in these stores in the browser, with --ui.
func (c *focusCmd) showPage(a *app, stores ...string) (end func() error, err error) {
	if !c.UI {
		return func() error { return nil }, nil
	}
	server, end, err := a.serveUI(ui.Options{Addr: anyPort, Dirs: stores})
	if err != nil {
		return nil, err
	}
	a.say("the crawl in the browser: %s", server.Address())
	return end, nil
}

// create makes the crawl's store, and waits if a reader opens it at once.
func (c *focusCmd) create(ctx context.Context, p *plan.Plan) (*store.Store, error) {
	s, err := store.Create(c.Store, store.Info{Version: version, Topic: c.Topic, Topics: p.Names()})
	if errors.Is(err, store.ErrBusy) && !errors.Is(err, store.ErrExists) {
		return store.OpenWhenFree(ctx, c.Store)
	}
	return s, err
}

func verbOf(survey bool) string {
	if survey {
		return "survey"
	}
	return "focus"
}

// whole refuses to resume one agent's part of a crawl without the other agents.
func (c *focusCmd) whole(s *store.Store) error {
	switch {
	case s.Info().Agent != "":
		return usagef("%s holds an agent's crawl; resume it with fossick agent --store %s and the flags of its first start", c.Store, c.Store)
	case c.Agents > 1:
		return usagef("%s is the store of one of %d agents; give --store the folder that holds it", c.Store, c.Agents)
	}
	return nil
}

// reopen opens the store to resume and takes its settings.
func (c *focusCmd) reopen(ctx context.Context, a *app) (*store.Store, error) {
	s, err := store.OpenWhenFree(ctx, c.Store)
	if err != nil {
		return nil, err
	}
	survey := c.Parties
	opened, err := c.Recall(s)
	if err == nil && c.Parties != survey && c.revisits == nil {
		err = usagef("resume the crawl in %s with: fossick %s --resume --store %s", c.Store, verbOf(c.Parties), c.Store)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if opened != "" {
		a.say("the crawl in %s resumes with its %s", c.Store, opened)
	}
	return s, nil
}

// crawling is a running crawl. When pages are forgotten meanwhile, the crawl releases the store
// and resumes in another session; the user sees one crawl.
type crawling struct {
	a        *app
	refresh  time.Duration
	revisits *revisiting
	plan     *plan.Plan // of the session; its Crawl.Store is nil once it is unusable
	shown    *monitor.Server

	engine *crawler.Crawler
	line   *monitor.Line
	starts *monitor.Starts
	began  time.Time

	changing sync.Mutex    // guards the fields below between two changes; the crawl reads them between sessions
	most     time.Duration // --max-time
	paused   bool          // by a person
	stop     bool          // likewise, perhaps while the session ends to forget pages

	done crawler.Result   // of the sessions before
	past crawler.Progress // likewise
}

func (x *crawling) begin() (err error) {
	x.line = monitor.NewLine(x.a.screen, x.plan.Crawl.MaxPages, x.plan.Crawl.MaxTime, x.plan.Names()...)
	x.line.NoTopic = x.plan.NoTopic
	x.began, x.most = time.Now(), x.plan.Crawl.MaxTime
	return x.prepare()
}

func (x *crawling) prepare() error {
	past := x.past
	x.starts = monitor.WatchStarts(x.plan.Crawl.Seeds, x.plan.Crawl.Store)
	show := showing(x.a, x.line, x.shown, x.starts)
	x.plan.Crawl.Progress = func(p crawler.Progress) { show(p.After(past)) }
	engine, err := crawler.New(x.plan.Crawl)
	if err != nil {
		return err
	}
	x.engine, x.plan.Crawl.Seeds = engine, nil // there may be a million
	return nil
}

// toTheEnd crawls, in several sessions if pages are forgotten meanwhile, until the crawl ends.
func (x *crawling) toTheEnd(ctx context.Context, socket *control.Socket) (crawler.Result, error) {
	for {
		done, err := x.engine.Run(ctx)
		x.done = done.After(x.done)
		switch {
		case err != nil:
			return x.done, err
		case done.Stopped == crawler.StopForget && ctx.Err() != nil:
			x.done.Stopped = crawler.StopInterrupted // the closing socket tells waiting clients
			return x.done, nil
		}
		goOn, err := x.between(ctx, socket)
		if err != nil {
			x.done.Stopped = crawler.StopError
		}
		if !goOn || err != nil {
			return x.done, err
		}
	}
}

// between works on the store between two sessions. goOn says that another session follows.
func (x *crawling) between(ctx context.Context, socket *control.Socket) (goOn bool, err error) {
	socket.Pause()
	defer func() { socket.Resume(x.plan.Crawl.Store, x.engine, x.plan.Crawl.Scorer) }()
	switch err := x.forget(ctx, socket); {
	case err != nil || x.done.Stopped != crawler.StopForget:
		return false, err
	case x.stop:
		x.done.Stopped = crawler.StopInterrupted
		return false, nil
	}
	left := time.Duration(0) // no limit
	if x.most > 0 {
		if left = x.most - time.Since(x.began); left <= 0 {
			x.done.Stopped = crawler.StopMaxTime
			return false, nil
		}
	}
	x.past = x.engine.Progress().After(x.past)
	return true, x.resume(left)
}

// forget deletes the pages that the crawl was asked to forget; a store that cannot be opened again is an error.
func (x *crawling) forget(ctx context.Context, socket *control.Socket) error {
	if x.done.Stopped == crawler.StopForget {
		defer x.a.step("the crawl pauses to delete pages at their owner's request")()
	}
	s, pages, err := store.Fulfil(ctx, x.plan.Crawl.Store)
	socket.Fulfilled(pages, err)
	if x.plan.Crawl.Store = s; s == nil {
		return errors.Join(errors.New("the store could not be opened again after pages were forgotten"), err)
	}
	return nil
}

func (x *crawling) resume(left time.Duration) error {
	s, fetcher, browser := x.plan.Crawl.Store, x.plan.Crawl.Fetcher, x.plan.Crawl.Browser
	c := plan.Crawl{Store: s.Dir(), Resume: true, Refresh: x.refresh}
	if x.revisits != nil { // the store does not keep these
		c.Network, c.Manners = x.revisits.Network, x.revisits.Manners
	}
	_, err := c.Recall(s)
	if err != nil {
		return err
	}
	p, err := c.Plan(plan.Program{Version: version, Seed: x.a.seed, Log: x.a.log, Say: func(string, ...any) {}})
	if err != nil {
		return fmt.Errorf("the crawl could not go on after pages were forgotten: %w", err)
	}
	p.Crawl.KeepVersions = x.refresh > 0 && x.plan.Crawl.KeepVersions
	*x.plan = *p
	if err := x.revisits.adapt(x.plan, s); err != nil {
		return err
	}
	x.plan.Crawl.Store, x.plan.Crawl.Fetcher, x.plan.Crawl.MaxTime = s, fetcher, left
	x.plan.Crawl.Browser, x.plan.Crawl.Paused = browser, x.paused
	return x.prepare()
}

// change takes in what a person changes in the browser. What has a flag lasts over a resume.
func (x *crawling) change(ctx context.Context, socket *control.Socket, to ui.Change) error {
	s, done, err := socket.Open(ctx) // no other session begins meanwhile
	if err != nil {
		return err
	}
	defer done()
	x.changing.Lock()
	defer x.changing.Unlock()
	x.stop = x.stop || to.Action == "stop"
	now := crawler.Change{Stop: x.stop}
	if to.Action == "pause" || to.Action == "go" {
		x.paused = to.Action == "pause"
		now.Paused = &x.paused
	}
	if to.Limits != nil || to.Exclude != nil {
		if err := x.lasting(s, to, &now); err != nil {
			return err
		}
	}
	if now.Stop { // it is kept, also if the client goes
		ctx = context.WithoutCancel(ctx)
	}
	return x.engine.Change(ctx, now)
}

// mostSeconds is the longest time limit, a century.
const mostSeconds = 100 * 365 * 24 * 3600.0

// lasting adds to a change the settings that the store keeps.
func (x *crawling) lasting(s *store.Store, to ui.Change, now *crawler.Change) (err error) {
	exclude := ""
	if to.Exclude != nil {
		more, err := to.Exclude.Regexp()
		if err != nil {
			return err
		}
		if exclude = more.String(); x.plan.Crawl.Scope.Exclude != nil {
			exclude = "(?:" + x.plan.Crawl.Scope.Exclude.String() + ")|(?:" + exclude + ")"
		}
		if now.Exclude, err = regexp.Compile(exclude); err != nil {
			return cli.Usage(err)
		}
		x.plan.Crawl.Scope.Exclude = now.Exclude
	}
	if l := to.Limits; l != nil && l.MaxSeconds != nil && !(*l.MaxSeconds >= 0 && *l.MaxSeconds <= mostSeconds) {
		return usagef("max_seconds %g: want 0 for no limit, or up to %g", *l.MaxSeconds, mostSeconds)
	}
	now.Settings, err = plan.Changed(s, func(kept *plan.Settings) {
		if exclude != "" {
			kept.Exclude = exclude
		}
		if l := to.Limits; l != nil && l.MaxPages != nil {
			now.MaxPages, kept.MaxPages = l.MaxPages, cmp.Or(*l.MaxPages, plan.NoLimit)
		}
		if l := to.Limits; l != nil && l.MaxSeconds != nil {
			x.most = time.Duration(*l.MaxSeconds * float64(time.Second))
			session := x.most
			if x.most > 0 {
				session = max(x.most-x.past.Elapsed, 1)
			}
			now.MaxTime, kept.MaxTime = &session, x.most
		}
	})
	return err
}

func (c *focusCmd) planned(a *app) (*plan.Plan, *fetch.Fetcher, error) {
	p, err := c.Plan(plan.Program{Version: version, Seed: a.seed, Log: a.log, Say: a.say})
	if err != nil {
		return nil, nil, err
	}
	if err := findBrowser(p); err != nil {
		return nil, nil, err
	}
	fetcher, err := fetch.New(p.Fetch)
	return p, fetcher, cli.Usage(err)
}

// findBrowser finds the browser of a crawl that renders pages, before anything is stored.
func findBrowser(p *plan.Plan) (err error) {
	if p.Render != nil {
		if p.Render.Program, err = render.Find(p.Render.Program); err != nil {
			return usagef("--render: %w", err)
		}
	}
	return nil
}

// startBrowser starts the browser that all agents share, if the first plan asks for one.
func startBrowser(ctx context.Context, plans ...*plan.Plan) (end func() error, err error) {
	opt := plans[0].Render
	if opt == nil {
		return func() error { return nil }, nil
	}
	opt.Dir = plans[0].Crawl.Store.Dir()
	browser, err := render.New(ctx, *opt)
	if err != nil {
		return nil, err
	}
	for _, p := range plans {
		p.Crawl.Browser, p.Crawl.RenderLeft = browser, browser.Left()
	}
	return browser.Close, nil
}

func (c *focusCmd) session(p *plan.Plan) monitor.Session {
	s := monitor.Session{Topic: c.Topic, Store: c.Store, Keywords: p.Keywords, Refresh: c.Refresh > 0 || c.revisits != nil, Survey: c.Parties, NoTopic: p.NoTopic}
	for _, t := range p.Topics {
		s.Topics = append(s.Topics, monitor.Goal(t))
	}
	return s
}

// showing returns a function that shows progress, and prints start pages that fail.
func showing(a *app, line *monitor.Line, shown *monitor.Server, starts *monitor.Starts) func(crawler.Progress) {
	shown.ShowFailed(starts.Known())
	return func(p crawler.Progress) {
		line.Show(p)
		shown.Show(p)
		for _, f := range starts.Show(p) {
			a.say("start page %s failed: %s, %s", f.URL, f.State, cli.Cut(f.Reason, 300))
			shown.ShowFailed(starts.Known())
		}
	}
}

func addPoliteness(ctx context.Context, a *app, result *monitor.Result, p *plan.Plan, stores ...*store.Store) {
	defer a.step("reading the journal")()
	if p.Crawl.OneSitePerAddress {
		result.SameAddress = new(int)
		for _, s := range stores {
			for h, err := range s.Hosts() {
				if err == nil && h.AddressSite != "" && h.AddressSite != page.Site("http://"+h.Name+"/") {
					*result.SameAddress++
				}
			}
		}
	}
	var err error
	if result.Politeness, err = eval.MeasurePoliteness(context.WithoutCancel(ctx), stores...); err != nil {
		result.Politeness = nil // the crawl is good without it
		a.say("no politeness report: %v", err)
	}
}

// emitCrawl prints the result of a crawl, which is nil if the crawl did not begin.
func emitCrawl(a *app, result *monitor.Result, err error) error {
	if result == nil {
		return err
	}
	if emitErr := a.emit(result, result.Print); emitErr != nil {
		return emitErr
	}
	return endOf(result, err)
}

// endOf returns the error of a verb that has printed a crawl's result.
func endOf(result *monitor.Result, err error) error {
	if err == nil && result.Stopped == crawler.StopInterrupted {
		return errInterrupted
	}
	return errors.Join(err, result.Failed.Err())
}
