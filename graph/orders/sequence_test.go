package orders

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"fossick/internal/testkit"
)

// oracle implements the definitions of paper B1 directly: it keeps all visits that reached each waiting
// vertex, and compares all vertices at every step.
type oracle struct {
	order   string
	rng     *rand.Rand
	step    int
	waits   map[uint32]*reached
	visited map[uint32]bool
}

type reached struct {
	v      uint32
	found  [2]int // step and place of the discovery
	steps  []int  // of the discovery and of counting links
	places []int  // of the link in each of these visits
	weight int    // for mns
}

func (o *oracle) visit(l Links) {
	weight := 1
	if o.order == "mns" {
		weight = 1 + int(o.rng.Uint32N(2))
	}
	for place, v := range l.All {
		r := o.waits[v]
		if o.visited[v] || r != nil && !l.counts(place) {
			continue
		}
		if r == nil { // "if p has new URLs, add them to C⟨1⟩"
			r = &reached{v: v, found: [2]int{o.step, place}}
			o.waits[v] = r
			if o.order == "mcs-sites" && !l.counts(place) {
				continue
			}
		}
		r.steps, r.places, r.weight = append(r.steps, o.step), append(r.places, place), r.weight+weight
	}
	o.step++
}

func (o *oracle) next() (uint32, bool) {
	var best *reached
	for _, r := range o.waits {
		if best == nil || o.before(r, best) {
			best = r
		}
	}
	if best == nil {
		return 0, false
	}
	delete(o.waits, best.v)
	o.visited[best.v] = true
	return best.v, true
}

func (o *oracle) before(a, b *reached) bool {
	last := func(r *reached) []int {
		if len(r.steps) == 0 {
			return r.found[:]
		}
		return []int{r.steps[len(r.steps)-1], r.places[len(r.places)-1]}
	}
	c := 0
	switch o.order {
	case "bfs":
		c = cmp.Or(cmp.Compare(a.steps[0], b.steps[0]), cmp.Compare(a.places[0], b.places[0]))
	case "dfs":
		c = cmp.Or(-cmp.Compare(last(a)[0], last(b)[0]), cmp.Compare(last(a)[1], last(b)[1]))
	case "lexbfs": // labels are n−i, n−j, …: a smaller step, or a longer label, is larger
		c = slices.CompareFunc(a.steps, b.steps, func(x, y int) int { return cmp.Compare(y, x) })
		c = -c
	case "lexdfs": // labels are the steps, last first
		x, y := slices.Clone(a.steps), slices.Clone(b.steps)
		slices.Reverse(x)
		slices.Reverse(y)
		c = cmp.Or(-slices.Compare(x, y), cmp.Compare(a.places[0], b.places[0]))
	case "mcs", "mcs-sites":
		c = -cmp.Compare(len(a.steps), len(b.steps))
	case "mns":
		c = -cmp.Compare(a.weight, b.weight)
	}
	return cmp.Or(c, slices.Compare(last(a), last(b))) < 0
}

func testOptions(n int, links [][]uint32, rng *rand.Rand) SequenceOptions {
	o := SequenceOptions{
		Vertices: n, Rand: rng,
		Score: func(v uint32) float64 { return float64(v*7919%10) / 10 },
		Links: func(v uint32) ([]uint32, error) { return links[v], nil },
	}
	for v := range n {
		o.Sites = append(o.Sites, uint32(v*7919%6))
	}
	return o
}

// randomWeb makes links in random order, and decides which count.
func randomWeb(rng *rand.Rand) (links [][]uint32, counts func(src, dst uint32) bool) {
	n := 1 + rng.IntN(60)
	links = make([][]uint32, n)
	density := rng.Float64() * rng.Float64()
	for v := range links {
		for _, w := range rng.Perm(n) {
			if rng.Float64() < density {
				links[v] = append(links[v], uint32(w)) // self-links too
			}
		}
	}
	sites := 1 + rng.IntN(6)
	site := func(v uint32) int { return int(v*7919) % sites }
	alike := rng.IntN(3) == 0
	return links, func(src, dst uint32) bool { return alike || site(src) != site(dst) || site(src) == 0 }
}

