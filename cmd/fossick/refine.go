package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"fossick/classify"
	"fossick/eval"
	"fossick/features"
	"fossick/internal/printable"
	"fossick/models"
	"fossick/page"
	"fossick/store"
)

type refineCmd struct {
	Store     string   `arg:"" placeholder:"STORE" help:"Folder of a crawl's store." complete:"dirs"`
	Model     string   `required:"" placeholder:"M" help:"Model that classifies the pages: a file, or a topic's name." complete:"models"`
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

	Trained *float64 `json:"trained_on"` // share of the pages that the model was trained on; null when it cannot say
	known   *lessons
}

func (c refineCmd) Run(a *app) (err error) {
	a.endsInOrder()
	m, classifier, err := loadModel(c.Model)
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
	topic, err := topicOf(m, c.Model, c.Topic, s.Info().Topic)
	if err != nil {
		return err
	}
	r := refineResult{Topic: topic, Threshold: m.Threshold(topic), Model: c.Model, Store: c.Store, known: &lessons{card: &m.Card}}
	if c.Threshold != nil {
		r.Threshold = *c.Threshold
	}
	start := time.Now()
	refining := a.task("refining", "pages")
	defer refining.End()
	if n, err := s.Counts(); err == nil { // Refine tells what is wrong with them
		refining.Of(int(n.Pages))
	}
	r.Refined, err = eval.Refine(a.ctx, s, eval.RefineOptions{
		Topic: topic, Model: filepath.Base(c.Model), Threshold: r.Threshold, Workers: runtime.GOMAXPROCS(0),
		Classify: classifyTopic(classifier, topic, r.known), Explain: explainPage(classifier),
		Progress: refining.Set,
	})
	refining.End()
	r.Trained = r.known.share()
	r.Seconds = time.Since(start).Seconds()
	if err != nil && a.ctx.Err() == nil {
		return err
	}
	dropped, exampleErr := droppedExamples(s, 3)
	if err := errors.Join(a.emit(r, func(w io.Writer) { r.print(w, dropped) }), exampleErr); err != nil {
		return err
	}
	if a.ctx.Err() != nil {
		return errInterrupted
	}
	return nil
}

// loadModel reads a model and sets it to work.
func loadModel(path string) (*models.Model, *classify.Classifier, error) {
	m, err := readModel(path)
	if err != nil {
		return nil, nil, err
	}
	c, err := classify.New(m)
	if err != nil {
		return nil, nil, fmt.Errorf("model %s: %w", path, err)
	}
	return m, c, nil
}

// topicOf returns the label of m that is wanted: the one asked for, else the
// store's topic, else an error that lists the labels.
func topicOf(m *models.Model, path, asked, stores string) (string, error) {
	labels := strings.Join(m.Classes, ", ")
	switch {
	case slices.Contains(m.Classes, asked):
		return asked, nil
	case asked != "":
		return "", usagef("label %q is not one of the model's; %s has %s", asked, path, labels)
	case slices.Contains(m.Classes, stores):
		return stores, nil
	}
	return "", usagef("the crawl's topic %q is not one of the model's labels; name one with --topic: %s has %s", stores, path, labels)
}

// classifyTopic makes a classifier answer for one topic; known is told of each page.
func classifyTopic(c *classify.Classifier, topic string, known *lessons) func(*page.Page) eval.Classified {
	class := c.Model().Class(topic)
	return func(p *page.Page) eval.Classified {
		doc := features.Doc(p.Fields())
		known.look(doc)
		r := c.Classify(doc)
		return eval.Classified{Score: r.Probs[class], Rest: bestBut(c.Model().Classes, r.Probs, class)}
	}
}

// explainPage makes a classifier say what speaks for a page's label.
func explainPage(c *classify.Classifier) func(*page.Page, string) string {
	return func(p *page.Page, label string) string { return c.ExplainFor(features.Doc(p.Fields()), label) }
}

// bestBut returns the most probable class but one, "" when there is no other.
func bestBut(classes []string, probs []float64, but int) string {
	best := -1
	for i, p := range probs {
		if i != but && (best < 0 || p > probs[best]) {
			best = i
		}
	}
	if best < 0 {
		return ""
	}
	return classes[best]
}

type droppedPage struct{ url, label, rule string }

// droppedExamples returns up to n dropped pages, the nearest to being kept first:
// they tell most about the threshold.
func droppedExamples(s *store.Store, n int) ([]droppedPage, error) {
	type candidate struct {
		number uint64
		label  store.Label
	}
	var all []candidate
	for l, err := range s.Labels() {
		if err != nil {
			return nil, err
		}
		if !l.Kept {
			all = append(all, candidate{l.Page, l.Label})
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.label.Score, a.label.Score) })
	var out []droppedPage
	for _, c := range all[:min(n, len(all))] {
		p, err := s.Page(c.number)
		if err != nil {
			return nil, err
		}
		out = append(out, droppedPage{p.URL, c.label.Label, c.label.Rule})
	}
	return out, nil
}

func (r refineResult) print(w io.Writer, dropped []droppedPage) {
	if r.Pages == 0 {
		printable.Fprintf(w, "%s holds no pages yet; collect some with fossick focus\n", r.Store)
		return
	}
	printable.Fprintf(w, "%d of %d pages kept as %s (probability at least %s)\n\n", r.Kept, r.Pages, r.Topic, short(r.Threshold))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	io.WriteString(t, "  class\tpages\tshare\n")
	labels := slices.Sorted(maps.Keys(r.PerClass))
	slices.SortStableFunc(labels, func(a, b string) int { return r.PerClass[b] - r.PerClass[a] })
	for _, label := range labels {
		n := r.PerClass[label]
		printable.Fprintf(t, "  %s\t%d\t%s\n", label, n, percent(float64(n)/float64(r.Pages)))
	}
	_ = t.Flush() // stdout's own error shows at the next write
	if len(dropped) > 0 {
		io.WriteString(w, "\ndropped, the nearest to being kept:\n")
	}
	for _, d := range dropped {
		printable.Fprintf(w, "  %s\n    %s: %s\n", printable.Cut(d.url, 100), d.label, printable.Cut(d.rule, 160))
	}
	if text := r.known.warning(); text != "" {
		printable.Fprintf(w, "\n%s\n", text)
	}
	printable.Fprintf(w, "\nHow good is it? fossick eval %s\nWhy one page?   fossick why URL --store %s\n", r.Store, r.Store)
}

// short prints a number with at most three places.
func short(x float64) string { return fmt.Sprint(math.Round(x*1000) / 1000) }

// percent prints a share as people read it; what is there is never 0 %.
func percent(x float64) string {
	if x > 0 && x < 0.1 {
		return fmt.Sprintf("%.1f %%", max(100*x, 0.1))
	}
	return fmt.Sprintf("%.0f %%", 100*x)
}
