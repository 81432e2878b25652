package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"fossick/datasets"
	"fossick/internal/printable"
	"fossick/models"
	"fossick/train"
)

// Models from good examples alone: what is off topic is found among pages of which
// nothing is known (see train.PU).

// puResult says what became of the unlabelled pages. Precision, recall and F1 are
// estimates by cross-validation, for no page is known to be off topic.
type puResult struct {
	Pages     int      `json:"pages"`          // that were looked at
	From      []string `json:"from"`           // their sets
	Share     float64  `json:"share_on_topic"` // of them, as estimated
	Taken     int      `json:"taken_as_on"`    // trained on as on topic
	Reliable  int      `json:"taken_as_off"`   // trained on as off topic
	Precision float64  `json:"precision"`      // of the model at its threshold
	Recall    float64  `json:"recall"`         // of the examples, held out
	F1        float64  `json:"f1"`
	given     int
}

func newPUResult(p *train.PU, from []string) *puResult {
	return &puResult{
		Pages: p.Pool, From: from, Share: p.Share, Taken: p.Taken, Reliable: p.Reliable,
		Precision: p.Precision, Recall: p.Recall, F1: p.F1, given: p.Given,
	}
}

func (r *puResult) print(w io.Writer) {
	printable.Fprintf(w, "  model: trained on %d examples and %d unlabelled pages (%s), of which about %.1f %% are on topic:\n",
		r.given, r.Pages, strings.Join(r.From, ", "), 100*r.Share)
	printable.Fprintf(w, "    %d of them were taken for on topic, %d for off topic, and the others left out\n", r.Taken, r.Reliable)
	printable.Fprintf(w, "    it finds %.0f %% of the examples when they are held out; precision about %.2f (both estimated: nothing was known to be off topic)\n", 100*r.Recall, r.Precision)
}

// fewestGiven is how many examples a model is trained on at least without negatives.
const fewestGiven = 5

// trainUnlabelled is train without negatives.
func (c *topicNewCmd) trainUnlabelled(a *app, t *models.Topic, r *topicResult) error {
	pool := c.Unlabelled
	if len(pool) == 0 {
		a.say("no --unlabelled pages: those of the built-in demo set stand for the web; pages from near your topic, as of an old crawl, would teach more")
		pool = []string{"demo"}
	}
	on, err := c.onTopic(a)
	if err != nil {
		return err
	}
	off, err := openSets(a, pool, nil, 0, nil)
	if err != nil {
		return err
	}
	n := map[string]int{}
	on, off = apart(on, off)
	work := a.task("reading pages", "pages")
	defer work.End()
	m, rep, err := train.Train(a.ctx, counted(c.labelled(on, off, n), work), train.Options{
		Classifier: models.LinearSVM, Topic: c.Name, Seed: a.seed, Log: a.log, Unlabelled: true, Step: stepsOf(work),
		Data: append(slices.Clone(c.Examples), pool...), Split: "all",
	})
	switch {
	case err != nil && !errors.Is(err, train.ErrData):
		return fmt.Errorf("topic %s: %w", c.Name, err)
	case n[c.Name] < fewestGiven:
		return fmt.Errorf("topic %s: %d pages in %s; give %d at least, 30 or more make a good model",
			c.Name, n[c.Name], strings.Join(c.Examples, ", "), fewestGiven)
	case n[train.Other] < fewestExamples:
		return fmt.Errorf("topic %s: %d pages in %s; give %d at least with --unlabelled, thousands are better",
			c.Name, n[train.Other], strings.Join(pool, ", "), fewestExamples)
	case err != nil:
		return fmt.Errorf("topic %s: %w", c.Name, err)
	}
	c.take(t, m)
	r.learnt(m, rep)
	r.Unlabelled = newPUResult(rep.PU, pool)
	r.Negatives = &rep.PU.Reliable
	return nil
}

// apart leaves out of a pool the rows whose body, to the byte, an example has: they are
// not unlabelled. The pool is to be read after the examples.
func apart(on, pool examples) (examples, examples) {
	given := map[[16]byte]bool{}
	on = only(on, func(e *datasets.Example) bool {
		given[datasets.RowOf(e).Sum] = true
		return true
	})
	return on, only(pool, func(e *datasets.Example) bool { return !given[datasets.RowOf(e).Sum] })
}

// onlyOn reports whether the training sets have pages of --topic and no others: then
// --unlabelled also has to say what is off topic.
func (c trainCmd) onlyOn(a *app, opt *train.Options) (bool, error) {
	if c.Topic == "" || len(c.Unlabelled) == 0 || c.given() {
		return false, nil
	}
	p, err := c.parts(a, opt)
	if err != nil {
		return false, err
	}
	on := false
	for e, err := range readable(p.train) {
		if err == nil {
			err = a.ctx.Err()
		}
		if err != nil {
			return false, err
		}
		switch opt.Class(e) {
		case c.Topic:
			on = true
		case train.Other:
			return false, nil
		}
	}
	return on, nil
}

// checkPool refuses what training from good examples alone cannot do.
func (c trainCmd) checkPool() error {
	name, _, _ := strings.Cut(c.Classifier, ",")
	switch {
	case name != "" && name != train.Auto && name != models.LinearSVM:
		return usagef("--classifier %s: where all training pages are on topic, only linear learns from --unlabelled; or add pages that are off topic", name)
	case c.Explain != "":
		return usagef("--explain needs pages that are known to be off topic, and all training pages are on topic; leave it out, or add some")
	}
	return nil
}

// withPool adds the unlabelled pages to the training pages, all under one label,
// whatever they bring.
func (c trainCmd) withPool(a *app, p *parts) {
	pool := func(yield func(*datasets.Example, error) bool) {
		for e, err := range c.readable(a) {
			if err == nil {
				own := *e // the set may hand out its own memory
				own.Label, own.Labels = train.Other, nil
				e = &own
			}
			if !yield(e, err) {
				return
			}
		}
	}
	on, off := apart(p.train, pool)
	p.train = chain([]examples{on, off})
}
