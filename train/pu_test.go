package train

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"fossick/datasets"
	"fossick/internal/testkit"
	"fossick/models"
	"fossick/models/features"
)

// pooled yields n given pages on bees, and a pool with a share on bees; only labels tell them apart.
func pooled(n, pool int, share float64) iter.Seq2[*datasets.Example, error] {
	return func(yield func(*datasets.Example, error) bool) {
		rng := rand.New(rand.NewPCG(7, 7))
		for i := range n + pool {
			label, on := Other, rng.Float64() < share
			if i < n {
				label, on = "bees", true
			}
			if !yield(&datasets.Example{URL: fmt.Sprintf("http://a.test/%d", 1000+i), Label: label, Labels: []string{label}, Text: story(rng, on)}, nil) {
				return
			}
		}
	}
}

// story returns ten words of its subject among ten of any.
func story(rng *rand.Rand, bees bool) string {
	words := []string{"train", "loan", "goal", "steel", "cheese", "violin", "engine", "mortgage", "season", "garden", "river", "paint"}
	if bees {
		words = []string{"hive", "honey", "queen", "brood", "comb", "nectar", "swarm", "drone", "wax", "keeper", "garden", "river"}
	}
	var b strings.Builder
	for range 10 {
		fmt.Fprintf(&b, "word%d %s ", rng.IntN(40), words[rng.IntN(len(words))])
	}
	return b.String()
}

func TestPUFindsTheTopic(t *testing.T) {
	for _, c := range []struct {
		given int
		share float64
		right int // of 200 new pages, at least
	}{{10, 0.2, 160}, {30, 0.2, 190}, {30, 0.02, 190}, {30, 0.5, 160}, {10, 0, 190}} {
		opt := Options{Classifier: models.LinearSVM, Target: Target{Topic: "bees", Unlabelled: true}, Seed: 1}
		m, rep, err := Train(t.Context(), pooled(c.given, 400, c.share), opt)
		if err != nil {
			t.Fatal(err)
		}
		p := rep.PU
		if p.Given != c.given || p.Pool != 400 {
			t.Errorf("%d given, share %v: told %d given and %d in the pool", c.given, c.share, p.Given, p.Pool)
		}
		if !(math.Abs(p.Share-c.share) <= 0.04+0.3*c.share) {
			t.Errorf("%d given: share estimated %.3f, is %v", c.given, p.Share, c.share)
		}
		ask := asker(m)
		right, n := 0, 0
		rng := rand.New(rand.NewPCG(8, 8))
		for i := range 200 {
			on := i%2 == 0
			n++
			if (ask(features.Doc{Text: story(rng, on)})[m.Class("bees")] >= m.Threshold("bees")) == on {
				right++
			}
		}
		if right < c.right {
			t.Errorf("%d given, share %v: %d of %d new pages right, want %d", c.given, c.share, right, n, c.right)
		}
	}
}

func TestPUNeedsBoth(t *testing.T) {
	for _, n := range [][2]int{{1, 50}, {50, 1}, {5, 0}} {
		_, _, err := Train(t.Context(), pooled(n[0], n[1], 0.2), Options{Classifier: models.LinearSVM, Target: Target{Topic: "bees", Unlabelled: true}})
		if !errors.Is(err, ErrData) {
			t.Errorf("%d given, %d in the pool: got %v, want ErrData", n[0], n[1], err)
		}
	}
}

