package cluster

import (
	"bytes"
	"context"
	"errors"
	"hash/fnv"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fossick/graph"
	"fossick/graph/rank"
	"fossick/internal/testkit"
)

// TestAgainstDefinition: for random webs on random agents, each method finds the PageRank of the
// union, computed by its definition, within ε.
func TestAgainstDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for web := range testkit.Rounds(60, 300) {
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
		ranked, err := Rank(t.Context(), links(parts), opt)
		if err != nil {
			t.Fatalf("web %d, %+v: %v", web, opt, err)
		}
		result := ranked[0].Result()
		if off := distance(t, want, scores(t, parts, ranked)); off > opt.Epsilon {
			t.Errorf("web %d, %d agents, %+v: off by %g; %+v", web, len(agents), opt, off, result)
		}
		if result.Nodes != len(want) || result.Residual > opt.Epsilon {
			t.Errorf("web %d: %+v of %d nodes", web, result, len(want))
		}
	}
}

// TestFactors: two blocks and one that holds nothing, by hand. With h = 2, 4, 0 and a = 0.3, 0.5,
// 0:
//
//	z₁ = 0.3 + z₁·0.2/2 + z₂·0.6/4   z₂ = 0.5 + z₁·0.4/2 + z₂·1/4
//
// so z₁ = 0.3/0.645 and z₂ = 0.51/0.645. Factors are z/h.
func TestFactors(t *testing.T) {
	got := factors([]float64{2, 4, 0}, []float64{0.3, 0.5, 0}, [][]float64{{0.2, 0.4, 0}, {0.6, 1, 0}, {0, 0, 0}})
	for i, want := range []float64{0.3 / 0.645 / 2, 0.51 / 0.645 / 4, 1} {
		if !(math.Abs(got[i]-want) <= 1e-12) {
			t.Errorf("factor %d is %v, want %v", i, got[i], want)
		}
	}
	for _, a := range []float64{0, math.NaN(), 1e300} {
		if got := factors([]float64{2, 4}, []float64{a, 1}, [][]float64{{0, 0}, {0, 0}}); got[0] != 1 || got[1] != 1 {
			t.Errorf("with %v of the base factors are %v, want 1 and 1", a, got)
		}
	}
}

// TestExtrapolation: masses that change by a few factors a round, of either sign, are predicted
// by two parts together. Without extrapolation .9^14 of the error would remain.
func TestExtrapolation(t *testing.T) {
	rates := []float64{0.9, -0.9, 0.5, -0.3}
	apply := func(x []float64) []float64 {
		y := make([]float64, len(x))
		for i := range x {
			y[i] = 1 + rates[i]*(x[i]-1) // the fixed point is 1
		}
		return y
	}
	x := []float64{5, 3, 2, 9}
	var halves [2]extrapolation
	for range 14 {
		g := apply(x)
		var sum [products]float64
		for h := range halves {
			for i, p := range halves[h].see(g[2*h:2*h+2], x[2*h:2*h+2]) {
				sum[i] += p
			}
		}
		gamma := weights(sum[:])
		x = append([]float64(nil), g...)
		for h := range halves {
			for k, d := range halves[h].dg {
				for i := range d {
					x[2*h+i] -= gamma[k] * d[i]
				}
			}
		}
	}
	for i := range x {
		if off := math.Abs(x[i] - 1); !(off < 1e-6) {
			t.Errorf("part %d is off by %g", i, off)
		}
	}
	if none := weights(make([]float64, products)); none != [depth]float64{} {
		t.Errorf("of nothing: %v", none)
	}
}

var someRankMessages = []rankMessage{
	{kind: rankHello},
	{kind: rankClaims, keys: []uint64{0, 1, 1 << 40, math.MaxUint64}},
	{kind: rankOwners, numbers: []uint64{0, 7, math.MaxUint64}},
	{kind: rankTurn, numbers: []uint64{1, 0}, floats: []float64{0.1, 1, math.MaxFloat64, math.SmallestNonzeroFloat64, 0}},
}

