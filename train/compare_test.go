package train

import (
	"bytes"
	"strings"
	"testing"
)

func TestWorst(t *testing.T) {
	all := []Mistake{{URL: "a", Score: 0.5}, {URL: "b", Score: 0.9}, {URL: "c", Score: 0.5}, {URL: "d", Score: 0.7}}
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
		r    Comparison
		want string
	}{
		{"nothing differs", Comparison{P: new(float64(1))},
			"A alone is right on 0 pages, B alone on 0. They are right and wrong on the same pages."},
		{"a draw", Comparison{AOnly: 4, BOnly: 4, P: new(float64(1))}, "A alone is right on 4 pages, B alone on 4. Neither is better."},
		{"B ahead", Comparison{AOnly: 8, BOnly: 20, P: new(float64(0.025))},
			"B is right on 12 pages more than A; a difference this large happens by chance once in 40 times (McNemar's test, p = 0.025)."},
		{"A ahead by one", Comparison{AOnly: 1, P: new(float64(1))},
			"A alone is right on 1 page, B alone on 0. A is right on 1 page more than B; a difference this large happens by chance nearly always"},
		{"middling", Comparison{AOnly: 8, BOnly: 4, P: new(float64(0.388))}, "happens by chance 4 times in 10"},
		{"too few to test", Comparison{AOnly: 4}, "A is right on 4 pages more than B; there is no test of fewer than 5 different pages."},
		{"rare", Comparison{AOnly: 40, BOnly: 10, P: new(float64(1. / 24321))}, "happens by chance once in 24000 times"},
		{"all but sure", Comparison{AOnly: 79, BOnly: 6, P: new(float64(6e-15))}, "happens by chance less than once in a million times"},
	} {
		var b bytes.Buffer
		c.r.print(&b, []string{"a.model", "b.model"}, 0.9, 0.8)
		text := b.String()
		if !strings.Contains(text, c.want) || !strings.Contains(text, "A   90.0 % right  a.model\nB   80.0 % right  b.model\n") {
			t.Errorf("%s: %q lacks %q", c.name, text, c.want)
		}
	}
}
