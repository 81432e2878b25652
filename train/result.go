package train

import (
	"cmp"
	"io"
	"maps"
	"slices"

	"fossick/internal/printable"
	"fossick/internal/report"
	"fossick/models"
)

// Result is what became of a model that was made, as JSON has it.
type Result struct {
	Classifier   string                    `json:"classifier"`
	Words        int                       `json:"words"`
	Classes      []string                  `json:"classes"`
	TrainPages   int                       `json:"train_pages"`
	TestPages    *int                      `json:"test_pages"`                  // null: judged by cross-validation
	LeftOut      int                       `json:"left_out"`                    // rows without a wanted label
	Unreadable   int                       `json:"unreadable"`                  // rows and pages that could not be read
	LostBelow    int                       `json:"terms_lost_below"`            // terms of so many pages or fewer may be missing for want of memory
	Spilled      int64                     `json:"spilled_bytes"`               // of rows that went to a temporary file
	Across       *int                      `json:"duplicates_across"`           // test pages that are training pages too; null without a test
	WithoutThem  *float64                  `json:"accuracy_without_duplicates"` // null when there are none
	Accuracy     *float64                  `json:"accuracy"`
	AccuracyCI   *[2]float64               `json:"accuracy_ci"` // null of fewer than 5 different pages or sites
	spread       string                    // it in words
	AccuracyFrom *string                   `json:"accuracy_from"` // test, cross-validation
	Baseline     *float64                  `json:"baseline"`      // accuracy of giving all pages the most frequent label
	MacroF1      *float64                  `json:"macro_f1"`
	PerClass     map[string]ClassQuality   `json:"per_class"`
	Confusion    map[string]map[string]int `json:"confusion"`
	Threshold    *float64                  `json:"threshold"` // of --topic
	Thresholds   map[string]float64        `json:"thresholds"`
	CV           map[string]float64        `json:"cv_accuracy"` // by classifier
	Keywords     map[string][]string       `json:"keywords"`
	Reliability  *Reliability              `json:"reliability"`
	Curve        []CurvePoint              `json:"learning_curve"` // null without --explain
	Worst        []Mistake                 `json:"worst"`          // null without a test or --explain
	Explain      *string                   `json:"explain"`
	Unlabelled   *Adapted                  `json:"unlabelled"`          // null without --unlabelled
	PU           *PU                       `json:"positive_unlabelled"` // null unless nothing else said what is off topic
	TrainSeconds float64                   `json:"train_seconds"`
	PredictUS    *float64                  `json:"predict_us"`
	Model        string                    `json:"model"`

	*TrialResult // nil without --mu-sweep and --protocol

	mistakes int // of which Worst lists the surest
}

// tell fills the result with how good the model is.
func (r *Result) tell(m *models.Model, j *Judgement) {
	r.PredictUS, r.Across, r.WithoutThem = j.PredictUS, j.Across, j.WithoutThem
	if j.From == Test {
		r.TestPages = &j.Measures.Pages
	}
	if j.Measures != nil && j.Measures.Pages > 0 {
		r.AccuracyFrom = &j.From
		if r.Reliability = &j.Reliability; r.Reliability.Bins == nil {
			r.Reliability.Bins = []Bin{}
		}
		r.measures(m.Classes, j.Measures)
	}
	if j.Mistakes != nil {
		r.Worst, r.mistakes = Worst(j.Mistakes, listedMistakes), len(j.Mistakes)
	}
	r.Thresholds = map[string]float64{}
	for _, label := range m.Classes {
		r.Thresholds[label] = m.Threshold(label)
	}
}

// listedMistakes is how many of its mistakes a model's result lists.
const listedMistakes = 10

func (r *Result) measures(classes []string, m *Measures) {
	r.Accuracy, r.AccuracyCI, r.MacroF1, r.spread = &m.Accuracy, m.Interval(), &m.MacroF1, m.Spread()
	_, baseline := m.Majority()
	r.Baseline = &baseline
	r.PerClass, r.Confusion = ByClass(classes, m), Confusion(classes, m)
}

// printedMistakes is how many mistakes a person is shown.
const printedMistakes = 5

// Print writes the result for people.
func (r *Result) Print(w io.Writer) {
	printable.Fprintf(w, "Trained %s on %s of %d classes, %s words, in %.1f s: %s\n",
		r.Classifier, report.Pages(r.TrainPages), len(r.Classes), report.Number(r.Words), r.TrainSeconds, r.Model)
	for _, name := range slices.SortedFunc(maps.Keys(r.CV), func(a, b string) int {
		return cmp.Or(cmp.Compare(r.CV[b], r.CV[a]), cmp.Compare(a, b))
	}) {
		printable.Fprintf(w, "  in cross-validation %s got %.1f %% right\n", name, 100*r.CV[name])
	}
	if r.LeftOut > 0 || r.Unreadable > 0 {
		printable.Fprintf(w, "  left out: %s rows without a wanted label, %s unreadable\n", report.Number(r.LeftOut), report.Number(r.Unreadable))
	}
	if r.PU != nil {
		r.PU.Print(w)
	}
	if r.Accuracy != nil {
		r.printQuality(w)
	}
	if r.Explain != nil {
		printable.Fprintf(w, "\nThe whole model on a page: %s\n", *r.Explain)
	}
}

func (r *Result) printQuality(w io.Writer) {
	pages := "the training pages, by cross-validation"
	if r.TestPages != nil {
		pages = report.Number(*r.TestPages) + " test pages"
	}
	printable.Fprintf(w, "\nAccuracy %.1f %% (%s), macro F1 %.3f on %s\n",
		100**r.Accuracy, r.spread, *r.MacroF1, pages)
	if r.Across != nil && *r.Across > 0 {
		printable.Fprintf(w, "  %s of them are also training pages, so this may be too good", report.Number(*r.Across))
		if r.WithoutThem != nil {
			printable.Fprintf(w, ": without them %.1f %%", 100**r.WithoutThem)
		}
		io.WriteString(w, "\n")
	}
	printable.Fprintf(w, "  one label for all pages would get %.1f %%\n", 100**r.Baseline)
	printable.Fprintf(w, "  its probabilities are off by %.1f %% on average (expected calibration error)\n\n", 100*r.Reliability.ECE)
	PrintClasses(w, r.Classes, r.PerClass, r.Confusion)
	PrintMatrix(w, r.Classes, r.Confusion)
	PrintWorst(w, r.Worst[:min(printedMistakes, len(r.Worst))], r.mistakes)
}
