package main

import (
	"maps"
	"slices"
	"time"

	"fossick/classify"
	"fossick/datasets"
	"fossick/explain"
	"fossick/models"
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
	foreign := map[string]int{} // pages of classes that the model does not have
	defer func() {
		for _, label := range slices.Sorted(maps.Keys(foreign)) {
			a.log.Warn("test pages of a class that no training page has count as errors", "label", label, "pages", foreign[label])
		}
	}()
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
		if m.Class(label) < 0 {
			foreign[label]++
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

// heldMistakes lists the pages that cross-validation got wrong. The folds' models are
// gone; the rules are the finished model's, which says so where it knows better by
// now. They are only looked up for the n surest: for them the set is read again.
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
		r, why := c.ClassifyAndExplain(d)
		if r.Label != all[i].Label {
			why = "the finished model, which has learnt from this page too, says " + why
		}
		all[i].Rule = why
	}
	return all, nil
}

// judgement is how good a model is.
type judgement struct {
	from        string          // explain.Test or explain.CrossValidation
	measures    *train.Measures // nil when nothing was measured
	reliability train.Reliability
	across      *int // test pages that are training pages too; nil without a test
	withoutThem *float64
	mistakes    []mistake // nil without a test, unless they are to be explained
	predictUS   *float64
}

// judge tests the model, and notes the result on its card.
func (c trainCmd) judge(a *app, m *models.Model, rep *train.Report, p *parts, opt *train.Options) (*judgement, error) {
	classifier, err := classify.New(m)
	if err != nil {
		return nil, err
	}
	source := p.test
	if source == nil {
		source = first(readable(p.train), timedPages)
	}
	t, err := runTest(a, classifier, p, source, opt)
	if err != nil {
		return nil, err
	}
	j := &judgement{from: explain.CrossValidation, measures: rep.CV, reliability: rep.Calibrated, predictUS: t.median()}
	if p.test == nil {
		if c.Explain != "" {
			j.mistakes, err = heldMistakes(a, classifier, p.train, rep, worstShown)
		}
		return j, err
	}
	measures, reliability := train.MeasureJudged(len(m.Classes), t.pages)
	j.from, j.measures, j.reliability, j.mistakes = explain.Test, &measures, reliability, t.mistakes
	m.Card.Test = &models.Score{Pages: measures.Pages, Accuracy: measures.Accuracy, MacroF1: measures.MacroF1}
	clean := t.clean()
	across := len(t.pages) - len(clean)
	j.across = &across
	if across > 0 && len(clean) > 0 {
		without, _ := train.MeasureJudged(len(m.Classes), clean)
		j.withoutThem = &without.Accuracy
	}
	return j, nil
}
