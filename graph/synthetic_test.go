package graph

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"fossick/internal/testkit"

	"github.com/klauspost/compress/zstd"
)

func TestSynthetic(t *testing.T) {
	pages := testkit.Rounds(50_000, 200_000)
	s, err := NewWeb(pages, 1)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "g")
	if err := s.Write(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	g, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	hosts := g.Hosts().Array(pages)
	in, internal, leaves := make([]int, pages), 0, 0
	err = g.Scan(0, pages, func(v uint32, list []uint32) error {
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
	})
	if err != nil {
		t.Fatal(err)
	}
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

func listOf(tb testing.TB, pages int, named bool) (path string, edges int) {
	tb.Helper()
	w, err := NewWeb(pages, 1)
	if err != nil {
		tb.Fatal(err)
	}
	var out bytes.Buffer
	z, err := zstd.NewWriter(&out)
	if err != nil {
		tb.Fatal(err)
	}
	hosts := make([]uint32, pages)
	for h, first := range w.hosts {
		for v := int(first); v < pages; v++ {
			hosts[v] = uint32(h)
		}
	}
	name := func(dst []byte, v uint32) []byte {
		if named {
			dst = fmt.Appendf(dst, "http://www%d.example%d.org/archive/%d/page-", hosts[v]%7, hosts[v], v%10)
		}
		return strconv.AppendUint(dst, uint64(v), 10)
	}
	var line []byte
	err = w.each(tb.Context(), func(v uint32, links []uint32) error {
		for _, d := range links {
			line = append(name(append(name(line[:0], v), '\t'), d), '\n')
			if _, err := z.Write(line); err != nil {
				return err
			}
		}
		edges += len(links)
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	path = filepath.Join(tb.TempDir(), "list.zst")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path, edges
}

func BenchmarkBuild(b *testing.B) {
	for _, named := range []bool{false, true} {
		for _, memory := range []int{0, 16 << 20} {
			b.Run(fmt.Sprintf("named=%v/memory=%dMiB", named, memory>>20), func(b *testing.B) {
				list, edges := listOf(b, 300_000, named)
				b.ResetTimer()
				for range b.N {
					if _, err := BuildEdgeList(b.Context(), list, list+".graph", BuildOptions{Memory: memory}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(edges)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Medges/s")
				b.ReportMetric(float64(edges)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Medges/s")
			})
		}
	}
}
