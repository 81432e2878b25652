package features

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// add counts a page that has no other terms.
func add(c *Counts, class int, tf Vector) {
	most := float32(0)
	for _, n := range tf.Value {
		most = max(most, n)
	}
	c.Add(class, tf, most)
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// TestWeight: equation 2 by hand. A class has four pages and three words, on 2, 3 and 1 of the pages. Page 3
// is empty; page 2 also has a word nine times that is not counted. Another class does not matter.
//
//	page    TF       W(i,j) = TF / max · DF / 4
//	0      4 2 0     4/4·2/4   2/4·3/4   0
//	1      0 1 1     0         1/1·3/4   1/1·1/4
//	2      3 6 0     3/9·2/4   6/9·3/4   0
//	3      –         0         0         0
//	mean             .1666667  .40625    .0625
func TestWeight(t *testing.T) {
	c := NewCounts(3)
	c.Add(0, Vector{Index: []int32{0, 1}, Value: []float32{4, 2}}, 4)
	c.Add(0, Vector{Index: []int32{1, 2}, Value: []float32{1, 1}}, 1)
	c.Add(1, Vector{Index: []int32{0, 2}, Value: []float32{5, 5}}, 7)
	c.Add(0, Vector{Index: []int32{0, 1}, Value: []float32{3, 6}}, 9)
	c.Add(0, Vector{}, 0)
	for term, want := range []float64{1. / 6, 13. / 32, 1. / 16} {
		if got := c.Weight(int32(term), 0); math.Abs(got-want) > 1e-7 {
			t.Errorf("word %d: %v, want %v", term, got, want)
		}
	}
	// A word that stood once on a share s of the pages would weigh s²·(1/4 + 1 + 1/9)/4.
	if got, want := c.share(2, 0), math.Sqrt(1./16/((1./4+1+1./9)/4)); math.Abs(got-want) > 1e-7 {
		t.Errorf("share %v, want %v", got, want)
	}
	if w, s := c.Weight(0, 2), c.share(0, 2); w != 0 || s != 0 {
		t.Errorf("a class without pages: weight %v, share %v, want 0", w, s)
	}
}

// TestShareOfOnce: a word once per page has the share of the class's pages with it, however long they are.
func TestShareOfOnce(t *testing.T) {
	c := NewCounts(1)
	for page := range 20 {
		v, most := Vector{Index: []int32{1}, Value: []float32{3}}, float32(3+7*(page%2))
		if page < 8 {
			v = Vector{Index: []int32{0, 1}, Value: []float32{1, 3}}
		}
		c.Add(0, v, most)
	}
	if got := c.share(0, 0); math.Abs(got-.4) > 1e-7 {
		t.Errorf("share %v, want .4", got)
	}
}

func TestEntropy(t *testing.T) {
	for _, c := range []struct {
		counts []int32
		want   float64
	}{
		{[]int32{9, 5}, 0.6517565612}, // Quinlan's 0.940 bits, in nats
		{[]int32{7, 0}, 0}, {nil, 0}, {[]int32{1, 1, 1, 1}, math.Log(4)},
	} {
		if got := entropy(c.counts); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("Entropy(%v) = %v, want %v", c.counts, got, c.want)
		}
	}
}

// golden is Quinlan's weather example: of 14 days, play on 9. "windy" holds on 6
// days, 3 of them with play; its gain is 0.048 bits.
func golden() *Counts {
	c := NewCounts(2)
	windy, calm := Vector{Index: []int32{0}, Value: []float32{2}}, Vector{}
	for range 3 {
		add(c, 0, windy)
		add(c, 1, windy)
	}
	for range 6 {
		add(c, 0, calm)
	}
	for range 2 {
		add(c, 1, calm)
	}
	return c
}