func crawl(links [][]uint32, counts func(src, dst uint32) bool, starts []uint32, next func() (uint32, bool), visit func(l Links)) (order []uint32) {
	visit(Starts(starts))
	for {
		v, ok := next()
		if !ok {
			return order
		}
		order = append(order, v)
		visit(linksOf(links, counts, v))
	}
}

func linksOf(links [][]uint32, counts func(src, dst uint32) bool, v uint32) Links {
	l := Alike(v, links[v])
	for _, w := range links[v] {
		l.OnlyDiscovers = append(l.OnlyDiscovers, !counts(v, w))
	}
	return l
}

// TestSequencesEqualOracle compares with the definitions on random graphs of up to 60 vertices.
func TestSequencesEqualOracle(t *testing.T) {
	graphs := testkit.Rounds(1000, 4000)
	for _, order := range []string{"bfs", "dfs", "lexbfs", "lexdfs", "mcs", "mcs-sites", "mns"} {
		t.Run(order, func(t *testing.T) {
			for i := range graphs {
				rng := rand.New(rand.NewPCG(uint64(i), 1))
				links, counts := randomWeb(rng)
				var starts []uint32
				for _, v := range rng.Perm(len(links))[:1+rng.IntN(min(3, len(links)))] {
					starts = append(starts, uint32(v))
				}
				s := testkit.Call(NewSequence(order, SequenceOptions{Vertices: rng.IntN(len(links) + 1), Rand: rand.New(rand.NewPCG(7, 7))})).Must(t)
				o := &oracle{order: order, rng: rand.New(rand.NewPCG(7, 7)), waits: map[uint32]*reached{}, visited: map[uint32]bool{}}
				got := crawl(links, counts, starts, s.Next, s.Visit)
				want := crawl(links, counts, starts, o.next, o.visit)
				if !slices.Equal(got, want) {
					t.Fatalf("graph %d from %v: links %v\n got %v\nwant %v", i, starts, links, got, want)
				}
			}
		})
	}
}

// TestPaperB is the worked example of paper B1: after visits of 1 … 5 in this order, which vertex is next?
func TestPaperB(t *testing.T) {
	links := [][]uint32{{6, 7}, {7, 8}, {8}, {8, 9}, {9, 10}}
	want := map[string][]uint32{
		"generic": {6, 7, 8, 9, 10}, "bfs": {6, 7}, "lexbfs": {7}, "dfs": {9, 10}, "lexdfs": {9}, "mns": {7, 8, 9}, "mcs": {8},
	}
	for order := range want {
		s := testkit.Call(NewSequence(order, SequenceOptions{Rand: rand.New(rand.NewPCG(1, 1))})).Must(t)
		for _, to := range links {
			s.Visit(Starts(to)) // vertices 1 … 5 themselves never wait
		}
		if got, ok := s.Next(); !ok || !slices.Contains(want[order], got) {
			t.Errorf("%s: next is %d, want one of %v", order, got, want[order])
		}
	}
}

func ExampleNewSequence() {
	s, err := NewSequence("mcs", SequenceOptions{})
	if err != nil {
		panic(err)
	}
	links := map[uint32][]uint32{0: {1, 2, 3}, 1: {3}}
	s.Visit(Starts([]uint32{0})) // the start URL
	for v, ok := s.Next(); ok; v, ok = s.Next() {
		fmt.Print(v, " ")
		s.Visit(Alike(v, links[v]))
	}
	// Output: 0 1 3 2
}

type known struct {
	links   [][]uint32
	starts  []uint32
	visits  []uint32
	found   []uint32 // in order of discovery, including visited ones
	visited map[uint32]bool
}

// parents returns the visited pages that link to v, in visiting order, and whether v is a start page.
func (k *known) parents(v uint32) (parents []uint32, start bool) {
	for _, p := range k.visits {
		if slices.Contains(k.links[p], v) {
			parents = append(parents, p)
		}
	}
	return parents, slices.Contains(k.starts, v)
}

func (k *known) discover(links []uint32) {
	for _, v := range links {
		if !slices.Contains(k.found, v) {
			k.found = append(k.found, v)
		}
	}
}

