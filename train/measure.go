package train

import "math"

// Measures say how predictions compare with the truth.
type Measures struct {
	Pages     int
	Accuracy  float64
	CI        [2]float64 // of the accuracy, 95 %, Wilson's
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
	m := Measures{Pages: len(truth), Confusion: make([][]int, classes)}
	for c := range m.Confusion {
		m.Confusion[c] = make([]int, classes)
	}
	hits, named := 0, make([]int, classes)
	support := make([]int, classes)
	for i, t := range truth {
		p := predicted[i]
		if t == p && t >= 0 {
			hits++
		}
		if p >= 0 {
			named[p]++
		}
		if t >= 0 {
			support[t]++
		}
		if t >= 0 && p >= 0 {
			m.Confusion[t][p]++
		}
	}
	m.Accuracy = float64(hits) / float64(max(1, len(truth)))
	m.CI = Wilson(hits, len(truth))
	present := 0
	for c := range classes {
		right := float64(m.Confusion[c][c])
		cm := ClassMeasures{
			Precision: right / float64(named[c]), Recall: right / float64(support[c]), Support: support[c],
		}
		if n := named[c] + support[c]; n > 0 {
			cm.F1 = 2 * right / float64(n)
		}
		if support[c] > 0 {
			present++
			m.MacroF1 += cm.F1
		}
		m.PerClass = append(m.PerClass, cm)
	}
	m.MacroF1 /= float64(max(1, present))
	return m
}

// Majority returns the class that most pages have, of equal ones the first, and the
// accuracy of giving that label to every page: what any model must beat.
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

// Wilson returns the 95 % interval of a share of hits among n (Wilson 1927),
// which stays in [0,1] and holds for shares near its ends.
func Wilson(hits, n int) [2]float64 {
	if n == 0 {
		return [2]float64{0, 1}
	}
	const z = 1.959963984540054
	p, m := float64(hits)/float64(n), float64(n)
	middle := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	ci := [2]float64{max(0, middle-half), min(1, middle+half)}
	if hits == 0 {
		ci[0] = 0 // but for rounding it is
	}
	if hits == n {
		ci[1] = 1
	}
	return ci
}
