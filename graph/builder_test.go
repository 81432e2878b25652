package graph

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"fossick/internal/testkit"
)

func edgesOf(t testing.TB, g *Graph) (nodes []string, edges map[[2]string]int) {
	t.Helper()
	edges = map[[2]string]int{}
	name := func(v uint32) string {
		s := testkit.Call(g.Name(v)).Must(t)
		return s
	}
	testkit.Must(t, g.Scan(0, g.Nodes(), func(v uint32, list []uint32) error {
		nodes = append(nodes, name(v))
		for _, s := range list {
			edges[[2]string{name(v), name(s)}]++
		}
		return nil
	}))
	return nodes, edges
}

func openGraph(t testing.TB, path string) *Graph {
	t.Helper()
	g := testkit.Call(Open(path)).Must(t)
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	testkit.Must(t, g.Verify(t.Context()))
	return g
}

// TestBuilder compares graphs with a map, with and without spilling to disk.
func TestBuilder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, memory := range []int{0, 1 << 17} {
		for range 2 {
			path := filepath.Join(t.TempDir(), "g")
			b, err := NewBuilder(path, BuildOptions{Memory: memory})
			if err != nil {
				t.Fatal(err)
			}
			nodes, edges := map[string]bool{}, map[[2]string]int{}
			loops := 0
			url := func() string {
				return fmt.Sprintf("http://h%d.s%d.test/%d", rng.IntN(5), rng.IntN(20), rng.IntN(30))
			}
			for range 20000 {
				src, dst := url(), url()
				nodes[src] = true
				if rng.IntN(50) == 0 {
					testkit.Must(t, b.Node([]byte(src)))
					continue
				}
				if rng.IntN(100) == 0 {
					dst = src
				}
				testkit.Must(t, b.Edge([]byte(src), []byte(dst)))
				if src == dst {
					loops++
					continue
				}
				nodes[dst] = true
				edges[[2]string{src, dst}]++
			}
			stats, err := b.Finish(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if runs := len(b.dict.runs); (memory > 0) != (runs > 5) {
				t.Errorf("%d runs in %d bytes of memory", runs, memory)
			}
			testkit.Must(t, b.Close())
			all := 0
			for _, n := range edges {
				all += n
			}
			want := Stats{Nodes: len(nodes), Edges: int64(len(edges)), SelfLoops: int64(loops), Repeated: int64(all - len(edges))}
			if stats != want {
				t.Errorf("got %+v, want %+v", stats, want)
			}
			g := openGraph(t, path)
			gotNodes, gotEdges := edgesOf(t, g)
			if len(gotNodes) != len(nodes) || !maps.EqualFunc(gotEdges, edges, func(a, b int) bool { return a == 1 }) {
				t.Fatalf("the graph has %d nodes and %d edges, want %d and %d", len(gotNodes), len(gotEdges), len(nodes), len(edges))
			}
			if g.Hosts().Count() != 100 || g.Sites().Count() != 20 || g.Hosts().len() != 100 || g.Sites().len() != 20 {
				t.Errorf("%d hosts in %d runs, %d sites in %d", g.Hosts().Count(), g.Hosts().len(), g.Sites().Count(), g.Sites().len())
			}
			for v, name := range gotNodes {
				if got, ok, err := g.Node(name); err != nil || !ok || int(got) != v {
					t.Fatalf("Node(%s) = %d, %v, %v, want %d", name, got, ok, err, v)
				}
			}
			if _, ok, err := g.Node("http://h1.s1.test/none"); ok || err != nil {
				t.Errorf("a node that is not there: %v, %v", ok, err)
			}
			left, err := os.ReadDir(filepath.Dir(path))
			if err != nil || len(left) != 1 {
				t.Errorf("files left: %v, %v", left, err)
			}
		}
	}
}