// follow drives a sequence and calls check with each choice before recording it.
func follow(t *testing.T, s Sequence, k *known, check func(v uint32)) {
	t.Helper()
	k.visited = map[uint32]bool{}
	s.Visit(Starts(k.starts))
	k.discover(k.starts)
	for {
		v, ok := s.Next()
		if !ok {
			break
		}
		if k.visited[v] || !slices.Contains(k.found, v) {
			t.Fatalf("%d was visited or not discovered; visits %v", v, k.visits)
		}
		check(v)
		k.visited[v] = true
		k.visits = append(k.visits, v)
		k.discover(k.links[v])
		// These orderings ignore kinds of links, so all links only discover.
		s.Visit(linksOf(k.links, func(_, _ uint32) bool { return false }, v))
	}
	if len(k.visits) != len(k.found) || s.Err() != nil {
		t.Fatalf("%d of %d visited, %v", len(k.visits), len(k.found), s.Err())
	}
}

// first returns the waiting vertex with the largest value; ties go by discovery.
func (k *known) first(value func(v uint32) float64) uint32 {
	best, most := uint32(0), math.Inf(-1)
	for _, v := range k.found {
		if x := value(v); !k.visited[v] && x > most {
			best, most = v, x
		}
	}
	return best
}

func furtherGraph(i int) (k *known, o SequenceOptions, rng *rand.Rand) {
	rng = rand.New(rand.NewPCG(uint64(i), 5))
	links, _ := randomWeb(rng)
	k = &known{links: links}
	for _, v := range rng.Perm(len(links))[:1+rng.IntN(min(3, len(links)))] {
		k.starts = append(k.starts, uint32(v))
	}
	o = testOptions(len(links), links, rng)
	o.Vertices = rng.IntN(len(links) + 1)
	return k, o, rng
}

func graphs() int { return testkit.Rounds(400, 3000) }

func mustSequence(t *testing.T, name string, o SequenceOptions) Sequence {
	t.Helper()
	s := testkit.Call(NewSequence(name, o)).Must(t)
	return s
}

// TestBacklinkEqualsOracle: most visited parents first; ties go to the earliest last parent, then by place on
// that page.
func TestBacklinkEqualsOracle(t *testing.T) {
	for i := range graphs() {
		k, o, _ := furtherGraph(i)
		follow(t, mustSequence(t, "backlink", o), k, func(got uint32) {
			type key struct{ n, last, place int }
			of := func(v uint32) key {
				parents, start := k.parents(v)
				x := key{n: len(parents)}
				if start {
					x.n, x.place = x.n+1, slices.Index(k.starts, v)
				}
				if len(parents) > 0 {
					p := parents[len(parents)-1]
					x.last, x.place = 1+slices.Index(k.visits, p), slices.Index(k.links[p], v)
				}
				return x
			}
			best := got
			for _, v := range k.found {
				a, b := of(v), of(best)
				if !k.visited[v] && (a.n > b.n || a.n == b.n && (a.last < b.last || a.last == b.last && a.place < b.place)) {
					best = v
				}
			}
			if best != got {
				t.Fatalf("graph %d: took %d %+v, want %d %+v", i, got, of(got), best, of(best))
			}
		})
	}
}

func TestRelevanceEqualsOracle(t *testing.T) {
	for i := range graphs() {
		k, o, _ := furtherGraph(i)
		follow(t, mustSequence(t, "relevance", o), k, func(got uint32) {
			want := k.first(func(v uint32) float64 {
				parents, start := k.parents(v)
				best := 0.0
				if start {
					best = 1
				}
				for _, p := range parents {
					best = max(best, o.Score(p))
				}
				return best
			})
			if got != want {
				t.Fatalf("graph %d: took %d, want %d", i, got, want)
			}
		})
	}
}

// TestOPICEqualsOracle recomputes all cash at each step.
func TestOPICEqualsOracle(t *testing.T) {
	for i := range graphs() {
		k, o, _ := furtherGraph(i)
		spent := map[uint32]float64{}
		follow(t, mustSequence(t, "opic", o), k, func(got uint32) {
			cash := func(v uint32) float64 {
				sum := 1.0
				parents, _ := k.parents(v)
				for _, p := range parents {
					sum += spent[p] / float64(len(k.links[p]))
				}
				return sum
			}
			if want := k.first(cash); got != want {
				t.Fatalf("graph %d: took %d with %g, want %d with %g", i, got, cash(got), want, cash(want))
			}
			spent[got] = cash(got)
		})
	}
}

