package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"

	"fossick/classify"
	"fossick/crawler"
	"fossick/crawlplan"
	"fossick/datasets"
	"fossick/eval"
	"fossick/features"
	"fossick/internal/printable"
	"fossick/judge"
	"fossick/models"
	"fossick/page"
	"fossick/report"
	"fossick/store"
	"fossick/topics"
)

type evalCmd struct {
	Stores []string `arg:"" name:"store" placeholder:"STORE" help:"Stores of crawls; the first one's figures stand at the top." complete:"dirs"`
	Truth  string   `placeholder:"FILE" xor:"source" help:"Labels by URL: url TAB label TAB label|label, also .gz and .zst."`
	Target string   `placeholder:"LABEL" help:"Label of the truth or of the judge that is the topic [the first crawl's topic]."`
	Judge  string   `placeholder:"MODEL" xor:"source" help:"Model that judges the pages, a file or a topic's name; better not the crawl's own." complete:"models"`
	Curve  int      `placeholder:"STEP" help:"Pages between two points of a curve [about 50 points]."`
	Caps   []int    `name:"max-pages-per-host" placeholder:"N,N" help:"Also the harvest when no more than so many pages of a host count, the first of each [1,10,100,1000, as far as that leaves out any]."`
	HTML   string   `name:"html" placeholder:"FILE" help:"Write a report of one self-contained page."`
}

func (evalCmd) Help() string {
	return `Says how good a crawl is: how much of it is on topic, how fast that was found, where the topic went, over how many hosts, and how clean the refined cluster is. With a truth also how complete; with two stores or more, how much they overlap and, from links and queues, an estimate of how complete. Without --truth and --judge it takes the crawl's own labels at their word.

Examples:
  fossick eval fossick-banking --html report.html
  fossick eval fossick-banking old-crawl --truth labels.tsv --target banking`
}

func (c evalCmd) Run(a *app) error {
	if c.Curve < 0 {
		return usagef("--curve %d: want a number of pages", c.Curve)
	}
	for _, n := range c.Caps {
		if n < 1 {
			return usagef("--max-pages-per-host %d: want a number of pages, at least 1", n)
		}
	}
	if err := distinct(c.Stores); err != nil {
		return err
	}
	ev := evaluation{app: a, cmd: c}
	if err := ev.readSource(); err != nil {
		return err
	}
	for _, dir := range c.Stores {
		if err := ev.load(dir); err != nil {
			return err
		}
	}
	measuring := a.step("measuring")
	defer measuring()
	result := eval.Measure(ev.crawls, c.Curve)
	result.Settings = ev.settings
	result.Next = nextPages(ev.crawls[0].Relevant())
	if c.HTML != "" {
		if err := ev.writeReport(c.HTML, result); err != nil {
			return err
		}
	}
	return a.emit(result, func(w io.Writer) { printFigures(w, result, c.HTML) })
}

// nextPages says what more pages would be worth, as a crawl with --min-harvest
// weighs it; nil before a crawl would.
func nextPages(relevant []bool) *eval.Next {
	const least = 200 // pages; before that the crawler says nothing of the next ones either
	if len(relevant) < least {
		return nil
	}
	m := crawler.MarginalOf(relevant)
	return &eval.Next{Pages: m.Pages, Harvest: m.Harvest, Upper: m.Upper}
}

// distinct refuses a store named twice: it would overlap with itself.
func distinct(dirs []string) error {
	seen := map[string]bool{}
	for _, dir := range dirs {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return fmt.Errorf("store %s: %w", dir, err)
		}
		if seen[abs] {
			return usagef("store %s is named twice; name different crawls", dir)
		}
		seen[abs] = true
	}
	return nil
}

// evaluation is one run of the verb.
type evaluation struct {
	app      *app
	cmd      evalCmd
	crawls   []*eval.Crawl
	settings map[string]string // of the first crawl

	truth *datasets.Truth      // nil without --truth
	judge *classify.Classifier // nil without --judge
}

func (ev *evaluation) readSource() (err error) {
	switch {
	case ev.cmd.Truth != "":
		ev.truth, err = datasets.ReadTruth(ev.cmd.Truth)
	case ev.cmd.Judge != "":
		ev.judge, err = topics.Classifier(ev.cmd.Judge)
	}
	return err
}

