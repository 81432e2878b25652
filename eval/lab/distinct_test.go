package lab

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"fossick/datasets"
	"fossick/internal/page"
)

// corpusOf has so many pages on topic, and as many off.
func corpusOf(n int) *Corpus {
	c := &Corpus{Name: "few"}
	for i := range 2 * n {
		row := &Row{URL: fmt.Sprintf("http://a.test/%d", i), Page: &page.Page{}}
		row.Labels = datasets.Labels{Label: []string{"x", "y"}[i/n]}
		c.Rows = append(c.Rows, row)
	}
	return c
}

// TestDistinctSets: equal sets of start pages count once.
func TestDistinctSets(t *testing.T) {
	for _, tc := range []struct{ pages, starts, asked, want int }{
		{3, 3, 10, 1}, {3, 2, 10, 3}, {4, 3, 10, 4}, {5, 4, 10, 5}, {40, 10, 10, 10}, {10, 1, 10, 10}, {1, 1, 10, 1},
	} {
		d, err := NewDraw(corpusOf(tc.pages), DrawOptions{Topic: "x", Starts: tc.starts, Sets: tc.asked}, rand.New(rand.NewPCG(1, 2)))
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, set := range d.Starts {
			seen[fmt.Sprint(slices.Sorted(slices.Values(set)))] = true
		}
		if len(d.Starts) != tc.want || len(seen) != tc.want {
			t.Errorf("%d of %d pages: %d sets, %d different, want %d", tc.starts, tc.pages, len(d.Starts), len(seen), tc.want)
		}
	}
}

// TestFewSets: no interval and no test of fewer than five start sets, and the result says
// why.
func TestFewSets(t *testing.T) {
	for sets := 1; sets <= 6; sets++ {
		a, b := Figures{Policy: "a"}, Figures{Policy: "b"}
		for i := range sets {
			a.Sets, b.Sets = append(a.Sets, 0.5+float64(i)/100), append(b.Sets, 0.1+float64(i)/90)
		}
		tests := Compare([]Figures{a, b}, rand.New(rand.NewPCG(1, 2)))
		if want := sets >= 5; (len(tests) == 1) != want || want && tests[0].CI == nil {
			t.Errorf("%d sets: %+v", sets, tests)
		}
		if why := whyNoTests(sets, 6); (why == "") != (sets == 6) || strings.Contains(why, "No intervals") != (sets < 5) {
			t.Errorf("%d sets: %q", sets, why)
		}
	}
}

// TestLeadWithoutTests: a report without tests says nothing of chance between policies.
func TestLeadWithoutTests(t *testing.T) {
	race := []Figures{{Policy: "a", Harvest: Mean{Value: 0.5}}, {Policy: "b", Harvest: Mean{Value: 0.4}}}
	said := strings.Join(sentences(Report{Pages: 10, Sets: 1, NoTests: whyNoTests(1, 10)}, race), "\n")
	if strings.Contains(said, "chance between") || !strings.Contains(said, "No intervals and no tests") {
		t.Errorf("%s", said)
	}
}

// TestSweepWithoutBand: a sweep of which one point has no interval, or none has, is drawn
// without its band.
func TestSweepWithoutBand(t *testing.T) {
	ci := &[2]float64{0.3, 0.6}
	for name, points := range map[string][]Swept{
		"one point without": {{0, Mean{Value: 0.5, CI: ci}}, {0.1, Mean{Value: 1}}, {0.2, Mean{Value: 0.5, CI: ci}}},
		"all without":       {{0, Mean{Value: 0.5}}, {0.1, Mean{Value: 1}}},
		"all with":          {{0, Mean{Value: 0.5, CI: ci}}, {0.1, Mean{Value: 0.4, CI: ci}}},
	} {
		if f, err := sweepPlot(points); err != nil || f == nil {
			t.Errorf("%s: %v, %v", name, f, err)
		}
	}
}

// TestBaseline: the first sentence has breadth first, or pages at random.
func TestBaseline(t *testing.T) {
	of := func(policies ...string) []Figures {
		var race []Figures
		for i, name := range policies {
			f := Figures{Policy: name}
			f.Harvest.Value = .9 - .1*float64(i)
			race = append(race, f)
		}
		return race
	}
	r := Report{Pages: 10, Sets: 5, CorpusPages: 50, Targets: 5}
	for _, tc := range []struct {
		race []Figures
		want string
	}{
		{of("x"), "x has 90 % on topic, on average over 5 crawls; pages at random would have 10 %."},
		{of("x", "bfs"), "; next is bfs with 80 %."},
		{of("x", "y"), "; next is y with 80 %; pages at random would have 10 %."},
		{of("x", "y", "bfs"), "; next is y with 80 %; bfs, breadth first, has 70 %."},
	} {
		if got := sentences(r, tc.race)[0]; !strings.HasSuffix(got, tc.want) {
			t.Errorf("%q, want it to end %q", got, tc.want)
		}
	}
}
