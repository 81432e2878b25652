package train

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"fossick/classify"
	"fossick/datasets"
	"fossick/models"
)

// timedPages is how many pages a model is timed on when there is no test.
const timedPages = 300

// tested is what a model said of labelled pages.
type tested struct {
	pages    []Judged
	across   []bool // by page: its body is a training page's too
	mistakes []Mistake
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
func (t *tested) clean() []Judged {
	var out []Judged
	for i, p := range t.pages {
		if !t.across[i] {
			out = append(out, p)
		}
	}
	return out
}

// runTest classifies the labelled pages of a set. Pages of a class that the
// model does not have count as errors.
func (in *Input) run(ctx context.Context, c *classify.Classifier, test datasets.Stream) (*tested, error) {
	t := &tested{}
	m := c.Model()
	foreign := map[string]int{} // pages of classes that the model does not have
	defer func() {
		for _, label := range slices.Sorted(maps.Keys(foreign)) {
			in.Log.Warn("test pages of a class that no training page has count as errors", "label", label, "pages", foreign[label])
		}
	}()
	for e, err := range test {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			if datasets.IsRow(err) {
				in.Log.Warn("test row left out", "err", err)
				continue
			}
			return nil, err
		}
		label := in.Class(e)
		if label == "" {
			continue
		}
		start := time.Now()
		d, err := Doc(e)
		if err != nil {
			in.Log.Warn("test page left out", "url", e.URL, "err", err)
			continue
		}
		if m.Class(label) < 0 {
			foreign[label]++
		}
		r := c.Classify(d)
		t.took = append(t.took, time.Since(start))
		t.pages = append(t.pages, Judged{URL: e.URL, File: e.File, Line: e.Line, Truth: m.Class(label), Label: m.Class(r.Label), Score: r.Score, Mark: models.Mark(d)})
		t.across = append(t.across, in.Trained(e))
		if r.Label != label {
			t.mistakes = append(t.mistakes, Mistake{e.URL, label, r.Label, r.Score, c.ExplainFor(d, r.Label)})
		}
	}
	return t, nil
}

// heldMistakes lists the pages that cross-validation got wrong. The folds' models are
// gone; the rules are the finished model's, which says so where it knows better by
// now. They are only looked up for the n surest: for them the set is read again.
func (in *Input) heldMistakes(ctx context.Context, c *classify.Classifier, held []Judged) ([]Mistake, error) {
	classes := c.Model().Classes
	var all []Mistake
	at := map[datasets.Place]int{}
	for _, h := range held {
		if h.Truth != h.Label {
			at[datasets.Place{File: h.File, Line: h.Line, URL: h.URL}] = len(all)
			all = append(all, Mistake{URL: h.URL, Truth: classes[h.Truth], Label: classes[h.Label], Score: h.Score})
		}
	}
	listed := map[int]bool{}
	for _, i := range surest(all)[:min(in.Explained, len(all))] {
		listed[i] = true
	}
	for e, err := range datasets.Readable(in.Train) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		i, known := at[datasets.PlaceOf(e)]
		if !known || !listed[i] {
			continue
		}
		d, err := Doc(e)
		if err != nil {
			return nil, err // training has read it
		}
		r, why := c.ClassifyAndExplain(d)
		if r.Label != all[i].Label {
			why = "the finished model, which also learned from this page, says " + why
		}
		all[i].Rule = why
	}
	return all, nil
}

// Input is what a model is judged by.
type Input struct {
	Train     datasets.Stream                // what it was trained on
	Test      datasets.Stream                // labelled pages; nil: cross-validation has judged it
	Class     func(*datasets.Example) string // of a row, "" for none that is wanted
	Trained   func(*datasets.Example) bool   // whether a test row's body is a training row's too
	Explained int                            // so many mistakes of cross-validation are explained
	Log       *slog.Logger
}

// Judgement is how good a model is.
type Judgement struct {
	From        string    // explain.Test or explain.CrossValidation
	Measures    *Measures // nil when nothing was measured
	Reliability Reliability
	Across      *int // test pages that are training pages too; nil without a test
	WithoutThem *float64
	Mistakes    []Mistake // nil without a test, unless they are to be explained
	PredictUS   *float64  // median time a page, from raw bytes to its label
}

// Model tests a model that was just trained, and notes the result on its card.
func Model(ctx context.Context, m *models.Model, rep *Report, in Input) (*Judgement, error) {
	classifier, err := classify.New(m)
	if err != nil {
		return nil, err
	}
	source := in.Test
	if source == nil {
		source = datasets.First(datasets.Readable(in.Train), timedPages)
	}
	t, err := in.run(ctx, classifier, source)
	if err != nil {
		return nil, err
	}
	j := &Judgement{From: CrossValidation, Measures: rep.CV, Reliability: rep.Calibrated, PredictUS: t.median()}
	if in.Test == nil {
		if in.Explained > 0 {
			j.Mistakes, err = in.heldMistakes(ctx, classifier, rep.Held)
		}
		return j, err
	}
	measures, reliability := MeasureJudged(len(m.Classes), t.pages)
	j.From, j.Measures, j.Reliability, j.Mistakes = Test, &measures, reliability, t.mistakes
	m.Card.Test = &models.Score{Pages: measures.Pages, Accuracy: measures.Accuracy, MacroF1: measures.MacroF1}
	clean := t.clean()
	across := len(t.pages) - len(clean)
	j.Across = &across
	if across > 0 && len(clean) > 0 {
		without, _ := MeasureJudged(len(m.Classes), clean)
		j.WithoutThem = &without.Accuracy
	}
	return j, nil
}
