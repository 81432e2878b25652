package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"

	"fossick/crawler"
	"fossick/crawler/plan"
	"fossick/eval"
	"fossick/eval/monitor"
	"fossick/eval/webstats"
	"fossick/internal/cli"
	"fossick/internal/fileio"
	"fossick/internal/page"
	"fossick/internal/report"
	"fossick/store"
	"fossick/store/change"
)

// watchCmd visits the pages of a store repeatedly and measures how they change.
type watchCmd struct {
	Store   string        `arg:"" placeholder:"STORE" help:"Store of a crawl." predictor:"dirs"`
	Every   time.Duration `placeholder:"DURATION" help:"Time from the start of one round to the start of the next, as 12h or 7d [2d]." group:"run"`
	Rounds  *int          `placeholder:"N" help:"Rounds of this session, an interrupted one first. 0 only shows what is known [1; with --every, no limit]." group:"run"`
	Budget  uint64        `placeholder:"N" help:"Instead of rounds: visit this number of pages a day, until stopped." group:"run"`
	Policy  string        `enum:"$${revisits}" default:"learn" placeholder:"P" help:"With --budget, how it is shared among the pages: ${enum} [${default}]." group:"run"`
	MaxTime time.Duration `placeholder:"D" help:"Stop after this time, as 90s, 2h or 1d." group:"run"`

	NewPages *bool `negatable:"" help:"In each round, follow new links within each party, and try URLs that gave no page again, as a new survey with the same limits would [yes in rounds of a survey; a crawl for a topic has no parties]." group:"run"`

	KeepVersions bool   `help:"Keep the earlier body of each page that changes, as a difference from the new one, for --diff." group:"run"`
	Since        string `placeholder:"TIME" help:"List the pages that are new, changed or gone since a day, a time, or an age as 2w. Without --rounds, --every or --budget no page is visited." group:"run"`
	Diff         bool   `help:"With --since: show how the main text has changed of each page whose earlier body was kept." group:"run"`

	History string `placeholder:"FILE" help:"Write all visits to FILE: .csv, or .jsonl with a page a line." predictor:"files"`
	CSV     string `name:"csv" placeholder:"DIR" help:"Write each table to a file in DIR that has the table's name." predictor:"dirs"`
	HTML    string `name:"html" placeholder:"FILE" help:"Write a page with plots and all tables." predictor:"files"`
	Top     int    `default:"20" placeholder:"N" help:"Rows of a table of names; one more row adds up the rest. 0: all [20]."`
	plan.Network
	plan.Manners
}

func (watchCmd) Help() string {
	return `Visits the stored pages of a crawl again, in rounds or a number a day, and measures how they change: how often pages can be fetched, and the probability and interval of change by top-level domain, second level, depth and kind of link. Requests are conditional, and as polite as those of the crawl. A page has changed when its main text has, apart from dates; changes anywhere on the page are also shown. In the store of a survey, new pages of its parties are fetched and watched too. In the store of a crawl for a topic, new links wait for fossick focus --resume.

Use --every and --rounds to measure how pages change, --budget to keep many pages fresh with a number of requests a day, and fossick focus --resume --refresh 7d to update a collection now and then.

Examples:
  fossick watch fossick-survey --every 2d --rounds 9
  fossick watch fossick-banking --every 2d --rounds 9
  fossick watch fossick-banking --budget 5000 --max-time 30d
  fossick watch fossick-banking --rounds 1 --keep-versions
  fossick watch fossick-banking --since 2w --diff
  fossick watch fossick-banking --rounds 0 --history visits.csv
  fossick watch fossick-banking --rounds 0 --html changes.html`
}

func (c *watchCmd) Run(a *app) error {
	if err := c.check(); err != nil {
		return err
	}
	var visited *monitor.Result
	var failed error
	if c.asks() {
		if visited, failed = c.visit(a); visited == nil {
			return failed
		}
	}
	r, err := c.tell(a, visited)
	if err != nil {
		return errors.Join(failed, err)
	}
	if err := a.emit(r, r.print); err != nil {
		return err
	}
	if failed == nil && visited != nil && visited.Stopped == crawler.StopInterrupted {
		return errInterrupted
	}
	return failed
}

