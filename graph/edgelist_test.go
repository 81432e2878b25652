package graph

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"fossick/internal/testkit"
)

func TestEdgeLists(t *testing.T) {
	tests := []struct {
		name  string
		list  string
		urls  string
		nodes []string
		edges [][2]string
		stats Stats
		error string
	}{
		{name: "names", list: "# c\nb\ta\n\na\tc\r\nb\ta\na\ta\n", nodes: []string{"a", "b", "c"},
			edges: [][2]string{{"b", "a"}, {"a", "c"}}, stats: Stats{Nodes: 3, Edges: 2, SelfLoops: 1, Repeated: 1}},
		{name: "numbers", list: "2 0\n0\t1\n1\t2", nodes: []string{"0", "1", "2"},
			edges: [][2]string{{"2", "0"}, {"0", "1"}, {"1", "2"}}, stats: Stats{Nodes: 3, Edges: 3}},
		{name: "gaps", list: "1000000\t9\n9\t10\n", nodes: []string{"9", "10", "1000000"},
			edges: [][2]string{{"1000000", "9"}, {"9", "10"}}, stats: Stats{Nodes: 3, Edges: 2}},
		{name: "named numbers", list: "1\t2\n2\t77\n3\t1\n", urls: "1\thttp://b.test/\n2\thttp://a.test/\n3\thttp://a.test/\n",
			nodes: []string{"http://a.test/", "http://a.test/", "http://b.test/", "77"},
			edges: [][2]string{{"http://b.test/", "http://a.test/"}, {"http://a.test/", "77"}, {"http://a.test/", "http://b.test/"}},
			stats: Stats{Nodes: 4, Edges: 3, Dangling: 1}},
		{name: "empty", list: "# nothing\n"},
		{name: "no edge", list: "a\tb\nc\n", error: "list:2: no edge"},
		{name: "three", list: "a\tb\tc\n", error: "list:1: no edge"},
		{name: "nameless", list: "a\t\n", error: "list:1: no edge"},
		{name: "number then name", list: "1\t2\n\n1\tx\n", error: "list:3: no edge"},
		{name: "too large", list: "1\t2\n1\t4294967295\n", error: "list:2: no edge"},
		{name: "bad name", list: "1\t2\n", urls: "1\ta\nb\tc\n", error: "x.urls.tsv:2: no edge"},
		{name: "two names", list: "1\t2\n", urls: "1\ta\n1\tc\n", error: "two names"},
		{name: "long line", list: "a\t" + strings.Repeat("b", maxLineBytes), error: "list:1: no edge: a line of more"},
		{name: "long name", list: "a\t" + strings.Repeat("b", maxNameBytes+1), error: "at most 65536"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			list, out := filepath.Join(dir, "list"), filepath.Join(dir, "out")
			if tc.urls != "" {
				list = filepath.Join(dir, "x.edges.tsv")
				writeFile(t, filepath.Join(dir, "x.urls.tsv"), []byte(tc.urls))
			}
			writeFile(t, list, []byte(tc.list))
			stats, err := BuildEdgeList(t.Context(), list, out, BuildOptions{})
			if tc.error != "" {
				if err == nil || !strings.Contains(err.Error(), tc.error) {
					t.Errorf("got %v, want %s", err, tc.error)
				}
				if _, err := os.Stat(out); err == nil {
					t.Error("a graph was made")
				}
				return
			}
			if err != nil || stats != tc.stats {
				t.Fatalf("got %+v, %v, want %+v", stats, err, tc.stats)
			}
			nodes, edges := edgesOf(t, openGraph(t, out))
			if !slices.Equal(nodes, tc.nodes) || len(edges) != len(tc.edges) {
				t.Errorf("got %v, %v; want %v, %v", nodes, edges, tc.nodes, tc.edges)
			}
			for _, e := range tc.edges {
				if edges[e] != 1 {
					t.Errorf("%v is missing", e)
				}
			}
		})
	}
}

func writeFile(t testing.TB, path string, b []byte) {
	t.Helper()
	testkit.Must(t, os.WriteFile(path, b, 0o644))
}

// TestCompressedEdgeLists reads archives, whole and truncated.
func TestCompressedEdgeLists(t *testing.T) {
	plain := []byte(strings.Repeat("1\t2\n2\t3\n7\t1\n", 1000))
	var gz, zs bytes.Buffer
	g := gzip.NewWriter(&gz)
	z := testkit.Call(zstd.NewWriter(&zs)).Must(t)
	for _, w := range []interface {
		Write([]byte) (int, error)
		Close() error
	}{g, z} {
		testkit.Call(w.Write(plain)).Must(t)
		testkit.Must(t, w.Close())
	}
	for ending, data := range map[string][]byte{".gz": gz.Bytes(), ".zst": zs.Bytes()} {
		for _, n := range []int{len(data), len(data) - 1, len(data) / 2, 3, 0} {
			list := filepath.Join(t.TempDir(), "list"+ending)
			writeFile(t, list, data[:n])
			stats, err := BuildEdgeList(t.Context(), list, list+".graph", BuildOptions{})
			switch {
			case n == len(data) && (err != nil || stats.Edges != 3 || stats.Repeated != 2997):
				t.Errorf("%s: %+v, %v", ending, stats, err)
			case n < len(data) && err == nil:
				t.Errorf("%s: %d of %d bytes were read without an error", ending, n, len(data))
			case n < len(data) && err != nil && !strings.Contains(err.Error(), filepath.Base(list)):
				t.Errorf("%s: %v does not name the file", ending, err)
			}
		}
	}
}

