package learned

import (
	"encoding/binary"
	"math"

	"fossick/internal/page"
)

// Pages and the targets of their links may be with different agents. So what an agent has
// to know of a page as a giver of links comes along with these, and what they turned out to
// be is told to all; see Sums.turns.

// maxGivers is how many pages are remembered as givers of links while there are other
// agents: some 5 MB.
const maxGivers = 1 << 14

// share has the graph remember pages for what others tell of them.
func (g *linkGraph) share() {
	g.shared, g.givers = true, page.NewRecent[*source](maxGivers)
}

// giver returns what is known of a page, new where it is nothing.
func (g *linkGraph) giver(key uint64) *source {
	s, ok := g.givers.Get(key)
	if !ok {
		s = &source{key: key, hops: 1}
		g.givers.Put(key, s)
	}
	return s
}

// introductionBytes is the size of an introduction: a probability, links since a page on
// topic, links from a start page, and R.
const introductionBytes = 10

// introduction is what another agent's scorer has to know of a page that this one has read.
func (s *source) introduction() []byte {
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, introductionBytes), math.Float32bits(s.probability))
	return binary.LittleEndian.AppendUint32(append(b, s.hops, s.depth), math.Float32bits(s.degree))
}

// introduce takes in an introduction. Without one that can be read, what is known is
// whether the page is on topic.
func (s *source) introduce(b []byte, onTopic bool) {
	if s.scored {
		return
	}
	if len(b) == introductionBytes {
		p, r := math.Float32frombits(binary.LittleEndian.Uint32(b)), math.Float32frombits(binary.LittleEndian.Uint32(b[6:]))
		if p >= 0 && p <= 1 && r >= 0 && r <= 1 {
			s.scored, s.probability, s.hops, s.depth, s.degree = true, p, b[4], b[5], r
			return
		}
	}
	if onTopic {
		s.hops = 0
	}
}

// linksOf is how many links a page has, though only some may be known.
func linksOf(p *page.Page) int {
	if p.Excerpt != nil {
		return p.Excerpt.Of
	}
	return len(p.Links)
}

// turn is what the page of a link turned out to be.
type turn struct {
	giver uint64 // page.Key of the page that has the link
	at    uint8  // its place there
	worth uint8  // as source.turns has it
}

// maxTurns is how many turns are told at once; of more those that were learned last.
const maxTurns = 1200

// learnTurn notes what a link of a page turned out to be.
func (s *Sums) learnTurn(from *source, at uint8, probability float64) {
	if s == nil {
		return
	}
	if s.turns = append(s.turns, turn{from.key, at, turnOf(probability)}); len(s.turns) >= 2*maxTurns {
		s.turns = append(s.turns[:0], s.turns[len(s.turns)-maxTurns:]...)
	}
}

// hear takes in what links of pages turned out to be with other agents.
func (g *linkGraph) hear(turns []turn) {
	if !g.shared {
		return
	}
	for _, t := range turns {
		s := g.giver(t.giver)
		s.hold(int(t.at) + 1)
		s.turned(t.at, float64(t.worth-1)/254)
	}
}
