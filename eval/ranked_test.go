package eval

import (
	"bytes"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"fossick/store"
)

// TestRanked gives on-topic pages the lowest ranks, then the highest.
func TestRanked(t *testing.T) {
	for _, first := range []bool{false, true} {
		pages := synthetic(rand.New(rand.NewPCG(1, 20)), 60)
		s := fill(t, filepath.Join(t.TempDir(), "ranked"), "banking", pages)
		plain := load(t, s)
		plain.judgeByTruth(truthOf("banking", 400))
		var ranks []store.NumberedRank
		all, held := 0.0, 0.0
		for i, p := range plain.Pages[:50] {
			x := 0.001 * float64(i+1) / 50
			if p.Relevant == first {
				x += 0.001
			}
			if all += x; p.Relevant {
				held += x
			}
			ranks = append(ranks, store.NumberedRank{Page: p.Number, Rank: store.Rank{Score: x}})
		}
		err := s.Ranks().Put(t.Context(), store.Ranking{Method: "pagerank", Nodes: 1000}, func(yield func(store.NumberedRank) bool) {
			for _, r := range ranks {
				if !yield(r) {
					return
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		c := load(t, s)
		closed(t, s)
		c.judgeByTruth(truthOf("banking", 400))
		r := measure(c, 0).Ranked
		want := map[bool]float64{false: 0, true: 1}[first]
		if r == nil || r.Pages != 50 || !(math.Abs(r.Share-held/all) <= 1e-12) || len(r.Top) != 2 || r.Top[0] != (Point{10, want}) {
			t.Errorf("first %v: got %+v, want a share of %g, %g of the first ten", first, r, held/all, want)
		}
		if plain := measure(plain, 0).Ranked; plain != nil {
			t.Errorf("before rank: %+v", plain)
		}
		var out bytes.Buffer
		if err := writeReport(&out, reportData{Result: Measure([]*Crawl{c}, 0), Crawls: []*Crawl{c}}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), "Highest PageRank") || !strings.Contains(out.String(), "that PageRank ranks highest") {
			t.Error("the report has no ranks")
		}
	}
}
