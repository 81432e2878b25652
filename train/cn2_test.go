package train

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"fossick/internal/testkit"
	"fossick/models"
	"fossick/models/features"
)

// TestCN2Oracle compares with a plain version, on random sets.
func TestCN2Oracle(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for round := range testkit.Rounds(120, 600) {
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
		got := testkit.Call(induce(context.Background(), rows, slow.y, classes, terms, opt)).Must(t)
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
		{[]float32{1, 1}, 2, nil}, // separates nothing
		{[]float32{4, 1, 2, 3}, 5, []float32{0, 2, 3}},
		{[]float32{9, 8, 7, 6, 5, 4, 3, 2, 1}, 20, []float32{0, 5, 7, 8}}, // a half, three quarters and seven eighths of 8 lie below
	} {
		if got := cuts(c.values, c.rows); !slices.Equal(got, c.want) {
			t.Errorf("cuts(%v, %d) = %v, want %v", c.values, c.rows, got, c.want)
		}
	}
}

// slowCN2 is a plain version of induce: sets of rows are slices, and every complex is made and kept.
type slowCN2 struct {
	rows     [][]float32
	y        []int
	weight   []float64 // by row
	classes  int
	cuts     []cut
	opt      cn2
	critical float64
}

type slowComplex struct {
	selectors []int32
	rows      []int
	quality   int64
	weight    float64
}

func (s *slowCN2) passes(row int, sel int32) bool {
	c := s.cuts[sel/2]
	return (s.rows[row][c.term] > c.over) == (sel%2 == 0)
}

func (s *slowCN2) counts(rows []int) (by []float64, all float64) {
	by = make([]float64, s.classes)
	for _, r := range rows {
		by[s.y[r]] += s.weight[r]
		all += s.weight[r]
	}
	return by, all
}

func (s *slowCN2) quality(rows []int, class int) int64 {
	counts, n := s.counts(rows)
	if class >= 0 {
		return billionths((counts[class] + 1) / (n + float64(s.classes)))
	}
	h := 0.0
	for _, c := range counts {
		if p := c / n; p > 0 {
			h -= p * math.Log(p)
		}
	}
	return billionths(-h)
}

func (s *slowCN2) significant(rows, live []int, class int) bool {
	f, n := s.counts(rows)
	e, all := s.counts(live)
	if class >= 0 {
		f = []float64{f[class], n - f[class]}
		e = []float64{e[class], all - e[class]}
	}
	ratio := 0.0
	for c := range f {
		if f[c] > 0 {
			ratio += 2 * f[c] * math.Log(f[c]/(e[c]*n/all))
		}
	}
	return billionths(ratio) >= billionths(s.critical) && ratio > 1e-9
}

func slowOrder(a, b slowComplex) int {
	return cmp.Or(cmp.Compare(b.quality, a.quality), cmp.Compare(b.weight, a.weight),
		cmp.Compare(len(a.selectors), len(b.selectors)), slices.Compare(a.selectors, b.selectors))
}

func (s *slowCN2) best(live []int, class int, made [][]int32) *slowComplex {
	var found *slowComplex
	beam := []slowComplex{{rows: live}}
	for len(beam) > 0 {
		var step []slowComplex
		for _, x := range beam {
			for sel := range int32(2 * len(s.cuts)) {
				n := slowComplex{selectors: append(slices.Clone(x.selectors), sel)}
				slices.Sort(n.selectors)
				for _, r := range x.rows {
					if s.passes(r, sel) {
						n.rows = append(n.rows, r)
					}
				}
				counts, weight := s.counts(n.rows)
				if n.weight = weight; len(n.rows) == 0 || len(n.rows) == len(x.rows) || class >= 0 && counts[class] == 0 {
					continue
				}
				n.quality = s.quality(n.rows, class)
				old := slices.ContainsFunc(made, func(o []int32) bool { return slices.Equal(o, n.selectors) })
				if n.quality > s.quality(live, class) && (found == nil || slowOrder(n, *found) < 0) && s.significant(n.rows, live, class) && !old {
					found = &n
				}
				twice := slices.ContainsFunc(step, func(o slowComplex) bool { return slices.Equal(o.selectors, n.selectors) })
				if slices.Max(counts) < weight && !twice {
					step = append(step, n)
				}
			}
		}
		step = slices.DeleteFunc(step, func(x slowComplex) bool { return s.hopeless(x, found, live, class) })
		slices.SortFunc(step, slowOrder)
		beam = step[:min(len(step), s.opt.beam)]
	}
	return found
}

