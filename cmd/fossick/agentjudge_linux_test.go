package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"fossick/store"
)

// judge checks the crawl against the promises of docs/cluster.md.
func (c *faultyCrawl) judge(addr string) {
	c.t.Helper()
	requests := c.log.requests(c.t)
	slices.SortFunc(requests, func(a, b request) int { return a.Start.Compare(b.Start) })
	// No fault excuses a short rest: a restarted agent first waits longer than any answer takes.
	j := mannersJudge{log: requests, delay: boxRest, robots: readRobots(c.t, addr, requests)}
	j.judge().report(c.t)
	c.judgeSilence(requests)
	again := c.judgeRepeats(requests)
	twice := c.judgeStores()
	c.t.Logf("%d requests in %v, the last after %v; %d pages asked for again, %d stored by several", len(requests), time.Since(c.began).Round(time.Second), requests[len(requests)-1].Start.Sub(c.began).Round(time.Second), again, twice)
}

// judgeStores checks that every page is in a store, and counts the pages that are in several.
func (c *faultyCrawl) judgeStores() (twice int) {
	stored := map[string]bool{}
	for _, b := range c.boxes {
		for u := range checkStore(c.t, b.store()) {
			if stored[u] {
				twice++
			}
			stored[u] = true
		}
		for _, f := range b.failed {
			c.t.Logf("machine %d had failed: %s", b.number, f)
		}
	}
	var missing []string
	for h := range faultyHosts {
		for p := range faultyPages {
			if u := fmt.Sprintf("http://h%d.test/%d", h, p); !stored[u] {
				missing = append(missing, u)
			}
		}
	}
	if len(missing) > 0 {
		c.t.Errorf("%d pages are stored by nobody", len(missing))
		c.explain(missing[:min(len(missing), 10)])
	}
	return twice
}

// explain logs what each store knows of the URLs.
func (c *faultyCrawl) explain(urls []string) {
	for _, b := range c.boxes {
		s, err := store.Open(b.store())
		if err != nil {
			c.t.Fatal(err)
		}
		for _, u := range urls {
			l, err := s.URLs().Life(u)
			c.t.Logf("machine %d: %s: %+v, %v", b.number, u, l, err)
		}
		if err := s.Close(); err != nil {
			c.t.Error(err)
		}
	}
}

// boxOf returns the machine that sent a request.
func (c *faultyCrawl) boxOf(r request) *box {
	for _, b := range c.boxes {
		if strings.Contains(r.Agent, b.contact()) {
			return b
		}
	}
	c.t.Fatalf("%s was asked for by %q", r.URL, r.Agent)
	return nil
}

// judgeSilence checks that a machine without a lease sends no request.
func (c *faultyCrawl) judgeSilence(requests []request) {
	for _, e := range c.all {
		for _, r := range requests {
			own := e.all || c.boxOf(r) == e.box
			if r.Start.After(e.from) && r.Start.Before(e.to) {
				if e.requests++; own {
					e.own++
				}
			}
			if own && !e.quietFrom.IsZero() && r.Start.After(e.quietFrom) && r.Start.Before(e.quietTo) {
				c.t.Errorf("round %d, %s: machine %d asked for %s, %v after it had to be silent", e.round, e.kind, e.box.number, r.URL, r.Start.Sub(e.quietFrom))
			}
		}
	}
}

// judgeRepeats counts repeated page requests, each of which must have a fault as its cause.
func (c *faultyCrawl) judgeRepeats(requests []request) (again int) {
	last := map[string]request{}
	type loss struct { // of a machine by a fault, which may hit several
		by *happened
		at *box
	}
	inFlight := map[loss]int{}
	for _, r := range requests {
		if r.Path == "/robots.txt" {
			continue
		}
		before, repeated := last[r.URL]
		last[r.URL] = r
		if !repeated {
			continue
		}
		again++
		e := c.cause(before, r)
		switch {
		case e == nil:
			c.t.Errorf("%s was asked for again by machine %d, %v after machine %d, and no fault between", r.URL, c.boxOf(r).number, r.Start.Sub(before.Start), c.boxOf(before).number)
			continue
		case c.boxOf(r) == c.boxOf(before):
			of := loss{e, c.boxOf(r)}
			if inFlight[of]++; inFlight[of] == boxWorkers+1 {
				c.t.Errorf("round %d, %s: machine %d asked again for more pages of its own than the %d that can have been in flight", e.round, e.kind, c.boxOf(r).number, boxWorkers)
			}
		}
		e.repeats++
	}
	return again
}

// cause returns the last fault that explains a repeated request, nil for none. If another machine
// repeats it, that is a fault of the first machine, or a later one: the site's next owner may have
// died before its replica was up to date. If the same machine repeats it, the fault must have come
// before it stored the page.
func (c *faultyCrawl) cause(before, again request) *happened {
	for _, e := range slices.Backward(c.all) {
		hit := e.all || c.boxOf(before) == e.box
		unknown := before.Start.Before(e.to) && e.from.Before(before.End.Add(unwritten))
		switch {
		case !e.from.Before(again.Start):
		case c.boxOf(before) == c.boxOf(again) && hit && unknown:
			return e
		case c.boxOf(before) != c.boxOf(again) && (hit || before.Start.Before(e.to)):
			return e
		}
	}
	return nil
}
