package monitor

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"text/tabwriter"
	"time"

	"fossick/crawler"
	"fossick/crawler/fetch"
	"fossick/eval"
	"fossick/internal/cli"
	"fossick/internal/report"
	"fossick/store"
)

// printWaiting reports a crawl that ended only because its waiting URLs are on hosts that rest.
func (r *Result) printWaiting(w io.Writer) {
	if r.WaitingUntil != nil {
		cli.Fprintf(w, "all waiting URLs are on hosts that rest, the first until %s; resume the crawl then\n",
			r.WaitingUntil.Format(time.DateTime+" MST"))
	}
}

func (r *Result) printOutages(w io.Writer) {
	if r.Outages > 0 {
		cli.Fprintf(w, "this machine's network (or its proxy) was down for %s, outages: %d; no URL or host was blamed for it\n",
			time.Duration(r.OutageSeconds*float64(time.Second)).Round(time.Second), r.Outages)
	}
}

// Result is the result of a crawl session, in the JSON layout.
type Result struct {
	Topic          string            `json:"topic"`
	Fetched        uint64            `json:"fetched"`
	Relevant       uint64            `json:"relevant"`
	Harvest        *float64          `json:"harvest"`
	Requests       uint64            `json:"requests"`
	ByState        map[string]uint64 `json:"by_state"`
	Codes          map[int]uint64    `json:"codes"`
	NearDuplicates uint64            `json:"near_duplicates"` // included in by_state's duplicates
	Hosts          int               `json:"hosts"`
	SameAddress    *int              `json:"same_address"` // hosts dropped because another site has their address; null without --one-site-per-address
	PagesPerSecond *float64          `json:"pages_per_second"`
	Seconds        float64           `json:"seconds"`
	Store          string            `json:"store"`
	Stopped        crawler.Stop      `json:"stopped_because"`
	Next           *eval.NextPages   `json:"next"`
	Refreshed      *Refreshed        `json:"refreshed"` // null without --refresh
	Waiting        int               `json:"waiting"`
	Outages        int               `json:"outages"`        // of this machine's network, in this session
	OutageSeconds  float64           `json:"outage_seconds"` // total length
	WaitingUntil   *time.Time        `json:"waiting_until"`  // when the first waiting URL may be fetched; null unless the crawl ended because of it
	Keywords       []string          `json:"keywords"`
	Politeness     *eval.Politeness  `json:"politeness"`   // null when the journal could not be read
	Failed         *failure          `json:"failed"`       // null unless nothing was fetched
	SeedsFailed    []startFailure    `json:"seeds_failed"` // among the first mostStarts start pages

	Topics map[string]topicStatus `json:"topics,omitempty"` // when several topics share the crawl
	goals  []Goal

	News    crawler.NewsCounts `json:"-"` // found in sitemaps and feeds by a watch
	NoTopic bool               `json:"-"` // the crawl has no topic
	verb    string             // command that resumes the crawl
}

// Session holds a crawl's settings that its result shows.
type Session struct {
	Topic, Store string
	Keywords     []string
	Topics       []Goal // topics that share the crawl
	Refresh      bool   // stored pages were to be revisited
	Survey       bool   // the crawl was a survey of parties
	NoTopic      bool   // the crawl has no topic
	Agent        bool   // one agent of a multi-agent crawl

	Whole func(context.Context) (Whole, error) // returns the state of the multi-agent crawl; nil for a single crawler
}

