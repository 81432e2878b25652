package features

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestMeasures holds each measure to values worked out by hand. 100 pages: a has
// 40, b 40, c 20. "both" is on 20 pages of a and 5 of b; "all" on every page;
// "rare" on one page of c.
func TestMeasures(t *testing.T) {
	const both, all, rare = 0, 1, 2
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
		// Expected with the term 10, 10, 5, without 30, 30, 15:
		// 100/10 + 25/10 + 25/5 + 100/30 + 25/30 + 25/15 = 70/3.
		{"chi2 both", ByChi2, both, 70. / 3},
		{"chi2 all", ByChi2, all, 0},
		// For a: tpr 20/40, fpr 5/60: 0 − F⁻¹(1/12), from tables of the normal
		// distribution. For b 5/40 against 20/60, for c 0.0005 against 25/80:
		// c is told apart best, by its absence: F⁻¹(0.3125) − F⁻¹(0.0005).
		{"bns both", ByBNS, both, -0.488776 + 3.290527},
		{"bns all", ByBNS, all, 0},
		// a has 20 of the 25 pages with the term: ln(20·100 / (25·40)) = ln 2.
		{"mi both", ByMI, both, math.Ln2},
		{"mi all", ByMI, all, 0},
		{"mi rare", ByMI, rare, math.Log(5)}, // a word of one page beats them all
	} {
		if got := x.measure.Of(c, x.term); math.Abs(got-x.want) > 1e-5 {
			t.Errorf("%s: %v, want %v", x.name, got, x.want)
		}
	}
	if got := c.bns(both, 0); math.Abs(got-1.382994) > 1e-5 {
		t.Errorf("bns for a: %v, want 1.382994", got)
	}
	if got := c.mi(both, 2); !math.IsInf(got, -1) {
		t.Errorf("mi for c, which never has the term: %v, want -Inf", got)
	}
}

// TestMeasuresAgree holds gain and χ² against their definitions by cells, on
// random tables, and what they say of a table mirrored from presence to absence.
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
		var mutual, chi2 float64
		for class := range classes {
			for has := range 2 {
				var row, column float64
				column = table[class][0] + table[class][1]
				for k := range classes {
					row += table[k][has]
				}
				e := row * column / n
				chi2 += (table[class][has] - e) * (table[class][has] - e) / e
				if o := table[class][has]; o > 0 {
					mutual += o / n * math.Log(o/e)
				}
			}
		}
		if got := ByGain.Of(c, 0); math.Abs(got-mutual) > 1e-9 {
			t.Fatalf("%v: gain %v, want the mutual information %v", table, got, mutual)
		}
		if got := ByChi2.Of(c, 0); math.Abs(got-chi2) > 1e-9 {
			t.Fatalf("%v: χ² %v, want %v", table, got, chi2)
		}
		for _, m := range []Measure{ByGain, ByChi2, ByBNS} {
			if a, b := m.Of(c, 0), m.Of(mirror, 0); math.Abs(a-b) > 1e-9 {
				t.Fatalf("%v: %s %v of presence, %v of absence", table, m, a, b)
			}
		}
	}
}

func TestParseMeasure(t *testing.T) {
	for _, m := range Measures() {
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

func TestRankByPrefersByMeasure(t *testing.T) {
	// Term 0 is on half of class 0's pages, term 1 on one of them. By gain the
	// frequent telling word comes first; by mi the rare pure one, with a tie.
	c := NewCounts(2)
	for p := range 10 {
		v := Vector{Index: []int32{0}, Value: []float32{1}}
		if p == 0 {
			v = Vector{Index: []int32{0, 1}, Value: []float32{1, 1}}
		}
		if p >= 5 {
			v = Vector{}
		}
		add(c, 0, v)
		add(c, 1, Vector{Index: []int32{2}, Value: []float32{1}})
	}
	order := func(m Measure) (terms []int32) {
		for _, r := range c.RankBy(m) {
			terms = append(terms, r.Term)
		}
		return terms
	}
	if got, want := order(ByGain), []int32{2, 0, 1}; !slices.Equal(got, want) {
		t.Errorf("by gain %v, want %v", got, want)
	}
	if got, want := order(ByMI), []int32{0, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("by mi %v, want %v: equal ones by number", got, want)
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
	for _, m := range Measures() {
		b.Run(string(m), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.RankBy(m)
			}
		})
	}
}

// TestTwoSteps: of 100 pages a class, "rare" stands on 4 of one class, once on each, "apt" on
// 4, four times on each, "wide" on 60 and on 45 of the other. Gain puts the rare words first. By two
// steps "rare" is none that represents a class, and comes last; 4 · 4 = 16 ≥ 5² · 1.
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

// TestRankOfFewer: a ranking of some of the terms is what the ranking of all says of them, so
// that words can be chosen in two passes where memory is short.
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
	for _, m := range Measures() {
		want := slices.DeleteFunc(all.RankBy(m), func(r Ranked) bool { return r.Term%5 <= 1 })
		if got := some.RankBy(m); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", m, got, want)
		}
	}
}