func TestRankMessages(t *testing.T) {
	for _, m := range someRankMessages {
		got, err := decodeRank(m.encode())
		if err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("%+v comes back as %+v, %v", m, got, err)
		}
	}
	nan, falls := rankMessage{kind: rankMasses, floats: []float64{math.NaN()}}, rankMessage{kind: rankClaims, keys: []uint64{3, 3}}
	whole := someRankMessages[3].encode()
	for name, b := range map[string][]byte{
		"empty": nil, "kind 0": {0, 0, 0, 0}, "kind beyond": {byte(rankScores) + 1, 0, 0, 0}, "NaN": nan.encode(), "a key twice": falls.encode(),
		"cut": whole[:len(whole)-1], "more": append(whole[:len(whole):len(whole)], 0), "a count without bytes": {byte(rankMasses), 0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f},
	} {
		if _, err := decodeRank(b); !errors.Is(err, errRank) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzRankMessage decodes any bytes. Whatever is accepted must encode back to the same.
func FuzzRankMessage(f *testing.F) {
	for _, m := range someRankMessages {
		f.Add(m.encode())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := decodeRank(b)
		if err != nil {
			return
		}
		again := m.encode()
		if len(again) > len(b) { // a varint may be longer than needed, never shorter
			t.Errorf("%x is written as %x", b, again)
		}
		twice, err := decodeRank(again)
		if err != nil || !bytes.Equal(twice.encode(), again) {
			t.Errorf("%x: then %+v, %v", b, twice, err)
		}
	})
}

// agent is a test agent's pages with their links, by URL.
type agent map[string][]string

func keyOf(url string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(url))
	return h.Sum64()
}

type namedLinks struct {
	RankLinks
	names []string
}

// linksOf numbers an agent's nodes by name. As in a graph.Graph, self-links and repeated links
// are dropped.
func linksOf(a agent) namedLinks {
	to := a.links()
	l := namedLinks{names: slices.Sorted(maps.Keys(to))}
	number := map[string]uint32{}
	for v, name := range l.names {
		number[name] = uint32(v)
		l.Keys = append(l.Keys, keyOf(name))
		_, page := a[name]
		l.Page = append(l.Page, page)
	}
	out := &graph.CSR{Start: []int64{0}}
	for _, name := range l.names {
		for to := range to[name] {
			out.To = append(out.To, number[to])
		}
		slices.Sort(out.To[out.Start[len(out.Start)-1]:])
		out.Start = append(out.Start, int64(len(out.To)))
	}
	l.In, l.Degree, _ = graph.Transposed(out) // reads no file
	return l
}

// links returns the links of all nodes, including nodes that are only linked to.
func (a agent) links() map[string]map[string]bool {
	set := map[string]map[string]bool{}
	for page, links := range a {
		if set[page] == nil {
			set[page] = map[string]bool{}
		}
		for _, to := range links {
			if set[to] == nil {
				set[to] = map[string]bool{}
			}
			if to != page {
				set[page][to] = true
			}
		}
	}
	return set
}

// union returns the web of all agents. If several have a page, the first's links count.
func union(agents []agent) agent {
	all := agent{}
	for _, a := range slices.Backward(agents) {
		for page, links := range a {
			all[page] = links
		}
	}
	return all
}

// dense computes PageRank by its definition, by name.
func dense(a agent, d float64) map[string]float64 {
	set := a.links()
	n := float64(len(set))
	now := map[string]float64{}
	for page := range set {
		now[page] = 1 / n
	}
	for range 400 {
		next, dangling := map[string]float64{}, 0.0
		for page, links := range set {
			if len(links) == 0 {
				dangling += now[page]
			}
			for to := range links {
				next[to] += d * now[page] / float64(len(links))
			}
		}
		for page := range set {
			next[page] += (1 - d + d*dangling) / n
		}
		now = next
	}
	return now
}

// scores returns the scores found, by name. It checks that each node has one owner, and that each
// copy of a page has its score.
func scores(t testing.TB, links []namedLinks, parts []*RankPart) map[string]float64 {
	t.Helper()
	all := map[string]float64{}
	for i, p := range parts {
		for v, name := range links[i].names {
			x, ours := p.Score(uint32(v))
			if _, had := all[name]; ours && had {
				t.Errorf("%s has two owners", name)
			}
			if ours {
				all[name] = x
			}
		}
	}
	for i, p := range parts {
		for v, name := range links[i].names {
			if x, _ := p.Score(uint32(v)); links[i].Page[v] && x != all[name] {
				t.Errorf("agent %d has %g for its page %s, the owner %g", i, x, name, all[name])
			}
		}
	}
	return all
}