// ResultOf returns the result of a session; p is its final progress.
func ResultOf(s Session, done crawler.Result, p crawler.Progress) *Result {
	n := done.Counts
	r := &Result{
		Topic: s.Topic, Fetched: n.Pages, Relevant: n.Relevant, Harvest: harvestOf(n), Requests: n.Requests,
		ByState: n.States, Codes: n.Codes, NearDuplicates: n.NearDuplicates, Hosts: done.Hosts,
		Seconds: n.Elapsed.Seconds(), Store: s.Store, Stopped: done.Stopped, Waiting: p.Queue, WaitingUntil: utc(done.WaitUntil),
		Outages: done.Outages, OutageSeconds: done.OutageTime.Seconds(),
		Keywords: s.Keywords, Next: eval.NextPagesOf(done.Next), News: done.News, Topics: topicsOf(s.Topics, n), goals: s.Topics,
		NoTopic: s.NoTopic, verb: "focus", SeedsFailed: []startFailure{},
	}
	switch {
	case s.Survey:
		r.verb = "survey"
	case s.Agent:
		r.verb = "agent"
	}
	if s.NoTopic {
		r.Harvest, r.Next = nil, nil
	}
	if s.Refresh {
		n := done.Refreshed
		r.Refreshed = &Refreshed{n.Asked, n.NotModified, n.Changed, n.Gone, n.Failed, p.Pages, p.Elapsed.Seconds()}
	}
	if r.Seconds > 0 {
		speed := float64(n.Pages) / r.Seconds
		r.PagesPerSecond = &speed
	}
	return r
}

// Started adds the failed start pages, and the reason when nothing was fetched; proxy is without its password.
func (r *Result) Started(starts *Starts, proxy string, done crawler.Result) {
	r.SeedsFailed = starts.Failed()
	r.Failed = failedOf(r.SeedsFailed, proxy, done)
}

// harvestOf returns relevant / fetched; nil without pages.
func harvestOf(n store.Counts) *float64 {
	if n.Pages == 0 {
		return nil
	}
	harvest := float64(n.Relevant) / float64(n.Pages)
	return &harvest
}

func (r *Result) Print(w io.Writer) {
	cli.Fprintf(w, "%s: %d pages of %d hosts", r.Topic, r.Fetched, r.Hosts)
	if r.Harvest != nil {
		cli.Fprintf(w, ", %d of them on topic (harvest %.1f %%)", r.Relevant, 100**r.Harvest)
	}
	io.WriteString(w, "\n")
	if r.Refreshed != nil {
		io.WriteString(w, "in all sessions: ")
	}
	cli.Fprintf(w, "%d requests in %.1f s", r.Requests, r.Seconds)
	if r.PagesPerSecond != nil {
		cli.Fprintf(w, ", %.1f pages/s", *r.PagesPerSecond)
	}
	cli.Fprintf(w, "; stopped: %s; URLs waiting: %d\n", r.Stopped, r.Waiting)
	r.printTopics(w)
	r.Refreshed.Print(w)
	printNext(w, r.Next)
	states := make([]string, 0, len(r.ByState))
	for state := range r.ByState {
		states = append(states, state)
	}
	slices.Sort(states)
	for _, state := range states {
		cli.Fprintf(w, "  %-16s %d", state, r.ByState[state])
		switch {
		case state == string(fetch.StateDuplicate) && r.NearDuplicates > 0:
			cli.Fprintf(w, " (%d of them near-duplicates)", r.NearDuplicates)
		case state == string(fetch.StateScriptOnly):
			cli.Fprintf(w, ": %s", report.ScriptOnly(int(r.ByState[state])))
		case state == string(fetch.StateChallenge):
			io.WriteString(w, ": challenges and block pages; fossick solves none, and asks their hosts ever more seldom")
		case state == string(fetch.StatePaymentRequired):
			io.WriteString(w, ": fossick pays for no page; why URL shows the price")
		}
		io.WriteString(w, "\n")
	}
	if r.SameAddress != nil {
		cli.Fprintf(w, "hosts dropped because another site has their address: %d\n", *r.SameAddress)
	}
	printPoliteness(w, r.Politeness)
	if n := len(r.SeedsFailed); n > 0 {
		cli.Fprintf(w, "start pages that failed: %d\n", n)
		printFailures(w, r.SeedsFailed)
	}
	r.printOutages(w)
	r.printWaiting(w)
	cli.Fprintf(w, "store: %s\n", r.Store)
	switch {
	case r.Waiting == 0 && r.Fetched == 0:
		cli.Fprintf(w, "solve the problem, remove %s and start again\n", r.Store)
	case r.Waiting > 0 && r.verb == "agent": // its settings are shared by all machines
		cli.Fprintf(w, "resume with: fossick agent --store %s and the same flags as before\n", r.Store)
	case r.Waiting > 0:
		cli.Fprintf(w, "resume with: fossick %s --resume --store %s%s\n", r.verb, r.Store, r.limit())
	}
}

