package train

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"fossick/models"
)

// vote adds up learners' calibrated probabilities, with equal shares unless stacked; see models.Vote.
type vote struct {
	members []voter
	stacked bool
}

type voter struct {
	learner
	cal   models.Calibration // of its held-out scores
	share float64            // in a stack
}

func (v vote) name() string {
	if v.stacked {
		return models.Stack
	}
	return models.Voting
}

func (v vote) shareOf(i int) float64 {
	if v.stacked {
		return v.members[i].share
	}
	return 1 / float64(len(v.members))
}

// String names the members, best first: "linear, nn", or "linear 0.80, trees 0.20" for a stack.
func (v vote) String() string {
	names := make([]string, len(v.members))
	for i, m := range v.members {
		if names[i] = m.name(); v.stacked {
			names[i] += fmt.Sprintf(" %.2f", m.share)
		}
	}
	return strings.Join(names, ", ")
}

func (v vote) fit(ctx context.Context, c *corpus, pages []int, by fitting) (*fitted, error) {
	b := &ballot{}
	var union []int32
	for i, m := range v.members {
		own, err := m.fit(ctx, c, pages, by)
		if err != nil {
			return nil, err
		}
		union = append(union, own.kept...)
		b.members, b.cal, b.probs = append(b.members, own), append(b.cal, m.cal), append(b.probs, make([]float64, len(c.classes)))
		b.names = append(b.names, m.name())
		b.shares.Members = append(b.shares.Members, models.Member{Share: v.shareOf(i)})
	}
	slices.Sort(union)
	f := newFitted(c, slices.Compact(union))
	f.ballot = b
	f.settings["members"] = v.String()
	f.explain = func() {
		for _, own := range b.members {
			if own.explain != nil {
				own.explain()
			}
		}
	}
	return f, nil
}

type ballot struct {
	members []*fitted
	names   []string
	cal     []models.Calibration
	probs   [][]float64 // scratch, by member
	shares  models.Vote // without models
}

func (b *ballot) scores(dst []float64, c *corpus, page int) {
	for i, m := range b.members {
		m.scores(b.probs[i], c, page)
		b.cal[i].Apply(b.probs[i])
	}
	b.shares.Scores(dst, func(i int) []float64 { return b.probs[i] })
}

// model returns the vote of m, the model made of f.
func (b *ballot) model(m *models.Model, f *fitted, c *corpus, opt *Options) *models.Vote {
	v := &models.Vote{}
	for i, own := range b.members {
		one := own.model(c, b.names[i], opt)
		one.Extractor, one.Calibration = m.Extractor, b.cal[i]
		one.Frequency, one.ClassPages, one.Titles = nil, nil, nil
		one.Thresholds = slices.Repeat([]float64{0.5}, len(c.classes))
		one.Card = models.Card{Settings: own.settings, Seed: opt.Seed}
		member := models.Member{Share: b.shares.Members[i].Share, Model: one}
		for _, term := range own.kept {
			member.Places = append(member.Places, f.number[term])
		}
		v.Members = append(v.Members, member)
	}
	return v
}

// byChance is the P from which on one more learner is not taken.
const byChance = 0.05

// poll returns the best vote of cross-validated learners, or the best learner if no vote is better beyond
// chance. With must it is a vote of at least two.
func poll(held []*heldOut, y []int, must bool, seed int64) *heldOut {
	held = slices.Clone(held)
	slices.SortStableFunc(held, func(a, b *heldOut) int { return cmp.Compare(b.score, a.score) })
	if len(held) < 2 || held[0].score == 1 && !must {
		return held[0]
	}
	left := nominees(held, y, seed)
	now := tallied{}.with(left[0], y)
	kept := now // calibrated like the votes, which may change a few labels
	for left = left[1:]; len(left) > 0 && len(now.members) < models.MaxMembers; {
		at, next := now.helper(left, y)
		first := must && len(now.members) == 1
		if next.score <= now.score && !first {
			break
		}
		if now = next; first || ahead(now.heldOut, kept.heldOut, y).P < byChance {
			kept = now
		}
		left = slices.Delete(left, at, at+1)
	}
	if len(kept.members) == 1 {
		return held[0]
	}
	for _, s := range kept.scores {
		for class := range s {
			s[class] /= float64(len(kept.members))
		}
	}
	kept.logs()
	return kept.heldOut
}

// nominee is a learner that may vote, with its calibrated probabilities by page.
type nominee struct {
	voter
	probs [][]float64
}

func nominees(held []*heldOut, y []int, seed int64) []*nominee {
	all := make([]*nominee, len(held))
	var wg sync.WaitGroup
	for i, h := range held {
		wg.Go(func() { all[i] = newNominee(h, y, seed) })
	}
	wg.Wait()
	return all
}

// newNominee calibrates h's scores on enoughPages random pages, because calibration is slow.
func newNominee(h *heldOut, y []int, seed int64) *nominee {
	c := &nominee{voter{learner: h.learner}, make([][]float64, len(y))}
	for p, s := range h.scores {
		c.probs[p] = slices.Clone(s)
	}
	var sample [][]float64
	var class []int
	for _, p := range rand.New(rand.NewPCG(uint64(seed), 0x707e)).Perm(len(y)) {
		if c.probs[p] != nil && len(sample) < enoughPages {
			sample, class = append(sample, slices.Clone(c.probs[p])), append(class, y[p])
		}
	}
	c.cal = calibrate(sample, class)
	for _, s := range c.probs {
		if s != nil {
			c.cal.Apply(s)
		}
	}
	return c
}

// tallied is a vote whose scores are the sums of its members' probabilities.
type tallied struct {
	*heldOut
	members []voter
}

func (t tallied) with(c *nominee, y []int) tallied {
	members := append(slices.Clone(t.members), c.voter)
	h := newHeldOut(vote{members: members}, len(y))
	for p, s := range c.probs {
		if s == nil {
			continue
		}
		h.scores[p] = slices.Clone(s)
		if t.heldOut != nil {
			for class, v := range t.scores[p] {
				h.scores[p][class] += v
			}
		}
	}
	h.score = accuracy(h.scores, y)
	return tallied{h, members}
}

// helper returns the nominee that helps most, the first of ties, and the vote with it.
func (t tallied) helper(left []*nominee, y []int) (at int, top tallied) {
	for i, c := range left {
		if next := t.with(c, y); i == 0 || next.score > top.score {
			at, top = i, next
		}
	}
	return at, top
}

// logs turns the probabilities of a vote into the scores of models.Vote.
func (h *heldOut) logs() {
	for _, s := range h.scores {
		models.Logs(s)
	}
}

// leastShare is the share of a member that adds nothing. The member stays because its rules explain
// labels, and models.Vote wants a share above 0.
const leastShare = 1e-12

// stacked returns the stack of cross-validated learners (Wolpert 1992): the vote whose shares, positive with
// sum 1, make the labels of held-out pages most likely (Smyth and Wolpert 1999). All learners must have
// judged the same pages.
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

// topicalNominee is newNominee for a topic: Platt's sigmoid calibrates o on all rounds; the first votes.
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
// maximisation. The sum is concave, so the start does not matter.
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
