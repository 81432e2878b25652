package train

import (
	"bytes"
	"math"
	mathbits "math/bits"
	"strings"
	"testing"

	"fossick/classify"
	"fossick/datasets"
	"fossick/internal/testkit"
	"fossick/models"
)

func builtin(t *testing.T, name string) *classify.Classifier {
	t.Helper()
	topic := testkit.Call(models.BuiltinTopic(name)).Must(t)
	c := testkit.Call(classify.New(topic.Model)).Must(t)
	return c
}

// TestVerdicts labels rows, one of them with a wrong truth, and compares a model with itself.
func TestVerdicts(t *testing.T) {
	c := builtin(t, "banking")
	v := NewVerdicts("a", c)
	testkit.Must(t, v.Against("b", c))
	loans := "The bank has a loan or a mortgage for those who have been with it for years: interest is at a low rate, and the savings on the account are its credit, not only a deposit"
	for _, e := range []datasets.Example{
		{URL: "http://a.test/1", Label: "banking", Text: loans, Title: loans},
		{URL: "http://a.test/2", Label: "football", Text: loans, Title: loans},
	} {
		d := testkit.Call(Doc(&e)).Must(t)
		v.Row(&e, d)
	}
	r := testkit.Call(v.Result(10)).Must(t)
	if len(r.Results) != 2 || r.Results[0].Label != "banking" || *r.Accuracy != 0.5 || len(r.Worst) != 1 || r.Worst[0].URL != "http://a.test/2" {
		t.Errorf("%+v, accuracy %v, worst %+v", r.Results, *r.Accuracy, r.Worst)
	}
	if r.McNemar.AOnly != 0 || r.McNemar.BOnly != 0 || *r.AccuracyB != 0.5 {
		t.Errorf("against itself: %+v, %v", r.McNemar, *r.AccuracyB)
	}
	var text bytes.Buffer
	if v.Print(&text, r); !strings.Contains(text.String(), "Accuracy 50.0 %") || !strings.Contains(text.String(), "The most confident of 1 mistakes:") {
		t.Errorf("as text: %s", text.String())
	}
	if err := NewVerdicts("a", c).Against("b", builtin(t, "science")); err == nil {
		t.Error("models of different classes were compared")
	}
}

// TestCompareCounts: of six rows both models have two right, the first one more, the second two more.
func TestCompareCounts(t *testing.T) {
	v := &Verdicts{
		truth:     []int{0, 0, 0, 0, 0, 0},
		predicted: []int{0, 0, 0, 1, 1, 1},
		rival:     &rival{right: []bool{true, true, false, true, true, false}},
		texts:     map[uint64]bool{1: true, 2: true, 3: true, 4: true, 5: true, 6: true},
	}
	var r verdict
	testkit.Must(t, v.compare(&r))
	if *r.AccuracyB != 4./6 || r.McNemar.AOnly != 1 || r.McNemar.BOnly != 2 || r.McNemar.P == nil || *r.McNemar.P != 1 || r.McNemar.Method != "exact" {
		t.Errorf("accuracy %v, %+v", *r.AccuracyB, *r.McNemar)
	}
	v.texts = map[uint64]bool{1: true, 2: true} // the rows are copies of two pages
	if err := v.compare(&r); err != nil || r.McNemar.P != nil {
		t.Errorf("of two different pages: %+v, %v", *r.McNemar, err)
	}
}

func TestTopic(t *testing.T) {
	c := builtin(t, "banking")
	for _, tt := range []struct{ asked, fallback, want string }{
		{"banking", "", "banking"}, {"", "banking", "banking"}, {"bankng", "banking", ""}, {"", "bees", ""},
	} {
		topic, err := NewTopic(c, "m", tt.asked, tt.fallback)
		if tt.want == "" {
			if err == nil || !strings.Contains(err.Error(), "banking") {
				t.Errorf("%+v: %v, want the labels", tt, err)
			}
			continue
		}
		if err != nil || topic.Name != tt.want || topic.Cut != c.Model().Threshold(tt.want) {
			t.Errorf("%+v: %+v, %v", tt, topic, err)
		}
	}
	topic := testkit.Call(NewTopic(c, "m", "banking", "")).Must(t)
	for text, want := range map[string]bool{"The bank has a loan or a mortgage for those who have been with it for years: interest is at a low rate, and the savings on the account are its credit, not only a deposit": true, "the cat sat on the mat": false} {
		d := testkit.Call(Doc(&datasets.Example{Title: text, Text: text})).Must(t)
		if topic.Relevant(d) != want {
			t.Errorf("%s: on topic %v, want %v", text, !want, want)
		}
	}
}

func TestWorst(t *testing.T) {
	all := []mistake{{URL: "a", Score: 0.5}, {URL: "b", Score: 0.9}, {URL: "c", Score: 0.5}, {URL: "d", Score: 0.7}}
	for _, c := range []struct {
		n    int
		want string
	}{{0, ""}, {1, "b"}, {3, "bda"}, {4, "bdac"}, {10, "bdac"}} {
		var got strings.Builder
		list := worst(all, c.n)
		for _, m := range list {
			got.WriteString(m.URL)
		}
		if got.String() != c.want || list == nil {
			t.Errorf("worst %d: %q, want %q, never nil", c.n, got.String(), c.want)
		}
	}
	if all[0].URL != "a" {
		t.Error("the caller's list is sorted")
	}
}