func TestOPICHistoryEqualsOracle(t *testing.T) {
	for i := range graphs() / 4 {
		k, o, _ := furtherGraph(i)
		cash := map[uint32]float64{}
		spend := func(p uint32) {
			c := cash[p]
			cash[p] = 0
			for _, w := range k.links[p] {
				if _, ok := cash[w]; !ok {
					cash[w] = 1
				}
				cash[w] += c / float64(len(k.links[p]))
			}
		}
		for _, v := range k.starts {
			cash[v] = 1
		}
		follow(t, mustSequence(t, "opic-history", o), k, func(got uint32) {
			want := k.first(func(v uint32) float64 { return cash[v] })
			if math.Abs(cash[got]-cash[want]) > 1e-9 || cash[got] == cash[want] && got != want {
				t.Fatalf("graph %d: took %d with %g, want %d with %g", i, got, cash[got], want, cash[want])
			}
			spend(got)
			rich, most := uint32(0), 0.0
			for _, v := range append(slices.Sorted(slices.Values(k.visits)), got) {
				if cash[v] > most || cash[v] == most && most > 0 && v < rich {
					rich, most = v, cash[v]
				}
			}
			if most > 0 {
				spend(rich)
			}
		})
	}
}

// TestPageRankEqualsOracle iterates over the known graph at each step, in which pages without links give their
// rank to all. With Every = 1 and no residual threshold, the ordering must choose the highest PageRank.
func TestPageRankEqualsOracle(t *testing.T) {
	const d = 0.85
	for i := range graphs() / 20 {
		k, o, _ := furtherGraph(i)
		o.Every = 1
		s := mustSequence(t, "pagerank", o)
		s.(*pageRank).pushFrom = 1e-12
		follow(t, s, k, func(got uint32) {
			n := float64(len(k.found))
			rank := map[uint32]float64{}
			for _, v := range k.found {
				rank[v] = 1 / n
			}
			for range 150 {
				next, lost := map[uint32]float64{}, 0.0
				for _, v := range k.found {
					if !k.visited[v] || len(k.links[v]) == 0 {
						lost += rank[v]
						continue
					}
					for _, w := range k.links[v] {
						next[w] += d * rank[v] / float64(len(k.links[v]))
					}
				}
				for _, v := range k.found {
					next[v] += (1 - d + d*lost) / n
				}
				rank = next
			}
			want := k.first(func(v uint32) float64 { return rank[v] })
			if rank[got] < rank[want]*(1-1e-8) {
				t.Fatalf("graph %d, step %d: took %d with %g, want %d with %g", i, len(k.visits), got, rank[got], want, rank[want])
			}
		})
	}
}

// TestPageRankPushes checks the bound on pushes for any update interval.
func TestPageRankPushes(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	const n = 5000
	links := make([][]uint32, n)
	for v := range links {
		for range 1 + rng.IntN(6) {
			if w := uint32(rng.IntN(1 + rng.IntN(n))); !slices.Contains(links[v], w) {
				links[v] = append(links[v], w)
			}
		}
	}
	for _, every := range []int{1, 10, 1000, n, 0} {
		pushes := 0
		s := mustSequence(t, "pagerank", SequenceOptions{Every: every, Links: func(v uint32) ([]uint32, error) {
			pushes++
			return links[v], nil
		}})
		k := &known{links: links, starts: []uint32{n - 1}}
		got := crawl(links, func(uint32, uint32) bool { return true }, k.starts, s.Next, s.Visit)
		t.Logf("every %d pages: %d pages, %d pushes beside", every, len(got), pushes)
		if most := int(float64(len(got)) / (0.15 * pushFrom)); len(got) < n/2 || pushes > most || every == 1 && pushes < len(got)/10 {
			t.Errorf("every %d pages: %d pages, %d pushes beside, want %d at most", every, len(got), pushes, most)
		}
		if p := s.(*pageRank); len(p.queue)-p.head > n {
			t.Errorf("every %d pages: %d in the queue of %d pages", every, len(p.queue)-p.head, n)
		}
	}
}