func (c *watchCmd) asks() bool {
	if c.Rounds != nil {
		return *c.Rounds > 0
	}
	return c.Since == "" || c.Every > 0 || c.Budget > 0
}

func (c *watchCmd) check() error {
	if _, err := parseMoment(c.Since, time.Now()); c.Since != "" && err != nil {
		return usagef("--since %v", err)
	}
	switch {
	case c.Diff && c.Since == "":
		return usagef("--diff shows what has changed since a time: give --since as well, as --since 2w")
	case c.Budget > 0 && (c.Every > 0 || c.Rounds != nil && *c.Rounds != 0):
		return usagef("--budget spreads visits evenly over the day, and --every and --rounds make rounds; give one or the other")
	case c.Rounds != nil && *c.Rounds < 0:
		return usagef("--rounds %d: want a number of rounds, or 0 to see only what is known", *c.Rounds)
	case c.Budget > 0 && c.NewPages != nil && *c.NewPages:
		return usagef("--budget visits stored pages only; watch in rounds, or leave --new-pages out")
	case c.Every < 0 || c.MaxTime < 0 || c.Top < 0:
		return usagef("--every, --max-time and --top: want 0 or more")
	}
	return knownHistory(c.History)
}

// visit fetches pages again. The result is nil if the watch did not begin.
func (c *watchCmd) visit(a *app) (*monitor.Result, error) {
	f := &focusCmd{Crawl: plan.Crawl{Store: c.Store, Resume: true}}
	f.Network, f.Manners = c.Network, c.Manners
	f.revisits = &revisiting{choose: c.chooser(uint64(a.seed)), newPages: c.newPages, keep: c.KeepVersions, most: c.MaxTime, Network: c.Network, Manners: c.Manners}
	return f.crawl(a.ctx, a)
}

// newPages says whether to fetch new pages, in the store of a survey or of a crawl for a topic.
func (c *watchCmd) newPages(survey bool) (bool, error) {
	switch {
	case c.NewPages == nil:
		return survey && c.Budget == 0, nil
	case *c.NewPages && !survey:
		return false, usagef("--new-pages follows links within the parties of a survey, and %s holds a crawl for a topic; fetch its new pages with fossick focus --resume --store %s", c.Store, c.Store)
	}
	return *c.NewPages, nil
}

// chooser returns a function that makes the chooser of pages, and returns it again for a reopened store.
func (c *watchCmd) chooser(seed uint64) func(s *store.Store, plan *crawler.Options) (crawler.Revisits, error) {
	if c.Budget > 0 {
		var budget *scheduled
		return func(s *store.Store, plan *crawler.Options) (_ crawler.Revisits, err error) {
			if budget != nil {
				budget.goOn(s)
				return budget, nil
			}
			budget, err = newScheduled(s, c.Policy, float64(c.Budget), plan.Delay.Load(0), seed, time.Now())
			return budget, err
		}
	}
	every, n := c.Every, 1
	switch {
	case c.Rounds != nil:
		n = *c.Rounds
	case every > 0:
		n = 0 // no limit
	}
	if every == 0 {
		every = 2 * crawler.Day
	}
	var rounds *crawler.Rounds
	return func(s *store.Store, plan *crawler.Options) (_ crawler.Revisits, err error) {
		if rounds != nil {
			rounds.GoOn(s)
			return rounds, nil
		}
		rounds, err = crawler.NewRounds(s, every, n, plan.NewPages)
		return rounds, err
	}
}