func TestTranspose(t *testing.T) {
	out := filepath.Join(t.TempDir(), "graph")
	testkit.Call(BuildEdgeList(t.Context(), testkit.Corpus(t, "graphs/hollins.edges.tsv.zst"), out, BuildOptions{})).Must(t)
	g := openGraph(t, out)
	testkit.Must(t, g.Transpose(t.Context(), out+".t", 1))
	tr := openGraph(t, out+".t")
	testkit.Must(t, tr.Transpose(t.Context(), out+".tt", 0))
	nodes, edges := edgesOf(t, g)
	turnedNodes, turned := edgesOf(t, tr)
	if !slices.Equal(nodes, turnedNodes) || len(edges) != len(turned) {
		t.Fatalf("%d edges, %d turned round", len(edges), len(turned))
	}
	for e := range edges {
		if turned[[2]string{e[1], e[0]}] != 1 {
			t.Fatalf("%v was not turned round", e)
		}
	}
	if a, b := fileOf(t, out), fileOf(t, out+".tt"); !slices.Equal(a, b) {
		t.Error("turned round twice it is another graph")
	}
	plain, degree, err := Transposed(g)
	if err != nil {
		t.Fatal(err)
	}
	r, back := tr.Reader(), g.Reader()
	for v := range uint32(g.Nodes()) {
		want, err1 := r.Successors(v)
		out, err2 := back.Successors(v)
		if err1 != nil || err2 != nil || !slices.Equal(plain.Successors(v), want) || int(degree[v]) != len(out) {
			t.Fatalf("node %d: %v, %d links; want %v, %d", v, plain.Successors(v), degree[v], want, len(out))
		}
	}
}

func fileOf(t testing.TB, path string) []byte {
	t.Helper()
	b := testkit.Call(os.ReadFile(path)).Must(t)
	return b
}

// TestSortKeys compares with a stable sort of whole keys, including prefixes and trailing zeros.
func TestSortKeys(t *testing.T) {
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		keys := make([][]byte, rng.IntN(100))
		for i := range keys {
			for range rng.IntN(6) {
				keys[i] = append(keys[i], [][]byte{[]byte("org,a,www"), {0}, {0, 0, 0, 0, 0, 0, 0, 0}, {1}, {255}, []byte("12345678")}[rng.IntN(6)]...)
			}
		}
		want := make([]uint32, len(keys))
		for i := range want {
			want[i] = uint32(i)
		}
		slices.SortStableFunc(want, func(a, b uint32) int { return bytes.Compare(keys[a], keys[b]) })
		if got := sortKeys(keys); !slices.Equal(got, want) {
			t.Fatalf("seed %d: %q\n got %v\nwant %v", seed, keys, got, want)
		}
	}
}

func TestKeysSortByHost(t *testing.T) {
	want := []string{
		"a page", "http:///nohost", // not URLs
		"http://10.0.0.1/",
		"https://a.org/", // port 443 sorts before 80 as text
		"http://a.org", "http://a.org/", "http://a.org/b", "http://a.org/b/c?d#e", "HTTP://A.org/c", "http://a.org:8080/", "http://www.a.org/x", "http://a-b.org/",
	}
	keys := make([]string, len(want))
	for i, name := range want {
		keys[i] = string(appendKey(nil, []byte(name)))
		if got, ok := nameOfKey([]byte(keys[i])); !ok || got != name {
			t.Errorf("%q → %q → %q, %v", name, keys[i], got, ok)
		}
	}
	slices.Sort(keys)
	for i, key := range keys {
		if got, _ := nameOfKey([]byte(key)); got != want[i] {
			t.Errorf("place %d: %q, want %q", i, got, want[i])
		}
	}
}

// FuzzKey checks that every name survives a round trip, so keys are unique.
func FuzzKey(f *testing.F) {
	for _, name := range []string{"", "a", "http://u:p@a.b.org:80/x", "https://[::1]:8/", "ftp://x,y/", "http://1.2.3.4./\x01", "http://.["} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		key := appendKey(nil, []byte(name))
		if got, ok := nameOfKey(key); !ok || got != name {
			t.Errorf("%q → %q → %q, %v", name, key, got, ok)
		}
		nameOfKey([]byte(name)) // must accept any bytes
	})
}
