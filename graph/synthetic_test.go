package graph

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"fossick/internal/testkit"
)

func TestSynthetic(t *testing.T) {
	pages := testkit.Rounds(50_000, 200_000)
	s := testkit.Call(NewWeb(pages, 1)).Must(t)
	path := filepath.Join(t.TempDir(), "g")
	testkit.Must(t, s.Write(t.Context(), path))
	g := testkit.Call(Open(path)).Must(t)
	defer g.Close()
	hosts := g.Hosts().Array(pages)
	in, internal, leaves := make([]int, pages), 0, 0
	testkit.Must(t, g.Scan(0, pages, func(v uint32, list []uint32) error {
		if len(list) == 0 {
			leaves++
		}
		for _, d := range list {
			in[d]++
			if hosts[v] == hosts[d] {
				internal++
			}
		}
		return nil
	}))
	// Estimate the tail exponent of the in-degrees with Hill's estimator, from 50 on.
	sum, n := 0.0, 0
	for _, d := range in {
		if d >= 50 {
			sum += math.Log(float64(d) / 49.5)
			n++
		}
	}
	exponent := 1 + float64(n)/sum
	successors, offsets, _ := g.Bytes()
	edges := float64(g.Edges())
	t.Logf("%d hosts, %d sites, %.1f links a page, %.2f of them on the host, %.3f of pages without; in-degree: most %d, exponent %.2f; %.2f bits an edge, %.2f with offsets",
		g.Hosts().Count(), g.Sites().Count(), edges/float64(pages), float64(internal)/edges, float64(leaves)/float64(pages), slices.Max(in), exponent,
		float64(successors)*8/edges, float64(successors+offsets)*8/edges)
	if share := float64(internal) / edges; share < 0.75 || share > 0.95 {
		t.Errorf("%.2f of the links stay on the host", share)
	}
	if exponent < 1.9 || exponent > 3.3 {
		t.Errorf("exponent of in-degrees %.2f", exponent)
	}
}