func TestLargestSiteEqualsOracle(t *testing.T) {
	for i := range graphs() {
		k, o, rng := furtherGraph(i)
		for v := range o.Sites {
			if rng.IntN(5) == 0 {
				o.Sites[v] = noSite
			}
		}
		o.Sites = o.Sites[:rng.IntN(len(o.Sites)+1)]
		site := func(v uint32) uint32 {
			if int(v) >= len(o.Sites) {
				return noSite
			}
			return o.Sites[v]
		}
		clock, changed := 0, map[uint32]int{}
		seen := map[uint32]bool{}
		find := func(links []uint32) {
			for _, v := range links {
				if !seen[v] {
					seen[v] = true
					clock++
					changed[site(v)] = clock
				}
			}
		}
		find(k.starts)
		follow(t, mustSequence(t, "largest-site", o), k, func(got uint32) {
			waits := map[uint32]int{}
			for _, v := range k.found {
				if !k.visited[v] {
					waits[site(v)]++
				}
			}
			want := k.first(func(v uint32) float64 {
				return float64(waits[site(v)]) - float64(changed[site(v)])/float64(clock+1)
			})
			if got != want {
				t.Fatalf("graph %d: took %d, want %d", i, got, want)
			}
			clock++
			changed[site(got)] = clock
			find(k.links[got])
		})
	}
}

// The web of the replay: six sites of ten pages, of which only S has a start page, S0. Links from S are
// initial; links inside another site only discover.
const replayWeb = `
S0: S1 S2 A0 B0 C0
S1: A0 D0
S2: B0 A3
S3: S4 S5 S6 S7 S8 S9
S7: S4
S8: S7
S9: S7 S8
A0: A1 A2 A3 A4 A5 A6 A7 A8 A9
A1: E0
A2: A4 C8
A3: A1 A2 B5 C0
B0: B1 B2 B3 B4 B5 B6 B7 B8 B9 A3
B1: B2 B3 B4
B5: B6 D0 A9
B9: C9 D9
C0: C1 C2 C3 C4 C5 C6 C7 C8 C9 B9
C8: E9 S9
C9: D9 B1
D0: E0 D1 D2 D3 D4 D5 D6 D7 D8 D9 A9
D9: S3
E0: E1 E2 E3 E4 E5 E6 E7 E8 E9 S3
E9: S9 E8
`

// replays are the 60 visits, derived by hand from paper B's printed algorithms.
var replays = map[string]string{
	// S1 moves A0 to ⟨2⟩. A0's own pages are new and wait in ⟨1⟩ behind D0, where A3's links leave A1 and
	// A2. From A4 on all remaining vertices are in ⟨1⟩, without links.
	"mcs": `S0 S1 A0 S2 B0 A3 B5 C0 D0 A9 B9 C9 D9 B1 A1 E0 S3 A2 C8 E9 S9 S7 S8 S4
		A4 A5 A6 A7 A8 B2 B3 B4 B6 B7 B8 C1 C2 C3 C4 C5 C6 C7 D1 D2 D3 D4 D5 D6 D7 D8 E1 E2 E3 E4 E5 E6 E7 E8 S5 S6`,
	// A3 precedes the rest of A's class because S2 links to it, A9 because D0 does. C8 discovered E9,
	// so E0's other pages are a later class.
	"lexbfs": `S0 S1 A0 S2 B0 C0 D0 A3 A9 A1 A2 A4 A5 A6 A7 A8 B9 B5 B1 B2 B3 B4 B6 B7 B8 C8 C9 C1 C2 C3 C4 C5 C6 C7
		E0 D9 D1 D2 D3 D4 D5 D6 D7 D8 E9 S9 S3 E1 E2 E3 E4 E5 E6 E7 E8 S7 S8 S4 S5 S6`,
}

