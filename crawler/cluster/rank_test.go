package cluster

import (
	"math/rand/v2"
	"testing"

	"fossick/internal/fulltest"
)

// TestAgainstDefinition: random webs on random agents have the PageRank of their union, as
// its definition has it, within ε; by each method.
func TestAgainstDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for web := range fulltest.Rounds(60, 3000) {
		agents := randomAgents(r, 1+r.IntN(5), 1+r.IntN(40))
		all := union(agents)
		if len(all) == 0 {
			continue
		}
		var parts []namedLinks
		for _, a := range agents {
			parts = append(parts, linksOf(a))
		}
		d := 0.5 + 0.4*r.Float64()
		want := dense(all, d)
		opt := RankOptions{Method: RankMethods[web%len(RankMethods)], Damping: d, Epsilon: 1e-9}
		ranked, result, err := Rank(t.Context(), links(parts), opt)
		if err != nil {
			t.Fatalf("web %d, %+v: %v", web, opt, err)
		}
		if off := distance(t, want, scores(t, parts, ranked)); off > opt.Epsilon {
			t.Errorf("web %d, %d agents, %+v: off by %g; %+v", web, len(agents), opt, off, result)
		}
		if result.Nodes != len(want) || result.Residual > opt.Epsilon {
			t.Errorf("web %d: %+v of %d nodes", web, result, len(want))
		}
	}
}