func TestCompareInWords(t *testing.T) {
	for _, c := range []struct {
		name string
		r    comparison
		want string
	}{
		{"nothing differs", comparison{P: new(float64(1))},
			"A alone is right on 0 pages, B alone on 0. They are right and wrong on the same pages."},
		{"a draw", comparison{AOnly: 4, BOnly: 4, P: new(float64(1))}, "A alone is right on 4 pages, B alone on 4. Neither is better."},
		{"B ahead", comparison{AOnly: 8, BOnly: 20, P: new(float64(0.025))},
			"B is right on 12 pages more than A; a difference this large happens by chance once in 40 times (McNemar's test, p = 0.025)."},
		{"A ahead by one", comparison{AOnly: 1, P: new(float64(1))},
			"A alone is right on 1 page, B alone on 0. A is right on 1 page more than B; a difference this large happens by chance nearly always"},
		{"middling", comparison{AOnly: 8, BOnly: 4, P: new(float64(0.388))}, "happens by chance 4 times in 10"},
		{"too few to test", comparison{AOnly: 4}, "A is right on 4 pages more than B; there is no test of fewer than 5 different pages."},
		{"rare", comparison{AOnly: 40, BOnly: 10, P: new(float64(1. / 24321))}, "happens by chance once in 24000 times"},
		{"all but sure", comparison{AOnly: 79, BOnly: 6, P: new(float64(6e-15))}, "happens by chance less than once in a million times"},
	} {
		var b bytes.Buffer
		c.r.print(&b, []string{"a.model", "b.model"}, 0.9, 0.8)
		text := b.String()
		if !strings.Contains(text, c.want) || !strings.Contains(text, "A   90.0 % right  a.model\nB   80.0 % right  b.model\n") {
			t.Errorf("%s: %q lacks %q", c.name, text, c.want)
		}
	}
}

// TestMcNemar: worked by hand. χ² of 121 against 59 is (62 − 1)²/180, as in the usual textbook table.
func TestMcNemar(t *testing.T) {
	for _, c := range []struct {
		name      string
		b, c      int
		statistic float64
		p, within float64
		exact     bool
	}{
		{"no difference at all", 0, 0, 0, 1, 0, true},
		{"one page", 1, 0, 0, 1, 0, true},
		{"five against none, 2/2⁵", 5, 0, 3.2, 0.0625, 0, true},
		{"none against six, 2/2⁶", 0, 6, 25. / 6, 0.03125, 0, true},
		{"2 · (1+10+45)/2¹⁰", 8, 2, 2.5, 0.109375, 0, true},
		{"equal", 7, 7, 0, 1, 0, true},
		{"the last exact one, 2 · 190051/2²⁴", 18, 6, 121. / 24, 2 * 190051. / (1 << 24), 0, true},
		{"the first by χ²: √2.56 = 1.6", 17, 8, 2.56, 0.109599, 1e-6, false},
		{"equal and many", 50, 50, 0, 1, 0, false},
		// Agresti, Categorical Data Analysis, section 10.1.
		{"approval ratings", 86, 150, 3969. / 236, 4.11e-5, 1e-7, false},
		{"textbook", 121, 59, 3721. / 180, 5.45e-6, 1e-8, false},
	} {
		for range 2 { // which of the two is called A changes nothing but the names
			r := mcNemar(c.b, c.c)
			if r.AOnly != c.b || r.BOnly != c.c || r.Exact != c.exact ||
				!(math.Abs(r.Statistic-c.statistic) <= 1e-12) || !(math.Abs(r.P-c.p) <= c.within) {
				t.Errorf("%s: McNemar(%d, %d) = %+v, want statistic %v, p %v, exact %v", c.name, c.b, c.c, r, c.statistic, c.p, c.exact)
			}
			c.b, c.c = c.c, c.b
		}
	}
}

// TestMcNemarCounts enumerates all 2ⁿ splits between equal models; P is the share as uneven or more.
func TestMcNemarCounts(t *testing.T) {
	for n := 1; n <= 16; n++ {
		for b := 0; b <= n; b++ {
			uneven := 0
			for throw := range uint32(1) << n {
				heads := mathbits.OnesCount32(throw)
				if abs(2*heads-n) >= abs(2*b-n) {
					uneven++
				}
			}
			want := float64(uneven) / float64(uint32(1)<<n)
			if p := mcNemar(b, n-b).P; p != want {
				t.Errorf("McNemar(%d, %d): p %v, want %v", b, n-b, p, want)
			}
		}
	}
}

func abs(x int) int { return max(x, -x) }

// TestMcNemarMeets: at exactBelow both methods agree within .005.
func TestMcNemarMeets(t *testing.T) {
	for b := 0; b <= exactBelow; b++ {
		if p, exact := mcNemar(b, exactBelow-b).P, signTest(min(b, exactBelow-b), exactBelow); !(math.Abs(p-exact) <= 0.005) {
			t.Errorf("%d against %d: χ² says %v, the binomial %v", b, exactBelow-b, p, exact)
		}
	}
}

func TestMcNemarIsNeverSure(t *testing.T) {
	if p := mcNemar(100_000, 0); !(p.P > 0) || p.Exact {
		t.Errorf("P %v of 100,000 pages to none", p.P)
	}
}
