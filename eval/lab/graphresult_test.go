package lab

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"fossick/internal/report"
)

func TestComparison(t *testing.T) {
	g := graphOf(t, "http://a.test/\thttp://b.test/\nhttp://a.test/\thttp://c.test/\nhttp://b.test/\thttp://a.test/\nhttp://c.test/\thttp://b.test/\n")
	on := func(v uint32) bool { return v == 1 }
	s := Simulation{Graph: g, Starts: [][]uint32{{0}, {2}}, MaxPages: 3, Points: 3, Damping: 0.85, Rand: func(int) *rand.Rand { return nil }, Relevant: on}
	if _, err := s.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := s.Compare("three")
	topic, count := "bees", 1
	c.Topic, c.Relevant = &topic, &count
	for _, name := range []string{"bfs", "mcs"} {
		crawls, err := s.Crawls(t.Context(), name, func(int, *GraphCurve) {})
		if err != nil {
			t.Fatal(err)
		}
		c.Add(name, crawls, s.MeanCurve(crawls))
	}
	if by := c.Orders["bfs"]; by.Pages != 3 || by.Short != 0 || len(by.Curve) != 3 || *by.Curve[2][2] != 3 || *by.Harvest[2][1] != 1./3 || by.Time != nil {
		t.Errorf("bfs: %+v", by)
	}
	if _, err := json.Marshal(c); err != nil {
		t.Error(err)
	}
	var text, page strings.Builder
	c.Print(&text)
	_, tables, _ := strings.Cut(text.String(), "\n\n")
	for line := range strings.Lines(tables) {
		if len([]rune(line)) > 81 {
			t.Errorf("a wide line: %s", line)
		}
	}
	if err := c.WriteReport(&page, report.Fact{Name: "random seed", Value: "7"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Orderings on three", "random seed", "Harvest", "PageRank collected", "2 sets of 1"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("no %q on the page", want)
		}
	}
	if strings.Contains(page.String(), "Simulated seconds") {
		t.Error("time is drawn without manners")
	}
}

func TestVerdict(t *testing.T) {
	curve := func(tenth, whole float64) []graphMean {
		a, b := graphMean{Pages: 100}, graphMean{Pages: 1000}
		a.PageRank.Value, b.PageRank.Value = tenth, whole
		return []graphMean{a, b}
	}
	r := &orderings{Nodes: 1000, order: []string{"dfs", "opic"}, points: map[string][]graphMean{
		"dfs": curve(.2, 1), "opic": curve(.4, .9), "bfs": curve(.3, 1),
	}}
	if got, want := r.verdict(), "After 100 pages, opic has 40 % of all PageRank; pages at random would have 10 %."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r.order = append(r.order, "bfs")
	if got, want := r.verdict(), "After 100 pages, opic has 40 % of all PageRank; bfs, breadth first, has 30 %."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