// tell returns the statistics of the store and writes the files that the flags name.
func (c *watchCmd) tell(a *app, visited *monitor.Result) (r *watchResult, err error) {
	after := *a
	after.ctx = context.WithoutCancel(a.ctx) // an interrupted watch reports, too
	s, done, err := after.openToRead(c.Store)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	rounds, err := store.Rounds(s)
	if err != nil {
		return nil, err
	}
	counts, err := s.Counts()
	if err != nil {
		return nil, err
	}
	opt := webstats.ChangeOptions{Top: c.Top, Now: time.Now().UnixMilli()}
	if opt.Rate, err = rateOf(s, counts.Pages); err != nil {
		return nil, err
	}
	for _, one := range rounds {
		opt.Rounds = append(opt.Rounds, webstats.Round(one))
	}
	task := a.task("counting", "pages")
	defer task.End()
	task.Of(int(counts.Pages))
	opt.Progress = task.Add
	news := int64(0)
	known, err := webstats.CountChanges(after.ctx, opt, both(newPages(watchedPages(s), opt.Rounds, &news), neverStored(s, opt.Rounds)))
	if err != nil {
		return nil, err
	}
	if err := writeHistory(c.History, s); err != nil {
		return nil, err
	}
	if c.CSV != "" {
		if err := webstats.WriteCSV(c.CSV, known.Tables()); err != nil {
			return nil, err
		}
	}
	if err := c.writePage(a, known); err != nil {
		return nil, err
	}
	var brought crawler.NewsCounts
	if visited != nil {
		brought = visited.News
	}
	told, err := newsOf(s, brought)
	if err != nil {
		return nil, err
	}
	r = newWatchResult(c, known, told, visited)
	r.NewPages = news
	r.Changes, err = c.changesOf(s)
	return r, err
}

func (c *watchCmd) writePage(a *app, known *webstats.Changes) error {
	if c.HTML == "" {
		return nil
	}
	return fileio.WritePage(c.HTML, func(w io.Writer) error {
		return known.WriteReport(w, c.Store, report.Fact{Name: "counted by", Value: "fossick " + version}, report.Fact{Name: "counted at", Value: time.Now().UTC().Format(time.DateTime) + " UTC"})
	})
}

// revisiting turns a crawl into a watch; nil leaves it a crawl.
type revisiting struct {
	choose   func(s *store.Store, plan *crawler.Options) (crawler.Revisits, error)
	newPages func(survey bool) (bool, error)
	keep     bool          // keep former bodies
	most     time.Duration // of this session
	plan.Network
	plan.Manners
}

// adapt makes a plan fetch stored pages again, and new ones if newPages says so.
func (r *revisiting) adapt(plan *plan.Plan, s *store.Store) (err error) {
	plan.Crawl.Text = mainTextOf
	if r == nil {
		return nil
	}
	opt := &plan.Crawl
	if opt.NewPages, err = r.newPages(opt.Scope.Parties); err != nil {
		return err
	}
	if opt.RevisitsOnly = !opt.NewPages; opt.RevisitsOnly {
		opt.MaxPages = 0
	}
	opt.KeepVersions = r.keep
	opt.News = r.Sitemaps == nil || *r.Sitemaps
	opt.MinHarvest, opt.MaxTime = 0, r.most
	opt.Revisits, err = r.choose(s, opt)
	return err
}

func (r *watchResult) print(w io.Writer) {
	if r.Changes != nil {
		r.Changes.print(w)
		if r.Refreshed == nil {
			return
		}
		io.WriteString(w, "\n")
	}
	for _, s := range r.known.Sentences() {
		cli.Fprintln(w, s)
	}
	if r.NewPages > 0 {
		cli.Fprintf(w, "pages found since the first round began: %d\n", r.NewPages)
	}
	io.WriteString(w, "\n")
	webstats.WriteText(w, r.known.Tables(), statsColumns)
	r.News.print(w)
	if r.Refreshed != nil {
		io.WriteString(w, "\n")
		r.Refreshed.Print(w)
		cli.Fprintf(w, "stopped: %s\n", r.Stopped)
	}
	for _, file := range []string{r.history, r.csv, r.html} {
		if file != "" {
			cli.Fprintf(w, "written: %s\n", file)
		}
	}
}