// TestPUEstimate compares the estimate with a count at every position.
func TestPUEstimate(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 2))
		given, pool := 5+rng.IntN(60), 50+rng.IntN(400)
		p := &pu{spyOf: make([]int, given+pool)}
		for range 3 {
			p.runs = append(p.runs, &puRun{scores: make([]float64, given+pool)})
		}
		for i := range given + pool {
			for _, r := range p.runs {
				r.scores[i] = math.Round(10*rng.NormFloat64()) / 10 // some are equal
			}
			if i < given {
				p.given = append(p.given, i)
				p.spyOf[i] = rng.IntN(3)
				p.runs[p.spyOf[i]].scores[i]++
			} else {
				p.pool = append(p.pool, i)
			}
		}
		var places []float64
		for _, g := range p.given {
			above := 0.0
			for _, i := range p.pool {
				if s := p.runs[p.spyOf[g]].scores; s[i] >= s[g] {
					above++
				}
			}
			places = append(places, above/float64(pool))
		}
		slices.Sort(places)
		want := 1.0
		for k, place := range places {
			if recall := float64(k+1) / (float64(given) + 1); recall >= leastSpies {
				want = min(want, place/recall)
			}
		}
		if got := p.estimate(); !(math.Abs(got-want) <= 1e-12) {
			t.Fatalf("seed %d: share %.6f, want %.6f", seed, got, want)
		}
	}
}

// TestPUCut: as many pages pass as are on topic by the share.
func TestPUCut(t *testing.T) {
	p := &pu{shares: []float64{0.3}, opt: &Options{}, runs: []*puRun{{}}, spyOf: make([]int, 110)}
	for i := range 100 {
		p.pool = append(p.pool, i)
		p.scores = append(p.scores, float64(i))
	}
	for i := range 10 {
		p.given = append(p.given, 100+i)
		p.scores = append(p.scores, float64(10*i)+5.25)
	}
	p.runs[0].scores = p.scores
	margin := p.cut(p.scores)
	// 40 are on topic: above are 36 of the pool, 64 to 99, and 4 given, 65.25 to 95.25.
	p.doubt, p.c = [2]float64{0.3, 0.3}, &corpus{sites: make([]string, 110)}
	for i := range p.given {
		p.c.sites[100+i] = "ab"[i%2 : i%2+1]
	}
	r := p.promise(p.scores, margin, false)
	if margin != 63.5 || r.Recall != 0.4 || !(math.Abs(r.Precision-0.4) <= 1e-12) {
		t.Errorf("got margin %v, %+v; want 63.5, recall 0.4, precision 0.4", margin, r)
	}
	if few := p.promise(p.scores, margin, true); few.RecallCI[0] >= r.RecallCI[0] || few.RecallCI[1] <= r.RecallCI[1] {
		t.Errorf("two sites tell as much as ten pages: %v, %v", few.RecallCI, r.RecallCI)
	}
	for i := range p.given {
		p.scores[100+i] = 200 + float64(i)
	}
	p.shares = []float64{0}
	if margin, r := p.cut(p.scores), p.promise(p.scores, p.cut(p.scores), false); !(margin > 99) || r.Recall != 1 {
		t.Errorf("no page of the pool is on topic, but margin %v lets some through, or not all given, %+v", margin, r)
	}
}

// TestPUCalibration: the pool's probabilities sum to its pages on topic, and match a known mixture.
func TestPUCalibration(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	p := &pu{shares: []float64{0.2}, topic: 1}
	for i := range 6000 { // normal at 2 and at 0: the log odds are 2 m − 2 + ln(0.2/0.8)
		m := rng.NormFloat64()
		switch {
		case i < 1000:
			m += 2
			p.given = append(p.given, i)
		case i < 2000:
			m += 2
			fallthrough
		default:
			p.pool = append(p.pool, i)
		}
		p.scores = append(p.scores, m)
	}
	cal, sum := p.calibration(), 0.0
	for _, i := range p.pool {
		s := p.halves(p.scores[i])
		cal.Apply(s)
		sum += s[1]
	}
	if !(math.Abs(sum-1000) <= 1) {
		t.Errorf("the pool's probabilities sum up to %.1f, want 1000", sum)
	}
	if b := 2 * cal.Offset[1]; !(math.Abs(cal.Scale-2) <= 0.2) || !(math.Abs(b-(-2+math.Log(0.25))) <= 0.3) {
		t.Errorf("got %.2f m %+.2f, want 2 m − 3.39", cal.Scale, b)
	}
}

