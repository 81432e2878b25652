package train

import (
	mathbits "math/bits"
	"slices"

	"fossick/models"
)

// simplify makes a rule of each leaf, and drops conditions that save no error (Quinlan 1993, chapter 5).
func (g *grower) simplify(t *models.Tree) *models.Rules {
	if t.Term[0] < 0 {
		return nil
	}
	s := &simplifier{grower: g, all: make([]uint64, (len(g.rows)+63)/64), of: make([][]uint64, g.classes), above: map[cut][]uint64{}}
	for class := range s.of {
		s.of[class] = make([]uint64, len(s.all))
	}
	for row, class := range g.y {
		set(s.all, row)
		set(s.of[class], row)
	}
	r := &models.Rules{Start: []int32{0}}
	for node := range t.Term {
		if t.Term[node] >= 0 {
			continue
		}
		class := slices.Index(t.LeafShares(int32(node), g.classes), slices.Max(t.LeafShares(int32(node), g.classes)))
		for _, c := range s.shorten(s.conditions(t.Rule(int32(node))), class) {
			r.Term, r.Threshold, r.Above = append(r.Term, c.term), append(r.Threshold, c.over), append(r.Above, c.above)
		}
		r.Start, r.Class = append(r.Start, int32(len(r.Term))), append(r.Class, int32(class))
		r.Counts = append(r.Counts, s.covered(r)...)
	}
	for _, of := range s.of {
		r.Counts = append(r.Counts, float32(size(of)))
	}
	return r
}

type simplifier struct {
	*grower
	all   []uint64
	of    [][]uint64       // by class
	above map[cut][]uint64 // made on demand
}

type condition struct {
	cut
	above uint8    // 1: above the cut; 0: at most
	fails []uint64 // pages that do not meet it
}

// conditions splits intervals into single conditions.
func (s *simplifier) conditions(way []models.Condition) (out []condition) {
	for _, c := range way {
		if c.Bounded() {
			out = append(out, s.condition(cut{c.Term, c.Over}, 1))
		}
		if c.Limited() {
			out = append(out, s.condition(cut{c.Term, c.UpTo}, 0))
		}
	}
	return out
}

func (s *simplifier) condition(at cut, above uint8) condition {
	rows, ok := s.above[at]
	if !ok {
		rows = make([]uint64, len(s.all))
		for row := range s.rows {
			if s.count(row, int(at.term)) > at.over {
				set(rows, row)
			}
		}
		s.above[at] = rows
	}
	if above == 1 {
		rows = without(s.all, rows)
	}
	return condition{at, above, rows}
}

// shorten drops conditions from a rule for a class, but keeps at least one.
func (s *simplifier) shorten(rule []condition, class int) []condition {
	once, twice := make([]uint64, len(s.all)), make([]uint64, len(s.all))
	for len(rule) > 1 {
		clear(once)
		clear(twice)
		for _, c := range rule {
			for w, b := range c.fails {
				twice[w] |= once[w] & b
				once[w] |= b
			}
		}
		var n, hits int
		for w, b := range once {
			n += mathbits.OnesCount64(s.all[w] &^ b)
			hits += mathbits.OnesCount64(s.of[class][w] &^ b)
		}
		drop, least := -1, rate(n, hits)
		for i, c := range rule {
			n, hits := n, hits // with the pages that fail this condition only
			for w, b := range c.fails {
				if only := b &^ twice[w]; only != 0 {
					n += mathbits.OnesCount64(only)
					hits += mathbits.OnesCount64(only & s.of[class][w])
				}
			}
			if r := rate(n, hits); r < least || r == least && drop < 0 {
				drop, least = i, r
			}
		}
		if drop < 0 {
			break
		}
		rule = slices.Delete(rule, drop, drop+1)
	}
	return rule
}

// rate returns the error rate to expect of a rule that covers n pages, hits of them of its class.
func rate(n, hits int) float64 {
	if n == 0 {
		return 1
	}
	e := float64(n - hits)
	return (e + extraErrors(float64(n), e)) / float64(n)
}

// covered counts the pages that the last rule covers, by class.
func (s *simplifier) covered(r *models.Rules) []float32 {
	rows := s.all
	for i := r.Start[len(r.Start)-2]; i < r.Start[len(r.Start)-1]; i++ {
		rows = without(rows, s.condition(cut{r.Term[i], r.Threshold[i]}, r.Above[i]).fails)
	}
	counts := make([]float32, s.classes)
	for class, of := range s.of {
		counts[class] = float32(size(intersect(rows, of)))
	}
	return counts
}
