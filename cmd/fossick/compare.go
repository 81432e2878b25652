package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"fossick/classify"
	"fossick/features"
	"fossick/models"
	"fossick/train"
)

// mistake is a page of a labelled set that the model got wrong.
type mistake struct {
	URL   string  `json:"url"`
	Truth string  `json:"truth"`
	Label string  `json:"label"`
	Score float64 `json:"score"`
	Rule  string  `json:"rule"`
}

// worstErrors is how many mistakes are listed: as many as one reads.
const worstErrors = 10

// worst returns the mistakes the model was surest of, the surest first; of equals,
// those that the set has first.
func worst(all []mistake) []mistake {
	slices.SortStableFunc(all, func(a, b mistake) int { return cmp.Compare(b.Score, a.Score) })
	return all[:min(len(all), worstErrors)]
}

func printWorst(w io.Writer, list []mistake) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintln(w, "Worst errors, the surest first:")
	for _, e := range list {
		fmt.Fprintf(w, "  %s\tis %s, taken for %s\t%.3f\t%s\n", e.URL, e.Truth, e.Label, e.Score, e.Rule)
	}
}

// mcnemar says how two models differ on the same rows.
type mcnemar struct {
	AOnly     int     `json:"a_only"` // rows that only the first model has right
	BOnly     int     `json:"b_only"`
	Statistic float64 `json:"statistic"`
	P         float64 `json:"p"`
}

// rival is the second model of a comparison; a nil one compares nothing.
type rival struct {
	classifier   *classify.Classifier
	aOnly, bOnly int
}

// newRival loads the second of the models at paths, if there is one. It must know
// the classes of the first, m: else the two answer different questions.
func newRival(paths []string, m *models.Model) (*rival, error) {
	switch {
	case len(paths) == 1:
		return nil, nil
	case len(paths) > 2:
		return nil, usagef("--model: %d models given; two at most can be compared", len(paths))
	}
	other, classifier, err := loadModel(paths[1])
	if err != nil {
		return nil, err
	}
	if a, b := slices.Sorted(slices.Values(m.Classes)), slices.Sorted(slices.Values(other.Classes)); !slices.Equal(a, b) {
		return nil, fmt.Errorf("models %s and %s: their classes differ (%v and %v); compare models trained on the same labels", paths[0], paths[1], a, b)
	}
	return &rival{classifier: classifier}, nil
}

// judge puts a page of class truth to the second model; right says whether the
// first had it right.
func (r *rival) judge(truth string, right bool, d features.Doc) {
	if r == nil {
		return
	}
	switch alsoRight := r.classifier.Classify(d).Label == truth; {
	case right && !alsoRight:
		r.aOnly++
	case !right && alsoRight:
		r.bOnly++
	}
}

// compare returns McNemar's test over the rows judged.
func (r *rival) compare(rows int) (*mcnemar, error) {
	if r == nil {
		return nil, nil
	}
	if rows == 0 {
		return nil, errors.New("two models are compared on labelled rows, and there is none with a class they know; give a labelled set, or one --model")
	}
	statistic, p := train.McNemar(r.aOnly, r.bOnly)
	return &mcnemar{r.aOnly, r.bOnly, statistic, p}, nil
}

func (m *mcnemar) print(w io.Writer) {
	if m == nil {
		return
	}
	verdict := "the difference may be chance"
	switch {
	case m.AOnly == m.BOnly:
		verdict = "no difference"
	case m.P < 0.05 && m.AOnly > m.BOnly:
		verdict = "the first is better"
	case m.P < 0.05:
		verdict = "the second is better"
	}
	fmt.Fprintf(w, "McNemar's test: only the first model is right on %d pages, only the second on %d; statistic %.2f, p = %.3g: %s\n",
		m.AOnly, m.BOnly, m.Statistic, m.P, verdict)
}
