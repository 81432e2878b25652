package orders

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fossick/internal/cli"
)

// Share is one ordering's part of a mix.
type Share struct {
	Name string  // one of Sequences
	Part float64 // share of the visits, relative to the others; > 0
}

// ParseMix parses one of Sequences, or a mix such as mcs*0.3+relevance*0.7. The default share is 1; only
// ratios matter.
func ParseMix(text string) ([]Share, error) { return parseMix(text, Sequences()) }

func parseMix(text string, known []string) ([]Share, error) {
	var shares []Share
	for part := range strings.SplitSeq(text, "+") {
		name, factor, given := strings.Cut(strings.TrimSpace(part), "*")
		s := Share{Name: strings.TrimSpace(name), Part: 1}
		if !slices.Contains(known, s.Name) {
			return nil, fmt.Errorf("ordering %q is not known; choose one of %s, or mix them as in mcs*0.3+bfs*0.7", s.Name, cli.SomeNames(s.Name, known))
		}
		if given {
			var err error
			if s.Part, err = strconv.ParseFloat(strings.TrimSpace(factor), 64); err != nil || !(s.Part >= minShare && s.Part <= 1/minShare) {
				return nil, fmt.Errorf("ordering %q: share %q; want a number from %g to %g, as in mcs*0.3+bfs*0.7", text, factor, minShare, 1/minShare)
			}
		}
		if slices.ContainsFunc(shares, func(o Share) bool { return o.Name == s.Name }) {
			return nil, fmt.Errorf("ordering %q: %s is given twice; add up its shares", text, s.Name)
		}
		shares = append(shares, s)
	}
	return shares, nil
}

// minShare bounds the ratios of shares, for numerical accuracy.
const minShare = 1e-6

// Turns distributes visits evenly by share. At each visit every part earns its share; the part with most
// credit, the first of equals, takes the vertex and pays the sum of all shares. So each part stays within the
// number of parts of its share.
type Turns struct {
	shares []Share
	credit []float64 // per share
	made   uint64    // turns so far
	latest [1 << 12]uint8
}

func newTurns(shares []Share) *Turns {
	return &Turns{shares: shares, credit: make([]float64, len(shares))}
}

// At returns the part that chooses visit n, from 0. It is fast for increasing n and the latest turns. Not safe
// for concurrent use.
func (t *Turns) At(n uint64) int {
	if n+uint64(len(t.latest)) < t.made {
		*t = *newTurns(t.shares)
	}
	for ; t.made <= n; t.made++ {
		t.latest[t.made%uint64(len(t.latest))] = uint8(t.next())
	}
	return int(t.latest[n%uint64(len(t.latest))])
}

func (t *Turns) next() (turn int) {
	sum := 0.0
	for _, s := range t.shares {
		sum += s.Part
	}
	for i, s := range t.shares {
		t.credit[i] += s.Part
		if t.credit[i] > t.credit[turn]+1e-9*sum { // tolerate rounding: 0.1 + 0.1 + 0.1 ≠ 0.3
			turn = i
		}
	}
	t.credit[turn] -= sum
	return turn
}

// Mix is an Ordering of several parts, each of which chooses a share of the pages. A URL has a priority in
// each.
type Mix struct {
	shares []Share
	parts  []Ordering // per share
}

// Priority is that of the first part; see Parts for the others.
func (m *Mix) Priority(l Link) float64 { return m.parts[0].Priority(l) }

func (*Mix) links() {}

func (m *Mix) Turns() *Turns { return newTurns(m.shares) }

func (m *Mix) with(change func(part Ordering) Ordering) *Mix {
	changed := &Mix{shares: m.shares}
	for _, p := range m.parts {
		changed.parts = append(changed.parts, change(p))
	}
	return changed
}

// Parts returns the orderings of a Mix, or the ordering itself.
func Parts(o Ordering) []Ordering {
	if m, ok := o.(*Mix); ok {
		return m.parts
	}
	return []Ordering{o}
}

// WithScores replaces relevance in an ordering by scores.
func WithScores(o, scores Ordering) Ordering {
	if ByScore(o) {
		return scores
	}
	if m, ok := o.(*Mix); ok {
		return m.with(func(part Ordering) Ordering { return WithScores(part, scores) })
	}
	return o
}

// Scored returns the index in Parts of the ordering by score, or false.
func Scored(o Ordering) (part int, ok bool) {
	part = slices.IndexFunc(Parts(o), ByScore)
	return max(0, part), part >= 0
}

// mix is a Sequence of several parts. A vertex taken by one is gone for all, and each sees all links.
type mix struct {
	parts []Sequence // per share of turns
	turns *Turns
	taken uint64
}

func (m *mix) Next() (uint32, bool) {
	if m.Err() != nil {
		return 0, false
	}
	turn := m.turns.At(m.taken)
	v, ok := m.parts[turn].Next()
	if !ok { // nothing waits: the turn remains
		return 0, false
	}
	m.taken++
	m.tell(turn, v)
	return v, true
}

func (m *mix) tell(chose int, v uint32) {
	for i, p := range m.parts {
		if i != chose {
			p.Take(v)
		}
	}
}

func (m *mix) Take(v uint32) { m.tell(-1, v) }

func (m *mix) Visit(l Links) {
	for _, p := range m.parts {
		p.Visit(l)
	}
}

func (m *mix) Err() error {
	for _, p := range m.parts {
		if err := p.Err(); err != nil {
			return err
		}
	}
	return nil
}