func TestGain(t *testing.T) {
	c := golden()
	if got := c.gain(0) / math.Ln2; math.Abs(got-0.04812703) > 1e-6 {
		t.Errorf("gain %v bits, want 0.0481", got)
	}
	// With two classes, one against the rest is the same; windy days speak for 1.
	if a, b := c.ClassGain(0, 1), -c.ClassGain(0, 0); !near(a, c.gain(0)) || !near(b, c.gain(0)) {
		t.Errorf("gain for class 1 %v, for class 0 %v, want %v and minus that", a, -b, c.gain(0))
	}
	if c.DF(0) != 6 || c.ClassDF(0, 1) != 3 || c.Pages(0) != 9 {
		t.Errorf("DF %d, of class 1 %d, pages of class 0 %d", c.DF(0), c.ClassDF(0, 1), c.Pages(0))
	}
}

// TestLogOdds: on 3 of 9 and 3 of 5 pages. For class 0, p = 4/11 and q = 32/55, odds
// ratio 92/224; for class 1, p = 4/7 and q = 8/21, ratio 52/24, which is less.
func TestLogOdds(t *testing.T) {
	c := golden()
	if got, want := c.LogOdds(0), math.Log(224./92); !near(got, want) {
		t.Errorf("log odds %v, want %v", got, want)
	}
	even := NewCounts(3)
	for class := range 3 {
		add(even, class, Vector{Index: []int32{0}, Value: []float32{1}})
		add(even, class, Vector{Index: []int32{1}, Value: []float32{1}})
		add(even, class, Vector{})
		add(even, class, Vector{})
	}
	if got := even.LogOdds(0); math.Abs(got) > 1e-12 {
		t.Errorf("log odds %v of a term that all classes have alike, want 0", got)
	}
	one := NewCounts(2)
	add(one, 0, Vector{Index: []int32{0}, Value: []float32{1}})
	if got := one.LogOdds(0); got != 0 {
		t.Errorf("log odds %v where the other class has no page, want 0", got)
	}
}

func TestSelect(t *testing.T) {
	r := []Ranked{{4, 0.5}, {1, 0.3}, {2, 0.3}, {0, 0.1}}
	for _, c := range []struct {
		mu    float64
		words int
		want  []int32
	}{{0.3, 0, []int32{4, 1, 2}}, {0, 2, []int32{4, 1}}, {0.6, 0, nil}, {0, 0, []int32{4, 1, 2, 0}}} {
		if got := Select(r, c.mu, c.words); !slices.Equal(got, c.want) {
			t.Errorf("Select(μ %v, %d words) = %v, want %v", c.mu, c.words, got, c.want)
		}
	}
}

func TestRankIsOrdered(t *testing.T) {
	c := NewCounts(2)
	add(c, 0, Vector{Index: []int32{0, 2, 3}, Value: []float32{1, 1, 1}})
	add(c, 1, Vector{Index: []int32{0, 5}, Value: []float32{1, 1}})
	var terms []int32
	for _, r := range c.RankBy(ByGain) {
		terms = append(terms, r.Term)
	}
	if want := []int32{2, 3, 5, 0}; !slices.Equal(terms, want) {
		t.Errorf("ranking %v, want %v: equal gains by number, absent terms left out", terms, want)
	}
}

func TestIDF(t *testing.T) {
	got := IDF([]int32{0, 1, 4, 9}, 9)
	for i, want := range []float64{1 + math.Log(10), 1 + math.Log(5), 1 + math.Log(2), 1} {
		if math.Abs(float64(got[i])-want) > 1e-6 {
			t.Errorf("IDF %v of 9 pages: %v, want %v", i, got[i], want)
		}
	}
}

// TestMeasures compares each measure with a hand calculation. 100 pages: a has 40, b 40, c 20. "both" is on
// 20 pages of a and 5 of b; "all" on every page; "rare" on one page of c.
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

// TestMeasuresAgree compares gain with its definition on random tables, and with that of absence.
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

// TestRankOfFewer: ranking some terms agrees with ranking all, so two passes can choose words.
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