// hopeless reports whether even the purest part of a complex is no better than found.
func (s *slowCN2) hopeless(x slowComplex, found *slowComplex, live []int, class int) bool {
	var pure []int
	for c := range s.classes {
		var of []int
		for _, r := range x.rows {
			if s.y[r] == c {
				of = append(of, r)
			}
		}
		if c == class || class < 0 && len(of) > len(pure) { // a list's rows weigh 1
			pure = of
		}
	}
	if class < 0 {
		return found != nil && found.quality == 0 && float64(len(pure)) <= found.weight
	}
	return found != nil && s.quality(pure, class) <= found.quality || !s.significant(pure, live, class)
}

func (s *slowCN2) rule(r *models.Rules, selectors []int32, class int, rows []int) {
	all := func(sel int32) (n int) {
		for row := range s.rows {
			if s.passes(row, sel&^1) {
				n++
			}
		}
		return n
	}
	selectors = slices.Clone(selectors)
	slices.SortFunc(selectors, func(a, b int32) int {
		return cmp.Or(cmp.Compare(a%2, b%2), cmp.Compare(all(a), all(b)), cmp.Compare(a, b))
	})
	for _, sel := range selectors {
		r.Term, r.Threshold = append(r.Term, s.cuts[sel/2].term), append(r.Threshold, s.cuts[sel/2].over)
		r.Above = append(r.Above, uint8(1-sel%2))
	}
	r.Start, r.Class = append(r.Start, int32(len(r.Term))), append(r.Class, int32(class))
	s.count(r, rows)
}

// count appends the rows of each class, whatever their weight.
func (s *slowCN2) count(r *models.Rules, rows []int) {
	n := make([]float32, s.classes)
	for _, row := range rows {
		n[s.y[row]]++
	}
	r.Counts = append(r.Counts, n...)
}

func (s *slowCN2) list() *models.Rules {
	r := &models.Rules{Ordered: true, Start: []int32{0}}
	left := s.fresh()
	var made [][]int32
	for len(left) > 0 {
		x := s.best(left, -1, made)
		if x == nil {
			break
		}
		made = append(made, x.selectors)
		c, _ := s.counts(x.rows)
		s.rule(r, x.selectors, slices.Index(c, slices.Max(c)), x.rows)
		left = slices.DeleteFunc(left, func(row int) bool { return slices.Contains(x.rows, row) })
	}
	s.count(r, left)
	return r
}

func (s *slowCN2) fresh() (rows []int) {
	s.weight = slices.Repeat([]float64{1}, len(s.rows))
	for i := range s.rows {
		rows = append(rows, i)
	}
	return rows
}

func (s *slowCN2) perClass() *models.Rules {
	r := &models.Rules{Shares: s.opt.covers > 1, Start: []int32{0}}
	for class := range s.classes {
		live := s.fresh()
		var made [][]int32
		for {
			x := s.best(live, class, made)
			if x == nil {
				break
			}
			made = append(made, x.selectors)
			var covers []int
			for row := range s.rows {
				if !slices.ContainsFunc(x.selectors, func(sel int32) bool { return !s.passes(row, sel) }) {
					covers = append(covers, row)
				}
			}
			s.rule(r, x.selectors, class, covers)
			for _, row := range x.rows {
				if s.y[row] == class {
					s.weight[row] /= 2
				}
			}
			least := math.Pow(2, 1-float64(s.opt.covers))
			live = slices.DeleteFunc(live, func(row int) bool { return s.weight[row] < least })
		}
	}
	s.count(r, s.fresh())
	return r
}
