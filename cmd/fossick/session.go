package main

import (
	"context"
	"errors"

	"fossick/crawler"
	"fossick/crawler/crawlplan"
	"fossick/crawler/fetch"
	"fossick/eval"
	"fossick/eval/monitor"
	"fossick/internal/page"
	"fossick/internal/printable"
	"fossick/internal/usage"
	"fossick/store"
)

// What focus, a team of agents in one process and an agent have in common.

// planned makes the crawl's plan, and what fetches for it.
func (c *focusCmd) planned(a *app) (*crawlplan.Plan, *fetch.Fetcher, error) {
	plan, err := c.Plan(crawlplan.Program{Version: version, Seed: a.seed, Log: a.log, Say: a.say})
	if err != nil {
		return nil, nil, err
	}
	fetcher, err := fetch.New(plan.Fetch)
	return plan, fetcher, usage.Of(err)
}

// session says what is shown of the crawl.
func (c *focusCmd) session(plan *crawlplan.Plan) monitor.Session {
	s := monitor.Session{Topic: c.Topic, Store: c.Store, Keywords: plan.Keywords, Refresh: c.Refresh > 0 || c.revisits != nil, Survey: c.Parties, NoTopic: plan.NoTopic}
	for _, t := range plan.Topics {
		s.Topics = append(s.Topics, monitor.Goal(t))
	}
	return s
}

// showing tells of a crawl's progress: on its line, to those who ask its server, and in words
// where a start page has failed.
func showing(a *app, line *monitor.Line, shown *monitor.Server, starts *monitor.Starts) func(crawler.Progress) {
	shown.ShowFailed(starts.Known())
	return func(p crawler.Progress) {
		line.Show(p)
		shown.Show(p)
		for _, f := range starts.Show(p) {
			a.say("start page %s failed: %s, %s", f.URL, f.State, printable.Cut(f.Reason, 300))
			shown.ShowFailed(starts.Known())
		}
	}
}

// addPoliteness reads the crawl's journals for the result.
func addPoliteness(ctx context.Context, a *app, result *monitor.Result, plan *crawlplan.Plan, stores ...*store.Store) {
	defer a.step("reading the journal")()
	if plan.Crawl.OneSitePerAddress {
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
		result.Politeness = nil // the crawl itself is worth no less
		a.say("no politeness report: %v", err)
	}
}

// emitCrawl prints what a crawl came to, nil when it did not begin, and how it ended.
func emitCrawl(a *app, result *monitor.Result, err error) error {
	if result == nil {
		return err
	}
	if emitErr := a.emit(result, result.Print); emitErr != nil {
		return emitErr
	}
	return endOf(result, err)
}

// endOf is the error with which a verb ends that printed a crawl's result.
func endOf(result *monitor.Result, err error) error {
	if err == nil && result.Stopped == crawler.StopInterrupted {
		return errInterrupted
	}
	return errors.Join(err, result.Failed.Err())
}