func replay() (names []string, links [][]uint32, counts func(src, dst uint32) bool) {
	for _, site := range "SABCDE" {
		for page := range 10 {
			names = append(names, string(site)+string(rune('0'+page)))
		}
	}
	links = make([][]uint32, len(names))
	for line := range strings.Lines(strings.TrimSpace(replayWeb)) {
		from, to, _ := strings.Cut(line, ":")
		v := slices.Index(names, from)
		for _, name := range strings.Fields(to) {
			links[v] = append(links[v], uint32(slices.Index(names, name)))
		}
	}
	return names, links, func(src, dst uint32) bool { return src/10 != dst/10 || dst < 10 }
}

func TestReplay(t *testing.T) {
	names, links, counts := replay()
	for order, want := range replays {
		s := mustSequence(t, order, SequenceOptions{})
		var got []string
		for _, v := range crawl(links, counts, []uint32{0}, s.Next, s.Visit) {
			got = append(got, names[v])
		}
		differ := 0
		for i, name := range strings.Fields(want) {
			if i >= len(got) || got[i] != name {
				differ++
			}
		}
		if differ > 0 || len(got) != 60 {
			t.Errorf("%s: %d of 60 steps differ:\n got %v\nwant %v", order, differ, got, strings.Fields(want))
		}
	}
}

// printed runs paper B's algorithms literally on slices of slices; the first class is visited first.
type printed struct {
	classes [][]uint32
	visited map[uint32]bool
	known   map[uint32]bool
	split   bool // algorithm 1; otherwise 2
}

func (p *printed) next() (uint32, bool) {
	for i, class := range p.classes {
		if len(class) > 0 {
			p.classes[i] = class[1:]
			p.visited[class[0]] = true
			return class[0], true
		}
	}
	return 0, false
}

func (p *printed) visit(l Links) {
	var targets, fresh []uint32
	for i, v := range l.All {
		switch {
		case !p.known[v]:
			p.known[v] = true
			fresh = append(fresh, v)
		case !p.visited[v] && l.counts(i):
			targets = append(targets, v)
		}
	}
	if p.split {
		p.refine(targets)
		p.classes = append(p.classes, fresh)
		return
	}
	for _, v := range targets { // from ⟨k⟩ to ⟨k+1⟩; ⟨k⟩ is k places from the end
		i := slices.IndexFunc(p.classes, func(c []uint32) bool { return slices.Contains(c, v) })
		p.classes[i] = without(p.classes[i], []uint32{v})
		if i == 0 {
			p.classes = slices.Insert(p.classes, 0, nil)
			i++
		}
		p.classes[i-1] = append(slices.Clone(p.classes[i-1]), v)
	}
	if len(p.classes) == 0 {
		p.classes = [][]uint32{nil}
	}
	last := len(p.classes) - 1
	p.classes[last] = append(slices.Clone(p.classes[last]), fresh...)
}

// refine splits every class C into Y = C ∩ targets and C − Y, Y first.
func (p *printed) refine(targets []uint32) {
	var split [][]uint32
	for _, c := range p.classes {
		y := without(targets, without(targets, c))
		split = append(split, y, without(c, y))
	}
	p.classes = slices.DeleteFunc(split, func(c []uint32) bool { return len(c) == 0 })
}

func without(vs, drop []uint32) []uint32 {
	return slices.DeleteFunc(slices.Clone(vs), func(v uint32) bool { return slices.Contains(drop, v) })
}

// TestAsPrinted compares algorithms 1 and 2 with the literal version on random graphs.
func TestAsPrinted(t *testing.T) {
	for _, order := range []string{"lexbfs", "mcs"} {
		for i := range graphs() {
			rng := rand.New(rand.NewPCG(uint64(i), 11))
			links, counts := randomWeb(rng)
			starts := []uint32{uint32(rng.IntN(len(links)))}
			s := mustSequence(t, order, SequenceOptions{})
			p := &printed{visited: map[uint32]bool{}, known: map[uint32]bool{}, split: order == "lexbfs"}
			got := crawl(links, counts, starts, s.Next, s.Visit)
			if want := crawl(links, counts, starts, p.next, p.visit); !slices.Equal(got, want) {
				t.Fatalf("%s, graph %d: links %v from %v\n got %v\nwant %v", order, i, links, starts, got, want)
			}
		}
	}
}
