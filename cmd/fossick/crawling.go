package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fossick/crawler"
	"fossick/crawler/control"
	"fossick/crawler/crawlplan"
	"fossick/eval/monitor"
	"fossick/store"
)

// crawling is a crawl that runs, in one session or, when pages are to be forgotten meanwhile,
// in several: then the store is needed without a crawl. What follows is a resumption, but for
// who looks.
type crawling struct {
	a        *app
	refresh  time.Duration
	revisits *revisiting
	plan     *crawlplan.Plan // of the session; its Crawl.Store is nil where that cannot be used any more
	shown    *monitor.Server

	engine *crawler.Crawler
	line   *monitor.Line
	starts *monitor.Starts
	began  time.Time
	most   time.Duration // --max-time

	done crawler.Result   // of the sessions before
	past crawler.Progress // likewise
}

// begin prepares the first session.
func (x *crawling) begin() (err error) {
	x.line = monitor.NewLine(x.a.screen, x.plan.Crawl.MaxPages, x.plan.Crawl.MaxTime, x.plan.Names()...)
	x.line.NoTopic = x.plan.NoTopic
	x.began, x.most = time.Now(), x.plan.Crawl.MaxTime
	return x.prepare()
}

func (x *crawling) prepare() (err error) {
	past := x.past
	x.starts = monitor.WatchStarts(x.plan.Crawl.Seeds, x.plan.Crawl.Store)
	show := showing(x.a, x.line, x.shown, x.starts)
	x.plan.Crawl.Progress = func(p crawler.Progress) { show(p.After(past)) }
	x.engine, err = crawler.New(x.plan.Crawl)
	x.plan.Crawl.Seeds = nil // there may be a million
	return err
}

// toTheEnd crawls until the crawl ends for another reason than pages to be forgotten.
func (x *crawling) toTheEnd(ctx context.Context, socket *control.Socket) (crawler.Result, error) {
	for {
		done, err := x.engine.Run(ctx)
		x.done = done.After(x.done)
		switch {
		case err != nil:
			return x.done, err
		case done.Stopped == crawler.StopForget && ctx.Err() != nil:
			x.done.Stopped = crawler.StopInterrupted // who waits is told by the end of the socket
			return x.done, nil
		}
		x.past = x.engine.Progress().After(x.past)
		goOn, err := x.between(ctx, socket)
		if err != nil {
			x.done.Stopped = crawler.StopError
		}
		if !goOn || err != nil {
			return x.done, err
		}
	}
}

// between does what is to be done between two sessions. goOn says that there is another.
func (x *crawling) between(ctx context.Context, socket *control.Socket) (goOn bool, err error) {
	socket.Pause()
	defer func() { socket.Resume(x.plan.Crawl.Store, x.engine, x.plan.Crawl.Scorer) }()
	if err := x.forget(ctx, socket); err != nil || x.done.Stopped != crawler.StopForget {
		return false, err
	}
	left := time.Duration(0) // no limit
	if x.most > 0 {
		if left = x.most - time.Since(x.began); left <= 0 {
			x.done.Stopped = crawler.StopMaxTime
			return false, nil
		}
	}
	return true, x.resume(left)
}

// forget does what was asked for while the session went on. An error is the crawl's where
// the store is lost to it.
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

// resume prepares the next session, as focus --resume does.
func (x *crawling) resume(left time.Duration) error {
	s, fetcher := x.plan.Crawl.Store, x.plan.Crawl.Fetcher
	c := crawlplan.Crawl{Store: s.Dir(), Resume: true, Refresh: x.refresh, KeepVersions: x.refresh > 0 && x.plan.Crawl.KeepVersions}
	if x.revisits != nil { // which no store keeps
		c.Network, c.Manners = x.revisits.Network, x.revisits.Manners
	}
	_, err := c.Recall(s)
	if err != nil {
		return err
	}
	plan, err := c.Plan(crawlplan.Program{Version: version, Seed: x.a.seed, Log: x.a.log, Say: func(string, ...any) {}})
	if err != nil {
		return fmt.Errorf("the crawl could not go on after pages were forgotten: %w", err)
	}
	*x.plan = *plan
	if err := x.revisits.adapt(x.plan, s); err != nil {
		return err
	}
	x.plan.Crawl.Store, x.plan.Crawl.Fetcher, x.plan.Crawl.MaxTime = s, fetcher, left
	return x.prepare()
}
