package tables

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"fossick/store/change"
)

// BenchmarkHistories tabulates a million pages of ten visits each out of their histories.
//
//	go test ./change/tables -run none -bench Histories -benchtime 1x
func BenchmarkHistories(b *testing.B) {
	const distinct, pages, visits = 10_000, 1_000_000, 10
	rng := rand.New(rand.NewPCG(1, 19))
	kept := make([]change.History, distinct)
	var rounds []Round
	for n := range int64(visits) {
		rounds = append(rounds, Round{Began: (n*2 + 10) * day, Ended: (n*2 + 11) * day})
	}
	for i := range kept {
		for _, r := range rounds {
			v := change.Visit{At: r.Began + rng.Int64N(day), Took: rng.Int64N(2000), Rest: 2000 + rng.Int64N(10_000), State: "not_modified", Code: 304}
			if rng.IntN(4) == 0 {
				v.State, v.Code, v.Change = "ok", 200, change.Text
			}
			var err error
			if kept[i], err = kept[i].Append(v); err != nil {
				b.Fatal(err)
			}
		}
	}
	for b.Loop() {
		r, err := Count(b.Context(), Options{Rounds: rounds, Top: 20}, func(yield func(*Page, error) bool) {
			p := Page{Kind: "0a0"}
			for i := range pages {
				p.URL, p.Depth = fmt.Sprintf("http://h%d.t%d/", i%50_000, i%200), i%10
				p.Visits = append(p.Visits[:0], change.Visit{At: day, State: "ok"})
				var err error
				p.Visits, err = kept[i%distinct].Visits(p.Visits)
				if !yield(&p, err) {
					return
				}
			}
		})
		if err != nil || r.Pages != pages || r.Visits != pages*visits {
			b.Fatal(r, err)
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.Sys)/(1<<20), "MiB")
}
