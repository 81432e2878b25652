package train

import (
	"context"
	"fmt"
	"math"
	"slices"

	"fossick/models"
)

// blend is a linear support vector machine with a share of complement naive
// Bayes. Both are tables of weights of the same terms, so that their weighted
// sum is one table again, and a page costs no more than with either. Bayes
// counts every page, the machine only those near a border. Where classes are
// many and pages noisy they err on different ones (Wang and Manning 2012
// interpolate the two as well).
type blend struct {
	linear
	share float64 // of naive Bayes, in [0, 1), after its scores have the spread of the machine's
	ratio float64 // spread of the machine's scores to that of naive Bayes's
}

// shares are those that cross-validation chooses from.
var shares = [...]float64{0.1, 0.2, 0.3, 0.4, 0.5}

func (blend) name() string { return models.LinearSVM }

// factor is what naive Bayes's weights are multiplied by beside the machine's.
func (b blend) factor() float64 { return b.share / (1 - b.share) * b.ratio }

func (b blend) fit(ctx context.Context, c *corpus, pages []int, by fitting) (*fitted, error) {
	f, err := b.linear.fit(ctx, c, pages, by)
	if err != nil {
		return nil, err
	}
	nb, err := bayes{complement: true, odds: b.odds}.fit(ctx, c, pages, by)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(f.kept, nb.kept) {
		return nil, fmt.Errorf("blending %s of %d terms with %s of %d: not the same terms", models.LinearSVM, len(f.kept), models.NaiveBayes, len(nb.kept))
	}
	share := float32(b.factor())
	for i, w := range nb.linear.Weights {
		f.linear.Weights[i] += share * w
	}
	for i, w := range nb.linear.Bias {
		f.linear.Bias[i] += share * w
	}
	f.settings["nb_share"] = fmt.Sprint(b.share)
	return f, nil
}

// blended returns the best blend of two cross-validated learners by the accuracy
// of their held-out scores; machine itself when no share does better.
func blended(machine, nb *heldOut, y []int) *heldOut {
	top := machine
	ratio := spread(machine.scores) / spread(nb.scores)
	if math.IsNaN(ratio) || math.IsInf(ratio, 0) {
		return top // no words: all scores are equal
	}
	for _, share := range shares {
		b := blend{machine.learner.(linear), share, ratio}
		if h := b.of(machine, nb, y); h.score > top.score {
			top = h
		}
	}
	return top
}

// of returns what the blend says of pages, by what both say.
func (b blend) of(machine, nb *heldOut, y []int) *heldOut {
	h := newHeldOut(b, len(y))
	for p, s := range machine.scores {
		if s == nil {
			continue
		}
		h.scores[p] = make([]float64, len(s))
		for class, v := range s {
			h.scores[p][class] = v + b.factor()*nb.scores[p][class]
		}
	}
	h.score = accuracy(h.scores, y)
	return h
}

// spread returns the standard deviation of scores about the mean of their page.
func spread(scores [][]float64) float64 {
	var squares float64
	n := 0
	for _, s := range scores {
		if s == nil {
			continue
		}
		var mean float64
		for _, v := range s {
			mean += v / float64(len(s))
		}
		for _, v := range s {
			squares += (v - mean) * (v - mean)
		}
		n += len(s)
	}
	return math.Sqrt(squares / float64(n))
}

// accuracy returns the share of judged pages whose best score is their class's.
func accuracy(scores [][]float64, y []int) float64 {
	hit, judged := 0, 0
	for p, s := range scores {
		if s == nil {
			continue
		}
		judged++
		if best(s) == y[p] {
			hit++
		}
	}
	return float64(hit) / float64(max(1, judged))
}
