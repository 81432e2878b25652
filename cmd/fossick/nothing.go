package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"fossick/crawler"
	"fossick/fetch"
	"fossick/internal/printable"
	"fossick/store"
)

// failedResult says why a crawl fetched nothing, and what to do, in the JSON of focus.
type failedResult struct {
	Cause      string            `json:"cause"`
	Advice     string            `json:"advice"`
	ByState    map[string]uint64 `json:"by_state"` // URLs that ended in this session
	StartPages []failure         `json:"start_pages"`
}

// failure is a start page that came to nothing.
type failure struct {
	URL    string `json:"url"`
	State  string `json:"state"`
	Reason string `json:"reason"`
}

// seedsTold is how many start pages failures speaks of.
const seedsTold = 5

// nothingFetched says why a crawl came to nothing, nil of one that did not.
func (c *focusCmd) nothingFetched(s *store.Store, seeds []string, done crawler.Result) *failedResult {
	if done.Stopped != crawler.StopNothing {
		return nil
	}
	f := &failedResult{ByState: done.Attempts.Ended, StartPages: []failure{}}
	if f.ByState == nil {
		f.ByState = map[string]uint64{}
	}
	if done.Counts.Pages == 0 {
		f.StartPages = failures(s, seeds)
	}
	f.Cause, f.Advice = c.causeOf(done)
	return f
}

// causeOf puts into words what most URLs failed by, or the last exchange.
func (c *focusCmd) causeOf(done crawler.Result) (cause, advice string) {
	ended := done.Attempts.Ended
	if done.Counts.Pages == 0 {
		ended = done.Counts.States
	}
	states := slices.SortedFunc(maps.Keys(ended), func(a, b string) int {
		return cmp.Or(cmp.Compare(ended[b], ended[a]), cmp.Compare(a, b))
	})
	switch {
	case len(states) > 0:
		return c.causeOfState(fetch.State(states[0]))
	case !done.WaitUntil.IsZero():
		return "all hosts ask to wait until " + done.WaitUntil.Local().Format(time.DateTime), "resume the crawl then"
	case done.Attempts.Last != "":
		return "no server answered; the last exchange ended as " + printable.Cut(done.Attempts.Last, 200),
			"look at the connection of this machine, and resume the crawl"
	}
	return "the time was over before a page had come", "give more with --max-time and resume the crawl"
}

func (c *focusCmd) causeOfState(state fetch.State) (cause, advice string) {
	switch state {
	case fetch.StateRobotsDenied:
		return "robots.txt keeps us from all start pages", "begin elsewhere (--seed), or ask the owners"
	case fetch.StateGuardDenied:
		return "all addresses are refused by the egress guard or --cidr", "--allow-net CIDR lets a net through; see the start pages' reasons"
	case fetch.StateTLSError:
		return "no secure connection came about", "look at this machine's clock, and give authorities of your own with --ca"
	case fetch.StateCode:
		return "no start page was answered with a page", "look at the start pages in a browser, and begin elsewhere (--seed)"
	case fetch.StateNoIP, fetch.StateConnectError, fetch.StateConnectTimeout, fetch.StateHeaderError, fetch.StateHeaderTimeout:
		return c.unreachable(state)
	case fetch.StateNone:
		return "no start page may be asked for within the crawl's limits", "widen --include, --exclude, --tld or --max-depth, or begin elsewhere (--seed)"
	}
	return "no start page is a page to keep (" + string(state) + ")", "see the start pages' reasons, and begin elsewhere (--seed)"
}

// unreachable is the cause where no server answered.
func (c *focusCmd) unreachable(state fetch.State) (cause, advice string) {
	switch {
	case c.Proxy != "":
		return fmt.Sprintf("nothing came through the proxy %s (%s)", redactProxy(c.Proxy), state), "look whether it runs and reaches the web, or give another --proxy"
	case state == fetch.StateNoIP:
		return "no host name could be looked up", "look whether this machine is online, and at its name server and the spelling of the start pages"
	}
	return fmt.Sprintf("no server could be reached (%s)", state), "look whether this machine is online, and whether it needs a proxy (--proxy)"
}

// failures tells what became of the first start pages.
func failures(s *store.Store, seeds []string) []failure {
	all := []failure{}
	for _, u := range seeds[:min(len(seeds), seedsTold)] {
		l, err := s.Life(u)
		if err != nil || l.Fate == nil {
			continue // it still waits: the crawl was stopped before it could begin
		}
		what := l.Fate.Reason
		if n := len(l.Visits); n > 0 && l.Visits[n-1].Code != 0 {
			what += fmt.Sprintf(", it answered %d", l.Visits[n-1].Code)
		}
		all = append(all, failure{u, l.Fate.State, what})
	}
	return all
}

// err is what the verb ends with.
func (f *failedResult) err() error {
	if f == nil {
		return nil
	}
	return fmt.Errorf("nothing was fetched: %s; %s", f.Cause, f.Advice)
}
