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
	"fossick/internal/printable"
	"fossick/internal/report"
	"fossick/store"
)

// printWaiting says why a crawl ended with URLs in its queue that nothing but
// time kept from being fetched.
func (r *Result) printWaiting(w io.Writer) {
	if r.WaitingUntil != nil {
		printable.Fprintf(w, "all waiting URLs are on hosts that rest, the first until %s; resume the crawl then\n",
			r.WaitingUntil.Format(time.DateTime+" MST"))
	}
}

func (r *Result) printOutages(w io.Writer) {
	if r.Outages > 0 {
		printable.Fprintf(w, "this machine's network (or its proxy) was down for %s, outages: %d; no URL or host was blamed for it\n",
			time.Duration(r.OutageSeconds*float64(time.Second)).Round(time.Second), r.Outages)
	}
}

// Result is what a session of a crawl came to, as JSON has it.
type Result struct {
	Topic          string            `json:"topic"`
	Fetched        uint64            `json:"fetched"`
	Relevant       uint64            `json:"relevant"`
	Harvest        *float64          `json:"harvest"`
	Requests       uint64            `json:"requests"`
	ByState        map[string]uint64 `json:"by_state"`
	Codes          map[int]uint64    `json:"codes"`
	NearDuplicates uint64            `json:"near_duplicates"` // of by_state's duplicates
	Hosts          int               `json:"hosts"`
	SameAddress    *int              `json:"same_address"` // hosts dropped since another site has their address; null without --one-site-per-address
	PagesPerSecond *float64          `json:"pages_per_second"`
	Seconds        float64           `json:"seconds"`
	Store          string            `json:"store"`
	Stopped        crawler.Stop      `json:"stopped_because"`
	Next           *furtherPages     `json:"next"`
	Refreshed      *Refreshed        `json:"refreshed"` // null without --refresh
	Waiting        int               `json:"waiting"`
	Outages        int               `json:"outages"`        // of our own network in this session
	OutageSeconds  float64           `json:"outage_seconds"` // and how long they were in all
	WaitingUntil   *time.Time        `json:"waiting_until"`  // when the first of them may be fetched; null unless that was too long to wait
	Keywords       []string          `json:"keywords"`
	Politeness     *eval.Politeness  `json:"politeness"`   // null when the journal could not be read
	Failed         *failure          `json:"failed"`       // null unless nothing was fetched
	SeedsFailed    []Failure         `json:"seeds_failed"` // of the first mostStarts start pages

	Topics map[string]topicStatus `json:"topics,omitempty"` // that share the crawl
	goals  []Goal

	News    crawler.NewsCounts `json:"-"` // what sitemaps and feeds told a watch
	NoTopic bool               `json:"-"` // nothing counts as on topic
	verb    string             // that goes on
}

// Session is what a crawl was asked, for its result.
type Session struct {
	Topic, Store string
	Keywords     []string
	Topics       []Goal // that share the crawl
	Refresh      bool   // stored pages were to be asked for again
	Survey       bool   // it went party by party,
	NoTopic      bool   // and for no topic
	Agent        bool   // it was one agent's part

	Whole func(context.Context) (Whole, error) // how the whole stands, of which it is a part; nil: it is all
}

// ResultOf says what a session came to. p is where it stood at its end.
func ResultOf(s Session, done crawler.Result, p crawler.Progress) *Result {
	n := done.Counts
	r := &Result{
		Topic: s.Topic, Fetched: n.Pages, Relevant: n.Relevant, Harvest: harvestOf(n), Requests: n.Requests,
		ByState: n.States, Codes: n.Codes, NearDuplicates: n.NearDuplicates, Hosts: done.Hosts,
		Seconds: n.Elapsed.Seconds(), Store: s.Store, Stopped: done.Stopped, Waiting: p.Queue, WaitingUntil: utc(done.WaitUntil),
		Outages: done.Outages, OutageSeconds: done.OutageTime.Seconds(),
		Keywords: s.Keywords, Next: nextOf(done.Next), News: done.News, Topics: topicsOf(s.Topics, n), goals: s.Topics,
		NoTopic: s.NoTopic, verb: "focus", SeedsFailed: []Failure{},
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
		r.Refreshed = refreshedOf(done.Refreshed, p)
	}
	if r.Seconds > 0 {
		speed := float64(n.Pages) / r.Seconds
		r.PagesPerSecond = &speed
	}
	return r
}

// Started adds what became of the start pages, and why a crawl came to nothing. proxy is the
// one that it went through, without its password.
func (r *Result) Started(starts *Starts, proxy string, done crawler.Result) {
	r.SeedsFailed = starts.Failed()
	r.Failed = failedOf(r.SeedsFailed, proxy, done)
}

// harvestOf is relevant / fetched, nil of nothing.
func harvestOf(n store.Counts) *float64 {
	if n.Pages == 0 {
		return nil
	}
	harvest := float64(n.Relevant) / float64(n.Pages)
	return &harvest
}

