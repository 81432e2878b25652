package monitor

import (
	"context"
	"io"
	"slices"
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

// printOutages says how long a crawl had no network.
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
	Next           *Next             `json:"next"`
	Refreshed      *Refreshed        `json:"refreshed"` // null without --refresh
	Waiting        int               `json:"waiting"`
	Outages        int               `json:"outages"`        // of our own network in this session
	OutageSeconds  float64           `json:"outage_seconds"` // and how long they were in all
	WaitingUntil   *time.Time        `json:"waiting_until"`  // when the first of them may be fetched; null unless that was too long to wait
	Keywords       []string          `json:"keywords"`
	Politeness     *eval.Politeness  `json:"politeness"`   // null when the journal could not be read
	Failed         *Failed           `json:"failed"`       // null unless nothing was fetched
	SeedsFailed    []Failure         `json:"seeds_failed"` // of the first mostStarts start pages

	Topics map[string]Topic `json:"topics,omitempty"` // that share the crawl
	goals  []Goal

	News    crawler.NewsCounts `json:"-"` // what sitemaps and feeds told a watch
	NoTopic bool           `json:"-"` // nothing counts as on topic
	verb    string         // that goes on
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

// printPoliteness says it in a few lines.
func printPoliteness(w io.Writer, p *eval.Politeness) {
	if p == nil {
		return
	}
	io.WriteString(w, "politeness:\n")
	for _, s := range p.Sentences() {
		printable.Fprintf(w, "  %s\n", s)
	}
}
