package train

import (
	"fmt"
	"math"
	"strconv"

	"github.com/sjwhitworth/golearn/evaluation"

	"fossick/internal/stats"
)

// Measures say how predictions compare with the truth.
type Measures struct {
	Pages     int
	Accuracy  float64
	CI        [2]float64 // of the accuracy, 95 %; see Interval
	Units     int        // different pages; sites, where those were held out whole
	MacroF1   float64    // mean of F1 over the classes that occur in the truth
	PerClass  []ClassMeasures
	Confusion [][]int // truth, then prediction
}

// ClassMeasures are the measures of one class. Precision is NaN when the class was
// never predicted, recall when it has no page.
type ClassMeasures struct {
	Precision, Recall, F1 float64
	Support               int // pages of the class
}

// Measure compares predicted with true classes, numbers below classes. A
// predicted or true class below 0 counts as an error of the page only.
func Measure(classes int, truth, predicted []int) Measures {
	m := Measures{Pages: len(truth), Units: len(truth), Confusion: make([][]int, classes)}
	for c := range m.Confusion {
		m.Confusion[c] = make([]int, classes)
	}
	matrix := evaluation.ConfusionMatrix{}
	for i, t := range truth {
		p := predicted[i]
		of := golearnClass(t)
		if matrix[of] == nil {
			matrix[of] = map[string]int{}
		}
		matrix[of][golearnClass(p)]++
		if t >= 0 && p >= 0 {
			m.Confusion[t][p]++
		}
	}
	hits, present := 0, 0
	for c := range classes {
		cm, right := measureClass(golearnClass(c), matrix)
		hits += right
		if cm.Support > 0 {
			present++
			m.MacroF1 += cm.F1
		}
		m.PerClass = append(m.PerClass, cm)
	}
	m.Accuracy = float64(hits) / float64(max(1, len(truth)))
	m.CI = stats.Wilson(hits, len(truth))
	m.MacroF1 /= float64(max(1, present))
	return m
}

// golearnClass names a class for golearn; all that are none are one.
func golearnClass(c int) string { return strconv.Itoa(max(c, -1)) }

// measureClass returns what golearn's evaluation says of a class, and how many of its
// pages were right. golearn's F1 is NaN where a class is never right; ours is 0 then, so
// that a mean over classes can be had.
func measureClass(class string, matrix evaluation.ConfusionMatrix) (m ClassMeasures, right int) {
	hits := evaluation.GetTruePositives(class, matrix)
	missed, wrong := evaluation.GetFalseNegatives(class, matrix), evaluation.GetFalsePositives(class, matrix)
	m = ClassMeasures{
		Precision: evaluation.GetPrecision(class, matrix), Recall: evaluation.GetRecall(class, matrix),
		Support: int(hits + missed),
	}
	if n := hits + missed + hits + wrong; n > 0 {
		m.F1 = 2 * hits / n
	}
	return m, int(hits)
}

// Majority returns the class that most pages have, of equal ones the first. The
// accuracy of giving it to every page is what any model must beat.
func (m *Measures) Majority() (class int, accuracy float64) {
	for c := range m.PerClass {
		if m.PerClass[c].Support > m.PerClass[class].Support {
			class = c
		}
	}
	if len(m.PerClass) == 0 || m.Pages == 0 {
		return 0, 0
	}
	return class, float64(m.PerClass[class].Support) / float64(m.Pages)
}

// Interval returns CI, or nil of too few units to tell of other pages.
func (m *Measures) Interval() *[2]float64 {
	if m.Units < stats.Fewest {
		return nil
	}
	return &m.CI
}

// Spread says the interval in per cent, or why there is none.
func (m *Measures) Spread() string {
	if ci := m.Interval(); ci != nil {
		return fmt.Sprintf("95 %% interval %.1f to %.1f", 100*ci[0], 100*ci[1])
	}
	return fmt.Sprintf("no interval: it needs %d different pages or sites, here: %d", stats.Fewest, m.Units)
}

// crossValidated widens the interval of m, which is of pages held out while a share of all was
// trained on. The models of the folds have most of these in common, and the finished model
// is none of theirs. So its pages tell less than as many of a test would: they count as
// that share.
func (m *Measures) crossValidated(share float64) {
	pages := math.Round(float64(m.Pages) * share)
	m.CI = stats.Wilson(int(math.Round(m.Accuracy*pages)), int(pages))
}
