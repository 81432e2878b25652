package train

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"slices"
)

// complex is a conjunction of selectors. Selector 2i is cut i, 2i+1 its opposite.
type complex struct {
	selectors []int32  // rising
	rows      []uint64 // live rows that it covers
	tally     *tally   // of rows
}

// ruleSearch is CN2's beam search over complexes: of a class, whose rows are told
// from the rest, or for a decision list of any.
type ruleSearch struct {
	counter
	opt      cn2
	class    int       // −1: any
	nlog     []float64 // n · ln n
	critical float64   // of the likelihood ratio
	live     *complex  // the empty complex: rows whose weight is not 0
	made     map[string]bool
	spare    [2][]*tally // of a step's beam and of the one before
	step     []candidate
}

// newRuleSearch returns a search of rules for a class, or of a list for −1.
func newRuleSearch(d *cover, opt cn2, class int) *ruleSearch {
	s := &ruleSearch{opt: opt, class: class, made: map[string]bool{}}
	s.counter = counter{data: d, groups: 2, group: make([]int32, d.classes), unit: 1 << (opt.covers - 1)}
	for c := range s.group {
		if s.group[c] = 1; c == class {
			s.group[c] = 0
		}
	}
	if class < 0 {
		s.groups, s.unit = d.classes, 1 // a row of a list is covered once
		for c := range s.group {
			s.group[c] = int32(c)
		}
		s.nlog = make([]float64, len(d.y)+1)
		for n := 2; n < len(s.nlog); n++ {
			s.nlog[n] = float64(n) * math.Log(float64(n))
		}
	}
	s.weight = slices.Repeat([]int32{s.unit}, len(d.y))
	s.critical = critical(opt.significance, s.groups-1)
	for i := range s.spare {
		for range opt.beam {
			s.spare[i] = append(s.spare[i], s.newTally())
		}
	}
	s.live = &complex{rows: d.all, tally: s.newTally()}
	s.set(s.live.tally, d.all)
	return s
}

// cover says that a rule covers rows.
func (s *ruleSearch) cover(selectors []int32, rows []uint64) {
	s.made[key(selectors)] = true
	s.live.rows = without(s.live.rows, s.halve(s.live.tally, rows))
}

func key(selectors []int32) string {
	b := make([]byte, 0, 4*len(selectors))
	for _, sel := range selectors {
		b = binary.LittleEndian.AppendUint32(b, uint32(sel))
	}
	return string(b)
}

// narrow adds a selector to a complex, and counts in t. Only the smaller part of the
// complex is gone through. What it counts is counted from nothing when it is the part
// wanted, else taken off the whole's.
func (s *ruleSearch) narrow(c *candidate, t *tally) *complex {
	x := &complex{selectors: c.all(), tally: t, rows: s.data.narrowed(c.parent.rows, c.selector)}
	if whole := c.parent.tally; c.n <= whole.n/2 {
		s.set(t, x.rows)
	} else {
		t.copyFrom(whole)
		s.add(t, without(c.parent.rows, x.rows), -1)
	}
	return x
}

// with returns selectors with one more, in order.
func with(selectors []int32, sel int32) []int32 {
	at, _ := slices.BinarySearch(selectors, sel)
	return slices.Insert(slices.Clone(selectors), at, sel)
}

// quality returns how good a complex is, in billionths, so that rounding
// decides no tie. It is minus the entropy in nats of its classes (Clark &
// Niblett 1989). For a class it is Laplace's accuracy (n_c + 1) / (n + k) of
// rows that count by weight (Clark & Boswell 1991, eq. 1).
func (s *ruleSearch) quality(counts []int32, n int32) int64 {
	if s.class >= 0 {
		return s.laplace(counts[0], n)
	}
	sum := 0.0
	for _, c := range counts {
		sum += s.nlog[c]
	}
	return billionths((sum - s.nlog[n]) / float64(n))
}

func (s *ruleSearch) laplace(hits, n int32) int64 {
	return billionths(float64(hits+s.unit) / float64(int(n)+s.data.classes*int(s.unit)))
}

func billionths(v float64) int64 { return int64(math.Round(v * 1e9)) }

