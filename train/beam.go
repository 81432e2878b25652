package train

import (
	"cmp"
	"context"
	"math"
	mathbits "math/bits"
	"slices"
)

// complex is a conjunction of selectors. Selector 2i is cut i, 2i+1 its opposite.
type complex struct {
	selectors []int32 // rising
	bits      []uint64
	words     []int32 // places in bits that are not 0
	counts    []int32 // rows by class
	n         int32
	quality   int64 // see ruleSearch.quality
}

// ruleSearch is CN2's beam search over complexes.
type ruleSearch struct {
	data     *cover
	opt      CN2
	nlog     []float64 // n · ln n
	critical float64   // of the likelihood ratio
}

func newRuleSearch(d *cover, opt CN2) *ruleSearch {
	rows := 0
	for _, w := range d.all {
		rows += mathbits.OnesCount64(w)
	}
	s := &ruleSearch{data: d, opt: opt, nlog: make([]float64, rows+1)}
	for n := 2; n <= rows; n++ {
		s.nlog[n] = float64(n) * math.Log(float64(n))
	}
	df := 1 // a class against the rest
	if opt.Ordered {
		df = d.classes - 1
	}
	s.critical = critical(opt.Significance, df)
	return s
}

// root returns the empty complex of some rows.
func (s *ruleSearch) root(live []uint64) *complex { return s.count(nil, live) }

func (s *ruleSearch) count(selectors []int32, live []uint64) *complex {
	x := &complex{selectors: selectors, bits: live, counts: make([]int32, s.data.classes)}
	for w, b := range live {
		if b != 0 {
			n := int32(mathbits.OnesCount64(b))
			x.words = append(x.words, int32(w))
			x.counts[s.data.classOf[w]] += n
			x.n += n
		}
	}
	return x
}

// narrow adds a selector to a complex.
func (s *ruleSearch) narrow(x *complex, sel int32) *complex {
	rows := make([]uint64, len(x.bits))
	above := s.data.above[sel/2]
	for _, w := range x.words {
		if sel%2 == 0 {
			rows[w] = x.bits[w] & above[w]
		} else {
			rows[w] = x.bits[w] &^ above[w]
		}
	}
	return s.count(with(x.selectors, sel), rows)
}

// with returns selectors with one more, in order.
func with(selectors []int32, sel int32) []int32 {
	at, _ := slices.BinarySearch(selectors, sel)
	return slices.Insert(slices.Clone(selectors), at, sel)
}

// quality returns how good a complex is, in billionths, so that rounding decides
// no tie: minus the entropy in nats of its classes (Clark & Niblett 1989), or for
// a class Laplace's accuracy (n_c + 1) / (n + k) (Clark & Boswell 1991, eq. 1).
func (s *ruleSearch) quality(counts []int32, n int32, class int) int64 {
	if class >= 0 {
		return billionths(float64(counts[class]+1) / float64(n+int32(len(counts))))
	}
	sum := 0.0
	for _, c := range counts {
		sum += s.nlog[c]
	}
	return billionths((sum - s.nlog[n]) / float64(n))
}

func billionths(v float64) int64 { return int64(math.Round(v * 1e9)) }

// significant tests the likelihood ratio 2 Σ f ln(f/e), where e is what a random
// choice of as many live rows would have: over all classes for a decision list,
// for a class's rules over the class and the rest.
func (s *ruleSearch) significant(counts []int32, n int32, live *complex, class int) bool {
	ratio := 0.0
	term := func(f, of int32) {
		if f > 0 {
			ratio += 2 * float64(f) * math.Log(float64(f)*float64(live.n)/(float64(n)*float64(of)))
		}
	}
	if class >= 0 {
		term(counts[class], live.counts[class])
		term(n-counts[class], live.n-live.counts[class])
	} else {
		for c, f := range counts {
			term(f, live.counts[c])
		}
	}
	return billionths(ratio) >= billionths(s.critical) && ratio > 1e-9
}

// candidate is a complex that a step may keep.
type candidate struct {
	parent    *complex
	selector  int32
	n         int32
	quality   int64
	selectors []int32 // made when a tie asks for them
}

func (c *candidate) all() []int32 {
	if c.selectors == nil {
		c.selectors = with(c.parent.selectors, c.selector)
	}
	return c.selectors
}

// order puts the better first: by quality, then by rows covered, then the
// shorter, then by selectors.
func (c *candidate) order(o *candidate) int {
	return cmp.Or(cmp.Compare(o.quality, c.quality), cmp.Compare(o.n, c.n),
		func() int {
			return cmp.Or(cmp.Compare(len(c.all()), len(o.all())), slices.Compare(c.all(), o.all()))
		}())
}

// best returns the best significant complex of the live rows, for a class or, for
// −1, for any; nil when there is none. Complexes of one class are not narrowed:
// they can only lose rows. For a class, one that could not reach the best found
// even if it lost all rows but the class's is dropped.
func (s *ruleSearch) best(ctx context.Context, live *complex, class int) (*complex, error) {
	var found *candidate
	beam := []*complex{live}
	for len(beam) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var step []*candidate
		for _, x := range beam {
			step, found = s.specialise(x, live, class, step, found)
		}
		beam = beam[:0:0]
		for _, c := range step {
			x := s.narrow(c.parent, c.selector)
			if class >= 0 && found != nil {
				p := x.counts[class]
				if billionths(float64(p+1)/float64(p+int32(s.data.classes))) <= found.quality {
					continue
				}
			}
			beam = append(beam, x)
		}
	}
	if found == nil {
		return nil, nil
	}
	return s.narrow(found.parent, found.selector), nil
}

// specialise tries every selector on x, and returns the step's best, in order,
// and the best that is significant.
func (s *ruleSearch) specialise(x, live *complex, class int, step []*candidate, found *candidate) ([]*candidate, *candidate) {
	k := s.data.classes
	least := s.quality(live.counts, live.n, class) // the default's
	side := [2][]int32{make([]int32, k), make([]int32, k)}
	for i := range s.data.cuts {
		above := s.data.above[i]
		clear(side[0])
		var n int32
		for _, w := range x.words {
			c := int32(mathbits.OnesCount64(x.bits[w] & above[w]))
			side[0][s.data.classOf[w]] += c
			n += c
		}
		if n == 0 || n == x.n {
			continue
		}
		for c := range k {
			side[1][c] = x.counts[c] - side[0][c]
		}
		for opposite, n := range [2]int32{n, x.n - n} {
			counts := side[opposite]
			if class >= 0 && counts[class] == 0 {
				continue
			}
			c := candidate{parent: x, selector: int32(2*i + opposite), n: n, quality: s.quality(counts, n, class)}
			if c.quality > least && (found == nil || c.order(found) < 0) && s.significant(counts, n, live, class) {
				kept := c
				found = &kept
			}
			if pure := slices.Max(counts) == n; !pure {
				step = s.keep(step, &c)
			}
		}
	}
	return step, found
}

// keep puts c among the best of a step, if it belongs there and is new.
func (s *ruleSearch) keep(step []*candidate, c *candidate) []*candidate {
	if len(step) == s.opt.Beam && c.quality < step[len(step)-1].quality {
		return step
	}
	at, same := slices.BinarySearchFunc(step, c, (*candidate).order)
	if same || at == s.opt.Beam {
		return step
	}
	kept := *c
	step = slices.Insert(step, at, &kept)
	return step[:min(len(step), s.opt.Beam)]
}