type watchResult struct {
	Store  string `json:"store"`
	Pages  int64  `json:"pages"`  // watched
	Visits int64  `json:"visits"` // without those that stored the pages
	Rounds int    `json:"rounds"` // ended

	NewPages int64 `json:"new_pages"` // pages stored since the first round began

	SS     *float64 `json:"ss"` // paper E, eq. 1, over all pages; Seeds has start pages only, as paper E
	FF     *float64 `json:"ff"` // eq. 2
	NextSS *float64 `json:"next_ss"`
	NextFF *float64 `json:"next_ff"` // both counted from visit to visit

	Downloads []int      `json:"downloads"` // S(0) to S(N)
	Seeds     watchSeeds `json:"seeds"`

	Gone  int64                `json:"gone"`  // 404 or 410 at the last visit
	Moved int64                `json:"moved"` // elsewhere at the last visit
	Back  int64                `json:"back"`  // once gone or moved, but back
	All   webstats.ChangeGroup `json:"all"`

	ByRound   []webstats.RoundAsked `json:"by_round"`
	Freshness webstats.Freshness    `json:"freshness"`

	Intervals map[string]map[string]webstats.ChangeGroup `json:"intervals"` // by table, by name

	Changes *watchChanges `json:"changes"` // since --since; null without it

	News *watchNews `json:"news"` // what sitemaps and feeds announced

	Refreshed  *monitor.Refreshed `json:"refreshed"` // of this session; null without it
	Stopped    crawler.Stop       `json:"stopped_because,omitempty"`
	Politeness *eval.Politeness   `json:"politeness"` // of the whole store; null without a session

	known              *webstats.Changes
	history, csv, html string
}

type watchSeeds struct {
	SS        *float64 `json:"ss"`
	FF        *float64 `json:"ff"`
	Downloads []int    `json:"downloads"`
}

func newWatchResult(c *watchCmd, k *webstats.Changes, told *watchNews, visited *monitor.Result) *watchResult {
	r := &watchResult{
		Store: c.Store, Pages: k.Pages, Visits: k.Visits, Rounds: k.Rounds, SS: k.SS, FF: k.FF, NextSS: k.NextSS, NextFF: k.NextFF,
		Downloads: k.Downloads, Seeds: watchSeeds{k.SeedSS, k.SeedFF, k.SeedDownloads},
		Gone: k.Gone, Moved: k.Moved, Back: k.Back, All: k.All, ByRound: k.ByRound, Freshness: k.Freshness,
		Intervals: map[string]map[string]webstats.ChangeGroup{
			"seed_tld": byName(k.SeedTLD), "seed_second_level": byName(k.SeedSecond), "tld": byName(k.TLD), "second_level": byName(k.Second), "depth": byName(k.Depth), "link_kind": byName(k.Kind),
		},
		News: told, known: k, history: c.History, csv: c.CSV, html: c.HTML,
	}
	if visited != nil {
		r.Refreshed, r.Stopped, r.Politeness = visited.Refreshed, visited.Stopped, visited.Politeness
	}
	return r
}

func byName(groups []webstats.ChangeGroup) map[string]webstats.ChangeGroup {
	named := make(map[string]webstats.ChangeGroup, len(groups))
	for _, g := range groups {
		named[g.Name] = g
	}
	return named
}

// historyLine is a line of --history FILE.jsonl: a page.
type historyLine struct {
	URL    string         `json:"url"`
	Depth  int            `json:"depth"`
	Kind   string         `json:"link_kind"`
	Rate   *historyRate   `json:"rate"`   // null before a second visit
	Visits []historyVisit `json:"visits"` // the first stored the page
}

// historyRate is how often a page's text changes, in changes a day, with a 95 % interval.
type historyRate struct {
	Value float64    `json:"value"`
	CI    [2]float64 `json:"ci"`
	Unit  string     `json:"unit"`
}

type historyVisit struct {
	At      string `json:"at"` // UTC
	State   string `json:"state"`
	Code    int    `json:"code"`
	Change  string `json:"change"`  // "", content, text, or unsure if nothing compared the text
	Seconds any    `json:"seconds"` // a number
}

var changeNames = map[change.Kind]string{change.Content: "content", change.Text: "text", change.Unsure: "unsure"}