// significant tests the likelihood ratio 2 Σ f ln(f/e), where e is what a
// random choice of as many live rows would have. For a decision list it goes
// over all classes, for a class's rules over the class and the rest. Rows count
// by weight.
func (s *ruleSearch) significant(counts []int32, n int32) bool {
	ratio := 0.0
	for g, f := range counts {
		if f > 0 {
			ratio += 2 * float64(f) / float64(s.unit) * math.Log(float64(f)*float64(s.live.tally.n)/(float64(n)*float64(s.live.tally.total[g])))
		}
	}
	return billionths(ratio) >= billionths(s.critical) && ratio > 1e-9
}

// candidate is a complex that a step may keep.
type candidate struct {
	parent    *complex
	selector  int32
	n, most   int32 // weight of its rows, and of those of its class: the one looked for, or the largest
	quality   int64
	selectors []int32 // made when a tie asks for them
}

func (c *candidate) all() []int32 {
	if c.selectors == nil {
		c.selectors = with(c.parent.selectors, c.selector)
	}
	return c.selectors
}

// order puts the better first: by quality, then by weight covered, then the
// shorter, then by selectors.
func (c *candidate) order(o *candidate) int {
	if by := cmp.Or(cmp.Compare(o.quality, c.quality), cmp.Compare(o.n, c.n)); by != 0 {
		return by
	}
	return cmp.Or(cmp.Compare(len(c.all()), len(o.all())), slices.Compare(c.all(), o.all()))
}

// best returns the best significant complex of the live rows, or nil. Each step
// weighs every selector on every complex of the beam, and makes the best of them
// the next beam. Complexes of one class are not narrowed: they can only lose rows.
// A rule that stands already is not found again.
func (s *ruleSearch) best(ctx context.Context) (*complex, error) {
	var found *candidate
	beam := []*complex{s.live}
	for level := 0; len(beam) > 0; level++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s.step = s.step[:0]
		for _, x := range beam {
			found = s.specialise(x, found)
		}
		beam = beam[:0:0]
		for i, c := range s.top(found) {
			beam = append(beam, s.narrow(c, s.spare[level%2][i]))
		}
	}
	if found == nil {
		return nil, nil
	}
	return &complex{selectors: found.all(), rows: s.data.narrowed(found.parent.rows, found.selector)}, nil
}

// specialise weighs every selector on x. It appends those that may be narrowed
// further to the step, and returns the best significant complex so far.
func (s *ruleSearch) specialise(x *complex, found *candidate) *candidate {
	least := s.quality(s.live.tally.total, s.live.tally.n) // the default's
	t := x.tally
	opposite := make([]int32, t.groups)
	for i, n := range t.passed {
		if n == 0 || n == t.n {
			continue
		}
		above := t.row(i)
		for g, f := range above {
			opposite[g] = t.total[g] - f
		}
		for side, counts := range [2][]int32{above, opposite} {
			c := candidate{parent: x, selector: int32(2*i + side), n: n, most: counts[0]}
			if side == 1 {
				c.n = t.n - n
			}
			pure := slices.Max(counts)
			if s.class < 0 {
				c.most = pure
			} else if c.most == 0 {
				continue
			}
			c.quality = s.quality(counts, c.n)
			if c.quality > least && (found == nil || c.order(found) < 0) && s.significant(counts, c.n) && !s.made[key(c.all())] {
				kept := c
				found = &kept
			}
			if pure < c.n {
				s.step = append(s.step, c)
			}
		}
	}
	return found
}

// top returns the best of the step, in order, each once. Some could not become
// better than the best found, even if they lost all rows but those of their
// class. They are left out, so that they take no place in the beam.
func (s *ruleSearch) top(found *candidate) []*candidate {
	beam := make([]*candidate, 0, s.opt.beam+1)
	for i := range s.step {
		c := &s.step[i]
		if len(beam) == s.opt.beam && c.quality < beam[len(beam)-1].quality || s.hopeless(c, found) {
			continue
		}
		at, same := slices.BinarySearchFunc(beam, c, (*candidate).order)
		if same || at == s.opt.beam {
			continue
		}
		beam = slices.Insert(beam, at, c)
		beam = beam[:min(len(beam), s.opt.beam)]
	}
	return beam
}

func (s *ruleSearch) hopeless(c, found *candidate) bool {
	if s.class >= 0 {
		pure := []int32{c.most, 0}
		return found != nil && s.laplace(c.most, c.most) <= found.quality || !s.significant(pure, c.most)
	}
	return found != nil && found.quality == 0 && c.most <= found.n
}
