package simulate_test

import (
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"fossick/eval/simulate"
	"fossick/graph"
	"fossick/graph/orders"
	"fossick/graph/rank"
	"fossick/internal/fulltest"
)

var update = flag.Bool("update", false, "write testdata/golden.txt anew")

// TestGolden builds graphs and compares their files, the pages of crawls by every
// ordering, and ranks, with what they were: to the last bit, as hashes.
func TestGolden(t *testing.T) {
	var got strings.Builder
	for _, name := range []string{"graphs/hollins.edges.tsv.zst", "wikispeedia/links.tsv.zst", "uci_ics/links.tsv.zst", "synthetic"} {
		golden(t, &got, name)
	}
	const path = "testdata/golden.txt"
	if *update {
		if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	wanted := map[string]bool{}
	for line := range strings.Lines(string(want)) {
		wanted[line] = true
	}
	for line := range strings.Lines(got.String()) {
		ranks := strings.Contains(line, " rank ") && runtime.GOARCH != "amd64" // others may fuse products into sums
		if !wanted[line] && !ranks {
			t.Errorf("not so before: %s", line)
		}
	}
}

// golden writes a line a hash.
func golden(t *testing.T, out io.Writer, name string) {
	path := filepath.Join(t.TempDir(), "graph")
	if name == "synthetic" {
		web, err := graph.NewWeb(20_000, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := web.Write(t.Context(), path); err != nil {
			t.Fatal(err)
		}
	} else {
		list := fulltest.Corpus(t, name)
		if _, err := graph.BuildEdgeList(t.Context(), list, path, graph.BuildOptions{Memory: 8 << 20}); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(out, "%s file %.8x\n", name, sha256.Sum256(data))
	g, err := graph.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	for _, order := range append(orders.Sequences(), "mcs*0.3+bfs*0.7") {
		for _, alike := range []bool{false, true} {
			fmt.Fprintf(out, "%s %s alike=%v %s\n", name, order, alike, crawlHash(t, g, order, alike, nil))
		}
	}
	manners := &simulate.Manners{Workers: 8, Fetch: time.Second, Rest: 2 * time.Second}
	for _, order := range []string{"lexbfs", "mcs", "opic"} {
		fmt.Fprintf(out, "%s %s polite %s\n", name, order, crawlHash(t, g, order, false, manners))
	}
	rankHashes(t, out, name, g)
}

func crawlHash(t *testing.T, g *graph.Graph, name string, alike bool, m *simulate.Manners) string {
	order, err := orders.NewSequence(name, orders.SequenceOptions{
		Vertices: g.Nodes(), Rand: rand.New(rand.NewPCG(1, 1)), Sites: g.Sites().Array(g.Nodes()), Links: g.Reader().Successors,
		Score: func(v uint32) float64 { return float64(v%100) / 100 },
	})
	if err != nil {
		t.Fatal(err)
	}
	c := simulate.Crawl{Graph: g, Order: order, MaxPages: 5000, Alike: alike, Manners: m}
	for i := range 20 {
		c.Starts = append(c.Starts, uint32(i*g.Nodes()/20))
	}
	h := sha256.New()
	done, err := c.Run(t.Context(), func(_ int, v uint32) error { return binary.Write(h, binary.LittleEndian, v) })
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d pages %s %.8x", done.Pages, done.Time, h.Sum(nil))
}

func rankHashes(t *testing.T, out io.Writer, name string, g *graph.Graph) {
	for _, method := range rank.Methods()[1:] {
		r, err := rank.Of(t.Context(), g, rank.Options{Method: method})
		if err != nil {
			t.Fatal(err)
		}
		h := sha256.New()
		if err := binary.Write(h, binary.LittleEndian, append(r.Score, r.Hub...)); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(out, "%s rank %s %.8x\n", name, method, h.Sum(nil))
	}
}