func historyVisitOf(v *change.Visit) historyVisit {
	return historyVisit{time.UnixMilli(v.At).UTC().Format("2006-01-02T15:04:05.000Z"), v.State, v.Code, changeNames[v.Change], float64(v.Took) / 1000}
}

func knownHistory(file string) error {
	if file == "" || strings.HasSuffix(file, ".csv") || strings.HasSuffix(file, ".jsonl") {
		return nil
	}
	return usagef("--history %s: want a name that ends with .csv or .jsonl", file)
}

func writeHistory(file string, s *store.Store) error {
	if file == "" {
		return nil
	}
	err := fileio.Write(file, 0o644, func(f *os.File) error {
		w := bufio.NewWriter(f)
		add, end, err := historyTo(w, file, s)
		if err != nil {
			return err
		}
		for p, err := range watchedPages(s) {
			if err == nil {
				err = add(p)
			}
			if err != nil {
				return err
			}
		}
		if err := end(); err != nil {
			return err
		}
		return w.Flush()
	})
	if err != nil {
		return fmt.Errorf("history %s: %w", file, err)
	}
	return nil
}

func historyTo(w *bufio.Writer, file string, s *store.Store) (add func(*webstats.Watched) error, end func() error, err error) {
	if strings.HasSuffix(file, ".csv") {
		add, end = historyCSV(w)
		return add, end, nil
	}
	rate, err := estimatorOf(s)
	if err != nil {
		return nil, nil, err
	}
	add, end = historyJSON(w, rate)
	return add, end, nil
}

func historyJSON(w *bufio.Writer, rate *change.Model) (add func(*webstats.Watched) error, end func() error) {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return func(p *webstats.Watched) error {
		line := historyLine{URL: p.URL, Depth: p.Depth, Kind: p.Kind, Visits: make([]historyVisit, len(p.Visits))}
		if looks := looksOf(nil, p.Visits); len(looks) > 0 {
			e := rate.Estimate(ratesPage(p, looks))
			line.Rate = &historyRate{e.Rate, [2]float64{e.Lo, e.Hi}, "changes a day"}
		}
		for i := range p.Visits {
			line.Visits[i] = historyVisitOf(&p.Visits[i])
		}
		return enc.Encode(line)
	}, func() error { return nil }
}

func historyCSV(to *bufio.Writer) (add func(*webstats.Watched) error, end func() error) {
	w := csv.NewWriter(to)
	begin := w.Write([]string{"url", "depth", "link_kind", "at", "state", "code", "change", "seconds"})
	return func(p *webstats.Watched) error {
			for i := range p.Visits {
				v := historyVisitOf(&p.Visits[i])
				if err := w.Write([]string{cli.Line(p.URL), strconv.Itoa(p.Depth), p.Kind, v.At, v.State, strconv.Itoa(v.Code), v.Change, fmt.Sprint(v.Seconds)}); err != nil {
					return err
				}
			}
			return begin
		}, func() error {
			w.Flush()
			return w.Error()
		}
}

// watchChanges are the pages that are new, changed or gone since a time; pages that came and went are gone.
type watchChanges struct {
	Since   string       `json:"since"` // UTC
	New     []changeLine `json:"new"`
	Changed []changeLine `json:"changed"`
	Gone    []changeLine `json:"gone"`

	s    *store.Store
	from int64 // Since, Unix milliseconds
	diff bool
	most int                   // changes of each kind that are kept, the newest first; 0 for all in order of discovery
	all  map[*[]changeLine]int // how many there are of each kind
}

type changeLine struct {
	URL   string `json:"url"`
	Title string `json:"title"`
	At    string `json:"at"`             // of the visit that found it last, UTC
	What  string `json:"what,omitempty"` // changed: content, text or unsure; gone: the answer's state
	Diff  string `json:"diff,omitempty"` // of the main text; "" where no former text is kept
}

func (c *watchCmd) changesOf(s *store.Store) (*watchChanges, error) {
	if c.Since == "" {
		return nil, nil
	}
	return changesSince(context.Background(), s, c.Since, c.Diff, 0)
}

