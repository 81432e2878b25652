package eval

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
	"fossick/crawler/plan"
	"fossick/datasets"
	"fossick/internal/cli"
	"fossick/internal/page"
	"fossick/internal/report"
	"fossick/models"
	"fossick/models/features"
	"fossick/store"
	"fossick/train"
	"fossick/train/topics"
)

// Sources name the crawls to measure and the source of relevance.
type Sources struct {
	Stores []string // crawl stores; the report is about the first
	Truth  string   // file of labels by URL; "" for none
	Judge  string   // model file; "" for none
	Target string   // on-topic label; "" for the first crawl's topic
	Caps   []int    // limits on pages per host; see judgedCrawl.Caps

	Open func(dir string) (s *store.Store, done func() error, err error)
	Step func(what string) (end func()) // shows progress
}

// judgedCrawls are loaded and judged crawls.
type judgedCrawls struct {
	from     Sources
	crawls   []*judgedCrawl
	settings map[string]string // of the first crawl
	truth    *datasets.Truth
	judge    *classify.Classifier
}

// ReadCrawls loads the crawls and judges their pages.
func ReadCrawls(ctx context.Context, from Sources) (ev *judgedCrawls, err error) {
	for _, n := range from.Caps {
		if n < 1 {
			return nil, cli.Usagef("--max-pages-per-host %d: want a number of pages, at least 1", n)
		}
	}
	if err := distinct(from.Stores); err != nil {
		return nil, err
	}
	ev = &judgedCrawls{from: from}
	switch {
	case from.Truth != "":
		ev.truth, err = datasets.ReadTruth(from.Truth)
	case from.Judge != "":
		ev.judge, err = topics.Classifier(from.Judge)
	}
	if err != nil {
		return nil, err
	}
	for _, dir := range from.Stores {
		load := ev.load
		if len(store.AgentDirs(dir)) > 0 {
			load = ev.loadAgents
		}
		if err := load(ctx, dir); err != nil {
			return nil, err
		}
		if len(ev.crawls[len(ev.crawls)-1].relevant()) == 0 {
			return nil, fmt.Errorf("%s holds no pages; collect some with fossick focus", dir)
		}
	}
	return ev, nil
}

// Measure returns the figures; curves have a point every step pages.
func (ev *judgedCrawls) Measure(step int) Result {
	result := measureAll(ev.crawls, step)
	result.Settings = ev.settings
	result.Next = nextPages(ev.crawls[0].relevant())
	return result
}

// WriteReport writes the HTML report of Measure's result; by adds facts on how it was made.
func (ev *judgedCrawls) WriteReport(w io.Writer, result Result, by ...report.Fact) error {
	return writeReport(w, reportData{Result: result, Crawls: ev.crawls, Made: append(by, ev.made()...)})
}

// nextPages applies the estimate of --min-harvest; nil while the crawl is too short for it.
func nextPages(relevant []bool) *NextPages {
	const least = 200 // pages; the crawler's stopping rule starts there
	if len(relevant) < least {
		return nil
	}
	return NextPagesOf(crawler.Of(relevant))
}

// distinct refuses a store given twice: its overlap with itself means nothing.
func distinct(dirs []string) error {
	seen := map[string]bool{}
	for _, dir := range dirs {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return fmt.Errorf("store %s: %w", dir, err)
		}
		if seen[abs] {
			return cli.Usagef("store %s is given twice; give different crawls", dir)
		}
		seen[abs] = true
	}
	return nil
}

func (ev *judgedCrawls) load(ctx context.Context, dir string) (err error) {
	s, done, err := ev.from.Open(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	first := len(ev.crawls) == 0
	crawl, err := ev.read(ctx, s)
	if err != nil {
		return err
	}
	if len(ev.from.Stores) > 1 { // the recall estimate needs at least two trails
		if err := crawl.loadTrail(ctx, s); err != nil {
			return err
		}
	}
	if first { // the report is about it
		if err := crawl.drift(ctx, s, pageWords()); err != nil {
			return err
		}
	}
	ev.crawls = append(ev.crawls, crawl)
	return nil
}

func (ev *judgedCrawls) loadAgents(ctx context.Context, dir string) (err error) {
	var crawls []*judgedCrawl
	var stores []*store.Store
	for _, agent := range store.AgentDirs(dir) {
		s, done, err := ev.from.Open(agent)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, done()) }()
		crawl, err := ev.read(ctx, s)
		if err != nil {
			return err
		}
		crawls, stores = append(crawls, crawl), append(stores, s)
	}
	crawl, err := together(ctx, dir, crawls, stores)
	if err != nil {
		return err
	}
	ev.crawls = append(ev.crawls, crawl)
	return nil
}

