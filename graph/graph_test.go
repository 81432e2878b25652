package graph

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"fossick/internal/testkit"
)

// webLike makes lists with copies, runs and far links.
func webLike(rng *rand.Rand, n int) [][]uint32 {
	lists := make([][]uint32, n)
	for v := range lists {
		has := map[uint32]bool{}
		if v > 0 && rng.IntN(3) > 0 {
			for _, s := range lists[max(0, v-1-rng.IntN(9))] {
				if rng.IntN(8) > 0 {
					has[s] = true
				}
			}
		}
		if rng.IntN(4) == 0 {
			start := rng.IntN(n)
			for s := start; s < min(n, start+rng.IntN(20)); s++ {
				has[uint32(s)] = true
			}
		}
		for range rng.IntN(4) {
			has[uint32(rng.IntN(n))] = true
		}
		if rng.IntN(200) == 0 {
			for s := range n {
				has[uint32(s)] = true
			}
		}
		for s := range has {
			lists[v] = append(lists[v], s)
		}
		slices.Sort(lists[v])
	}
	return lists
}

func write(t testing.TB, p params, lists [][]uint32) *Graph {
	t.Helper()
	path := filepath.Join(t.TempDir(), "g")
	w, err := create(path, len(lists), p)
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range lists {
		if err := w.Add(list); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(nil); err != nil {
		t.Fatal(err)
	}
	g, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

func TestGraphHoldsItsLists(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for i, p := range []params{
		{defaultWindow, defaultChain, defaultZeta}, {0, 0, 1}, {1, 1, 2}, {3, 30, 7}, {maxWindow, maxChain, 5},
	} {
		for _, n := range []int{0, 1, 2, 17, 300, 2000} {
			t.Run(fmt.Sprintf("%d/n=%d", i, n), func(t *testing.T) {
				lists := webLike(rng, n)
				g := write(t, p, lists)
				if err := g.Verify(t.Context()); err != nil {
					t.Fatal(err)
				}
				r := g.Reader()
				for _, v := range rng.Perm(n) {
					got, err := r.Successors(uint32(v))
					if err != nil || !slices.Equal(got, lists[v]) {
						t.Fatalf("node %d: got %v, %v, want %v", v, got, err, lists[v])
					}
				}
				for range 20 {
					from := rng.IntN(n + 1)
					to := from + rng.IntN(n+1-from)
					next := from
					err := g.Scan(from, to, func(v uint32, got []uint32) error {
						if int(v) != next || !slices.Equal(got, lists[v]) {
							t.Fatalf("scan from %d: node %d: got %v, want %v", from, v, got, lists[v])
						}
						next++
						return nil
					})
					if err != nil || next != to {
						t.Fatalf("scan %d to %d ended at %d: %v", from, to, next, err)
					}
				}
			})
		}
	}
}

func TestWriterRefuses(t *testing.T) {
	for _, list := range [][]uint32{{5}, {2, 1}, {1, 1}} {
		w, err := createFile(filepath.Join(t.TempDir(), "g"), 5)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Add(list); err == nil {
			t.Errorf("%v of 5 nodes was taken", list)
		}
		if err := w.Finish(nil); err == nil {
			t.Errorf("after %v the graph was finished", list)
		}
		left, err := os.ReadDir(filepath.Dir(w.path))
		if err != nil || len(left) > 0 {
			t.Errorf("files left: %v, %v", left, err)
		}
	}
}

// TestDamage checks that truncated or corrupted files are detected and never cause a panic.
func TestDamage(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	g := write(t, params{defaultWindow, defaultChain, defaultZeta}, webLike(rng, 300))
	sound := slices.Clone(g.data)
	for range 3000 {
		data := slices.Clone(sound)
		if rng.IntN(4) == 0 {
			data = data[:rng.IntN(len(data))]
		} else {
			at := rng.IntN(len(data))
			data[at] ^= 1 << rng.IntN(8)
		}
		g, err := open(data)
		if err == nil {
			readAll(g)
			err = g.Verify(t.Context())
		}
		if err == nil && !sameButPadding(g, data, sound) {
			t.Fatal("damage was not noticed")
		}
		if err != nil && !errors.Is(err, errDamaged) && !errors.Is(err, errFormat) {
			t.Fatalf("got %v, want it to be errDamaged or errFormat", err)
		}
	}
}

// sameButPadding reports whether files differ only between sections.
func sameButPadding(g *Graph, a, b []byte) bool {
	if len(a) != len(b) {
		return len(a) >= int(g.h.sections[sections-1].at) // the last sections are empty
	}
	for _, s := range g.h.sections {
		if !slices.Equal(a[s.at:s.at+s.size], b[s.at:s.at+s.size]) {
			return false
		}
	}
	return slices.Equal(a[:headerSize], b[:headerSize])
}

func readAll(g *Graph) {
	r := g.Reader()
	for v := range g.Nodes() {
		// Only panics matter here; Verify reports errors.
		_, _ = r.Successors(uint32(v))
		_, _ = g.Name(uint32(v))
	}
	_ = g.Scan(0, g.Nodes(), func(uint32, []uint32) error { return nil })
	_, _, _ = g.Node("http://a.test/")
	g.Hosts().Array(g.Nodes())
}

// FuzzGraph fixes the header's checksum, so that the rest is tested.
func FuzzGraph(f *testing.F) {
	g := write(f, params{defaultWindow, defaultChain, defaultZeta}, webLike(rand.New(rand.NewPCG(7, 8)), 40))
	f.Add(slices.Clone(g.data))
	empty := write(f, params{0, 0, 1}, nil)
	f.Add(slices.Clone(empty.data))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) >= headerSize {
			resign(data)
		}
		if g, err := open(data); err == nil {
			readAll(g)
		}
	})
}

