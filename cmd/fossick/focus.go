package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"fossick/crawler"
	"fossick/eval"
	"fossick/fetch"
	"fossick/internal/printable"
	"fossick/internal/reading"
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

// MoreHelp implements moreHelp.
func (focusCmd) MoreHelp() string {
	return `German pages only, until they get rare:
  fossick focus --topic banking --lang de --min-harvest 0.05 \
      --max-pages 100k --store german --contact you@example.org

A week later, what has changed of it, before anything new:
  fossick focus --resume --store fossick-banking --refresh 7d --max-time 2h

A corpus instead of the web, while fossick serve demo --addr 127.0.0.1:8090 runs:
  fossick focus --topic science --proxy http://127.0.0.1:8090 --delay 0 \
      --seed http://nightsky-almanac.test/links/science.html

Scores of --score: ` + policyHelp() + `.`
}

// crawlResult is what focus prints (cli.md).
type crawlResult struct {
	Topic          string            `json:"topic"`
	Fetched        uint64            `json:"fetched"`
	Relevant       uint64            `json:"relevant"`
	Harvest        *float64          `json:"harvest"`
	Requests       uint64            `json:"requests"`
	ByState        map[string]uint64 `json:"by_state"`
	Codes          map[int]uint64    `json:"codes"`
	NearDuplicates uint64            `json:"near_duplicates"` // of by_state's duplicates
	Hosts          int               `json:"hosts"`
	PagesPerSecond *float64          `json:"pages_per_second"`
	Seconds        float64           `json:"seconds"`
	Store          string            `json:"store"`
	Stopped        crawler.Stop      `json:"stopped_because"`
	Next           *marginalResult   `json:"next"`
	Refreshed      *refreshResult    `json:"refreshed"` // null without --refresh
	Waiting        int               `json:"waiting"`
	Outages        int               `json:"outages"`        // of our own network in this session
	OutageSeconds  float64           `json:"outage_seconds"` // and how long they were in all
	WaitingUntil   *time.Time        `json:"waiting_until"`  // when the first of them may be fetched; null unless that was too long to wait
	Keywords       []string          `json:"keywords"`
	Politeness     *eval.Politeness  `json:"politeness"` // null when the journal could not be read
	Failed         *failedResult     `json:"failed"`     // null unless nothing was fetched
}

// Run crawls and prints the result; an interrupted crawl prints it as well.
func (c *focusCmd) Run(a *app) error {
	result, err := c.crawl(a.ctx, a)
	if result == nil {
		return err
	}
	if emitErr := a.emit(result, result.print); emitErr != nil {
		return emitErr
	}
	if err == nil && result.Stopped == crawler.StopInterrupted {
		return errInterrupted
	}
	return errors.Join(err, result.Failed.err())
}

// crawl does the work of focus, for demo as well.
func (c *focusCmd) crawl(ctx context.Context, a *app) (result *crawlResult, err error) {
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
		return nil, usageError{err}
	}
	defer fetcher.Close()
	monitor, err := startMonitor(a, c.Listen, c.Pprof, c.Topic, c.Store)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, monitor.stop()) }()
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
	return c.run(ctx, a, plan, monitor)
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
func (c *focusCmd) run(ctx context.Context, a *app, plan *plan, monitor *monitor) (result *crawlResult, err error) {
	line := newStatus(a, plan)
	plan.crawl.Progress = func(p crawler.Progress) { line.show(p); monitor.show(p) }
	a.endsInOrder()
	defer limitMemory()() // before a million start pages are planted
	planting := a.step("filling the queue")
	engine, err := crawler.New(plan.crawl)
	planting()
	if err != nil {
		return nil, err
	}
	plan.crawl.Seeds = slices.Clone(plan.crawl.Seeds[:min(len(plan.crawl.Seeds), seedsTold)])
	door, err := openDoor(plan.crawl.Store, engine, plan.crawl.Scorer, monitor)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, door.shut()) }()
	line.begin(c.Resume, engine.Progress())
	done, err := engine.Run(ctx)
	line.end()
	result = c.result(plan, done, engine.Progress().Queue)
	defer a.step("reading the journal")()
	result.Politeness = politeness(ctx, a, plan.crawl.Store)
	result.Failed = c.nothingFetched(plan.crawl.Store, plan.crawl.Seeds, done)
	return result, err
}

