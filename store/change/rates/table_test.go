package rates

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fossick/internal/fulltest"
)

var update = flag.Bool("update", false, "write docs/data/rates.tsv")

// TestTable makes the table of docs/change.md: how far off each estimator is, and how many
// of its intervals hold.
func TestTable(t *testing.T) {
	fulltest.Only(t, "half a million estimates take two minutes")
	var out strings.Builder
	fmt.Fprintln(&out, "# FOSSICK_FULL=1 go test ./change/rates -run TestTable -update. Simulated pages, 8,000 a row, half of them to learn from and half to judge, visited every five days. Recorded 2026-11-25.")
	fmt.Fprintln(&out, strings.Join([]string{"rates", "changes", "Last-Modified", "intervals", "estimator", "median error", "median bias", "95 % hold", "no estimator below"}, "\t"))
	for _, c := range rows() {
		w := c.draw()
		learn, judge := w.half()
		m := Learn(slices.Values(learn.pages))
		least := "not known"
		if density := densities[c.spread]; density != nil && c.how == "poisson" {
			least = fmt.Sprintf("%.3f", bound(world{judge.rates[:500], judge.pages[:500]}, density))
		}
		told := map[bool]string{true: "true", false: "none"}[c.told]
		spread := c.spread
		if c.within > 0 {
			spread = fmt.Sprintf("groups, spread %.2f within", c.within)
		}
		how := c.how
		if c.jitter {
			how += ", irregular visits"
		}
		for _, name := range Names() {
			a := judge.judge(t, name, m)
			fmt.Fprintf(&out, "%s\t%s\t%s\t%d\t%s\t%.3f\t%+.3f\t%.3f\t%s\n", spread, how, told, c.n, name, a.size, a.signed, a.held, least)
		}
	}
	t.Log("\n" + out.String())
	if *update {
		if err := os.WriteFile(filepath.Join(fulltest.Module(), "docs", "data", "rates.tsv"), []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// half parts a world in two.
func (w world) half() (world, world) {
	n := len(w.pages) / 2
	return world{w.rates[:n], w.pages[:n]}, world{w.rates[n:], w.pages[n:]}
}

// rows are the worlds of the table.
func rows() (all []plan) {
	add := func(c plan, ns ...int) {
		for _, told := range []bool{false, true} {
			for _, n := range ns {
				c.told, c.n, c.pages, c.seed = told, n, 8000, uint64(len(all)+1)
				all = append(all, c)
			}
		}
	}
	for _, spread := range []string{"log-normal", "gamma", "power law"} {
		add(plan{spread: spread, how: "poisson"}, 1, 3, 10, 30)
	}
	add(plan{spread: "power law", how: "poisson", jitter: true}, 3, 10)
	for _, within := range []float64{.1, .15, .4, 1} {
		add(plan{spread: "groups", within: within, how: "poisson"}, 3, 10)
	}
	for _, how := range []string{"periodic", "bursty"} {
		add(plan{spread: "log-normal", how: how}, 3, 10, 30)
	}
	return all
}
