package features

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestMeasures holds each measure to values worked out by hand. 100 pages: a has 40, b 40, c 20. "both"
// is on 20 pages of a and 5 of b; "all" on every page; "rare" on one page of c.
func TestMeasures(t *testing.T) {
	const both, all, rare = int32(0), int32(1), int32(2)
	c := NewCounts(3)
	for class, pages := range []int{40, 40, 20} {
		for p := range pages {
			v := Vector{Index: []int32{all}, Value: []float32{1}}
			if class == 0 && p < 20 || class == 1 && p < 5 {
				v = Vector{Index: []int32{both, all}, Value: []float32{1, 1}}
			}
			if class == 2 && p == 0 {
				v = Vector{Index: []int32{all, rare}, Value: []float32{1, 1}}
			}
			add(c, class, v)
		}
	}
	h := func(ps ...float64) (e float64) {
		for _, p := range ps {
			e -= p * math.Log(p)
		}
		return e
	}
	for _, x := range []struct {
		name    string
		measure Measure
		term    int32
		want    float64
	}{
		// E(S) − ¼ E(20, 5) − ¾ E(20, 35, 20), by eq. 4.
		{"gain both", ByGain, both, h(.4, .4, .2) - .25*h(.8, .2) - .75*h(20./75, 35./75, 20./75)},
		{"gain all", ByGain, all, 0},
	} {
		if got := x.measure.of(c, x.term); math.Abs(got-x.want) > 1e-5 {
			t.Errorf("%s: %v, want %v", x.name, got, x.want)
		}
	}
}

// TestMeasuresAgree holds gain against its definition by cells, on random tables, and what they say of
// a table mirrored from presence to absence.
func TestMeasuresAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for range 200 {
		classes := 2 + rng.IntN(4)
		c, mirror := NewCounts(classes), NewCounts(classes)
		table := make([][2]float64, classes)
		var n float64
		for class := range classes {
			for range 1 + rng.IntN(30) {
				has := rng.IntN(2)
				table[class][has]++
				n++
				with, without := Vector{Index: []int32{0, 1}, Value: []float32{1, 1}}, Vector{Index: []int32{1}, Value: []float32{1}}
				if has == 0 {
					with, without = without, with
				}
				add(c, class, with)
				add(mirror, class, without)
			}
		}
		if c.DF(0) == 0 || mirror.DF(0) == 0 {
			continue
		}
		var mutual float64
		for class := range classes {
			for has := range 2 {
				var row, column float64
				column = table[class][0] + table[class][1]
				for k := range classes {
					row += table[k][has]
				}
				e := row * column / n
				if o := table[class][has]; o > 0 {
					mutual += o / n * math.Log(o/e)
				}
			}
		}
		if got := ByGain.of(c, 0); math.Abs(got-mutual) > 1e-9 {
			t.Fatalf("%v: gain %v, want the mutual information %v", table, got, mutual)
		}
		if a, b := ByGain.of(c, 0), ByGain.of(mirror, 0); math.Abs(a-b) > 1e-9 {
			t.Fatalf("%v: gain %v of presence, %v of absence", table, a, b)
		}
	}
}

func TestParseMeasure(t *testing.T) {
	for _, m := range []Measure{ByTFDFGain, ByGain} {
		if got, err := ParseMeasure(string(m)); err != nil || got != m {
			t.Errorf("ParseMeasure(%q) = %v, %v", m, got, err)
		}
	}
	if got, err := ParseMeasure(""); err != nil || got != "" {
		t.Errorf(`ParseMeasure("") = %v, %v`, got, err)
	}
	if _, err := ParseMeasure("luck"); err == nil {
		t.Error("a measure of luck was accepted")
	}
}

func BenchmarkRank(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	c := NewCounts(20)
	for p := range 2000 {
		v := Vector{}
		for t := int32(rng.IntN(40)); t < 20000; t += 1 + int32(rng.IntN(200)) {
			v.Index, v.Value = append(v.Index, t), append(v.Value, 1)
		}
		add(c, p%20, v)
	}
	for _, m := range []Measure{ByTFDFGain, ByGain} {
		b.Run(string(m), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.RankBy(m)
			}
		})
	}
}

// TestTwoSteps: of 100 pages a class, "rare" stands on 4 of one class, once on each, "apt" on 4, four
// times on each, "wide" on 60 and on 45 of the other. Gain puts the rare words first.
func TestTwoSteps(t *testing.T) {
	const rare, wide, apt = 0, 1, 2
	c := NewCounts(2)
	for page := range 100 {
		v := Vector{}
		if page < 4 {
			v = Vector{Index: []int32{rare}, Value: []float32{1}}
		}
		if page < 60 {
			v.Index, v.Value = append(v.Index, wide), append(v.Value, 1)
		}
		if page < 4 {
			v.Index, v.Value = append(v.Index, apt), append(v.Value, 4)
		}
		c.Add(0, v, 10)
		v = Vector{}
		if page < 45 {
			v = Vector{Index: []int32{wide}, Value: []float32{1}}
		}
		c.Add(1, v, 10)
	}
	order := func(m Measure) (terms []int32) {
		for _, r := range c.RankBy(m) {
			terms = append(terms, r.Term)
		}
		return terms
	}
	if got, want := order(ByGain), []int32{rare, apt, wide}; !slices.Equal(got, want) {
		t.Errorf("by gain %v, want %v", got, want)
	}
	if got, want := order(ByTFDFGain), []int32{apt, wide, rare}; !slices.Equal(got, want) {
		t.Errorf("by two steps %v, want %v", got, want)
	}
	if got, want := Select(c.RankBy(ByTFDFGain), 0.001, 0), []int32{apt, wide}; !slices.Equal(got, want) {
		t.Errorf("with μ %v, want %v: what represents no class is not in H_μ", got, want)
	}
	if c.Represents(rare, 0) || !c.Represents(apt, 0) || c.Represents(apt, 1) {
		t.Error("rare represents class 0, or apt does not, or apt represents class 1")
	}
}

// TestRankOfFewer: a ranking of some of the terms is what the ranking of all says of them, so that
// words can be chosen in two passes where memory is short.
func TestRankOfFewer(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	all, some := NewCounts(3), NewCounts(3)
	for page := range 150 {
		var v, w Vector
		for i := range int32(60) {
			if n := rng.IntN(4 + int(i)*3); n < 4 && n > 0 {
				v.Index, v.Value = append(v.Index, i), append(v.Value, float32(n*(1+page%3)))
				if i%5 > 1 {
					w.Index, w.Value = append(w.Index, i), append(w.Value, v.Value[len(v.Value)-1])
				}
			}
		}
		most := float32(0)
		for _, n := range v.Value {
			most = max(most, n)
		}
		all.Add(page%3, v, most)
		some.Add(page%3, w, most)
	}
	for _, m := range []Measure{ByTFDFGain, ByGain} {
		want := slices.DeleteFunc(all.RankBy(m), func(r Ranked) bool { return r.Term%5 <= 1 })
		if got := some.RankBy(m); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", m, got, want)
		}
	}
}