// limit returns the page limit to give on resumption; a survey has none by default.
func (r *Result) limit() string {
	if r.verb == "survey" && r.Stopped != crawler.StopMaxPages {
		return ""
	}
	return " --max-pages N"
}

func printPoliteness(w io.Writer, p *eval.Politeness) {
	if p == nil {
		return
	}
	io.WriteString(w, "politeness:\n")
	for _, s := range p.Sentences() {
		cli.Fprintf(w, "  %s\n", s)
	}
}

func printNext(w io.Writer, m *eval.NextPages) {
	if m != nil {
		cli.Fprintf(w, "%s of the last %d pages were on topic; expect at most %s of the next (99 %% confidence)\n", report.Percent(m.Harvest), m.Pages, report.Percent(m.Upper))
	}
}

// Refreshed counts the outcomes of --refresh, in the JSON layout.
type Refreshed struct {
	Asked       uint64 `json:"asked"`
	NotModified uint64 `json:"not_modified"` // 304, or identical content
	Changed     uint64 `json:"changed"`
	Gone        uint64 `json:"gone"`   // the pages stay stored; their URLs take the state of the answer
	Failed      uint64 `json:"failed"` // to be retried

	NewPages uint64  `json:"new_pages"` // stored for the first time in this session
	Seconds  float64 `json:"seconds"`   // of this session
}

// Print writes the counts as text; nothing for nil.
func (r *Refreshed) Print(w io.Writer) {
	if r == nil {
		return
	}
	cli.Fprintf(w, "this session, %.1f s: visited %d stored pages again: %d unchanged, %d changed, %d gone, %d without an answer; %d new pages\n",
		r.Seconds, r.Asked, r.NotModified, r.Changed, r.Gone, r.Failed, r.NewPages)
}

type failure struct {
	Cause      string            `json:"cause"`
	Advice     string            `json:"advice"`
	ByState    map[string]uint64 `json:"by_state"` // URLs that ended in this session
	StartPages []startFailure    `json:"start_pages"`
}

const startPagesTold = 5

// failedOf returns why a crawl fetched nothing; nil when it fetched something.
func failedOf(failed []startFailure, proxy string, done crawler.Result) *failure {
	if done.Stopped != crawler.StopNothing {
		return nil
	}
	f := &failure{ByState: done.Attempts.Ended, StartPages: []startFailure{}}
	if f.ByState == nil {
		f.ByState = map[string]uint64{}
	}
	if done.Counts.Pages == 0 {
		f.StartPages = failed[:min(len(failed), startPagesTold)]
	}
	f.Cause, f.Advice = causeOf(proxy, done)
	return f
}

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
		return "no server answered; the last exchange ended as " + cli.Cut(done.Attempts.Last, 200),
			"check the connection of this machine, and resume the crawl"
	}
	return "the time ran out before the first page arrived", "give a longer --max-time and resume the crawl"
}

// causes say, by the state of all start pages, why a crawl fetched nothing, and what to do.
var causes = map[fetch.State][2]string{
	fetch.StateRobotsDenied:    {"robots.txt forbids all start pages", "give other start pages (--seed), or ask the owners"},
	fetch.StateGuardDenied:     {"the egress guard or --cidr refuses all addresses", "see the start pages' reasons; --allow-net CIDR allows a network"},
	fetch.StateTLSError:        {"no secure connection could be made", "check this machine's clock, or give your own certificate authorities with --ca"},
	fetch.StateCode:            {"no server answered a start page with a page", "open the start pages in a browser, and give others (--seed)"},
	fetch.StateChallenge:       {"challenges or block pages stand before all start pages, and fossick solves none", "ask the owners to let it in, or give other start pages (--seed)"},
	fetch.StatePaymentRequired: {"all start pages ask for payment, and fossick pays for none", "give other start pages (--seed)"},
	fetch.StateScriptOnly:      {"scripts make all start pages, and fossick does not run scripts", "give other start pages (--seed)"},
	fetch.StateNoText:          {"all start pages are documents without text, such as scanned pages", "give other start pages (--seed)"},
	fetch.StateNone:            {"the crawl's limits exclude all start pages", "widen --include, --exclude, --tld or --max-depth, or give other start pages (--seed)"},
}

