package train

import (
	"context"
	"io"
	"path/filepath"

	"fossick/datasets"
	"fossick/internal/report"
	"fossick/internal/wholefile"
)

// Making is a model that is to be made.
type Making struct {
	Plan    *Plan
	Out     string // file of the model
	Explain string // file of the page that explains it; "" for none
	Version string // of the program
}

// worstShown is how many of its surest mistakes a model's page lists.
const worstShown = 40

// Make trains the model, judges it, and writes it and its page. The training rows are
// passed through rows on their way.
func (k *Making) Make(ctx context.Context, rows func(datasets.Stream) datasets.Stream) (*Result, error) {
	p := k.Plan
	made, err := p.Make(ctx, rows)
	if err != nil {
		return nil, err
	}
	p.Options.Step("testing the model")
	in := Input{Train: made.Parts.Train, Test: made.Parts.Test, Class: p.Options.Class, Trained: made.Parts.Trained, Log: p.Log}
	if k.Explain != "" {
		in.Explained = worstShown
	}
	j, err := Model(ctx, made.Model, made.Report, in)
	if err != nil {
		return nil, err
	}
	for _, old := range p.Rename.Unused() {
		p.Log.Warn("--rename: no row has this label", "label", old)
	}
	r := k.result(made, j)
	if err := made.Model.WriteFile(k.Out); err != nil {
		return nil, err
	}
	if k.Explain != "" {
		r.Explain = &k.Explain
		err = k.explain(made, j)
	}
	return r, err
}

// result is what training and the judgement say of the model.
func (k *Making) result(made *Made, j *Judgement) *Result {
	m, rep := made.Model, made.Report
	r := &Result{
		Classifier: m.Classifier, Words: len(m.Terms), Classes: m.Classes, TrainPages: rep.Pages,
		LeftOut: rep.LeftOut, Unreadable: rep.Unreadable, LostBelow: rep.LostBelow, Spilled: rep.Spilled,
		CV: rep.Accuracy, Keywords: m.Keywords, Curve: rep.Curve, TrainSeconds: made.Took.Seconds(), Model: k.Out, Unlabelled: made.Adapted,
	}
	if rep.PU != nil {
		rep.PU.From = k.Plan.Unlabelled
		r.PU = rep.PU
	}
	r.tell(m, j)
	if topic := k.Plan.Options.Topic; topic != "" {
		t := m.Threshold(topic)
		r.Threshold = &t
	}
	return r
}

// explain writes the page of a model.
func (k *Making) explain(made *Made, j *Judgement) error {
	page := Page{
		Model: made.Model, Name: filepath.Base(k.Out), Measures: j.Measures, Reliability: j.Reliability, From: j.From,
		Curve: made.Report.Curve, Candidates: made.Report.Accuracy, Mistakes: len(j.Mistakes), PredictUS: j.PredictUS, Notes: made.Parts.Notes(),
		Made: []report.Fact{{Name: "trained by", Value: "fossick " + k.Version}},
	}
	for _, e := range Worst(j.Mistakes, worstShown) {
		page.Worst = append(page.Worst, shownMistake(e))
	}
	return wholefile.Page(k.Explain, func(w io.Writer) error { return Write(w, page) })
}
