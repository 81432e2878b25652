package monitor

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"fossick/crawler"
	"fossick/crawler/fetch"
	"fossick/internal/printable"
)

// Failed says why a crawl fetched nothing, and what to do, in the JSON of focus.
type Failed struct {
	Cause      string            `json:"cause"`
	Advice     string            `json:"advice"`
	ByState    map[string]uint64 `json:"by_state"` // URLs that ended in this session
	StartPages []Failure         `json:"start_pages"`
}

// startPagesTold is how many start pages a Failed names.
const startPagesTold = 5

// failedOf says why a crawl came to nothing, nil of one that did not.
func failedOf(failed []Failure, proxy string, done crawler.Result) *Failed {
	if done.Stopped != crawler.StopNothing {
		return nil
	}
	f := &Failed{ByState: done.Attempts.Ended, StartPages: []Failure{}}
	if f.ByState == nil {
		f.ByState = map[string]uint64{}
	}
	if done.Counts.Pages == 0 {
		f.StartPages = failed[:min(len(failed), startPagesTold)]
	}
	f.Cause, f.Advice = causeOf(proxy, done)
	return f
}

// causeOf puts into words what most URLs failed by, or the last exchange.
func causeOf(proxy string, done crawler.Result) (cause, advice string) {
	ended := done.Attempts.Ended
	if done.Counts.Pages == 0 {
		ended = done.Counts.States
	}
	states := slices.SortedFunc(maps.Keys(ended), func(a, b string) int {
		return cmp.Or(cmp.Compare(ended[b], ended[a]), cmp.Compare(a, b))
	})
	switch {
	case len(states) > 0:
		return causeOfState(proxy, fetch.State(states[0]))
	case !done.WaitUntil.IsZero():
		return "all hosts ask to wait until " + done.WaitUntil.Local().Format(time.DateTime), "resume the crawl then"
	case done.Attempts.Last != "":
		return "no server answered; the last exchange ended as " + printable.Cut(done.Attempts.Last, 200),
			"check the connection of this machine, and resume the crawl"
	}
	return "the time ran out before the first page arrived", "give a longer --max-time and resume the crawl"
}

func causeOfState(proxy string, state fetch.State) (cause, advice string) {
	switch state {
	case fetch.StateRobotsDenied:
		return "robots.txt forbids all start pages", "give other start pages (--seed), or ask the owners"
	case fetch.StateGuardDenied:
		return "the egress guard or --cidr refuses all addresses", "see the start pages' reasons; --allow-net CIDR allows a network"
	case fetch.StateTLSError:
		return "no secure connection could be made", "check this machine's clock, or give your own certificate authorities with --ca"
	case fetch.StateCode:
		return "no server answered a start page with a page", "open the start pages in a browser, and give others (--seed)"
	case fetch.StateScriptOnly:
		return "scripts make all start pages, and fossick does not run scripts", "give other start pages (--seed)"
	case fetch.StateNoIP, fetch.StateConnectError, fetch.StateConnectTimeout, fetch.StateHeaderError, fetch.StateHeaderTimeout:
		return unreachable(proxy, state)
	case fetch.StateNone:
		return "the crawl's limits exclude all start pages", "widen --include, --exclude, --tld or --max-depth, or give other start pages (--seed)"
	}
	return "the crawl could keep no start page (" + string(state) + ")", "see the start pages' reasons, and give others (--seed)"
}

// unreachable is the cause where no server answered.
func unreachable(proxy string, state fetch.State) (cause, advice string) {
	switch {
	case proxy != "":
		return fmt.Sprintf("no answer came through the proxy %s (%s)", proxy, state), "check that it runs and reaches the web, or give another --proxy"
	case state == fetch.StateNoIP:
		return "no host name could be looked up", "check that this machine is online, its name server, and the spelling of the start pages"
	}
	return fmt.Sprintf("no server could be reached (%s)", state), "check that this machine is online, and whether it needs a proxy (--proxy)"
}

// Err is what the verb ends with.
func (f *Failed) Err() error {
	if f == nil {
		return nil
	}
	return fmt.Errorf("nothing was fetched: %s; %s", f.Cause, f.Advice)
}