// distance returns the L1 norm of the difference.
func distance(t testing.TB, a, b map[string]float64) (sum float64) {
	t.Helper()
	if len(a) != len(b) {
		t.Errorf("%d nodes and %d", len(a), len(b))
	}
	for name, x := range a {
		sum += math.Abs(x - b[name])
	}
	return sum
}

// randomAgents makes a web of so many pages, divided among parts by host or at random, some pages
// several times. Pages may link to nothing, themselves, one page twice, or missing pages.
func randomAgents(r *rand.Rand, parts, pages int) []agent {
	agents := make([]agent, parts)
	for i := range agents {
		agents[i] = agent{}
	}
	hosts := 1 + r.IntN(8)
	url := func(i int) string { return "http://h" + string(rune('a'+i%hosts)) + ".test/" + string(rune('A'+i)) }
	byHost, empty := r.IntN(2) == 0, r.IntN(parts)
	for i := range pages {
		if r.IntN(4) == 0 {
			continue // nobody has it
		}
		for range 1 + r.IntN(5)/4 {
			to := r.IntN(parts)
			if byHost {
				to = i % hosts % parts
			}
			if to == empty && parts > 2 {
				to = (to + 1) % parts
			}
			var links []string
			for range r.IntN(6) {
				links = append(links, url(r.IntN(pages)))
			}
			agents[to][url(i)] = links
		}
	}
	return agents
}

func links(namedLinks []namedLinks) []RankLinks {
	all := make([]RankLinks, len(namedLinks))
	for i := range namedLinks {
		all[i] = namedLinks[i].RankLinks
	}
	return all
}

// split gives each page with its links to a part. Link targets owned by other parts become nodes
// too. number maps each part's nodes to those of the whole.
func split(t testing.TB, g *graph.Graph, parts int, of func(v uint32) int) (links []RankLinks, number [][]uint32) {
	t.Helper()
	links, number = make([]RankLinks, parts), make([][]uint32, parts)
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
		l.In, l.Degree, _ = graph.Transposed(out) // reads no file
	}
	return links, number
}

// bySite assigns sites to parts by a hash, as agents do.
func bySite(g *graph.Graph, parts int) func(v uint32) int {
	sites := g.Sites().Array(g.Nodes())
	return func(v uint32) int { return int(uint64(sites[v]) * 0x9e3779b97f4a7c15 >> 32 % uint64(parts)) }
}

// ranked returns the scores of the whole graph's nodes.
func ranked(t testing.TB, n int, links []RankLinks, number [][]uint32, opt RankOptions) ([]float64, *RankResult) {
	t.Helper()
	parts, err := Rank(t.Context(), links, opt)
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
	return score, parts[0].Result()
}

func l1(a, b []float64) (sum float64) {
	for v := range a {
		sum += math.Abs(a[v] - b[v])
	}
	return sum
}

// TestAgainstRank: any number of agents with any distribution of pages match graph/rank on the
// union: within ε of PageRank, within 2ε of its result, with the same top 100. A repeated run
// gives the same bits.
func TestAgainstRank(t *testing.T) {
	g := synthetic(t, testkit.Rounds(4_000, 20_000))
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
		anyhow[v] = r.IntN(24) // 24 is divisible by 3 and 8
	}
	for _, parts := range []int{1, 3, 8} {
		sites, random := bySite(g, parts), func(v uint32) int { return anyhow[v] % parts }
		for name, of := range map[string]func(uint32) int{"by site": sites, "at random": random} {
			links, number := split(t, g, parts, of)
			score, result := ranked(t, n, links, number, RankOptions{Epsilon: epsilon})
			if off, off2 := l1(score, exact), l1(score, same); off > epsilon || off2 > 2*epsilon {
				t.Errorf("%d parts %s: off by %g, from rank by %g", parts, name, off, off2)
			}
			if got := rank.Highest(score, nil, 100); !slices.Equal(got, top) {
				t.Errorf("%d parts %s: top %v, want %v", parts, name, got, top)
			}
			if result.Nodes != n || result.Edges != g.Edges() {
				t.Errorf("%d parts %s: %+v of %d nodes, %d edges", parts, name, result, n, g.Edges())
			}
			t.Logf("%d parts %s: %d rounds, %d sweeps, %d bytes", parts, name, result.Rounds, result.Sweeps, result.Bytes)
			if parts != 3 {
				continue
			}
			if again, _ := ranked(t, n, links, number, RankOptions{Epsilon: epsilon}); !slices.Equal(again, score) {
				t.Errorf("%d parts %s: other bits the second time", parts, name)
			}
		}
	}
}