func changesSince(ctx context.Context, s *store.Store, when string, diff bool, most int) (*watchChanges, error) {
	since, err := parseMoment(when, time.Now())
	if err != nil {
		return nil, usagef("--since %v", err)
	}
	w := &watchChanges{
		Since: since.UTC().Format(time.RFC3339), New: []changeLine{}, Changed: []changeLine{}, Gone: []changeLine{},
		s: s, from: since.UnixMilli(), diff: diff, most: most, all: map[*[]changeLine]int{},
	}
	for k, err := range unforgotten(s, s.URLs().Watched()) {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = w.add(k)
		}
		if err != nil {
			return nil, err
		}
	}
	if most > 0 {
		for _, list := range []*[]changeLine{&w.New, &w.Changed, &w.Gone} {
			w.trim(list)
		}
	}
	return w, nil
}

// trim keeps the newest changes of a kind.
func (w *watchChanges) trim(list *[]changeLine) {
	slices.SortStableFunc(*list, func(a, b changeLine) int { return strings.Compare(b.At, a.At) })
	*list = (*list)[:min(len(*list), w.most)]
}

// mostChanges is how many changes of each kind the browser shows.
const mostChanges = 1000

type shownChanges struct {
	*watchChanges
	Totals struct {
		New     int `json:"new"`
		Changed int `json:"changed"`
		Gone    int `json:"gone"`
	} `json:"totals"`
}

// changesFor answers the browser: the changes since a time, the newest first, or a page's difference.
func changesFor(ctx context.Context, s *store.Store, when, url string) (any, error) {
	if url != "" {
		return differenceOf(s, when, url)
	}
	w, err := changesSince(ctx, s, when, false, mostChanges)
	if err != nil {
		return nil, err
	}
	v := shownChanges{watchChanges: w}
	v.Totals.New, v.Totals.Changed, v.Totals.Gone = w.all[&w.New], w.all[&w.Changed], w.all[&w.Gone]
	return v, nil
}

func differenceOf(s *store.Store, when, url string) (any, error) {
	since, err := parseMoment(when, time.Now())
	if err != nil {
		return nil, usagef("since %v", err)
	}
	life, err := s.URLs().Life(url)
	if err != nil {
		return nil, err
	}
	if life.Page == nil {
		return nil, store.ErrNoPage
	}
	w := watchChanges{s: s, from: since.UnixMilli()}
	text, err := w.difference(life.Page)
	return map[string]string{"diff": text}, err
}

func (w *watchChanges) add(k *store.Known) error {
	visits := visitsSince(nil, k.Visits)
	if len(visits) == 0 || visits[len(visits)-1].At < w.from {
		return nil
	}
	list, at, what := w.judge(k.Outcome.State, visits)
	if list == nil {
		return nil
	}
	p, err := w.s.Page(k.Outcome.Page)
	if err != nil {
		return err
	}
	line := changeLine{URL: k.URL, Title: p.Title, At: time.UnixMilli(at).UTC().Format(time.RFC3339), What: what}
	if list == &w.Changed && w.diff && what != changeNames[change.Content] {
		if line.Diff, err = w.difference(p); err != nil {
			return err
		}
	}
	*list = append(*list, line)
	if w.all[list]++; w.most > 0 && len(*list) >= 2*w.most {
		w.trim(list)
	}
	return nil
}

// judge returns a page's list, nil for none, with the time and kind of its change; state is its URL's now.
func (w *watchChanges) judge(state string, visits []change.Visit) (list *[]changeLine, at int64, what string) {
	if state != "ok" {
		lost := len(visits)
		for lost > 0 && visits[lost-1].State != "ok" && visits[lost-1].State != "not_modified" {
			lost--
		}
		if lost < len(visits) && visits[lost].At >= w.from {
			return &w.Gone, visits[lost].At, state
		}
		return nil, 0, ""
	}
	if visits[0].At >= w.from {
		return &w.New, visits[0].At, ""
	}
	kind := change.None
	for _, v := range visits[1:] {
		if v.At >= w.from && v.Change.Changed() {
			at = v.At
			if kind == change.None || v.Change != change.Content {
				kind = v.Change
			}
		}
	}
	if kind == change.None {
		return nil, 0, ""
	}
	return &w.Changed, at, changeNames[kind]
}

