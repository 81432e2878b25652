package revisit

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"fossick/internal/stats"
	"fossick/internal/testkit"
)

var update = flag.Bool("update", false, "write docs/data/revisit.tsv anew; with FOSSICK_FULL=1")

// setting is a web and the limits of its hosts.
type setting struct {
	name   string
	laws   laws
	rests  bool // hosts take one request at a time, and rest
	hidden bool // rates are unknown at the start
}

// tried is the result of a policy in a setting, by draw.
type tried struct{ share, fresh, age []float64 }

// TestTable compares the policies on simulated webs, and checks the promises of docs/change.md.
func TestTable(t *testing.T) {
	pages, draws := testkit.Rounds(800, 10_000), testkit.Rounds(3, 4)
	if *update {
		pages, draws = 100_000, 10
	}
	rest := 2.0 / 24 / 60 * 100_000 / float64(pages) // so that the largest hosts are limited
	var rows strings.Builder
	for _, c := range []setting{
		{name: "no limits, rates known", laws: laws{pages: pages}},
		{name: "no limits, rates unknown", laws: laws{pages: pages}, hidden: true},
		{name: "hosts rest, rates known", laws: laws{pages: pages, rest: rest}, rests: true},
		{name: "hosts rest, rates unknown", laws: laws{pages: pages, rest: rest}, rests: true, hidden: true},
		{name: "half of what matters changes more, rates unknown", laws: laws{pages: min(pages, 20_000), alike: 0.5}, hidden: true},
	} {
		t.Run(c.name, func(t *testing.T) { rows.WriteString(compare(t, c, draws)) })
	}
	if *update {
		write(t, rows.String())
	}
}

func compare(t *testing.T, c setting, draws int) string {
	t.Helper()
	results := map[string]*tried{}
	var names []string
	for _, p := range Policies {
		if c.hidden || !p.learns {
			names = append(names, p.Name)
			results[p.Name] = &tried{}
		}
	}
	for draw := range draws {
		var wait sync.WaitGroup
		for _, name := range names {
			wait.Go(func() { try(t, c, name, uint64(draw+1), results[name]) })
		}
		wait.Wait()
	}
	var rows strings.Builder
	for _, name := range names {
		rows.WriteString(line(c, name, results))
	}
	t.Log("\n" + rows.String())
	judge(t, c, results)
	return rows.String()
}

func try(t *testing.T, c setting, policy string, draw uint64, r *tried) {
	t.Helper()
	w := newWeb(rand.New(rand.NewPCG(draw, 1)), c.laws)
	budget := float64(len(w.pages)) / 5
	o := Options{Policy: policy, Budget: budget, Rand: rand.New(rand.NewPCG(draw, 2))}
	var limits []float64
	if c.rests {
		o.HostRests = w.hostRests
		for _, rest := range w.hostRests {
			limits = append(limits, 1/rest)
		}
	}
	best := allocated(t, w.pages, "cho", budget, limits)
	bound := 0.0
	for i, p := range w.pages {
		bound += p.Weight * fresh(p.Rate, best.rates[i])
	}
	pages := w.pages
	if c.hidden {
		pages = w.unknown()
	}
	s, err := New(pages, 0, o)
	if err != nil {
		t.Error(err)
		return
	}
	m := simulate(w, s, []float64{10, 20}, rand.New(rand.NewPCG(draw, 3)))[0]
	if most := int(10*budget + budget/24/60 + 1); m.Visits > most {
		t.Errorf("%s, %s: %d visits in ten days, %d are allowed", c.name, policy, m.Visits, most)
	}
	r.share, r.fresh, r.age = append(r.share, m.Fresh/bound), append(r.fresh, m.Fresh), append(r.age, m.Age)
}

// judge checks the promises.
func judge(t *testing.T, c setting, results map[string]*tried) {
	t.Helper()
	mean := func(name string) float64 { return stats.MeanOf(results[name].share).Value }
	switch {
	case !c.hidden:
		if got := mean("cho"); got < 0.99 {
			t.Errorf("%s: %.4f of the optimum", c.name, got)
		}
	case mean("learn") < 0.9:
		t.Errorf("%s: learned to %.4f of the optimum", c.name, mean("learn"))
	case *update && c.laws.alike == 0: // few pages and draws show nothing
		for name := range results {
			d := less(results, name)
			if name != "learn" && !(d.CI != nil && d.CI[0] > 0) {
				t.Errorf("%s: learn is better than %s by %s", c.name, name, interval(d))
			}
		}
	}
}

// less returns the paired difference of a policy's share of the optimum to the best one's.
func less(results map[string]*tried, name string) stats.Mean {
	best := "cho"
	if _, ok := results["learn"]; ok {
		best = "learn"
	}
	var d []float64
	for i, share := range results[best].share {
		d = append(d, share-results[name].share[i])
	}
	return stats.MeanOf(d)
}

func line(c setting, name string, results map[string]*tried) string {
	r := results[name]
	share, d := stats.MeanOf(r.share), less(results, name)
	return fmt.Sprintf("%s\t%s\t%.3f\t%s\t%s\t%.2f\n", c.name, name, stats.MeanOf(r.fresh).Value,
		interval(share), interval(d), stats.MeanOf(r.age).Value)
}

func interval(m stats.Mean) string {
	if m.CI == nil {
		return "–"
	}
	return fmt.Sprintf("%.4f (%.4f to %.4f)", m.Value, m.CI[0], m.CI[1])
}

func write(t *testing.T, rows string) {
	t.Helper()
	head := "# FOSSICK_FULL=1 go test ./store/change/revisit -run TestTable -timeout 60m -update. 100,000 pages, 20,000 fetches a day, draws 1 to 10, days 10 to 20 of 20; nothing was tuned on these draws. optimum: the largest freshness that visits at known rates and even intervals can have, the hosts' limits kept. Intervals are 95 %.\n" +
		"setting\tpolicy\tfresh, by weight\tof the optimum\tless than the best\tage, days\n"
	if err := os.WriteFile(filepath.Join(testkit.Module(), "docs", "data", "revisit.tsv"), []byte(head+rows), 0o644); err != nil {
		t.Fatal(err)
	}
}
