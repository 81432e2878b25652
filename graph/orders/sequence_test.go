package orders

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"fossick/internal/fulltest"
)

// oracle chooses as the definitions of paper B1 say: it keeps of each waiting
// vertex which visits reached it, and compares all of them at every step.
type oracle struct {
	order   string
	rng     *rand.Rand
	step    int
	waits   map[uint32]*reached
	visited map[uint32]bool
}

// reached tells how a vertex was found.
type reached struct {
	v      uint32
	found  [2]int // step and place
	steps  []int  // the visit that discovered it, then those whose links to it count
	places []int  // where the link stood in each
	weight int    // mns
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

// next takes the best vertex.
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

// before says whether a comes before b.
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
	case "lexbfs": // labels are n−i, n−j, …: the larger one has the smaller step, or goes on
		c = slices.CompareFunc(a.steps, b.steps, func(x, y int) int { return cmp.Compare(y, x) })
		c = -c
	case "lexdfs": // labels are the steps, the last first
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

// testOptions are for any ordering.
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

// randomWeb makes links with an order of their own, and says which count.
func randomWeb(rng *rand.Rand) (links [][]uint32, counts func(src, dst uint32) bool) {
	n := 1 + rng.IntN(60)
	links = make([][]uint32, n)
	density := rng.Float64() * rng.Float64()
	for v := range links {
		for _, w := range rng.Perm(n) {
			if rng.Float64() < density {
				links[v] = append(links[v], uint32(w)) // to itself, too
			}
		}
	}
	sites := 1 + rng.IntN(6)
	site := func(v uint32) int { return int(v*7919) % sites }
	alike := rng.IntN(3) == 0
	return links, func(src, dst uint32) bool { return alike || site(src) != site(dst) || site(src) == 0 }
}

// crawl runs a sequence over links from starts.
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

// TestSequencesEqualOracle compares each ordering with its definition on thousands
// of random graphs of up to 60 vertices.
func TestSequencesEqualOracle(t *testing.T) {
	graphs := fulltest.Rounds(1000, 10_000)
	for _, order := range []string{"bfs", "dfs", "lexbfs", "lexdfs", "mcs", "mcs-sites", "mns"} {
		t.Run(order, func(t *testing.T) {
			for i := range graphs {
				rng := rand.New(rand.NewPCG(uint64(i), 1))
				links, counts := randomWeb(rng)
				var starts []uint32
				for _, v := range rng.Perm(len(links))[:1+rng.IntN(min(3, len(links)))] {
					starts = append(starts, uint32(v))
				}
				s, err := NewSequence(order, SequenceOptions{Vertices: rng.IntN(len(links) + 1), Rand: rand.New(rand.NewPCG(7, 7))})
				if err != nil {
					t.Fatal(err)
				}
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

// TestPaperB is the worked example of paper B1: 1 … 5 are visited in this order,
// whatever the ordering; who is next?
func TestPaperB(t *testing.T) {
	links := [][]uint32{{6, 7}, {7, 8}, {8}, {8, 9}, {9, 10}}
	want := map[string][]uint32{
		"generic": {6, 7, 8, 9, 10}, "bfs": {6, 7}, "lexbfs": {7}, "dfs": {9, 10}, "lexdfs": {9}, "mns": {7, 8, 9}, "mcs": {8},
	}
	for order := range want {
		s, err := NewSequence(order, SequenceOptions{Rand: rand.New(rand.NewPCG(1, 1))})
		if err != nil {
			t.Fatal(err)
		}
		for _, to := range links {
			s.Visit(Starts(to)) // vertices 1 … 5 themselves never wait
		}
		if got, ok := s.Next(); !ok || !slices.Contains(want[order], got) {
			t.Errorf("%s: next is %d, want one of %v", order, got, want[order])
		}
	}
}

func TestGenericTakesAll(t *testing.T) {
	s, err := NewSequence("generic", SequenceOptions{Rand: rand.New(rand.NewPCG(1, 1))})
	if err != nil {
		t.Fatal(err)
	}
	links := [][]uint32{{1, 2}, {2, 3}, {0}, {4}, {}}
	got := crawl(links, func(src, dst uint32) bool { return src%2 == 0 }, []uint32{0}, s.Next, s.Visit)
	slices.Sort(got)
	if !slices.Equal(got, []uint32{0, 1, 2, 3, 4}) {
		t.Errorf("got %v", got)
	}
	if _, err := NewSequence("best", SequenceOptions{}); err == nil {
		t.Error("an ordering that is not known was made")
	}
}

// BenchmarkSequence visits vertices that all link to some of the last thousand
// and of all.
func BenchmarkSequence(b *testing.B) {
	const n, degree = 1 << 20, 10
	rng := rand.New(rand.NewPCG(1, 1))
	links := make([][]uint32, n)
	for v := range links {
		for i := range degree {
			w := rng.IntN(n)
			if i < 8 {
				w = (v + rng.IntN(1000)) % n
			}
			links[v] = append(links[v], uint32(w))
		}
	}
	for _, order := range Sequences() {
		b.Run(order, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s, err := NewSequence(order, testOptions(n, links, rng))
				if err != nil {
					b.Fatal(err)
				}
				s.Visit(Starts([]uint32{0}))
				for {
					v, ok := s.Next()
					if !ok {
						break
					}
					s.Visit(Alike(v, links[v]))
				}
			}
			b.ReportMetric(float64(n*degree)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Medges/s")
		})
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