// Print writes the result as text.
func (r *Result) Print(w io.Writer) {
	printable.Fprintf(w, "%s: %d pages of %d hosts", r.Topic, r.Fetched, r.Hosts)
	if r.Harvest != nil {
		printable.Fprintf(w, ", %d of them on topic (harvest %.1f %%)", r.Relevant, 100**r.Harvest)
	}
	io.WriteString(w, "\n")
	if r.Refreshed != nil {
		io.WriteString(w, "in all sessions: ")
	}
	printable.Fprintf(w, "%d requests in %.1f s", r.Requests, r.Seconds)
	if r.PagesPerSecond != nil {
		printable.Fprintf(w, ", %.1f pages/s", *r.PagesPerSecond)
	}
	printable.Fprintf(w, "; stopped: %s; URLs waiting: %d\n", r.Stopped, r.Waiting)
	r.printTopics(w)
	r.Refreshed.Print(w)
	r.Next.print(w)
	states := make([]string, 0, len(r.ByState))
	for state := range r.ByState {
		states = append(states, state)
	}
	slices.Sort(states)
	for _, state := range states {
		printable.Fprintf(w, "  %-16s %d", state, r.ByState[state])
		switch {
		case state == string(fetch.StateDuplicate) && r.NearDuplicates > 0:
			printable.Fprintf(w, " (%d of them near-duplicates)", r.NearDuplicates)
		case state == string(fetch.StateScriptOnly):
			printable.Fprintf(w, ": %s", report.ScriptOnly(int(r.ByState[state])))
		}
		io.WriteString(w, "\n")
	}
	if r.SameAddress != nil {
		printable.Fprintf(w, "hosts dropped because another site has their address: %d\n", *r.SameAddress)
	}
	printPoliteness(w, r.Politeness)
	if n := len(r.SeedsFailed); n > 0 {
		printable.Fprintf(w, "start pages that failed: %d\n", n)
		printFailures(w, r.SeedsFailed)
	}
	r.printOutages(w)
	r.printWaiting(w)
	printable.Fprintf(w, "store: %s\n", r.Store)
	switch {
	case r.Waiting == 0 && r.Fetched == 0:
		printable.Fprintf(w, "solve the problem, remove %s and start again\n", r.Store)
	case r.Waiting > 0 && r.verb == "agent": // its settings are those of all machines
		printable.Fprintf(w, "resume with: fossick agent --store %s and the same flags as before\n", r.Store)
	case r.Waiting > 0:
		printable.Fprintf(w, "resume with: fossick %s --resume --store %s%s\n", r.verb, r.Store, r.limit())
	}
}

// limit is what whoever goes on has to say of pages: a survey has no limit of its own.
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
		printable.Fprintf(w, "  %s\n", s)
	}
}

type furtherPages struct {
	Pages   int     `json:"pages"`   // the last ones that it goes by
	Harvest float64 `json:"harvest"` // of these
	Upper   float64 `json:"upper"`   // end of its one-sided 99 % interval
}

// nextOf returns nil of a crawl without pages.
func nextOf(m crawler.Marginal) *furtherPages {
	if m.Pages == 0 {
		return nil
	}
	return &furtherPages{m.Pages, m.Harvest, m.Upper}
}

func (m *furtherPages) print(w io.Writer) {
	if m != nil {
		printable.Fprintf(w, "%s of the last %d pages were on topic; expect at most %s of the next (99 %% confidence)\n", report.Percent(m.Harvest), m.Pages, report.Percent(m.Upper))
	}
}

// Refreshed is what --refresh brought, in the JSON of focus.
type Refreshed struct {
	Asked       uint64 `json:"asked"`
	NotModified uint64 `json:"not_modified"` // 304, or the same content again
	Changed     uint64 `json:"changed"`
	Gone        uint64 `json:"gone"`   // their pages stay, their URLs have the state of the answer
	Failed      uint64 `json:"failed"` // to be asked again

	NewPages uint64  `json:"new_pages"` // stored for the first time in this session
	Seconds  float64 `json:"seconds"`   // of this session
}

func refreshedOf(r crawler.RefreshCounts, p crawler.Progress) *Refreshed {
	return &Refreshed{r.Asked, r.NotModified, r.Changed, r.Gone, r.Failed, p.Pages, p.Elapsed.Seconds()}
}

// Print writes it as text.
func (r *Refreshed) Print(w io.Writer) {
	if r == nil {
		return
	}
	printable.Fprintf(w, "this session, %.1f s: visited %d stored pages again: %d unchanged, %d changed, %d gone, %d without an answer; %d new pages\n",
		r.Seconds, r.Asked, r.NotModified, r.Changed, r.Gone, r.Failed, r.NewPages)
}

type failure struct {
	Cause      string            `json:"cause"`
	Advice     string            `json:"advice"`
	ByState    map[string]uint64 `json:"by_state"` // URLs that ended in this session
	StartPages []Failure         `json:"start_pages"`
}

const startPagesTold = 5

// failedOf says why a crawl came to nothing, nil of one that did not.
func failedOf(failed []Failure, proxy string, done crawler.Result) *failure {
	if done.Stopped != crawler.StopNothing {
		return nil
	}
	f := &failure{ByState: done.Attempts.Ended, StartPages: []Failure{}}
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
func (f *failure) Err() error {
	if f == nil {
		return nil
	}
	return fmt.Errorf("nothing was fetched: %s; %s", f.Cause, f.Advice)
}

// Goal is one of several topics of a crawl.
type Goal struct {
	Name  string
	Pages float64 // its part of --max-pages
}

// topicStatus is what came of one of several topics, as JSON has it. Every stored page counts
// as fetched for each, for each has judged it.
type topicStatus struct {
	Fetched  uint64   `json:"fetched"`
	Relevant uint64   `json:"relevant"`
	Harvest  *float64 `json:"harvest"`
	Budget   float64  `json:"budget"` // pages that it may pay for
	Paid     float64  `json:"paid"`   // its shares of pages; see docs/topics.md
}

// topicsOf returns the topics' part of the counts, nil of one topic alone.
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
		printable.Fprintf(t, "%s\t%d\t%s\t%.0f\t%.0f\t\n", g.Name, row.Relevant, share, row.Paid, row.Budget)
	}
	_ = t.Flush() // its only errors are w's
}

// lineTopics is the topics' part of the status line, "" of one topic alone.
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
