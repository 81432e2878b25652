package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"fossick/crawler"
	"fossick/crawler/cluster"
	"fossick/crawler/control"
	"fossick/crawler/fetch"
	"fossick/crawler/plan"
	"fossick/eval/monitor"
	"fossick/internal/cli"
	"fossick/store"
)

// agentMemory is the heap in bytes that each further agent adds to crawlMemory.
const agentMemory = 192 << 20

// teamwork is a crawl by several agents in this process, each with a store of its own.
type teamwork struct {
	a       *app
	cmd     *focusCmd
	plans   []*plan.Plan
	fetcher *fetch.Fetcher
	session monitor.Session
	shown   *monitor.Server
	line    *monitor.Line
	team    *cluster.Team
	sockets []*control.Socket
}

// crawlTeam is focus --agents.
func (c *focusCmd) crawlTeam(ctx context.Context, a *app) (result *monitor.Result, err error) {
	if store.Exists(c.Store) {
		return nil, fmt.Errorf("store %s: %w, made by one agent; give another --store to a crawl by several", c.Store, store.ErrExists)
	}
	w := &teamwork{a: a, cmd: c}
	defer func() { err = errors.Join(err, w.close()) }()
	for i := 0; i < max(1, c.Agents); i++ { // a resumed crawl learns the number from its first store
		if err := w.prepare(ctx, i); err != nil {
			return nil, err
		}
	}
	return w.run(ctx)
}

func (w *teamwork) prepare(ctx context.Context, agent int) (err error) {
	c := *w.cmd
	c.Store, c.Agents = store.AgentDir(w.cmd.Store, agent), 0
	var s *store.Store
	if c.Resume && (agent == 0 || store.Exists(c.Store)) { // a kill may have left some stores unmade
		if s, err = c.reopen(ctx, w.a); err != nil {
			return err
		}
	}
	if c.Agents == 0 {
		c.Agents = w.cmd.Agents
	} else if w.cmd.Agents > 0 && w.cmd.Agents != c.Agents {
		return errors.Join(usagef("the crawl in %s has %d agents, each with its own sites; leave --agents out", w.cmd.Store, c.Agents), s.Close())
	}
	w.cmd.Agents = c.Agents
	say := w.a.say
	if agent > 0 {
		say = func(string, ...any) {} // the first plan has said it
	}
	p, err := c.Plan(plan.Program{Version: version, Seed: w.a.seed, Log: w.a.log, Say: say})
	if err == nil {
		err = findBrowser(p)
	}
	if err == nil && w.fetcher == nil {
		err = w.begin(&c, p)
	}
	if err == nil && s == nil { // only now: a mistake in the command line must leave no store behind
		if err = os.MkdirAll(w.cmd.Store, 0o755); err == nil {
			s, err = c.create(ctx, p)
		}
	}
	if err == nil {
		err = c.Keep(s, p)
	}
	if err != nil {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
		return err
	}
	p.Crawl.Store, p.Crawl.Fetcher = s, w.fetcher
	w.plans = append(w.plans, p)
	return nil
}

// begin makes the fetcher, server and status line that all agents share, from the first plan.
func (w *teamwork) begin(c *focusCmd, p *plan.Plan) (err error) {
	if w.fetcher, err = fetch.New(p.Fetch); err != nil {
		return cli.Usage(err)
	}
	w.session = c.session(p)
	w.session.Store = w.cmd.Store // c.Store is one agent's
	if w.shown, err = monitor.Listen(c.Listen, w.a.verbose, w.session); err != nil {
		return err
	}
	if addr := w.shown.Addr(); addr != nil {
		w.a.say("status at http://%s/status, metrics at http://%s/metrics", addr, addr)
	}
	w.line = monitor.NewLine(w.a.screen, p.Crawl.MaxPages, p.Crawl.MaxTime, p.Names()...)
	w.line.NoTopic = p.NoTopic
	return nil
}

func (w *teamwork) run(ctx context.Context) (result *monitor.Result, err error) {
	w.a.signals.InOrder()
	defer limitHeap(crawlMemory + agentMemory*int64(len(w.plans)-1))()
	closeBrowser, err := startBrowser(ctx, w.plans...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closeBrowser()) }()
	var agents []crawler.Options
	var stores []*store.Store
	for _, p := range w.plans {
		agents, stores = append(agents, p.Crawl), append(stores, p.Crawl.Store)
	}
	starts := monitor.WatchStarts(w.plans[0].Crawl.Seeds, stores...)
	var each []*monitor.Server // for the pages of the agents
	show := showing(w.a, w.line, w.shown, starts)
	agents[0].Progress = func(p crawler.Progress) {
		show(p)
		for i, one := range w.team.Each() {
			each[i].Show(one)
		}
	}
	filling := w.a.step("filling the queues")
	w.team, err = cluster.NewTeam(agents)
	filling()
	if err != nil {
		return nil, err
	}
	for i, engine := range w.team.Engines() {
		p := &w.plans[i].Crawl
		session := w.session
		session.Store, session.Agent = p.Store.Dir(), true
		session.Whole = func(context.Context) (monitor.Whole, error) {
			return monitor.WholeOf(w.team.Status(), w.plans[0].Crawl.MaxPages), nil
		}
		shown, err := monitor.Listen("", false, session)
		if err != nil {
			return nil, err
		}
		each = append(each, shown)
		socket, err := openSocket(control.Options{Store: p.Store, URLs: p.URLs, Engine: engine, Scorer: p.Scorer}, shown, nil)
		if err != nil {
			return nil, err
		}
		w.sockets = append(w.sockets, socket)
	}
	var dirs []string
	for _, s := range stores {
		dirs = append(dirs, s.Dir())
	}
	closePage, err := w.cmd.showPage(w.a, dirs...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closePage()) }()
	now := w.team.Progress()
	if now.Counts.Pages == 0 { // at first each agent queues all start pages
		now.Queue = min(now.Queue, len(w.plans[0].Crawl.Seeds))
	}
	w.a.say("%s", monitor.Beginning(w.cmd.Resume, w.plans[0].NoTopic, now))
	done, err := w.team.Run(ctx)
	w.line.End()
	result = monitor.ResultOf(w.session, done, w.team.Progress())
	addPoliteness(ctx, w.a, result, w.plans[0], stores...)
	result.Started(starts, plan.RedactProxy(w.cmd.Proxy), done)
	return result, err
}

func (w *teamwork) close() (err error) {
	for _, s := range w.sockets {
		err = errors.Join(err, s.Close())
	}
	for _, p := range w.plans {
		err = errors.Join(err, p.Crawl.Store.Close())
	}
	if w.shown != nil {
		err = errors.Join(err, w.shown.Stop())
	}
	if w.fetcher != nil {
		w.fetcher.Close()
	}
	return err
}
