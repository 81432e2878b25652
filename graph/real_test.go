package graph

import (
	"path/filepath"
	"testing"
	"time"

	"fossick/internal/fulltest"
)

// TestRealGraphs builds graphs of real links. Counts are those that the corpora
// state; bits an edge may not grow.
func TestRealGraphs(t *testing.T) {
	tests := []struct {
		file  string
		nodes int
		edges int64
		bits  float64 // an edge, successors alone, at most
	}{
		{"graphs/california.edges.tsv.zst", 9664, 16150, 15},
		{"graphs/hollins.edges.tsv.zst", 6012, 23875, 5},
		{"debdocs/links.tsv.zst", 13833, 404287, 2.1},
		{"uci_ics/links.tsv.zst", 52966, 675156, 3.2},
	}
	for _, tc := range tests {
		t.Run(tc.file, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "graph")
			began := time.Now()
			stats, err := BuildEdgeList(t.Context(), fulltest.Corpus(t, tc.file), out, BuildOptions{})
			if err != nil {
				t.Fatal(err)
			}
			took := time.Since(began)
			g := openGraph(t, out)
			successors, offsets, file := g.Bytes()
			bits := float64(successors) * 8 / float64(g.Edges())
			t.Logf("%+v; %d hosts, %d sites; %.2f bits an edge, %.2f with offsets, %.1f bytes a node in all; %.2f s",
				stats, g.Hosts().Count(), g.Sites().Count(), bits, float64(successors+offsets)*8/float64(g.Edges()),
				float64(file)/float64(g.Nodes()), took.Seconds())
			if stats.Nodes != tc.nodes || stats.Edges != tc.edges || stats.Repeated+stats.SelfLoops+stats.Dangling > 0 {
				t.Errorf("got %+v, want %d nodes and %d edges", stats, tc.nodes, tc.edges)
			}
			if bits > tc.bits {
				t.Errorf("%.2f bits an edge, want at most %.2f", bits, tc.bits)
			}
		})
	}
}
