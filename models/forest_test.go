package models

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"fossick/models/features"
)

// forestModel has two trees of two words and two classes. Tree 1 asks for word 0, tree 2 for word 1.
func forestModel() *Model {
	tree := func(term int32, counts ...float32) *Tree {
		return &Tree{Term: []int32{term, -1, -1}, Threshold: []float32{0, 0, 0}, Low: []int32{1, -1, -1}, High: []int32{2, -1, -1},
			Leaf: []int32{-1, 0, 2}, Counts: counts}
	}
	return &Model{
		Classifier: Trees, Classes: []string{"a", "b"}, Terms: []string{"x", "y"}, Thresholds: []float64{0.5, 0.5},
		Calibration: Calibration{Scale: 1}, Forest: Forest{tree(0, 3, 1, 0, 4), tree(1, 3, 2, 1, 2)},
	}
}

// TestRanger: by hand. Tree 1 has 3 of 8 pages of a, so its high leaf (0, 4) says (0 + 3/8) / 5 =
// .075 of a; tree 2 has 4 of 8, so its low leaf (3, 2) says (3 + 1/2) / 6 = .5833. The mean is .3292.
func TestRanger(t *testing.T) {
	m := forestModel()
	r, dense, s := NewRanger(m.Forest, 2, 2), make([]float32, 2), make([]float64, 2)
	x := features.Vector{Index: []int32{0}, Value: []float32{2}}
	r.Scores(s, x, dense)
	if math.Abs(math.Exp(s[0])-(0.075+3.5/6)/2) > 1e-6 || math.Abs(math.Exp(s[0])+math.Exp(s[1])-1) > 1e-6 {
		t.Errorf("probabilities %.4f, %.4f; want .3292 of a, and 1 together", math.Exp(s[0]), math.Exp(s[1]))
	}
	if d := r.Decided(1, 2, x, dense); d != (Deciding{Tree: 0, Leaf: 2, For: 1}) {
		t.Errorf("for b decided %+v; want leaf 2 of tree 0, and one tree for it", d)
	}
	if dense[0] != 0 {
		t.Error("dense is not zero afterwards")
	}
}

// TestForestFile: a forest is read as it was written, and what does not fit is refused.
func TestForestFile(t *testing.T) {
	var file bytes.Buffer
	if err := forestModel().Write(&file); err != nil {
		t.Fatal(err)
	}
	m, err := Read(&file)
	if err != nil || len(m.Forest) != 2 || m.Forest[1].Counts[3] != 2 {
		t.Fatalf("read %+v, %v", m, err)
	}
	for want, change := range map[string]func(*Model){
		"0 trees":           func(m *Model) { m.Forest = Forest{} },
		"is missing":        func(m *Model) { m.Forest[1] = nil },
		"leads nowhere":     func(m *Model) { m.Forest[1].Low[0] = 0 },
		"a negative number": func(m *Model) { m.Forest[0].Counts[0] = -1 },
	} {
		m := forestModel()
		change(m)
		if err := m.Check(); err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
