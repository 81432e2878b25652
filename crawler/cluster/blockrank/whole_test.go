package blockrank

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"fossick/graph"
	"fossick/graph/rank"
	"fossick/internal/fulltest"
)

// split gives each page to a part, with its links; nodes of others that they lead to come
// with them. number has each part's nodes as those of the whole.
func split(t testing.TB, g *graph.Graph, parts int, of func(v uint32) int) (links []Links, number [][]uint32) {
	t.Helper()
	links, number = make([]Links, parts), make([][]uint32, parts)
	lists := make([]map[uint32][]uint32, parts)
	for i := range lists {
		lists[i] = map[uint32][]uint32{}
	}
	if err := g.Scan(0, g.Nodes(), func(v uint32, to []uint32) error {
		lists[of(v)][v] = slices.Clone(to)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for i, list := range lists {
		place := map[uint32]uint32{}
		for v, to := range list {
			place[v] = 0
			for _, w := range to {
				place[w] = 0
			}
		}
		for v := range place {
			number[i] = append(number[i], v)
		}
		slices.Sort(number[i])
		for at, v := range number[i] {
			place[v] = uint32(at)
		}
		out, l := &graph.CSR{Start: []int64{0}}, &links[i]
		for _, v := range number[i] {
			for _, w := range list[v] {
				out.To = append(out.To, place[w])
			}
			out.Start = append(out.Start, int64(len(out.To)))
			_, page := list[v]
			l.Keys, l.Page = append(l.Keys, uint64(v)*0x9e3779b97f4a7c15), append(l.Page, page)
		}
		l.In, l.Degree, _ = graph.Transposed(out) // which reads no file
	}
	return links, number
}

// bySite gives sites to parts by a hash, as agents have them.
func bySite(g *graph.Graph, parts int) func(v uint32) int {
	sites := g.Sites().Array(g.Nodes())
	return func(v uint32) int { return int(uint64(sites[v]) * 0x9e3779b97f4a7c15 >> 32 % uint64(parts)) }
}

// ranked are the scores of the whole's nodes.
func ranked(t testing.TB, n int, links []Links, number [][]uint32, opt Options) ([]float64, *Result) {
	t.Helper()
	parts, r, err := Rank(t.Context(), links, opt)
	if err != nil {
		t.Fatal(err)
	}
	score := make([]float64, n)
	for i, p := range parts {
		for at, v := range number[i] {
			if x, ours := p.Score(uint32(at)); ours {
				score[v] = x
			}
		}
	}
	return score, r
}

func l1(a, b []float64) (sum float64) {
	for v := range a {
		sum += math.Abs(a[v] - b[v])
	}
	return sum
}

// TestAgainstRank: agents come to what rank says of the union, whatever their number and
// whoever has which page: within ε of PageRank, within 2ε of rank at the same ε, with the same
// top 100. The same agents come to the same bits.
func TestAgainstRank(t *testing.T) {
	g := synthetic(t, fulltest.Rounds(4_000, 50_000))
	n := g.Nodes()
	of := func(epsilon float64) []float64 {
		r, err := rank.Of(t.Context(), g, rank.Options{Epsilon: epsilon})
		if err != nil {
			t.Fatal(err)
		}
		return r.Score
	}
	const epsilon = 1e-9
	exact, same := of(1e-13), of(epsilon)
	top := rank.Highest(exact, nil, 100)
	r := rand.New(rand.NewPCG(1, 2))
	anyhow := make([]int, n)
	for v := range anyhow {
		anyhow[v] = r.IntN(24) // which 3 and 8 divide
	}
	for _, parts := range []int{1, 3, 8} {
		sites, random := bySite(g, parts), func(v uint32) int { return anyhow[v] % parts }
		for name, of := range map[string]func(uint32) int{"by site": sites, "at random": random} {
			links, number := split(t, g, parts, of)
			score, result := ranked(t, n, links, number, Options{Epsilon: epsilon})
			if off, off2 := l1(score, exact), l1(score, same); off > epsilon || off2 > 2*epsilon {
				t.Errorf("%d parts %s: off by %g, from rank by %g", parts, name, off, off2)
			}
			if got := rank.Highest(score, nil, 100); !slices.Equal(got, top) {
				t.Errorf("%d parts %s: top %v, want %v", parts, name, got, top)
			}
			if result.Nodes != n || result.Edges != g.Edges() {
				t.Errorf("%d parts %s: %+v of %d nodes, %d edges", parts, name, result, n, g.Edges())
			}
			t.Logf("%d parts %s: %d rounds, %d sweeps, %d bytes, %d of them to meet", parts, name, result.Rounds, result.Sweeps, result.Bytes, result.Meeting)
			if parts != 3 {
				continue
			}
			if again, _ := ranked(t, n, links, number, Options{Epsilon: epsilon}); !slices.Equal(again, score) {
				t.Errorf("%d parts %s: other bits the second time", parts, name)
			}
		}
	}
}

// TestRounds: what the start is worth to steps of the power iteration, and what it is worth
// that blocks are ranked in each round. Blocks that are sites need fewer rounds than blocks
// at random, and less is sent in each.
func TestRounds(t *testing.T) {
	g := synthetic(t, fulltest.Rounds(4_000, 50_000))
	r := rand.New(rand.NewPCG(1, 2))
	anyhow := make([]int, g.Nodes())
	for v := range anyhow {
		anyhow[v] = r.IntN(4)
	}
	got := map[string]*Result{}
	for name, of := range map[string]func(uint32) int{"site": bySite(g, 4), "random": func(v uint32) int { return anyhow[v] }} {
		links, number := split(t, g, 4, of)
		for _, method := range Methods {
			_, result := ranked(t, g.Nodes(), links, number, Options{Method: method})
			got[method+" "+name] = result
			t.Logf("%s, %s: %d rounds, %d sweeps, %d bytes", method, name, result.Rounds, result.Sweeps, result.Bytes)
		}
	}
	blocks, kamvar, power, random := got["blockrank site"], got["blockrank-kamvar site"], got["power site"], got["blockrank random"]
	if blocks.Rounds*3 > kamvar.Rounds || kamvar.Rounds >= power.Rounds {
		t.Errorf("rounds: %d with blocks in each, %d with them as a start, %d without", blocks.Rounds, kamvar.Rounds, power.Rounds)
	}
	if blocks.Rounds > random.Rounds || blocks.Bytes*2 > random.Bytes {
		t.Errorf("by site %d rounds, %d bytes; at random %d, %d", blocks.Rounds, blocks.Bytes, random.Rounds, random.Bytes)
	}
}

// synthetic opens the graph of a made-up web.
func synthetic(t testing.TB, pages int) *graph.Graph {
	t.Helper()
	g, err := graph.OpenWeb(t.Context(), t.TempDir(), pages)
	return closing(t, g, err)
}

// closing closes a graph when the test ends.
func closing(t testing.TB, g *graph.Graph, err error) *graph.Graph {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}