// load reads one store and has its pages judged.
func (ev *evaluation) load(dir string) (err error) {
	s, done, err := ev.app.openToRead(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	defer ev.app.step("reading " + dir)()
	crawl, err := eval.Load(ev.app.ctx, s)
	if err != nil {
		return err
	}
	settings, err := crawlplan.Stored(s)
	if err != nil {
		return err
	}
	if len(ev.crawls) == 0 {
		ev.settings = settings.Applied()
	}
	crawl.Probabilities = settings.Score == "learned"
	if len(ev.cmd.Caps) > 0 {
		crawl.Caps = ev.cmd.Caps
	}
	if ev.cmd.Target == "" {
		ev.cmd.Target = crawl.Info.Topic // of the first; the others are judged by the same
	}
	if err := ev.verdicts(ev.app.ctx, crawl, s); err != nil {
		return err
	}
	if len(ev.cmd.Stores) > 1 { // recall is estimated from what two crawls knew
		if err := crawl.LoadTrail(ev.app.ctx, s); err != nil {
			return err
		}
	}
	if len(ev.crawls) == 0 { // the report is about the first
		if err := crawl.Drift(ev.app.ctx, s, pageWords()); err != nil {
			return err
		}
	}
	ev.crawls = append(ev.crawls, crawl)
	return nil
}

// pageWords returns a function that gives the words of a page as they are
// written, without stop words.
func pageWords() func(p *page.Page) []string {
	analyzer := features.NewAnalyzer(features.AnalyzerOptions{NoStem: true})
	return func(p *page.Page) []string {
		d := features.Doc(p.Fields())
		return analyzer.Terms(analyzer.Terms(nil, d.Title, d.Lang), d.Text, d.Lang)
	}
}

func (ev *evaluation) verdicts(ctx context.Context, crawl *eval.Crawl, s *store.Store) error {
	switch {
	case ev.truth != nil:
		if err := ev.truth.Known(ev.cmd.Target); err != nil {
			return usagef("%w; choose one with --target", err)
		}
		crawl.JudgeByTruth(evalTruth(ev.truth, ev.cmd.Truth, ev.cmd.Target))
		return nil
	case ev.judge != nil:
		topic, err := judge.NewTopic(ev.judge, ev.cmd.Judge, ev.cmd.Target, "")
		if err != nil {
			return err
		}
		defer ev.app.step(fmt.Sprintf("judging %d pages of %s", len(crawl.Pages), crawl.Dir))()
		err = crawl.JudgeByModel(ctx, s, ev.modelJudge(topic), runtime.GOMAXPROCS(0))
		crawl.Source.TrainedOn, crawl.Source.Own = topic.Known.Share(), ev.own(crawl)
		return err
	}
	return nil // the crawl's own labels, as loaded
}

// own says what else the judge has to do with a crawl: the model that crawled or
// refined agrees with itself.
func (ev *evaluation) own(crawl *eval.Crawl) string {
	if own, err := models.ReadFile(crawlplan.ModelFile(crawl.Dir)); err == nil && sameModel(own, ev.judge.Model()) {
		return "labelled the crawl"
	}
	if p := crawl.Pages; len(p) > 0 && p[0].Refined != nil && p[0].Refined.Model == filepath.Base(ev.cmd.Judge) {
		return "refined the crawl"
	}
	return ""
}

// sameModel compares models as they are written.
func sameModel(a, b *models.Model) bool {
	var one, other bytes.Buffer
	return errors.Join(a.Write(&one), b.Write(&other)) == nil && bytes.Equal(one.Bytes(), other.Bytes())
}

// evalTruth gives eval a truth without the room that read it.
func evalTruth(t *datasets.Truth, path, target string) *eval.Truth {
	return &eval.Truth{
		Name: path, Target: target, Targets: len(t.Targets(target)), Known: t.Len(),
		Of: func(url string) eval.Verdict {
			l, known := t.Of(url)
			return eval.Verdict{Relevant: known && l.Match(target), Known: known, Class: l.Label}
		},
	}
}

// modelJudge judges as refine does: by the model's own threshold for the topic.
func (ev *evaluation) modelJudge(t *judge.Topic) *eval.Judge {
	return &eval.Judge{
		Name: ev.cmd.Judge, Target: t.Name,
		Of: func(p *page.Page) eval.Verdict {
			score, rest := t.Probability(features.Doc(p.Fields()))
			if score >= t.Cut {
				return eval.Verdict{Relevant: true, Known: true, Class: t.Name}
			}
			return eval.Verdict{Known: true, Class: rest}
		},
	}
}

func (ev *evaluation) writeReport(path string, result eval.Result) error {
	return writePage(path, func(w io.Writer) error {
		return eval.WriteReport(w, eval.Report{Result: result, Crawls: ev.crawls, Made: ev.made()})
	})
}

// made says how the report came about; eval adds the crawl's own settings.
func (ev *evaluation) made() []report.Fact {
	facts := []report.Fact{{Name: "evaluated by", Value: "fossick " + version}, {Name: "random seed", Value: fmt.Sprint(ev.app.seed)}}
	if ev.truth != nil {
		facts = append(facts, report.Fact{Name: "truth", Value: fmt.Sprintf("%s, %d pages", ev.cmd.Truth, ev.truth.Len())})
	}
	if ev.judge != nil {
		facts = append(facts, report.Fact{Name: "judge", Value: ev.cmd.Judge + ": " + ev.judge.Model().Summary()})
	}
	if m, err := models.ReadFile(crawlplan.ModelFile(ev.cmd.Stores[0])); err == nil { // a crawl by keywords has none
		facts = append(facts, report.Fact{Name: "crawl's model", Value: m.Summary()})
	}
	if pages := ev.crawls[0].Pages; len(pages) > 0 && pages[0].Refined != nil {
		facts = append(facts, report.Fact{Name: "refined with", Value: pages[0].Refined.Model})
	}
	return facts
}

// printFigures prints what a newcomer wants to know, in sentences.
func printFigures(w io.Writer, r eval.Result, html string) {
	for _, s := range eval.Sentences(r) {
		printable.Fprintln(w, s)
	}
	if html != "" {
		printable.Fprintf(w, "\nreport: %s\n", html)
	}
}
