package monitor

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"fossick/crawler"
	"fossick/fetch"
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
			"look at the connection of this machine, and resume the crawl"
	}
	return "the time was over before a page had come", "give more with --max-time and resume the crawl"
}

func causeOfState(proxy string, state fetch.State) (cause, advice string) {
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
		return unreachable(proxy, state)
	case fetch.StateNone:
		return "no start page may be asked for within the crawl's limits", "widen --include, --exclude, --tld or --max-depth, or begin elsewhere (--seed)"
	}
	return "no start page is a page to keep (" + string(state) + ")", "see the start pages' reasons, and begin elsewhere (--seed)"
}

// unreachable is the cause where no server answered.
func unreachable(proxy string, state fetch.State) (cause, advice string) {
	switch {
	case proxy != "":
		return fmt.Sprintf("nothing came through the proxy %s (%s)", proxy, state), "look whether it runs and reaches the web, or give another --proxy"
	case state == fetch.StateNoIP:
		return "no host name could be looked up", "look whether this machine is online, and at its name server and the spelling of the start pages"
	}
	return fmt.Sprintf("no server could be reached (%s)", state), "look whether this machine is online, and whether it needs a proxy (--proxy)"
}

// Err is what the verb ends with.
func (f *Failed) Err() error {
	if f == nil {
		return nil
	}
	return fmt.Errorf("nothing was fetched: %s; %s", f.Cause, f.Advice)
}