// TestEvenSites: a word on every page of one site weighs less than a word on as many pages of several.
func TestEvenSites(t *testing.T) {
	c := &corpus{classes: []string{Other, "t"}, terms: []string{"menu", "topic", "rest"}}
	for i := range 40 {
		v, site, y := features.Vector{Index: []int32{2}, Value: []float32{1}}, "d", 0
		switch {
		case i < 4: // of one site
			v, site, y = features.Vector{Index: []int32{0}, Value: []float32{1}}, "a", 1
		case i < 8:
			v, site, y = features.Vector{Index: []int32{1}, Value: []float32{1}}, "bcbc"[i-4:i-3], 1
		}
		c.rows, c.sites, c.y = append(c.rows, v), append(c.sites, site), append(c.y, y)
	}
	f := newFitted(c, []int32{0, 1, 2})
	if shares := f.siteShares(c, c.all(), 1); !(math.Abs(shares[0]-1./3) <= 1e-12) || !(math.Abs(shares[1]-2./3) <= 1e-12) {
		t.Errorf("shares %v, want a third and two thirds", shares)
	}
	c.sites = make([]string, 40)
	if shares := f.siteShares(c, c.all(), 1); shares[0] != 0.5 || shares[1] != 0.5 {
		t.Errorf("unknown sites: shares %v, want halves", shares)
	}
}

func TestPseudo(t *testing.T) {
	// Ten pages: the probabilities of class 1 are too low, but in the right order.
	var probs [][]float64
	for i := range 10 {
		p := float64(i) / 100
		probs = append(probs, []float64{1 - p, p})
	}
	if got, want := pseudo(probs, []float64{0.6, 0.4}, 0), []int{0, 0, 0, -1, -1, -1, -1, -1, 1, 1}; !slices.Equal(got, want) {
		t.Errorf("round 0: %v, want %v", got, want)
	}
	if got, want := pseudo(probs, []float64{0.6, 0.4}, 1), []int{0, 0, 0, 0, 0, 0, 1, 1, 1, 1}; !slices.Equal(got, want) {
		t.Errorf("round 1: %v, want %v", got, want)
	}
	if got := pseudo(nil, []float64{0.5, 0.5}, 1); len(got) != 0 {
		t.Errorf("of no pages: %v", got)
	}
	if got := pseudo(probs, []float64{1, 0}, 1); slices.Contains(got, 1) || got[9] != -1 {
		t.Errorf("a class that is rarer than a page of ten gets none, nor does the other take all: %v", got)
	}
}

// TestPseudoOnePageOneClass: whatever the probabilities, no class gets more than its share.
func TestPseudoOnePageOneClass(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for range 200 {
		k, n := 2+rng.IntN(5), rng.IntN(60)
		shares, probs := make([]float64, k), make([][]float64, n)
		for c := range shares {
			shares[c] = 1 / float64(k)
		}
		for i := range probs {
			probs[i] = make([]float64, k)
			for c := range probs[i] {
				probs[i][c] = rng.Float64()
			}
		}
		for round := range unlabelledRounds {
			got := make([]int, k)
			for _, c := range pseudo(probs, shares, round) {
				if c >= 0 {
					got[c]++
				}
			}
			for c, m := range got {
				if most := min(pseudoMost, max(pseudoLeast, shares[c])*pseudoRounds[round])*float64(n) + 0.5; float64(m) > most {
					t.Fatalf("class %d of %d got %d of %d pages, at most %.1f", c, k, m, n, most)
				}
			}
		}
	}
}

func TestPUIsRepeatable(t *testing.T) {
	var both [2]bytes.Buffer
	for i := range both {
		m, _, err := Train(t.Context(), pooled(10, 100, 0.3), Options{Classifier: models.LinearSVM, Target: Target{Topic: "bees", Unlabelled: true}, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		testkit.Must(t, m.Write(&both[i]))
	}
	if !bytes.Equal(both[0].Bytes(), both[1].Bytes()) {
		t.Error("two models of the same examples differ")
	}
}