func (ev *judgedCrawls) read(ctx context.Context, s *store.Store) (*judgedCrawl, error) {
	defer ev.from.Step("reading " + s.Dir())()
	crawl, err := loadCrawl(ctx, s)
	if err != nil {
		return nil, err
	}
	settings, err := plan.Stored(s)
	if err != nil {
		return nil, err
	}
	crawl.Probabilities = settings.Score == "learned"
	if len(ev.from.Caps) > 0 {
		crawl.Caps = ev.from.Caps
	}
	if err := ev.severalTopics(crawl); err != nil {
		return nil, err
	}
	if len(ev.crawls) == 0 {
		ev.settings = settings.Applied()
	}
	if ev.from.Target == "" {
		ev.from.Target = crawl.Info.Topic // of the first crawl, for all
	}
	return crawl, ev.verdicts(ctx, crawl, s)
}

// pageWords returns a function that gives a page's words, unstemmed and without stop words.
func pageWords() func(p *page.Page) []string {
	analyzer := features.NewAnalyzer(features.AnalyzerOptions{NoStem: true})
	return func(p *page.Page) []string {
		d := features.Doc(p.Fields())
		return analyzer.Terms(analyzer.Terms(nil, d.Title, d.Lang), d.Text, d.Lang)
	}
}

func (ev *judgedCrawls) verdicts(ctx context.Context, crawl *judgedCrawl, s *store.Store) error {
	switch {
	case ev.truth != nil:
		if err := ev.truth.Known(ev.from.Target); err != nil {
			return cli.Usagef("%w; choose one with --target", err)
		}
		target := ev.from.Target
		from := labelSource{Kind: byLabels, Name: ev.from.Truth, Target: target, Targets: len(ev.truth.Targets(target)), Known: ev.truth.Len()}
		crawl.judgeByTruth(from, func(url string) judgement {
			l, known := ev.truth.Of(url)
			return judgement{Relevant: known && l.Match(target), Known: known, Class: l.Label}
		})
		return nil
	case ev.judge != nil:
		topic, err := train.NewTopic(ev.judge, ev.from.Judge, ev.from.Target, "")
		if err != nil {
			return err
		}
		defer ev.from.Step(cli.Sprintf("judging %d pages of %s", len(crawl.Pages), crawl.Dir))()
		from := labelSource{Kind: byModel, Name: ev.from.Judge, Target: topic.Name}
		err = crawl.judgeByModel(ctx, s, from, func(p *page.Page) judgement { // by the model's own threshold, as refine does
			score, rest, unknown := topic.Probability(features.Doc(p.Fields()))
			if score >= topic.Cut && unknown == "" {
				return judgement{Relevant: true, Known: true, Class: topic.Name}
			}
			return judgement{Known: true, Class: rest}
		}, runtime.GOMAXPROCS(0))
		crawl.Source.TrainedOn, crawl.Source.Own = topic.Known.Share(), ev.own(crawl)
		return err
	}
	return nil // the crawl's own labels, as loaded
}

// own returns the judge's role in the crawl: a model always agrees with its own labels.
func (ev *judgedCrawls) own(crawl *judgedCrawl) string {
	for _, path := range plan.ModelFiles(crawl.Dir) {
		if own, err := models.ReadFile(path); err == nil && sameModel(own, ev.judge.Model()) {
			return "labelled the crawl"
		}
	}
	if p := crawl.Pages; len(p) > 0 && p[0].Refined != nil && p[0].Refined.Model == filepath.Base(ev.from.Judge) {
		return "refined the crawl"
	}
	return ""
}

func sameModel(a, b *models.Model) bool {
	var one, other bytes.Buffer
	return errors.Join(a.Write(&one), b.Write(&other)) == nil && bytes.Equal(one.Bytes(), other.Bytes())
}

func (ev *judgedCrawls) made() (facts []report.Fact) {
	if ev.truth != nil {
		facts = append(facts, report.Fact{Name: "truth", Value: cli.Sprintf("%s, %d pages", ev.from.Truth, ev.truth.Len())})
	}
	if ev.judge != nil {
		facts = append(facts, report.Fact{Name: "judge", Value: ev.from.Judge + ": " + ev.judge.Model().Summary()})
	}
	for _, path := range plan.ModelFiles(ev.from.Stores[0]) {
		if m, err := models.ReadFile(path); err == nil { // a keyword crawl has none
			facts = append(facts, report.Fact{Name: "crawl's model", Value: m.Summary()})
		}
	}
	if pages := ev.crawls[0].Pages; len(pages) > 0 && pages[0].Refined != nil {
		facts = append(facts, report.Fact{Name: "refined with", Value: pages[0].Refined.Model})
	}
	return facts
}

// severalTopics checks the target of a shared crawl, and selects that topic's own labels.
func (ev *judgedCrawls) severalTopics(crawl *judgedCrawl) error {
	names := crawl.Info.Topics
	switch own := ev.truth == nil && ev.judge == nil; {
	case len(names) == 0:
	case ev.from.Target == "" && !own:
		return cli.Usagef("the crawl in %s has several topics: %s; give --target LABEL, the label of the truth or the judge to judge it by", crawl.Dir, cli.SomeNames("", names))
	case ev.from.Target != "" && own && ev.from.Target != crawl.Info.Topic:
		if !crawl.judgeByTopic(ev.from.Target) {
			return cli.Usagef("--target %s: the crawl in %s has the topics %s", ev.from.Target, crawl.Dir, cli.SomeNames(ev.from.Target, names))
		}
	}
	return nil
}
