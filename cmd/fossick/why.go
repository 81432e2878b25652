package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"time"

	"fossick/fetch"
	"fossick/internal/printable"
	"fossick/relevance"
	"fossick/store"
)

type whyCmd struct {
	URL   string `arg:"" name:"url" help:"The URL to ask about."`
	Store string `required:"" placeholder:"DIR" help:"Folder of the crawl's store."`
	All   bool   `help:"Print all parts of the score, not only those that weighed most."`
}

func (whyCmd) Help() string {
	return `Tells the story of one URL: what became of it and the main reason, who found it, how it scored and why, what happened to it.

Examples:
  fossick why http://example.org/loans --store fossick-banking
  fossick why http://example.org/loans --store fossick-banking --all`
}

type whyResult struct {
	URL     string    `json:"url"`
	Verdict string    `json:"verdict"` // what became of it and the main reason, in a sentence
	State   string    `json:"state"`
	FoundBy *string   `json:"found_by"` // null for a start page
	Via     store.Via `json:"via"`
	Depth   int       `json:"depth"`
	Score   whyScore  `json:"score"`
	Times   whyTimes  `json:"times"`
	Label   *string   `json:"label"`
	Rule    *string   `json:"rule"`
	Kept    *bool     `json:"kept"`
	Title   *string   `json:"title"`
	Page    *uint64   `json:"page"` // its number in the order of the crawl
	Rank    *whyRank  `json:"rank"` // by fossick rank; null of what is no page, or was stored since
	Reasons []string  `json:"reasons"`
	Visits  []visit   `json:"visits"`
	Marked  *whyMark  `json:"marked"` // by a person; null when nobody did
	Rest    *whyRest  `json:"rest"`   // for which it waits, and who asked for that; null when none, or by the crawl's delay alone
	Now     *whyScore `json:"now"`    // the present opinion of a crawl that is running; null without one
}

type whyScore struct {
	Value *float64     `json:"value"` // R of the page; of the best link to it while it has none
	Terms []store.Term `json:"terms"`
}

type whyTimes struct {
	Found   time.Time  `json:"found"`
	Fetched *time.Time `json:"fetched"`
	Ended   *time.Time `json:"ended"`
	Next    *time.Time `json:"next"` // when a visit may bring news (paper E3), or may be made; null when never, or unknown
}

type visit struct {
	Start   time.Time `json:"start"`
	Seconds float64   `json:"seconds"`
	State   string    `json:"state"`
	Code    int       `json:"code"`
	Error   string    `json:"error,omitempty"`
}

func (c whyCmd) Run(a *app) (err error) {
	s, err := store.OpenToRead(c.Store)
	if errors.Is(err, store.ErrBusy) {
		return c.ask(a, err)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeRead(s)) }()
	r, err := storyOf(s, c.URL)
	if err != nil {
		return err
	}
	return a.emit(r, func(w io.Writer) { r.print(w, c.All) })
}

// tell turns a URL's records into an answer.
func tell(l *store.Life) *whyResult {
	r := &whyResult{
		URL: l.URL, State: "none", Via: l.Via, Depth: l.Depth,
		Times: whyTimes{Found: at(l.At)}, Score: whyScore{Terms: []store.Term{}}, Visits: []visit{},
	}
	if l.FoundBy != "" {
		r.FoundBy = &l.FoundBy
	}
	for _, v := range l.Visits {
		r.Visits = append(r.Visits, visit{at(v.Start), float64(v.Millis) / 1000, v.State, v.Code, v.Error})
	}
	r.Reasons = append(r.Reasons, discovery(l))
	r.tellQueue(l)
	r.tellPage(l)
	r.tellMark(l)
	r.tellRefresh(l)
	return r
}

func discovery(l *store.Life) string {
	by := cmp.Or(l.FoundBy, "a page that damage took from the store")
	switch l.Via {
	case store.ViaSeed:
		return "it is a start page"
	case store.ViaRedirect:
		return "a redirect of " + by + " led to it"
	case store.ViaSitemap:
		return discoveryBySitemap(l)
	}
	return fmt.Sprintf("found by a link of %s, %d links from a start page", by, l.Depth)
}

// discoveryBySitemap names the sitemap, and when it says the page was changed last.
func discoveryBySitemap(l *store.Life) string {
	found := "found by the sitemap " + cmp.Or(l.FoundBy, "of "+l.AtHost)
	if l.Modified != 0 {
		found += ", which says that it was changed on " + time.Unix(l.Modified, 0).UTC().Format(time.DateOnly)
	}
	return found
}