func resign(data []byte) {
	copy(data, magic)
	binary.LittleEndian.PutUint32(data[headerSize-4:], crc32.Checksum(data[:headerSize-4], crcTable))
}

// FuzzSuccessors decodes arbitrary bytes as the codes of equally long nodes.
func FuzzSuccessors(f *testing.F) {
	g := write(f, params{defaultWindow, defaultChain, defaultZeta}, webLike(rand.New(rand.NewPCG(7, 8)), 40))
	f.Add(uint16(40), slices.Clone(g.stream[:len(g.stream)-padBytes]))
	f.Fuzz(func(t *testing.T, nodes uint16, code []byte) {
		size := uint64(len(code)) * 8
		n := min(uint64(nodes), size)
		if n == 0 {
			return
		}
		g := &Graph{stream: append(slices.Clone(code), make([]byte, padBytes)...)}
		g.h = header{params: params{defaultWindow, defaultChain, defaultZeta}, nodes: n, bits: size}
		packed := packOffsets(n, size, func(yield func(uint64) bool) {
			for yield(size / n) {
			}
		})
		g.offsets, _ = openOffsets(packed, n, size)
		r := g.Reader()
		for v := range g.Nodes() {
			list, err := r.Successors(uint32(v))
			for i, s := range list {
				if err == nil && (uint64(s) >= n || i > 0 && s <= list[i-1]) {
					t.Fatalf("node %d of %d: %v", v, n, list)
				}
			}
		}
		readAll(g)
	})
}

// TestRealGraphs checks published counts, and bounds the bits per edge.
func TestRealGraphs(t *testing.T) {
	tests := []struct {
		file  string
		nodes int
		edges int64
		bits  float64 // maximum per edge, successors alone
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
			stats, err := BuildEdgeList(t.Context(), testkit.Corpus(t, tc.file), out, BuildOptions{})
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

// TestCodes checks a round trip and the computed code lengths.
func TestCodes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var xs []uint64
	for i := range 20000 {
		x := rng.Uint64() & maxCoded >> (i % 35)
		if i%50 < 35 {
			x = uint64(1)<<(i%35) - uint64(i%3)&1
		}
		xs = append(xs, min(x, maxCoded))
	}
	for k := 1; k <= maxZeta; k++ {
		var w bitWriter
		for _, x := range xs {
			at := w.pos()
			w.gamma(x)
			mid := w.pos()
			w.zeta(x, k)
			if got := int(mid - at); got != gammaLen(x) {
				t.Fatalf("γ(%d) took %d bits, gammaLen says %d", x, got, gammaLen(x))
			}
			if got := int(w.pos() - mid); got != zetaLen(x, k) {
				t.Fatalf("ζ_%d(%d) took %d bits, zetaLen says %d", k, x, got, zetaLen(x, k))
			}
		}
		end := w.pos()
		w.flush()
		r := bitReader{buf: append(w.take(), make([]byte, padBytes)...)}
		for _, want := range xs {
			if got := r.gamma(); got != want {
				t.Fatalf("γ: got %d, want %d", got, want)
			}
			if got := r.zeta(k); got != want {
				t.Fatalf("ζ_%d: got %d, want %d", k, got, want)
			}
		}
		if r.bad || r.pos != end {
			t.Fatalf("k = %d: at bit %d of %d, bad %v", k, r.pos, end, r.bad)
		}
	}
}
