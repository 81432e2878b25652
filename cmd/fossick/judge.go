package main

import (
	"slices"
	"time"

	"fossick/classify"
	"fossick/datasets"
	"fossick/train"
)

// timedPages is how many pages a model is timed on when there is no test.
const timedPages = 300

// tested is what a model said of labelled pages.
type tested struct {
	pages    []train.Judged
	across   []bool // by page: its body is a training page's too
	mistakes []mistake
	took     []time.Duration // a page, from raw bytes to its label
}

// median returns the median time a page in microseconds, nil without pages.
func (t *tested) median() *float64 {
	if len(t.took) == 0 {
		return nil
	}
	slices.Sort(t.took)
	us := float64(t.took[len(t.took)/2].Nanoseconds()) / 1e3
	return &us
}

// clean returns the pages that are not training pages too.
func (t *tested) clean() []train.Judged {
	var out []train.Judged
	for i, p := range t.pages {
		if !t.across[i] {
			out = append(out, p)
		}
	}
	return out
}

// runTest classifies the labelled pages of a set. Pages of a class that the
// model does not have count as errors.
func runTest(a *app, c *classify.Classifier, p *parts, test examples, opt *train.Options) (*tested, error) {
	t := &tested{}
	m := c.Model()
	for e, err := range test {
		if a.ctx.Err() != nil {
			return nil, a.ctx.Err()
		}
		if err != nil {
			if isRow(err) {
				a.log.Warn("test row left out", "err", err)
				continue
			}
			return nil, err
		}
		label := opt.Class(e)
		if label == "" {
			continue
		}
		start := time.Now()
		d, err := train.Doc(e)
		if err != nil {
			a.log.Warn("test page left out", "url", e.URL, "err", err)
			continue
		}
		r := c.Classify(d)
		t.took = append(t.took, time.Since(start))
		t.pages = append(t.pages, train.Judged{URL: e.URL, File: e.File, Line: e.Line, Truth: m.Class(label), Label: m.Class(r.Label), Score: r.Score})
		t.across = append(t.across, p.trained[datasets.RowOf(e).Sum])
		if r.Label != label {
			t.mistakes = append(t.mistakes, mistake{e.URL, label, r.Label, r.Score, c.ExplainFor(d, r.Label)})
		}
	}
	return t, nil
}

// heldMistakes lists the pages that cross-validation got wrong. Their rules are the
// final model's, which may know better by now, and are only looked up for the n
// surest: for them the training set is read again.
func heldMistakes(a *app, c *classify.Classifier, trained examples, rep *train.Report, n int) ([]mistake, error) {
	classes := c.Model().Classes
	var all []mistake
	at := map[place]int{}
	for _, h := range rep.Held {
		if h.Truth != h.Label {
			at[place{h.File, h.Line, h.URL}] = len(all)
			all = append(all, mistake{URL: h.URL, Truth: classes[h.Truth], Label: classes[h.Label], Score: h.Score})
		}
	}
	listed := map[int]bool{}
	for _, i := range surest(all)[:min(n, len(all))] {
		listed[i] = true
	}
	for e, err := range readable(trained) {
		if a.ctx.Err() != nil {
			return nil, a.ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		i, known := at[placeOf(e)]
		if !known || !listed[i] {
			continue
		}
		d, err := train.Doc(e)
		if err != nil {
			return nil, err // training has read it
		}
		all[i].Rule = c.ExplainFor(d, all[i].Label)
	}
	return all, nil
}
