package train

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"fossick/datasets"
	"fossick/features"
	"fossick/models"
)

// toy makes a set of classes with words of their own among common ones.
func toy(n int, labels ...string) []*datasets.Example {
	rng := rand.New(rand.NewPCG(7, 7))
	var set []*datasets.Example
	for i := range n {
		label := labels[i%len(labels)]
		var text strings.Builder
		for range 30 {
			if rng.IntN(6) == 0 {
				fmt.Fprintf(&text, "%sword%c ", label, 'a'+rune(rng.IntN(5)))
			} else {
				fmt.Fprintf(&text, "common%c%c ", 'a'+rune(rng.IntN(6)), 'a'+rune(rng.IntN(6)))
			}
		}
		set = append(set, &datasets.Example{URL: fmt.Sprintf("http://x.test/%d", i), Label: label, Text: text.String()})
	}
	return set
}

func stream(set []*datasets.Example) iter.Seq2[*datasets.Example, error] {
	return func(yield func(*datasets.Example, error) bool) {
		for _, e := range set {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func TestTrainLearns(t *testing.T) {
	set := toy(120, "bank", "code", "star")
	for _, name := range Classifiers() {
		m, rep, err := Train(context.Background(), stream(set), Options{Classifier: name, Seed: 3, NN: smallNN})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if rep.CV.Accuracy < 0.9 {
			t.Errorf("%s: %.3f right in cross-validation; the classes have words of their own", name, rep.CV.Accuracy)
		}
		for c, th := range m.Thresholds {
			if !(th > 0 && th < 1) {
				t.Errorf("%s: threshold %v of %s", name, th, m.Classes[c])
			}
		}
	}
}

// TestTrainRepeats: same examples and seed, same bytes.
func TestTrainRepeats(t *testing.T) {
	set := toy(90, "bank", "code", "star")
	for _, name := range Classifiers() {
		var files [2]bytes.Buffer
		for i := range files {
			m, _, err := Train(context.Background(), stream(set), Options{Classifier: name, Seed: 5, NN: smallNN})
			if err != nil {
				t.Fatal(err)
			}
			if err := m.Write(&files[i]); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(files[0].Bytes(), files[1].Bytes()) {
			t.Errorf("%s: two runs, two models", name)
		}
	}
}

func TestTrainRefuses(t *testing.T) {
	mixed := toy(20, "bank", "code")
	for name, c := range map[string]struct {
		set []*datasets.Example
		opt Options
		is  error
	}{
		"nothing":            {nil, Options{}, ErrData},
		"one class":          {toy(9, "bank"), Options{}, ErrData},
		"topic not there":    {mixed, Options{Topic: "star"}, ErrData},
		"label not there":    {mixed, Options{Labels: []string{"bank", "star"}}, ErrData},
		"unknown classifier": {mixed, Options{Classifier: "oracle"}, nil},
		"one fold":           {mixed, Options{Folds: 1}, nil},
		"no word gains":      {mixed, Options{Classifier: models.C45, Mu: 9}, nil},
	} {
		_, _, err := Train(context.Background(), stream(c.set), c.opt)
		if err == nil || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := Train(ctx, stream(mixed), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: error %v", err)
	}
}

func TestClass(t *testing.T) {
	e := &datasets.Example{Label: "banking", Labels: []string{"banking", "insurance"}}
	for _, c := range []struct {
		opt  Options
		want string
	}{
		{Options{}, "banking"}, {Options{Topic: "insurance"}, "insurance"}, {Options{Topic: "sport"}, Other},
		{Options{Labels: []string{"insurance", "sport"}}, "insurance"}, {Options{Labels: []string{"sport"}}, ""},
	} {
		if got := c.opt.Class(e); got != c.want {
			t.Errorf("%+v: class %q, want %q", c.opt, got, c.want)
		}
	}
	if got := (&Options{Topic: "x"}).Class(&datasets.Example{}); got != "" {
		t.Errorf("a row without labels has class %q", got)
	}
}

// TestSVM holds coordinate descent against the optimum's conditions: the primal
// objective may not fall along any coordinate.
func TestSVM(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	const n, terms = 60, 6
	rows, y := make([]features.Vector, n), make([]int8, n)
	for i := range rows {
		y[i] = 1
		if rng.IntN(2) == 0 {
			y[i] = -1
		}
		for k := range int32(terms) {
			if rng.IntN(2) == 0 {
				rows[i].Index = append(rows[i].Index, k)
				rows[i].Value = append(rows[i].Value, float32(rng.NormFloat64()+0.5*float64(y[i])))
			}
		}
	}
	opt := svmOptions{c: 2, eps: 1e-6, maxIter: 5000}
	objective := func(w []float64, b float64) float64 {
		f := 0.5 * b * b
		for _, v := range w {
			f += 0.5 * v * v
		}
		for i, r := range rows {
			s := b
			for k, t := range r.Index {
				s += w[t] * float64(r.Value[k])
			}
			loss := max(0, 1-float64(y[i])*s)
			f += opt.c * loss * loss
		}
		return f
	}
	w, b := svm(context.Background(), rows, y, terms, opt, rng)
	at := objective(w, b)
	for k := range terms {
		for _, d := range []float64{-1e-3, 1e-3} {
			w[k] += d
			if f := objective(w, b); f < at-1e-7 {
				t.Errorf("objective %v falls to %v when weight %d moves by %v", at, f, k, d)
			}
			w[k] -= d
		}
	}
	for _, d := range []float64{-1e-3, 1e-3} {
		if f := objective(w, b+d); f < at-1e-7 {
			t.Errorf("objective %v falls to %v when the bias moves by %v", at, f, d)
		}
	}
}

func TestWilson(t *testing.T) {
	// Newcombe 1998, table I: 81 of 263.
	if got := Wilson(81, 263); math.Abs(got[0]-0.2553) > 1e-4 || math.Abs(got[1]-0.3662) > 1e-4 {
		t.Errorf("Wilson(81, 263) = %v, want 0.2553 to 0.3662", got)
	}
	if got := Wilson(0, 0); got != [2]float64{0, 1} {
		t.Errorf("Wilson(0, 0) = %v", got)
	}
}

func TestMeasure(t *testing.T) {
	m := Measure(3, []int{0, 0, 1, 1, -1}, []int{0, 1, 1, 1, 0})
	if m.Accuracy != 0.6 || m.Confusion[0][1] != 1 || m.PerClass[0].Precision != 0.5 || m.PerClass[1].Recall != 1 {
		t.Errorf("%+v", m)
	}
	if want := (0.5 + 0.8) / 2; math.Abs(m.MacroF1-want) > 1e-12 {
		t.Errorf("macro F1 %v, want %v: class 2 does not occur", m.MacroF1, want)
	}
}

func TestThreshold(t *testing.T) {
	probs := [][]float64{{0.9}, {0.8}, {0.6}, {0.3}, {0.1}}
	y := []int{0, 0, 1, 0, 1} // best: the first two, or four; 0.8 against 6/7
	if got := threshold(probs, y, 0); math.Abs(got-0.2) > 1e-12 {
		t.Errorf("threshold %v, want 0.2", got)
	}
}

// TestCalibrate: scores that are honest log-odds keep their scale; doubled ones
// are halved.
func TestCalibrate(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	var scores [][]float64
	var y []int
	for range 4000 {
		s := rng.NormFloat64() * 2
		class := 1
		if rng.Float64() < 1/(1+math.Exp(-s)) {
			class = 0
		}
		scores, y = append(scores, []float64{2 * s, 0}), append(y, class)
	}
	if cal := calibrate(scores, y); math.Abs(cal.Scale-0.5) > 0.05 {
		t.Errorf("scale %v, want 0.5", cal.Scale)
	}
}