// FuzzEdgeList compares the graph with the lines of the text.
func FuzzEdgeList(f *testing.F) {
	f.Add([]byte("1\t2\n# x\n3 1\n"))
	f.Add([]byte("a\tb\nhttp://a.test/\thttp://b.test:80/x\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := t.TempDir()
		list, out := filepath.Join(dir, "list"), filepath.Join(dir, "graph")
		writeFile(t, list, text)
		_, err := BuildEdgeList(t.Context(), list, out, BuildOptions{Memory: 1 << 12})
		if err != nil {
			if !errors.Is(err, errLine) && !strings.Contains(err.Error(), "can be kept") {
				t.Fatal(err)
			}
			return
		}
		_, got := edgesOf(t, openGraph(t, out))
		numbers, err := beginsWithNumbers(list)
		if err != nil {
			t.Fatal(err)
		}
		want := map[[2]string]int{}
		for line := range bytes.SplitSeq(text, []byte("\n")) {
			line = bytes.TrimRight(line, "\r")
			if len(line) == 0 || line[0] == '#' {
				continue
			}
			var src, dst string
			if numbers {
				a, b, _ := cutNumbers(line)
				src, dst = strconv.Itoa(int(a)), strconv.Itoa(int(b))
			} else {
				src, dst, _ = strings.Cut(string(line), "\t")
			}
			if src != dst {
				want[[2]string{src, dst}] = 1
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

// FuzzNamedEdgeList checks that a list with names gives an error or a sound graph.
func FuzzNamedEdgeList(f *testing.F) {
	f.Add([]byte("1\t2\n3\t1\n"), []byte("1\thttp://a.test/\n2\thttp://a.test/\n"))
	f.Fuzz(func(t *testing.T, list, urls []byte) {
		dir := t.TempDir()
		path := filepath.Join(dir, "x.edges.tsv")
		writeFile(t, path, list)
		writeFile(t, filepath.Join(dir, "x.urls.tsv"), urls)
		stats, err := BuildEdgeList(t.Context(), path, path+".graph", BuildOptions{Memory: 1 << 12})
		if err != nil {
			if !errors.Is(err, errLine) && !strings.Contains(err.Error(), "two names") && !strings.Contains(err.Error(), "can be kept") {
				t.Fatal(err)
			}
			return
		}
		g := openGraph(t, path+".graph")
		if g.Nodes() != stats.Nodes || g.Edges() != stats.Edges {
			t.Errorf("%d nodes, %d edges; %+v", g.Nodes(), g.Edges(), stats)
		}
	})
}

// alive returns the bytes that a garbage collection finds in use. Unlike HeapAlloc it excludes garbage
// created meanwhile.
func alive() uint64 {
	runtime.GC()
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	return live[0].Value.Uint64()
}

// TestBuildMemory samples the live memory of a build that exceeds its limit.
func TestBuildMemory(t *testing.T) {
	const nodes, edges, memory, beside = 250_000, 500_000, 16 << 20, 8 << 20
	name := func(dst []byte, i int) []byte {
		return fmt.Appendf(dst, "https://www%d.example%d.org/archive/departments/reports/view.html?page=%d", i%7, i%5000, i)
	}
	rng := rand.New(rand.NewPCG(4, 4))
	before := alive()
	done, most := make(chan struct{}), make(chan uint64)
	go func() {
		largest := uint64(0)
		for {
			largest = max(largest, alive())
			select {
			case <-done:
				most <- largest
				return
			case <-time.After(20 * time.Millisecond): // sampling interval only
			}
		}
	}()
	b, err := NewBuilder(filepath.Join(t.TempDir(), "g"), BuildOptions{Memory: memory})
	if err != nil {
		t.Fatal(err)
	}
	var src, dst []byte
	for i := 0; i < edges && err == nil; i++ {
		src, dst = name(src[:0], i%nodes), name(dst[:0], rng.IntN(nodes))
		err = b.Edge(src, dst)
	}
	var stats Stats
	if err == nil {
		stats, err = b.Finish(t.Context())
	}
	runs := len(b.dict.runs)
	close(done)
	used := int64(<-most) - int64(before)
	testkit.Must(t, errors.Join(err, b.Close()))
	t.Logf("%d nodes, %d edges in %d runs: %.1f MiB alive", stats.Nodes, stats.Edges, runs, float64(used)/(1<<20))
	if used > memory+beside {
		t.Errorf("%d bytes were alive, of %d", used, memory)
	}
	if runs < 4 || stats.Nodes < nodes*9/10 {
		t.Errorf("%d runs, %d nodes: too few to tell", runs, stats.Nodes)
	}
}