// difference compares the main text at the time with the present one; "" if that version was not kept.
func (w *watchChanges) difference(p *store.Page) (string, error) {
	v, former, err := w.s.Former(p, w.from)
	if v == nil || err != nil {
		return "", err
	}
	body, err := w.s.Body(p.Number)
	if err != nil {
		return "", err
	}
	lines := func(text string) []byte { return []byte(strings.TrimRight(text, "\n") + "\n") }
	d := diff.Diff("before", lines(mainTextOf(former, v.ContentType, p.URL)), "after", lines(mainTextOf(body, p.ContentType, p.URL)))
	if at := bytes.Index(d, []byte("@@")); at >= 0 {
		d = d[at:] // without the names of the two texts
	}
	return string(d), nil
}

func (w *watchChanges) print(out io.Writer) {
	cli.Fprintf(out, "since %s: %s new, %d changed, %d gone\n", w.Since, report.Count(len(w.New), "page"), len(w.Changed), len(w.Gone))
	for _, list := range []struct {
		name  string
		lines []changeLine
	}{{"new", w.New}, {"changed", w.Changed}, {"gone", w.Gone}} {
		if len(list.lines) > 0 {
			cli.Fprintf(out, "\n%s\n", list.name)
		}
		for _, l := range list.lines {
			cli.Fprintf(out, "  %s  %s\n      %s\n", l.At, l.URL, strings.Trim(fmt.Sprintf("%s, %s", l.What, l.Title), ", "))
			for d := range strings.Lines(l.Diff) {
				cli.Fprintf(out, "      %s\n", strings.TrimRight(d, "\n"))
			}
			if w.diff && l.Diff == "" && list.name == "changed" && l.What != changeNames[change.Content] {
				cli.Fprintln(out, "      the former text was not kept: watch with --keep-versions")
			}
		}
	}
}

// Sitemaps and feeds take at most partForNews of the budget, shared evenly among hosts. Those of
// a host whose lastmod is more often wrong than right are fetched doubtedMore times as seldom.
const (
	partForNews = 0.1
	doubtedMore = 16
)

// Source implements crawler.Revisits: it picks the source fetched longest ago.
func (c *scheduled) Source(of *store.Announced, now time.Time) int {
	next, last := -1, int64(0)
	for i, s := range of.Sources {
		if last = max(last, s.At); next < 0 || s.At < of.Sources[next].At {
			next = i
		}
	}
	every := c.newsEvery
	if crawler.Doubted(of) {
		every *= doubtedMore
	}
	if next < 0 || now.UnixMilli()-last < every.Milliseconds() {
		return -1
	}
	c.scheduler.Spend(c.days(now))
	return next
}

// Announced implements crawler.Revisits.
func (c *scheduled) Announced(id store.ID, now time.Time) {
	if number, ok := c.numbers[id]; ok {
		c.scheduler.News(number, c.days(now))
	}
}

func newsEvery(hosts int, perDay float64) time.Duration {
	days := min(float64(hosts)/(partForNews*perDay), 365)
	return time.Duration(days * float64(crawler.Day))
}

type watchNews struct {
	Asked       uint64   `json:"asked"` // exchanges for them in this session
	NotModified uint64   `json:"not_modified"`
	Failed      uint64   `json:"failed"`
	Changed     uint64   `json:"changed"`  // pages that, they say, changed since the last visit
	New         uint64   `json:"new"`      // URLs new to the store, which are not fetched
	URLs        []string `json:"new_urls"` // the first thousand of New

	Hosts    int `json:"hosts"`    // with such sources, in the whole store
	Believed int `json:"believed"` // whose lastmod agreed with visits
	Doubted  int `json:"doubted"`  // whose lastmod did not
}

