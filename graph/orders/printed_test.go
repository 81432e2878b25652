package orders

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// The replay's web: six sites of ten pages, of which only S has a start page, S0. So
// links from S to S are initial, those inside another site only discover.
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

// replays are the 60 visits, worked out by hand from the algorithms as paper B prints them.
var replays = map[string]string{
	// S1 lifts A0 to ⟨2⟩; A0's own pages are new, so they wait in ⟨1⟩ behind D0, and A3's
	// links to A1 and A2 leave them there. From A4 on all is left in ⟨1⟩, without links.
	"mcs": `S0 S1 A0 S2 B0 A3 B5 C0 D0 A9 B9 C9 D9 B1 A1 E0 S3 A2 C8 E9 S9 S7 S8 S4
		A4 A5 A6 A7 A8 B2 B3 B4 B6 B7 B8 C1 C2 C3 C4 C5 C6 C7 D1 D2 D3 D4 D5 D6 D7 D8 E1 E2 E3 E4 E5 E6 E7 E8 S5 S6`,
	// A3 stands before the rest of A's class as S2 links to it, A9 as D0 does; E9 was
	// discovered by C8, so E0's other pages are a later class.
	"lexbfs": `S0 S1 A0 S2 B0 C0 D0 A3 A9 A1 A2 A4 A5 A6 A7 A8 B9 B5 B1 B2 B3 B4 B6 B7 B8 C8 C9 C1 C2 C3 C4 C5 C6 C7
		E0 D9 D1 D2 D3 D4 D5 D6 D7 D8 E9 S9 S3 E1 E2 E3 E4 E5 E6 E7 E8 S7 S8 S4 S5 S6`,
}

// replay returns the web's links by number, with the pages' names.
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

// printed are paper B's algorithms step by step, as slices of slices: the first class is
// visited first.
type printed struct {
	classes [][]uint32
	visited map[uint32]bool
	known   map[uint32]bool
	split   bool // algorithm 1; else 2
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

// TestAsPrinted compares algorithms 1 and 2 with these steps on random graphs with links
// of the three kinds.
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