func (c *focusCmd) result(plan *plan, done crawler.Result, waiting int) *crawlResult {
	n := done.Counts
	r := &crawlResult{
		Topic: c.Topic, Fetched: n.Pages, Relevant: n.Relevant, Harvest: harvestOf(n), Requests: n.Requests,
		ByState: n.States, Codes: n.Codes, NearDuplicates: n.NearDuplicates, Hosts: done.Hosts,
		Seconds: n.Elapsed.Seconds(), Store: c.Store, Stopped: done.Stopped, Waiting: waiting, WaitingUntil: until(done.WaitUntil),
		Outages: done.Outages, OutageSeconds: done.OutageTime.Seconds(),
		Keywords: plan.keywords, Next: marginalOf(done.Next), Refreshed: c.refreshedOf(done.Refreshed),
	}
	if r.Seconds > 0 {
		speed := float64(n.Pages) / r.Seconds
		r.PagesPerSecond = &speed
	}
	return r
}

// harvestOf is relevant / fetched, nil of nothing.
func harvestOf(n store.Counts) *float64 {
	if n.Pages == 0 {
		return nil
	}
	harvest := float64(n.Relevant) / float64(n.Pages)
	return &harvest
}

func (r *crawlResult) print(w io.Writer) {
	printable.Fprintf(w, "%s: %d pages of %d hosts", r.Topic, r.Fetched, r.Hosts)
	if r.Harvest != nil {
		printable.Fprintf(w, ", %d of them on topic (harvest %.1f %%)", r.Relevant, 100**r.Harvest)
	}
	printable.Fprintf(w, "\n%d requests in %.1f s", r.Requests, r.Seconds)
	if r.PagesPerSecond != nil {
		printable.Fprintf(w, ", %.1f pages/s", *r.PagesPerSecond)
	}
	printable.Fprintf(w, "; stopped: %s; %d URLs wait\n", r.Stopped, r.Waiting)
	r.Refreshed.print(w)
	r.Next.print(w)
	states := make([]string, 0, len(r.ByState))
	for state := range r.ByState {
		states = append(states, state)
	}
	slices.Sort(states)
	for _, state := range states {
		printable.Fprintf(w, "  %-16s %d", state, r.ByState[state])
		if state == string(fetch.StateDuplicate) && r.NearDuplicates > 0 {
			printable.Fprintf(w, " (%d of them near-duplicates)", r.NearDuplicates)
		}
		io.WriteString(w, "\n")
	}
	printPoliteness(w, r.Politeness)
	if r.Failed != nil {
		for _, f := range r.Failed.StartPages {
			printable.Fprintf(w, "%s: %s %s\n", f.URL, f.State, printable.Cut(f.Reason, 300))
		}
	}
	r.printOutages(w)
	r.printWaiting(w)
	printable.Fprintf(w, "store: %s\n", r.Store)
	switch {
	case r.Waiting == 0 && r.Fetched == 0:
		printable.Fprintf(w, "mend the cause, remove %s and start again\n", r.Store)
	case r.Waiting > 0:
		printable.Fprintf(w, "go on with: fossick focus --resume --store %s --max-pages N\n", r.Store)
	}
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
func (c *focusCmd) remember(s *store.Store, p *plan) error {
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
	if saved.Seed, err = keepSeeds(c.Store, p.crawl.Seeds); err != nil {
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
	if err := regularOrNone(storedModel(c.Store), storedSeeds(c.Store)); err != nil {
		return err
	}
	if exists(storedModel(c.Store)) {
		saved.Model = storedModel(c.Store)
	}
	if exists(storedSeeds(c.Store)) {
		saved.Seeds = storedSeeds(c.Store)
	}
	saved.tellOpened(a, c.crawlSettings, c.Store)
	return c.inherit(&saved)
}
