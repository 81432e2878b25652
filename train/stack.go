package train

import (
	"cmp"
	"math"
	"slices"
)

// leastShare is the share of a member that adds nothing. It stays all the same, for its rules say
// why a page has its label; models.Vote wants a share above 0.
const leastShare = 1e-12

// stacked returns the stack of cross-validated learners (Wolpert 1992): a vote whose shares are
// those, positive and adding up to 1, that make the labels of held-out pages most likely (Smyth
// and Wolpert 1999). All learners must have judged the same pages.
func stacked(all []*nominee, y []int) *heldOut {
	share := mixture(all, y)
	v := vote{stacked: true}
	for i, n := range all {
		n.share = max(share[i], leastShare)
		v.members = append(v.members, n.voter)
	}
	slices.SortStableFunc(v.members, func(a, b voter) int { return cmp.Compare(b.share, a.share) })
	top := newHeldOut(v, len(y))
	for p := range y {
		if all[0].probs[p] == nil {
			continue
		}
		top.scores[p] = make([]float64, len(all[0].probs[p]))
		for i, n := range all {
			for class, q := range n.probs[p] {
				top.scores[p][class] += share[i] * q
			}
		}
	}
	top.logs()
	top.score = accuracy(top.scores, y)
	return top
}

// topicalNominee is newNominee for a topic against the rest: o is calibrated by Platt's sigmoid on
// all its rounds, and votes with the first.
func topicalNominee(o *contender, y []int) *nominee {
	c := &nominee{voter{learner: o.learner, cal: platt(o.rounds, y, func(int) bool { return true })}, make([][]float64, len(y))}
	for p, s := range o.rounds[0].scores {
		if c.probs[p] = slices.Clone(s); s != nil {
			c.cal.Apply(c.probs[p])
		}
	}
	return c
}

// mixture returns the shares that maximise Σ_p ln Σ_m share_m · P_m(class of p), by expectation
// maximisation. The sum is concave, so where it starts does not matter.
func mixture(all []*nominee, y []int) []float64 {
	share := slices.Repeat([]float64{1 / float64(len(all))}, len(all))
	for range 1000 {
		next, judged := make([]float64, len(all)), 0.0
		for p, class := range y {
			if all[0].probs[p] == nil {
				continue
			}
			judged++
			var whole float64
			for i, n := range all {
				whole += share[i] * max(n.probs[p][class], leastProbability)
			}
			for i, n := range all {
				next[i] += share[i] * max(n.probs[p][class], leastProbability) / whole
			}
		}
		moved := 0.0
		for i := range next {
			next[i] /= judged
			moved = max(moved, math.Abs(next[i]-share[i]))
		}
		if share = next; moved < 1e-6 {
			break
		}
	}
	return share
}
