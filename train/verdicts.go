package train

import (
	"io"
	"slices"

	"fossick/classify"
	"fossick/datasets"
	"fossick/internal/printable"
	"fossick/internal/report"
	"fossick/models"
	"fossick/models/features"
)

// Labelled is what a model says of a page.
type Labelled struct {
	Name  string  `json:"name"`
	Label string  `json:"label"`
	Score float64 `json:"score"`
	Rule  string  `json:"rule"`
	Known bool    `json:"known"` // false: the model cannot tell, and rule says why
}

// Result is what a model, or two, said of pages.
type Verdict struct {
	Results   []Labelled                `json:"results"`
	Accuracy  *float64                  `json:"accuracy"` // null without labelled rows
	CI        *[2]float64               `json:"accuracy_ci"`
	MacroF1   *float64                  `json:"macro_f1"`
	PerClass  map[string]ClassQuality   `json:"per_class"`
	Confusion map[string]map[string]int `json:"confusion"`
	Worst     []Mistake                 `json:"worst"`      // null without labelled rows
	AccuracyB *float64                  `json:"accuracy_b"` // null without a second model
	McNemar   *Comparison               `json:"mcnemar"`
	Trained   *float64                  `json:"trained_on"` // share of the labelled rows that the model was trained on; null when it cannot say
	TrainedB  *float64                  `json:"trained_on_b"`
}

// Verdicts are what a model has said so far.
type Verdicts struct {
	name             string // of the model
	classifier       *classify.Classifier
	class            Target // by whose Class a row's label is one of the model's
	labelled         []Labelled
	truth, predicted []int // classes, by labelled row
	mistakes         []Mistake
	rival            *rival          // nil without a second model
	known            Trained         // labelled pages that the model was trained on
	texts            map[uint64]bool // that labelled pages have, see models.Mark
	spread           string          // of the accuracy, in words
}

// NewVerdicts begins with a model, by the name that people know it by.
func NewVerdicts(name string, c *classify.Classifier) *Verdicts {
	m := c.Model()
	v := &Verdicts{name: name, classifier: c, labelled: []Labelled{}, texts: map[uint64]bool{}, class: Target{Labels: m.Classes}}
	// A model of one topic against the rest knows the rest by this name.
	if len(m.Classes) == 2 && slices.Contains(m.Classes, Other) {
		v.class = Target{Topic: m.Classes[1-m.Class(Other)]}
	}
	v.known.Card = &m.Card
	return v
}

// Label labels a page.
func (v *Verdicts) Label(name string, d features.Doc) {
	v.label(name, d)
}

func (v *Verdicts) label(name string, d features.Doc) Labelled {
	r, why := v.classifier.ClassifyAndExplain(d)
	said := Labelled{name, r.Label, r.Score, why, r.Unknown == ""}
	v.labelled = append(v.labelled, said)
	return said
}

// Row labels a row of a set, and compares what was said with its class, where it has one
// that the model knows.
func (v *Verdicts) Row(e *datasets.Example, d features.Doc) {
	m := v.classifier.Model()
	said, truth := v.label(e.URL, d), v.class.Class(e)
	if m.Class(truth) < 0 {
		return
	}
	v.truth, v.predicted = append(v.truth, m.Class(truth)), append(v.predicted, m.Class(said.Label))
	v.known.look(d)
	v.texts[models.Mark(d)] = true
	if said.Label != truth {
		v.mistakes = append(v.mistakes, Mistake{said.Name, truth, said.Label, said.Score, said.Rule})
	}
	if v.rival != nil {
		v.rival.judge(d, truth)
	}
}

// Result sums up, with so many of the mistakes.
func (v *Verdicts) Result(mistakes int) (*Verdict, error) {
	r := &Verdict{Results: v.labelled}
	if len(v.truth) > 0 {
		classes := v.classifier.Model().Classes
		m := Measure(len(classes), v.truth, v.predicted)
		m.Units = len(v.texts)
		r.Accuracy, r.CI, r.MacroF1, v.spread = &m.Accuracy, m.Interval(), &m.MacroF1, m.Spread()
		r.PerClass, r.Confusion = ByClass(classes, &m), Confusion(classes, &m)
		r.Worst = Worst(v.mistakes, mistakes)
		r.Trained = v.known.Share()
	}
	if v.rival != nil {
		if err := v.compare(r); err != nil {
			return nil, err
		}
		r.TrainedB = v.rival.known.Share()
	}
	return r, nil
}

// Print writes a result of these verdicts for people.
func (v *Verdicts) Print(w io.Writer, r *Verdict) {
	for _, p := range r.Results {
		printable.Fprintf(w, "%s\t%s\t%.3f\t%s\n", p.Name, p.Label, p.Score, p.Rule)
	}
	if r.Accuracy != nil {
		printable.Fprintf(w, "\nAccuracy %.1f %% (%s), macro F1 %.3f on %s labelled pages\n\n",
			100**r.Accuracy, v.spread, *r.MacroF1, report.Number(len(v.truth)))
		classes := v.classifier.Model().Classes
		PrintClasses(w, classes, r.PerClass, r.Confusion)
		PrintMatrix(w, classes, r.Confusion)
		PrintWorst(w, r.Worst, len(v.mistakes))
	}
	if text := v.known.Warning(); text != "" {
		printable.Fprintf(w, "\n%s: %s\n", v.name, text)
	}
	if r.McNemar != nil {
		if text := v.rival.known.Warning(); text != "" {
			printable.Fprintf(w, "%s: %s\n", v.rival.name, text)
		}
		r.McNemar.print(w, []string{v.name, v.rival.name}, *r.Accuracy, *r.AccuracyB)
	}
}