// TestRankDeaths: over an exchange that loses, doubles and delays messages, agents die at any
// operation, lose their memory, and come back. All find the PageRank of the union within ε.
func TestRankDeaths(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	died, ranked := 0, 0
	for seed := range testkit.Rounds(12, 100) {
		agents := randomAgents(r, 2+r.IntN(3), 10+r.IntN(30))
		all := union(agents)
		if len(all) == 0 {
			continue
		}
		var links []namedLinks
		for _, a := range agents {
			links = append(links, linksOf(a))
		}
		opt := RankOptions{Method: RankMethods[seed%len(RankMethods)], Epsilon: 1e-9}
		parts, deaths := make([]*RankPart, len(agents)), make([]int, len(agents))
		for i := range deaths {
			if r.IntN(2) == 0 {
				deaths[i] = 1 + r.IntN(400)
			}
		}
		var late atomic.Bool
		synctest.Test(t, func(t *testing.T) {
			w := &taskWorld{NewHub(), uint64(seed)}
			var lives sync.WaitGroup
			for i := range agents {
				life := func(operations int) error {
					return w.run(t.Context(), Task{Me: agentName(i), Agents: len(agents)}, newLife(operations), func(ctx context.Context, s TaskSession) (err error) {
						parts[i], err = s.Rank(ctx, links[i].RankLinks, opt)
						return err
					})
				}
				lives.Go(func() {
					err := life(deaths[i])
					if deaths[i] > 0 && errors.Is(err, errDied) {
						time.Sleep(time.Duration(i) * 7 * time.Second)
						err = life(0)
					} else {
						deaths[i] = 0
					}
					if errors.Is(err, context.DeadlineExceeded) {
						late.Store(true) // another agent had ended by then
					} else if err != nil {
						t.Errorf("seed %d, agent %d: %v", seed, i, err)
					}
				})
			}
			lives.Wait()
		})
		for _, d := range deaths {
			died += min(d, 1)
		}
		if late.Load() {
			continue
		}
		ranked++
		if off := distance(t, dense(all, 0.85), scores(t, links, parts)); off > opt.Epsilon {
			t.Errorf("seed %d, %v, %+v: off by %g; %+v", seed, deaths, opt, off, parts[0].Result())
		}
	}
	t.Logf("%d deaths, %d rankings complete", died, ranked)
	if died < 5 || ranked < 5 {
		t.Errorf("%d deaths, %d rankings complete: too few to show anything", died, ranked)
	}
}

// TestRounds compares methods: a start by BlockRank saves power steps, and ranking blocks in each
// round saves more. Blocks of whole sites need fewer rounds and bytes than random blocks.
func TestRounds(t *testing.T) {
	g := synthetic(t, testkit.Rounds(4_000, 20_000))
	r := rand.New(rand.NewPCG(1, 2))
	anyhow := make([]int, g.Nodes())
	for v := range anyhow {
		anyhow[v] = r.IntN(4)
	}
	got := map[string]*RankResult{}
	for name, of := range map[string]func(uint32) int{"site": bySite(g, 4), "random": func(v uint32) int { return anyhow[v] }} {
		links, number := split(t, g, 4, of)
		for _, method := range RankMethods {
			_, result := ranked(t, g.Nodes(), links, number, RankOptions{Method: method})
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

// synthetic opens the graph of a synthetic web.
func synthetic(t testing.TB, pages int) *graph.Graph {
	t.Helper()
	web, err := graph.NewWeb(pages, 1)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "web.graph")
	if err := web.Write(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	g, err := graph.Open(path)
	return closing(t, g, err)
}

// closing closes a graph at the end of the test.
func closing(t testing.TB, g *graph.Graph, err error) *graph.Graph {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}
