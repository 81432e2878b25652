package orders

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Share is the part of a mix that one ordering has.
type Share struct {
	Name string  // one of Sequences
	Part float64 // of the visits, relative to the others'; more than 0
}

// ParseMix reads an ordering, or a mix of several: names with their shares, as in
// mcs*0.3+relevance*0.7. A share that is not given is 1; only their ratios matter.
func ParseMix(text string) ([]Share, error) {
	var shares []Share
	for part := range strings.SplitSeq(text, "+") {
		name, factor, given := strings.Cut(strings.TrimSpace(part), "*")
		s := Share{Name: strings.TrimSpace(name), Part: 1}
		if sequences[s.Name] == nil {
			return nil, fmt.Errorf("ordering %q is not known; choose of %s, or mix them as in mcs*0.3+bfs*0.7", s.Name, strings.Join(Sequences(), ", "))
		}
		if given {
			var err error
			if s.Part, err = strconv.ParseFloat(strings.TrimSpace(factor), 64); err != nil || !(s.Part >= minShare && s.Part <= 1/minShare) {
				return nil, fmt.Errorf("ordering %q: share %q; want a number from %g to %g, as in mcs*0.3+bfs*0.7", text, factor, minShare, 1/minShare)
			}
		}
		if slices.ContainsFunc(shares, func(o Share) bool { return o.Name == s.Name }) {
			return nil, fmt.Errorf("ordering %q: %s is named twice; add its shares up", text, s.Name)
		}
		shares = append(shares, s)
	}
	return shares, nil
}

// minShare bounds the ratios of shares, so that their sums are exact enough.
const minShare = 1e-6

// mix gives each ordering a share of the visits; a vertex that one takes is
// gone for all, and each is told all links. The slots are spread evenly. At
// each visit every ordering earns its share, and that which has earned most
// takes the vertex (of several the one named first). It pays the sum of all
// shares for it. So none is ever more than the number of orderings away from
// its share.
type mix struct {
	shares []Share
	parts  []Sequence // as shares
	credit []float64  // likewise
}

func (m *mix) Next() (uint32, bool) {
	if m.Err() != nil {
		return 0, false
	}
	turn, sum := 0, 0.0
	for _, s := range m.shares {
		sum += s.Part
	}
	for i, s := range m.shares {
		m.credit[i] += s.Part
		if m.credit[i] > m.credit[turn]+1e-9*sum { // 0.1 three times is no 0.3
			turn = i
		}
	}
	v, ok := m.parts[turn].Next()
	if !ok { // nothing waits now: the slot is still to come
		for i, s := range m.shares {
			m.credit[i] -= s.Part
		}
		return 0, false
	}
	m.credit[turn] -= sum
	m.tell(turn, v)
	return v, true
}

// tell takes a vertex from all orderings but the one that chose it.
func (m *mix) tell(chose int, v uint32) {
	for i, p := range m.parts {
		if i != chose {
			p.Take(v)
		}
	}
}

// Take implements Sequence: in a mix of mixes.
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
