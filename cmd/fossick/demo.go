package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"fossick/crawler/plan"
	"fossick/datasets"
	"fossick/datasets/web"
	"fossick/eval"
	"fossick/eval/monitor"
	"fossick/internal/cli"
	"fossick/internal/report"
	"fossick/store"
	"fossick/train"
)

// demoCmd runs the other verbs one after another on the built-in set.
type demoCmd struct {
	Out   string `default:"fossick-demo" placeholder:"DIR" help:"Folder for model, crawls and report [${default}]; an earlier demo in it is replaced."`
	Delay string `type:"delay" placeholder:"D" expert:"" help:"Rest after each fetch from a host, as in focus; with 0 a single worker fetches without rests, in the same order each time [auto]." predictor:"auto,0"`
	Topic string `default:"banking" enum:"banking,programming,science,sport" placeholder:"T" help:"Theme to crawl for: ${enum} [${default}]."`
}

func (demoCmd) Help() string {
	return `Trains a classifier on the built-in benchmark set, serves the set as a web of 40 hosts on loopback, crawls it for one theme, refines the collection and measures it against the truth. Hosts rest between requests as on the real web, so the demo takes about half a minute. It needs no network. The set is only a demonstration: use real corpora for figures that matter.

Example:
  fossick demo --topic science --out science-demo`
}

type demoResult struct {
	Train    *train.Result   `json:"train"`
	Focus    *monitor.Result `json:"focus"`
	Refine   refineResult    `json:"refine"`
	Eval     eval.Result     `json:"eval"`
	Baseline *monitor.Result `json:"baseline"` // the same start pages, breadth first
	Report   string          `json:"report"`

	example string // a page found by a link
}

const (
	demoPages = 60 // about as many as the set has of a theme
	// demoMark is a file in every folder that demo made; demo removes no other folder.
	demoMark = "made-by-fossick-demo"
)

// manners are focus's defaults, but without rests there is one worker: with a queue of a few hundred
// URLs, many workers would take everything before the order could matter.
func (c demoCmd) manners() plan.Manners {
	if c.Delay == "0" {
		return plan.Manners{Delay: c.Delay, Workers: 1}
	}
	return plan.Manners{Delay: c.Delay}
}

func (c demoCmd) Run(a *app) error {
	if err := c.clear(); err != nil {
		return err
	}
	set, err := datasets.Open("demo", datasets.Options{})
	if err != nil {
		return err
	}
	if err := c.writeTruth(set); err != nil {
		return err
	}
	if err := c.writeExamples(set); err != nil {
		return err
	}
	proxy, stop, err := web.OnLoopback(a.ctx, web.Options{Logger: a.log}, set)
	if err != nil {
		return err
	}
	defer func() {
		if err := stop(); err != nil {
			a.log.Warn("demo's server", "err", err)
		}
	}()
	r, err := c.steps(a, proxy, set.Web().Starts[c.Topic])
	if err != nil {
		return err
	}
	return a.emit(r, func(w io.Writer) { c.print(w, r) })
}

// steps runs paper A's pipeline: train, crawl, refine, measure.
func (c demoCmd) steps(a *app, proxy string, starts []string) (r *demoResult, err error) {
	r = &demoResult{Report: c.path("report.html")}
	model := c.path("model.fossick")
	a.say("\n1. train: a classifier learns the themes from the labelled training pages")
	if r.Train, err = runVerb[*train.Result](a, trainCmd{Sets: []string{"demo"}, Out: model, Classifier: "auto", Folds: 5, Explain: c.path("model.html")}); err != nil {
		return nil, err
	}
	focus := focusCmd{Crawl: plan.Crawl{Topic: c.Topic, Store: c.path("focus"), Settings: plan.Settings{
		Goal:    plan.Goal{Seed: starts, Model: model},
		Budget:  plan.Budget{MaxPages: demoPages},
		Manners: c.manners(),
		Network: plan.Network{Ways: plan.Ways{Proxy: proxy}},
	}}}
	a.say("\n2. focus: a crawl for %s from %s, best links first", c.Topic, report.StartPages(len(starts)))
	if r.Focus, err = runVerb[*monitor.Result](a, &focus); err != nil {
		return nil, err
	}
	plain := focus
	plain.Store, plain.Order = c.path("breadth-first"), "bfs"
	a.say("\n   the same start pages, breadth first, to compare with")
	if r.Baseline, err = runVerb[*monitor.Result](a, &plain); err != nil {
		return nil, err
	}
	a.say("\n3. refine: the classifier drops the pages off topic")
	if r.Refine, err = runVerb[refineResult](a, refineCmd{Store: focus.Store, Model: model}); err != nil {
		return nil, err
	}
	a.say("\n4. eval: the true label of every page shows how good the result is")
	r.Eval, err = runVerb[eval.Result](a, evalCmd{
		Stores: []string{focus.Store, plain.Store}, Truth: c.path("labels.tsv"), Target: c.Topic, HTML: r.Report,
	})
	if err != nil {
		return nil, err
	}
	r.example, err = lastPage(focus.Store)
	return r, err
}

