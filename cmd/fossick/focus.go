package main

import (
	"context"
	"errors"

	"fossick/crawler/control"
	"fossick/crawler/crawlplan"
	"fossick/eval/monitor"
	"fossick/internal/process"
	"fossick/store"
)

// focusCmd crawls for a topic. What its flags come to is a matter of package crawlplan.
type focusCmd struct {
	crawlplan.Crawl

	revisits *revisiting // of watch, nil of others
}

func (focusCmd) Help() string {
	return `Examples:
  fossick focus --topic banking --contact you@example.org --max-pages 500
  fossick focus --topic bees --keywords bee,hive,honey \
      --seed example.org/bees --contact you@example.org
  fossick focus --topic science,sport --contact you@example.org
  fossick focus --resume --store fossick-banking --max-pages 2k`
}

// MoreHelp implements help.More.
func (focusCmd) MoreHelp() string {
	return `German pages only, until they get rare:
  fossick focus --topic banking --lang de --min-harvest 0.05 \
      --max-pages 100k --store german --contact you@example.org

A week later, first the pages that have changed, then new ones:
  fossick focus --resume --store fossick-banking --refresh 7d --max-time 2h

A corpus instead of the web, while fossick serve demo --addr 127.0.0.1:8090 runs:
  fossick focus --topic science --proxy http://127.0.0.1:8090 --delay 0 \
      --seed http://nightsky-almanac.test/links/science.html

Scores of --score: ` + crawlplan.Help() + `.`
}

// Run crawls and prints the result; an interrupted crawl prints it as well.
func (c *focusCmd) Run(a *app) error {
	result, err := c.crawl(a.ctx, a)
	return emitCrawl(a, result, err)
}

// crawl does the work of focus, for demo as well.
func (c *focusCmd) crawl(ctx context.Context, a *app) (result *monitor.Result, err error) {
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
	plan, fetcher, err := c.planned(a)
	if err != nil {
		return nil, err
	}
	defer fetcher.Close()
	session := c.session(plan)
	shown, err := monitor.Listen(c.Listen, a.verbose, session)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, shown.Stop()) }()
	if addr := shown.Addr(); addr != nil {
		a.say("status at http://%s/status, metrics at http://%s/metrics", addr, addr)
	}
	if !c.Resume { // only now: a mistake in the command line must leave no store behind
		if s, err = c.create(ctx, plan); err != nil {
			return nil, err
		}
	}
	if c.revisits == nil {
		if err := c.Keep(s, plan); err != nil {
			return nil, err
		}
	}
	if err := c.revisits.adapt(plan, s); err != nil {
		return nil, err
	}
	plan.Crawl.Store, plan.Crawl.Fetcher = s, fetcher
	result, err = c.run(ctx, &crawling{a: a, refresh: c.Refresh, revisits: c.revisits, plan: plan, shown: shown}, session)
	s = plan.Crawl.Store // another, where pages were to be forgotten
	return result, err
}

// crawlMemory is the heap in bytes at which the garbage collector works harder instead
// of letting it grow. The store's mapped files come on top, 64 MiB, 27 of the program's
// own and some 50 more for a moment. The whole is to stay below 512 MiB. A broad crawl
// has about 170 MiB in use after a million pages, 100 more while the store compacts.
// Collection is a third of its processor time then.
const crawlMemory = 272 << 20

// run crawls, and says what it came to.
func (c *focusCmd) run(ctx context.Context, x *crawling, session monitor.Session) (result *monitor.Result, err error) {
	a, plan := x.a, x.plan
	a.signals.InOrder()
	defer process.LimitHeap(crawlMemory)() // before a million start pages are planted
	planting := a.step("filling the queue")
	err = x.begin()
	planting()
	if err != nil {
		return nil, err
	}
	socket, err := control.Open(control.Options{
		Store: plan.Crawl.Store, URLs: plan.Crawl.URLs, Engine: x.engine, Scorer: plan.Crawl.Scorer, Status: x.shown.ServeStatus,
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, socket.Close()) }()
	a.say("%s", monitor.Beginning(c.Resume, plan.NoTopic, x.engine.Progress()))
	done, err := x.toTheEnd(ctx, socket)
	x.line.End()
	result = monitor.ResultOf(session, done, x.engine.Progress().After(x.past))
	if plan.Crawl.Store == nil {
		return result, err
	}
	addPoliteness(ctx, a, result, plan, plan.Crawl.Store)
	result.Started(x.starts, crawlplan.RedactProxy(c.Proxy), done)
	return result, err
}

// create makes the crawl's store. Somebody may look into it as soon as it is there.
func (c *focusCmd) create(ctx context.Context, plan *crawlplan.Plan) (*store.Store, error) {
	s, err := store.Create(c.Store, store.Info{Version: version, Topic: c.Topic, Topics: plan.Names()})
	if errors.Is(err, store.ErrBusy) && !errors.Is(err, store.ErrExists) {
		return store.OpenWhenFree(ctx, c.Store)
	}
	return s, err
}

// verbOf is the verb that goes on with a crawl.
func verbOf(survey bool) string {
	if survey {
		return "survey"
	}
	return "focus"
}

// whole refuses to go on alone with one agent's part of a crawl: others have its sites.
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
