package main

import (
	"context"
	"errors"
	"io"
	"time"

	"fossick/crawler"
	"fossick/crawler/crawlplan"
	"fossick/eval/change/tables"
	"fossick/eval/monitor"
	"fossick/eval/webstats"
	"fossick/internal/cli"
	"fossick/internal/printable"
	"fossick/internal/report"
	"fossick/internal/wholefile"
	"fossick/store"
)

// watchCmd looks at the pages of a store again and again, and says how they change.
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
	crawlplan.Network
	crawlplan.Manners
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

// asks says whether pages are to be asked for.
func (c *watchCmd) asks() bool {
	if c.Rounds != nil {
		return *c.Rounds > 0
	}
	return c.Since == "" || c.Every > 0 || c.Budget > 0
}

func (c *watchCmd) check() error {
	if _, err := cli.Moment(c.Since, time.Now()); c.Since != "" && err != nil {
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

// visit asks for pages again. There is no result where it did not begin.
func (c *watchCmd) visit(a *app) (*monitor.Result, error) {
	f := &focusCmd{Crawl: crawlplan.Crawl{Store: c.Store, Resume: true}}
	f.Network, f.Manners = c.Network, c.Manners
	f.revisits = &revisiting{choose: c.chooser(uint64(a.seed)), newPages: c.newPages, keep: c.KeepVersions, most: c.MaxTime, Network: c.Network, Manners: c.Manners}
	return f.crawl(a.ctx, a)
}

// newPages says whether new pages are fetched in a store, that of a survey or of another crawl.
func (c *watchCmd) newPages(survey bool) (bool, error) {
	switch {
	case c.NewPages == nil:
		return survey && c.Budget == 0, nil
	case *c.NewPages && !survey:
		return false, usagef("--new-pages follows links within the parties of a survey, and %s holds a crawl for a topic; fetch its new pages with fossick focus --resume --store %s", c.Store, c.Store)
	}
	return *c.NewPages, nil
}

// chooser returns what makes the chooser for a store and a plan, or, when the store was closed
// meanwhile and opened again, has it go on.
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
		n = 0 // without end
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

// tell says what is known, and writes the files that were asked for.
func (c *watchCmd) tell(a *app, visited *monitor.Result) (r *watchResult, err error) {
	after := *a
	after.ctx = context.WithoutCancel(a.ctx) // an interrupted watch tells what it came to
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
	opt := tables.Options{Top: c.Top, Now: time.Now().UnixMilli()}
	if opt.Rate, err = rateOf(s, counts.Pages); err != nil {
		return nil, err
	}
	for _, one := range rounds {
		opt.Rounds = append(opt.Rounds, tables.Round(one))
	}
	task := a.task("counting", "pages")
	defer task.End()
	task.Of(int(counts.Pages))
	opt.Progress = task.Add
	news := int64(0)
	known, err := tables.Count(after.ctx, opt, both(newPages(watchedPages(s), opt.Rounds, &news), neverStored(s, opt.Rounds)))
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

// writePage writes the page that was asked for.
func (c *watchCmd) writePage(a *app, known *tables.Result) error {
	if c.HTML == "" {
		return nil
	}
	return wholefile.Page(c.HTML, func(w io.Writer) error {
		return known.WriteReport(w, c.Store, report.Fact{Name: "counted by", Value: "fossick " + version}, report.Fact{Name: "counted at", Value: time.Now().UTC().Format(time.DateTime) + " UTC"})
	})
}

// revisiting is what makes a watch of a crawl; nil makes none.
type revisiting struct {
	choose   func(s *store.Store, plan *crawler.Options) (crawler.Revisits, error)
	newPages func(survey bool) (bool, error)
	keep     bool          // former bodies
	most     time.Duration // of this session
	crawlplan.Network
	crawlplan.Manners
}

// adapt has a plan ask for stored pages, and for new ones where these are wanted.
func (r *revisiting) adapt(plan *crawlplan.Plan, s *store.Store) (err error) {
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
		printable.Fprintln(w, s)
	}
	if r.NewPages > 0 {
		printable.Fprintf(w, "pages found since the first round began: %d\n", r.NewPages)
	}
	io.WriteString(w, "\n")
	webstats.WriteText(w, r.known.Tables(), statsColumns)
	r.News.print(w)
	if r.Refreshed != nil {
		io.WriteString(w, "\n")
		r.Refreshed.Print(w)
		printable.Fprintf(w, "stopped: %s\n", r.Stopped)
	}
	for _, file := range []string{r.history, r.csv, r.html} {
		if file != "" {
			printable.Fprintf(w, "written: %s\n", file)
		}
	}
}