// lastPage returns the URL of a crawl's last page, as an example for fossick why.
func lastPage(dir string) (url string, err error) {
	s, err := store.OpenToRead(dir)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	counts, err := s.Counts()
	if err != nil {
		return "", err
	}
	p, err := s.Page(counts.LastPage())
	return p.URL, err
}

func (c demoCmd) print(w io.Writer, r *demoResult) {
	t, e := r.Train, &r.Eval
	cli.Fprintf(w, "\nTrained on     %d labelled pages of %d classes (%s, %d words)", t.TrainPages, len(t.Classes), t.Classifier, t.Words)
	if t.TestPages != nil {
		cli.Fprintf(w, "; right on %s of %d others", inPercent(t.Accuracy), *t.TestPages)
	}
	cli.Fprintf(w, "\nCrawled        %d pages of %d hosts for %q in %.2f s\n", r.Focus.Fetched, r.Focus.Hosts, c.Topic, r.Focus.Seconds)
	if len(e.Stores) > 1 {
		cli.Fprintf(w, "Breadth first  %s of the pages would have been on topic\n", inPercent(e.Stores[1].Harvest))
	}
	cli.Fprintf(w, "Focused        %s are (the harvest ratio)\n", inPercent(e.Harvest))
	if k := e.Kept; k != nil {
		cli.Fprintf(w, "Refined        %d pages kept: %s of them are on topic, and %s of the fetched pages on topic are among them\n",
			k.Pages, inPercent(k.Precision), inPercent(k.Recall))
	}
	cli.Fprintf(w, "Model          %s\nReport         %s\n", c.path("model.html"), r.Report)
	cli.Fprintf(w, "Examples       %s, five pages for a topic of your own\n", c.path("examples"))
	cli.Fprintf(w, "Ask why        fossick why %s --store %s\n", r.example, c.path("focus"))
}

func inPercent(v *float64) string {
	if v == nil {
		return "an unknown share"
	}
	return report.Percent(*v)
}

func (c demoCmd) path(name string) string { return filepath.Join(c.Out, name) }

// clear makes an empty folder; it replaces an earlier demo, but nothing else.
func (c demoCmd) clear() error {
	_, err := os.Stat(c.path(demoMark))
	if entries, _ := os.ReadDir(c.Out); err != nil && len(entries) > 0 {
		return usagef("--out %s: the folder holds other files; give a new or empty one", c.Out)
	}
	if err := os.RemoveAll(c.Out); err != nil {
		return fmt.Errorf("an earlier demo: %w", err)
	}
	if err := os.MkdirAll(c.Out, 0o755); err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	return os.WriteFile(c.path(demoMark), nil, 0o644)
}

// writeTruth writes the labels for eval: url TAB label TAB all labels.
func (c demoCmd) writeTruth(set *datasets.Set) (err error) {
	file, err := os.Create(c.path("labels.tsv"))
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	w := bufio.NewWriter(file)
	for e, err := range set.Examples() {
		if err != nil {
			return err
		}
		cli.Fprintf(w, "%s\t%s\t%s\n", e.URL, e.Label, strings.Join(e.Labels, "|"))
	}
	return w.Flush()
}

// demoExamples are five pages on astronomy, by the last part of their paths: enough for topic new --examples.
var demoExamples = []string{
	"comets-and-their-two-tails", "flat-rotation-curves-and-dark-matter", "the-message-in-a-spectrum",
	"three-laws-from-the-orbit-of-mars", "why-big-telescopes-use-mirrors",
}

// writeExamples saves demoExamples as a browser would.
func (c demoCmd) writeExamples(set *datasets.Set) error {
	want := map[string]bool{}
	for _, name := range demoExamples {
		want[name] = true
	}
	if err := os.Mkdir(c.path("examples"), 0o755); err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	for e, err := range set.Examples() {
		if err != nil {
			return err
		}
		name := strings.TrimSuffix(path.Base(e.URL), ".html")
		if !want[name] || e.Fields["kind"] != "article" {
			continue
		}
		if err := os.WriteFile(filepath.Join(c.path("examples"), name+".html"), []byte(e.HTML), 0o644); err != nil {
			return fmt.Errorf("demo: %w", err)
		}
	}
	return nil
}
