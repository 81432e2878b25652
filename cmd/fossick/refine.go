package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"

	"fossick/eval"
	"fossick/internal/cli"
	"fossick/internal/page"
	"fossick/internal/report"
	"fossick/models/features"
	"fossick/store"
	"fossick/train"
	"fossick/train/topics"
)

type refineCmd struct {
	Store     string   `arg:"" placeholder:"STORE" help:"Folder of a crawl's store." predictor:"dirs"`
	Model     string   `required:"" placeholder:"M" help:"Model that classifies the pages: a file, or a topic's name." predictor:"models"`
	Topic     string   `placeholder:"LABEL" help:"The model's label to keep [the crawl's topic]."`
	Threshold *float64 `placeholder:"P" help:"Keep a page when the topic's probability is at least this [the model's own, chosen by cross-validation in train]."`
}

func (refineCmd) Help() string {
	return `Classifies every stored page and keeps those on topic. The pages stay in the store; each gets its label, its probability and the rule that decided. Running it again replaces the labels.

Example:
  fossick refine fossick-banking --model banking`
}

type refineResult struct {
	eval.Refined
	Topic     string  `json:"topic"`
	Threshold float64 `json:"threshold"`
	Model     string  `json:"model"`
	Store     string  `json:"store"`
	Seconds   float64 `json:"seconds"`

	Trained *float64 `json:"trained_on"` // share of the pages that trained the model; null if it cannot say
	known   *train.Trained
}

func (c refineCmd) Run(a *app) (err error) {
	a.signals.InOrder()
	classifier, err := topics.Classifier(c.Model)
	if err != nil {
		return err
	}
	if c.Threshold != nil && !(*c.Threshold >= 0 && *c.Threshold <= 1) {
		return usagef("--threshold %v: want a probability in [0,1]", *c.Threshold)
	}
	s, err := store.Open(c.Store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	topic, err := train.NewTopic(classifier, c.Model, c.Topic, s.Info().Topic)
	if err != nil {
		return err
	}
	r := refineResult{Topic: topic.Name, Threshold: topic.Cut, Model: c.Model, Store: c.Store, known: &topic.Known}
	if c.Threshold != nil {
		r.Threshold = *c.Threshold
	}
	start := time.Now()
	refining := a.task("refining", "pages")
	defer refining.End()
	if n, err := s.Counts(); err == nil { // Refine reports what is wrong with them
		refining.Of(int(n.Pages))
	}
	r.Refined, err = eval.Refine(a.ctx, s, eval.RefineOptions{
		Topic: topic.Name, Model: filepath.Base(c.Model), Threshold: r.Threshold, Workers: runtime.GOMAXPROCS(0),
		Classify: func(p *page.Page) eval.Classified {
			score, rest, unknown := topic.Probability(features.Doc(p.Fields()))
			return eval.Classified{Score: score, Rest: rest, Unknown: unknown != ""}
		},
		Explain:  func(p *page.Page, label string) string { return classifier.ExplainFor(features.Doc(p.Fields()), label) },
		Progress: refining.Set,
	})
	refining.End()
	r.Trained = r.known.Share()
	r.Seconds = time.Since(start).Seconds()
	switch {
	case err != nil && a.ctx.Err() == nil:
		return err
	case err == nil && r.Pages == 0:
		return fmt.Errorf("%s holds no pages; collect some with fossick focus", c.Store)
	}
	dropped, exampleErr := eval.NearlyKept(s, 3)
	if err := errors.Join(a.emit(r, func(w io.Writer) { r.print(w, dropped) }), exampleErr); err != nil {
		return err
	}
	if a.ctx.Err() != nil {
		return errInterrupted
	}
	return nil
}

func (r refineResult) print(w io.Writer, dropped []eval.Dropped) {
	cli.Fprintf(w, "%d of %d pages kept as %s (probability at least %s)\n\n", r.Kept, r.Pages, r.Topic, short(r.Threshold))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	io.WriteString(t, "  class\tpages\tshare\n")
	labels := slices.Sorted(maps.Keys(r.PerClass))
	slices.SortStableFunc(labels, func(a, b string) int { return r.PerClass[b] - r.PerClass[a] })
	for _, label := range labels {
		n := r.PerClass[label]
		cli.Fprintf(t, "  %s\t%d\t%s\n", label, n, report.Percent(float64(n)/float64(r.Pages)))
	}
	_ = t.Flush() // stdout's own error shows at the next write
	if len(dropped) > 0 {
		io.WriteString(w, "\ndropped, but closest to being kept:\n")
	}
	for _, d := range dropped {
		cli.Fprintf(w, "  %s\n    %s: %s\n", cli.Cut(d.URL, 100), d.Label, cli.Cut(d.Rule, 160))
	}
	if text := r.known.Warning(); text != "" {
		cli.Fprintf(w, "\n%s\n", text)
	}
	cli.Fprintf(w, "\nHow good is it? fossick eval %s\nWhy one page?   fossick why URL --store %s\n", r.Store, r.Store)
}

// short rounds a number to three decimal places.
func short(x float64) string { return fmt.Sprint(math.Round(x*1000) / 1000) }