// newsOf adds the figures of the store's hosts to the counts of a session.
func newsOf(s *store.Store, c crawler.NewsCounts) (*watchNews, error) {
	n := &watchNews{Asked: c.Asked, NotModified: c.NotModified, Failed: c.Failed, Changed: c.Changed, New: c.New, URLs: c.URLs}
	if n.URLs == nil {
		n.URLs = []string{}
	}
	for h, err := range s.Hosts() {
		if err != nil {
			return nil, err
		}
		if h.Announced == nil || len(h.Announced.Sources) == 0 {
			continue
		}
		n.Hosts++
		switch {
		case crawler.Believed(h.Announced):
			n.Believed++
		case crawler.Doubted(h.Announced):
			n.Doubted++
		}
	}
	return n, nil
}

func (n *watchNews) print(w io.Writer) {
	if n.Hosts == 0 {
		return
	}
	cli.Fprintf(w, "\nSitemaps and feeds: %d hosts have some; those of %d hosts reported changes correctly, those of %d did not.\n", n.Hosts, n.Believed, n.Doubted)
	if n.Asked > 0 {
		cli.Fprintf(w, "They were fetched %d times: %d unchanged, %d failed. They name %d pages as changed since the last visit, and %d new URLs (--json lists these).\n",
			n.Asked, n.NotModified, n.Failed, n.Changed, n.New)
	}
}

// estimatorOf returns an estimator of change rates, fitted to all pages of a store.
func estimatorOf(s *store.Store) (*change.Model, error) {
	var failed error
	var looks []change.Interval
	model := change.Learn(func(yield func(change.Page) bool) {
		for p, err := range watchedPages(s) {
			if err != nil {
				failed = err
				return
			}
			looks = looksOf(looks[:0], p.Visits)
			if len(looks) > 0 && !yield(ratesPage(p, looks)) {
				return
			}
		}
	})
	return model, failed
}

// estimated is about how many pages of a store get an estimate for the tables; one takes 40 µs.
const estimated = 100_000

// rateOf returns an estimator for the pages of a store, or for a fixed sample of a large store.
func rateOf(s *store.Store, pages uint64) (func(*webstats.Watched) (change.Estimate, bool), error) {
	rate, err := estimatorOf(s)
	if err != nil {
		return nil, err
	}
	oneOf := max(1, pages/estimated)
	var looks []change.Interval
	return func(p *webstats.Watched) (change.Estimate, bool) {
		h := fnv.New64a()
		_, _ = io.WriteString(h, p.URL) // never fails
		if h.Sum64()%oneOf != 0 {
			return change.Estimate{}, false
		}
		looks = looksOf(looks[:0], p.Visits)
		return rate.Estimate(ratesPage(p, looks)), true
	}, nil
}

func ratesPage(p *webstats.Watched, looks []change.Interval) change.Page {
	return change.Page{Host: page.Host(p.URL), Group: change.Group{Kind: p.Kind, Depth: p.Depth, Site: page.Site(p.URL)}, Visits: looks}
}

// looksOf appends the intervals between visits that found a page's text to dst, with its age by
// Last-Modified. Hosts whose adverts move Last-Modified contradict themselves, and are disbelieved.
func looksOf(dst []change.Interval, visits []change.Visit) []change.Interval {
	last, modified := visits[0].At, int64(0)
	for i := range visits[1:] {
		v := &visits[1+i]
		if !change.Downloaded(v.State) {
			continue
		}
		days := float64(v.At-last) / millisADay
		look := change.Interval{Days: days, Changed: textChanged(v)}
		if v.Modified != 0 || v.Change.Changed() { // otherwise as before
			modified = v.Modified
		}
		if look.Told = modified != 0; look.Told {
			look.Age = float64(v.At-modified*1000) / millisADay
		}
		dst = append(dst, look)
		last = v.At
	}
	return dst
}

const millisADay = 24 * 60 * 60 * 1000

func textChanged(v *change.Visit) bool { return v.Change == change.Text || v.Change == change.Unsure }
