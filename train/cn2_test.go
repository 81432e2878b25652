package train

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"fossick/internal/fulltest"
	"fossick/models/features"
)

// TestCN2Oracle: the same rules as the obvious version, on random sets.
func TestCN2Oracle(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for round := range fulltest.Rounds(120, 600) {
		n, terms, classes := 5+rng.IntN(120), 1+rng.IntN(7), 2+rng.IntN(4)
		opt := cn2{ordered: round%2 == 0, beam: 1 + rng.IntN(5), significance: []float64{0.5, 0.9, 0.99}[rng.IntN(3)], covers: 1 + rng.IntN(4)}
		slow := &slowCN2{classes: classes, opt: opt, critical: critical(opt.significance, 1)}
		if opt.ordered {
			slow.critical = critical(opt.significance, classes-1)
		}
		rows := make([]features.Vector, n)
		for i := range rows {
			y := rng.IntN(classes)
			dense := make([]float32, terms)
			for k := range dense {
				if rng.IntN(classes+1) <= (y+k)%classes {
					dense[k] = 1
					if round%4 >= 2 {
						dense[k] = float32(rng.ExpFloat64() + float64(y)/4)
					}
					rows[i].Index, rows[i].Value = append(rows[i].Index, int32(k)), append(rows[i].Value, dense[k])
				}
			}
			slow.y, slow.rows = append(slow.y, y), append(slow.rows, dense)
		}
		slow.cuts = newCover(rows, slow.y, classes, terms).cuts
		got, err := induce(context.Background(), rows, slow.y, classes, terms, opt)
		if err != nil {
			t.Fatal(err)
		}
		want := slow.perClass()
		if opt.ordered {
			want = slow.list()
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("round %d, %+v: rules\n%+v\nwant\n%+v", round, opt, got, want)
		}
	}
}

// TestCN2Measures: by hand, of 6 rows of one class and 2 of another, where both classes have 10 rows.
// Entropy is −(¾ ln ¾ + ¼ ln ¼) = 0.562335; Laplace 7/10.
func TestCN2Measures(t *testing.T) {
	y := slices.Concat(slices.Repeat([]int{0}, 10), slices.Repeat([]int{1}, 10))
	data, counts := newCover(make([]features.Vector, 20), y, 2, 0), []int32{6, 2}
	for class, want := range map[int]int64{-1: -562335145, 0: 700000000} {
		s := newRuleSearch(data, cn2{beam: 1, covers: 1}, class)
		if got := s.quality(counts, 8); got != want {
			t.Errorf("class %d: quality %d, want %d", class, got, want)
		}
		if s.critical = 2.0929; !s.significant(counts, 8) {
			t.Error("2.092993 does not pass 2.0929")
		}
		if s.critical = 2.0931; s.significant(counts, 8) {
			t.Error("2.092993 passes 2.0931")
		}
	}
	if got := critical(0.95, 1); !(math.Abs(got-3.841459) <= 1e-5) {
		t.Errorf("χ² %v, want 3.841459", got)
	}
}

func TestCuts(t *testing.T) {
	for _, c := range []struct {
		values []float32
		rows   int
		want   []float32
	}{
		{nil, 5, nil},
		{[]float32{1, 1}, 5, []float32{0}},
		{[]float32{1, 1}, 2, nil}, // parts nothing
		{[]float32{4, 1, 2, 3}, 5, []float32{0, 2, 3}},
		{[]float32{9, 8, 7, 6, 5, 4, 3, 2, 1}, 20, []float32{0, 5, 7, 8}}, // a half, three quarters and seven eighths of 8 lie below
	} {
		if got := cuts(c.values, c.rows); !slices.Equal(got, c.want) {
			t.Errorf("cuts(%v, %d) = %v, want %v", c.values, c.rows, got, c.want)
		}
	}
}
