package forest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
)

// sample has class 1 where the first two features are both large or both small, and a third
// that says nothing.
func sample(n int, seed uint64) (s Sample) {
	rng := rand.New(rand.NewPCG(seed, 2))
	for range n {
		row := []float32{rng.Float32(), rng.Float32(), rng.Float32()}
		class := float32(0)
		if row[0] > .5 == (row[1] > .5) {
			class = 1
		}
		s.Rows, s.Class, s.Weights = append(s.Rows, row), append(s.Class, class), append(s.Weights, 1)
	}
	return s
}

var small = Options{Trees: 30, Leaves: 8, Rate: .3, Features: 1, Ridge: 1, Least: 1, Seed: 1}

func TestGrow(t *testing.T) {
	f := Grow(sample(2000, 1), 3, small)
	test, wrong := sample(1000, 2), 0
	for i, row := range test.Rows {
		if (f.Chance(row) > .5) != (test.Class[i] > .5) {
			wrong++
		}
	}
	if wrong > 30 {
		t.Errorf("%d of 1,000 wrong", wrong)
	}
}

// TestWeights: a row of weight n counts as n rows.
func TestWeights(t *testing.T) {
	s, repeated := sample(300, 3), Sample{}
	for i, row := range s.Rows {
		s.Weights[i] = float32(1 + i%3)
		for range 1 + i%3 {
			repeated.Rows, repeated.Class, repeated.Weights = append(repeated.Rows, row), append(repeated.Class, s.Class[i]), append(repeated.Weights, 1)
		}
	}
	opt := small
	opt.Trees = 1
	whole := make([]float32, len(s.Rows))
	for i := range whole { // limits between rows are chosen by number, so let each value have its own
		whole[i] = float32(i % 40)
		s.Rows[i][0], s.Rows[i][1], s.Rows[i][2] = whole[i], 0, 0
	}
	a, b := Grow(s, 3, opt), Grow(repeated, 3, opt)
	for _, row := range s.Rows {
		if x, y := a.Chance(row), b.Chance(row); x-y > .02 || y-x > .02 {
			t.Fatalf("%v: %g with weights, %g repeated", row, x, y)
		}
	}
}

func TestKept(t *testing.T) {
	f := Grow(sample(500, 1), 3, small)
	g, rest, err := Parse(append(f.Append(nil), "more"...), 3)
	if err != nil || string(rest) != "more" {
		t.Fatalf("rest %q, error %v", rest, err)
	}
	for _, row := range sample(100, 5).Rows {
		if f.Chance(row) != g.Chance(row) {
			t.Fatal("another chance after it was kept")
		}
	}
	data := f.Append(nil)
	for cut := range len(data) {
		if _, _, err := Parse(data[:cut], 3); !errors.Is(err, ErrFormat) {
			t.Fatalf("cut at %d: error %v", cut, err)
		}
	}
	if _, _, err := Parse(data, 4); !errors.Is(err, ErrFormat) {
		t.Fatalf("for another number of features: error %v", err)
	}
}

// FuzzParse: a forest that is read ends on each row.
func FuzzParse(f *testing.F) {
	f.Add(Grow(sample(50, 1), 3, small).Append(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		if forest, _, err := Parse(data, 3); err == nil {
			forest.Chance([]float32{0, .5, 1})
		}
	})
}

func BenchmarkChance(b *testing.B) {
	f := Grow(sample(2000, 1), 3, small)
	rows := sample(1000, 2).Rows
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		f.Chance(rows[i%len(rows)])
		i++
	}
}

// A forest is grown from rows with classes and asked about others.
func ExampleGrow() {
	f := Grow(sample(2000, 1), 3, small)
	fmt.Printf("%.1f %.1f\n", f.Chance([]float32{.9, .8, 0}), f.Chance([]float32{.1, .8, 0}))
	// Output: 1.0 0.0
}
