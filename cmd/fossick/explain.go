package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"fossick/explain"
	"fossick/internal/wholefile"
	"fossick/judge"
	"fossick/report"
	"fossick/train"
	"fossick/train/plan"
)

// worstShown is how many of its surest mistakes a model's page lists.
const worstShown = 40

// reliabilityResult says whether probabilities can be taken at their word.
type reliabilityResult struct {
	ECE  float64     `json:"ece"`  // expected calibration error, in [0,1]
	Over float64     `json:"over"` // mean probability less accuracy
	Bins []binResult `json:"bins"`
}

type binResult struct {
	From  float64    `json:"from"`
	To    float64    `json:"to"`
	Pages int        `json:"pages"`
	Mean  float64    `json:"mean"`
	Right float64    `json:"right"`
	CI    [2]float64 `json:"ci"`
}

type curveResult struct {
	Pages    int        `json:"pages"`
	Accuracy float64    `json:"accuracy"`
	CI       [2]float64 `json:"ci"`
}

func reliabilityOf(r train.Reliability) *reliabilityResult {
	out := &reliabilityResult{r.ECE, r.Over, []binResult{}}
	for _, b := range r.Bins {
		out.Bins = append(out.Bins, binResult(b))
	}
	return out
}

func curveOf(points []train.CurvePoint) []curveResult {
	var out []curveResult
	for _, p := range points {
		out = append(out, curveResult(p))
	}
	return out
}

// writeExplain writes the page of a model.
func (c trainCmd) writeExplain(made *plan.Made, j *judge.Judgement) error {
	page := explain.Page{
		Model: made.Model, Name: filepath.Base(c.Out), Measures: j.Measures, Reliability: j.Reliability, From: j.From,
		Curve: made.Report.Curve, Candidates: made.Report.Accuracy, Mistakes: len(j.Mistakes), PredictUS: j.PredictUS, Notes: made.Parts.Notes(),
		Made: []report.Fact{{Name: "trained by", Value: "fossick " + version}},
	}
	for _, e := range judge.Worst(j.Mistakes, worstShown) {
		page.Worst = append(page.Worst, explain.Mistake(e))
	}
	return writePage(c.Explain, func(w io.Writer) error { return explain.Write(w, page) })
}

// writePage writes a file of which there is never a half.
func writePage(path string, write func(io.Writer) error) error {
	err := wholefile.Write(path, 0o644, func(f *os.File) error { return write(f) })
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("page %s: %w; name a file in a folder that is there", path, err)
	case err != nil:
		return fmt.Errorf("page %s: %w", path, err)
	}
	return nil
}