func causeOfState(proxy string, state fetch.State) (cause, advice string) {
	switch state {
	case fetch.StateNoIP, fetch.StateConnectError, fetch.StateConnectTimeout, fetch.StateHeaderError, fetch.StateHeaderTimeout:
		return unreachable(proxy, state)
	}
	if known, ok := causes[state]; ok {
		return known[0], known[1]
	}
	return "the crawl could keep no start page (" + string(state) + ")", "see the start pages' reasons, and give others (--seed)"
}

func unreachable(proxy string, state fetch.State) (cause, advice string) {
	switch {
	case proxy != "":
		return fmt.Sprintf("no answer came through the proxy %s (%s)", proxy, state), "check that it runs and reaches the web, or give another --proxy"
	case state == fetch.StateNoIP:
		return "no host name could be looked up", "check that this machine is online, its name server, and the spelling of the start pages"
	}
	return fmt.Sprintf("no server could be reached (%s)", state), "check that this machine is online, and whether it needs a proxy (--proxy)"
}

// Err returns the error of the command; nil for a nil failure.
func (f *failure) Err() error {
	if f == nil {
		return nil
	}
	return fmt.Errorf("nothing was fetched: %s; %s", f.Cause, f.Advice)
}

// Goal is one of several topics that share a crawl.
type Goal struct {
	Name  string
	Pages float64 // its share of --max-pages
}

// topicStatus is the result of one of several topics. All judge each stored page, so it counts for all.
type topicStatus struct {
	Fetched  uint64   `json:"fetched"`
	Relevant uint64   `json:"relevant"`
	Harvest  *float64 `json:"harvest"`
	Budget   float64  `json:"budget"` // pages that it may pay for
	Paid     float64  `json:"paid"`   // its shares of pages; see docs/topics.md
}

// topicsOf returns the result by topic; nil for a single topic.
func topicsOf(goals []Goal, n store.Counts) map[string]topicStatus {
	if len(goals) == 0 {
		return nil
	}
	all := map[string]topicStatus{}
	for i, g := range goals {
		var c store.TopicCounts
		if i < len(n.Topics) {
			c = n.Topics[i]
		}
		all[g.Name] = topicStatus{
			Fetched: n.Pages, Relevant: c.Relevant, Harvest: harvestOf(store.Counts{Pages: n.Pages, Relevant: c.Relevant}),
			Budget: hundredths(g.Pages), Paid: hundredths(c.Paid),
		}
	}
	return all
}

func hundredths(x float64) float64 { return math.Round(100*x) / 100 }

func (r *Result) printTopics(w io.Writer) {
	if len(r.goals) == 0 {
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	io.WriteString(t, "topic\ton topic\tof all\tpaid\tof\t\n")
	for _, g := range r.goals {
		row := r.Topics[g.Name]
		share := "–"
		if row.Harvest != nil {
			share = report.Percent(*row.Harvest)
		}
		cli.Fprintf(t, "%s\t%d\t%s\t%.0f\t%.0f\t\n", g.Name, row.Relevant, share, row.Paid, row.Budget)
	}
	_ = t.Flush() // it fails only when w does
}

// lineTopics returns the topics' part of the status line; "" for a single topic.
func lineTopics(names []string, n store.Counts) (text string) {
	for i, name := range names {
		if i > 0 {
			text += ", "
		}
		found := uint64(0)
		if i < len(n.Topics) {
			found = n.Topics[i].Relevant
		}
		text += fmt.Sprintf("%s %d", name, found)
	}
	return text
}