func (r *whyResult) tellQueue(l *store.Life) {
	switch {
	case l.Queued != nil:
		r.Score.Value = &l.Queued.Score
		why := fmt.Sprintf("it waits in the queue with priority %.4g", l.Queued.Priority)
		if l.Parent != "" {
			why += " from its best parent " + l.Parent
		}
		r.Reasons = append(r.Reasons, why)
	case l.Fate != nil:
		r.State = l.Fate.State
		ended := at(l.Fate.At)
		r.Times.Ended = &ended
		r.Score.Value = &l.Fate.Score
		if l.Parent != "" && len(r.Visits) > 0 {
			r.Reasons = append(r.Reasons, fmt.Sprintf("enqueued: its best link is on %s; it left the queue with score %.4g", l.Parent, l.Fate.Score))
		}
		if len(r.Visits) == 0 {
			r.Reasons = append(r.Reasons, "skipped: "+l.Fate.Reason)
		} else if l.Fate.Reason != "" {
			r.Reasons = append(r.Reasons, l.Fate.State+": "+l.Fate.Reason+original(l))
		}
	}
}

// original names the page that a duplicate repeats.
func original(l *store.Life) string {
	if l.Fate.State != string(fetch.StateDuplicate) || l.Page == nil {
		return ""
	}
	return ": " + l.Page.URL
}

// spell returns all terms of a page's score.
func spell(p *store.Page) ([]store.Term, error) {
	terms, err := relevance.Spell(p.Account)
	return append(p.Terms, storeTerms(terms)...), err
}

func (r *whyResult) tellPage(l *store.Life) {
	p := l.Page
	if p == nil || l.Fate.State != "ok" {
		return
	}
	fetched := at(p.At)
	r.Times.Fetched = &fetched
	r.Title, r.Page = &p.Title, &p.Number
	terms, err := spell(p)
	if err != nil {
		r.Reasons = append(r.Reasons, "part of why it scored so is not told: "+err.Error())
	}
	r.Score = whyScore{&p.Score, terms}
	if p.Label != "" {
		r.Label = &p.Label
		why := fmt.Sprintf("the crawl's model labelled it %s (%.3f)", p.Label, p.Probability)
		if p.Rule != "" { // stores of earlier builds have none
			r.Rule = &p.Rule
			why += ": " + p.Rule
		}
		r.Reasons = append(r.Reasons, why)
	}
	if l.Label == nil {
		return
	}
	r.Label, r.Rule, r.Kept = &l.Label.Label, &l.Label.Rule, &l.Label.Kept
	verdict := "dropped"
	if l.Label.Kept {
		verdict = "kept"
	}
	r.Reasons = append(r.Reasons, fmt.Sprintf("%s by refine: probability of the topic %.3f; %s", verdict, l.Label.Score, l.Label.Rule))
}

func (r *whyResult) print(w io.Writer, all bool) {
	printable.Fprintln(w, r.URL)
	if r.Verdict != "" { // a crawl of an earlier build tells none
		paint(w, r.Verdict, r.style())
		io.WriteString(w, "\n\n")
	}
	printable.Fprintf(w, "  state    %s\n", r.State)
	if r.Title != nil {
		printable.Fprintf(w, "  page     %d, %q\n", *r.Page, *r.Title)
	}
	printable.Fprintf(w, "  found    %s\n", r.Times.Found.Format(time.DateTime))
	r.Rank.print(w)
	for _, v := range r.Visits {
		printable.Fprintf(w, "  visited  %s, %.3f s, %s", v.Start.Format(time.DateTime), v.Seconds, v.State)
		if v.Code != 0 {
			printable.Fprintf(w, " (%d)", v.Code)
		}
		io.WriteString(w, "\n")
	}
	if r.Times.Next != nil {
		printable.Fprintf(w, "  next     %s, when a visit may bring news\n", r.Times.Next.Format(time.DateTime))
	}
	if r.Score.Value != nil {
		printable.Fprintf(w, "  score    %.4f\n", *r.Score.Value)
	}
	printTerms(w, r.Score.Terms, all)
	if r.Now != nil {
		printable.Fprintf(w, "  now      %.4f\n", *r.Now.Value)
		printTerms(w, r.Now.Terms, all)
	}
	for _, reason := range r.Reasons {
		printable.Fprintf(w, "  because  %s\n", reason)
	}
}

func at(millis int64) time.Time { return time.UnixMilli(millis).UTC() }
