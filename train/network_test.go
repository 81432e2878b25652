package train

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"fossick/internal/testkit"
	"fossick/models"
	"fossick/models/features"
)

// TestStep compares a step of back-propagation with a hand calculation: one word, one unit, two classes.
func TestStep(t *testing.T) {
	n := newSparseNet(shape{terms: 1, hidden: 1, classes: 2})
	n.in[0], n.inBias[0], n.out[0], n.out[1] = 1, math.Log(3)/2-0.5, 2, -1
	// a = 1·0.5 + ln(3)/2 − 0.5, so h = (3 − 1)/(3 + 1) = ½, its slope is 1 − ¼, and
	// the scores are 1 and −½.
	n.step(features.Vector{Index: []int32{0}, Value: []float32{0.5}}, 1, 0.1)
	p := 1 / (1 + math.Exp(-1.5)) // of class 0
	d0, d1 := -p, p               // class 1 was right: δ = 0 − p and 1 − (1 − p)
	du := 0.75 * (2*d0 - 1*d1)
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"out 0", n.out[0], 2 + 0.1*0.5*d0}, {"out 1", n.out[1], -1 + 0.1*0.5*d1},
		{"out bias 0", n.outBias[0], 0.1 * d0}, {"out bias 1", n.outBias[1], 0.1 * d1},
		{"in", n.in[0], 1 + 0.1*0.5*du}, {"in bias", n.inBias[0], math.Log(3)/2 - 0.5 + 0.1*du},
	} {
		if !(math.Abs(c.got-c.want) <= 1e-15) {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	if want := 0.817574476193644; !(math.Abs(p-want) <= 1e-12) { // e^1.5 = 4.48168907033806
		t.Errorf("probability %v, want %v", p, want)
	}
}

func randomLesson(rng *rand.Rand, s shape, rows int) *lesson {
	l := &lesson{shape: s, seed: rng.Uint64(), number: 3}
	for i := range rows {
		var x features.Vector
		for t := range int32(s.terms) {
			if rng.IntN(3) == 0 {
				x.Index, x.Value = append(x.Index, t), append(x.Value, rng.Float32())
			}
		}
		l.rows, l.y, l.learn = append(l.rows, x), append(l.y, rng.IntN(s.classes)), append(l.learn, i)
	}
	return l
}

func (n *sparseNet) each(f func(w *float64)) {
	for _, weights := range [...][]float64{n.in, n.inBias, n.out, n.outBias} {
		for i := range weights {
			f(&weights[i])
		}
	}
}

// TestGradient compares a step with the slope of the loss by finite differences.
func TestGradient(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	l := randomLesson(rng, shape{terms: 7, hidden: 5, classes: 4}, 10)
	for i, x := range l.rows {
		before, _ := l.begin()
		after := before.copyOf()
		after.step(x, l.y[i], 1)
		var moved []float64
		after.each(func(w *float64) { moved = append(moved, *w) })
		k := 0
		before.each(func(w *float64) {
			const d = 1e-5
			old := *w
			*w = old + d
			up := before.loss(x, l.y[i])
			*w = old - d
			down := before.loss(x, l.y[i])
			*w = old
			if slope := (up - down) / (2 * d); !(math.Abs(moved[k]-old+slope) <= 1e-8) {
				t.Errorf("row %d: weight %d moves by %v; the loss has slope %v there", i, k, moved[k]-old, slope)
			}
			k++
		})
	}
}

// TestGolearnEqual: from the same weights and row order golearn's network ends with the weights of ours.
func TestGolearnEqual(t *testing.T) {
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 9))
		l := randomLesson(rng, shape{terms: 3 + rng.IntN(20), hidden: 1 + rng.IntN(9), classes: 2 + rng.IntN(5)}, 30)
		const epochs = 6
		ours, order := l.begin()
		rows := append([]int(nil), l.learn...)
		for e := range epochs {
			testkit.Must(t, l.epoch(context.Background(), ours, e, rows, order))
		}
		theirs := testkit.Call(l.repeat(context.Background(), epochs)).Must(t)
		start, _ := l.begin()
		var want, first []float64
		ours.each(func(w *float64) { want = append(want, *w) })
		start.each(func(w *float64) { first = append(first, *w) })
		k, most, moved := 0, 0.0, 0.0
		theirs.each(func(w *float64) {
			most, moved = max(most, math.Abs(*w-want[k])), max(moved, math.Abs(*w-first[k]))
			k++
		})
		if most > 1e-9 || moved < 0.1 {
			t.Errorf("seed %d, %+v: weights differ by up to %v after moving by up to %v", seed, l.shape, most, moved)
		}
	}
}

// TestStudyStops: study keeps the network with the lowest held-out loss.
func TestStudyStops(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	l := randomLesson(rng, shape{terms: 12, hidden: 8, classes: 3}, 120) // labels are noise
	l.learn, l.held = l.learn[:90], l.learn[90:]
	top, epochs, err := l.study(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	n, order := l.begin()
	rows, least, at := append([]int(nil), l.learn...), math.Inf(1), 0
	for e := range maxEpochs {
		testkit.Must(t, l.epoch(context.Background(), n, e, rows, order))
		if loss := l.loss(n); loss < least {
			least, at = loss, e+1
		}
		if e+1 == at+patience {
			break
		}
	}
	if epochs != at || l.loss(top) != least || at == 0 || at+patience >= maxEpochs {
		t.Errorf("stopped at epoch %d with loss %v; the least is %v at %d of at most %d", epochs, l.loss(top), least, at, maxEpochs)
	}
}

// TestThin: words are dropped as often as they should be, and their mean values stay.
func TestThin(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	x := features.Vector{Index: []int32{2, 5, 9}, Value: []float32{1, 0.5, 2}}
	const n = 20000
	seen, sum := make([]int, 10), make([]float64, 10)
	var dst features.Vector
	for range n {
		dst = thin(dst, x, rng)
		for k, i := range dst.Index {
			seen[i]++
			sum[i] += float64(dst.Value[k])
		}
	}
	for k, i := range x.Index {
		if share := float64(seen[i]) / n; !(math.Abs(share-(1-missed)) <= 0.02) {
			t.Errorf("word %d is seen in %.3f of the steps, want %.3f", i, share, 1-missed)
		}
		if mean := sum[i] / n; !(math.Abs(mean/float64(x.Value[k])-1) <= 0.02) {
			t.Errorf("word %d has mean %.3f, want %.3f", i, mean, x.Value[k])
		}
	}
	if len(x.Index) != 3 || x.Value[2] != 2 {
		t.Error("the row itself is changed")
	}
}

// TestCommittee: the merged network scores as the mean of its parts.
func TestCommittee(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	s := shape{terms: 9, hidden: 4, classes: 3}
	nets := make([]*sparseNet, 3)
	for i := range nets {
		nets[i] = newSparseNet(s)
		nets[i].draw(rng)
	}
	one := committee(nets)
	testkit.Must(t, (&models.Model{Classifier: models.NN, Classes: []string{"a", "b", "c"}, Terms: make([]string, 9),
		Thresholds: make([]float64, 3), Network: one}).Check())
	got, hidden := make([]float64, 3), make([]float32, one.Units())
	for _, x := range randomLesson(rng, s, 20).rows {
		one.Scores(got, x, hidden)
		want := make([]float64, 3)
		for _, n := range nets {
			n.forward(x)
			for c, v := range n.p {
				want[c] += v / 3
			}
		}
		for c := range want {
			if !(math.Abs(got[c]-want[c]) <= 1e-5) {
				t.Errorf("scores %v, the mean is %v", got, want)
			}
		}
	}
}

// TestNetworkEngines: golearn trains the model's network up to golearnWords terms, sparseNet all others.
func TestNetworkEngines(t *testing.T) {
	lessonOf := func(terms, rows int) []*lesson {
		return []*lesson{{shape: shape{terms: terms, hidden: 32, classes: 4}, learn: make([]int, rows)}}
	}
	for _, c := range []struct {
		terms, rows, epochs int
		golearn             bool
	}{
		{golearnWords, 3000, 20, true}, {golearnWords + 1, 3, 1, false}, // 137 neurons, 1.1e9
		{golearnWords, 100_000, 20, false}, // 3.8e10 weights visited
	} {
		if got := affordable(lessonOf(c.terms, c.rows), []int{c.epochs}); got != c.golearn {
			t.Errorf("%+v: golearn %v", c, got)
		}
	}
	set := stream(toy(90, "bank", "code", "star"))
	m, _, err := Train(context.Background(), set, Options{Classifier: models.NN, Words: 20})
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Card.Settings["engine"]; got != "golearn" {
		t.Errorf("%d words: trained by %s, want golearn", len(m.Terms), got)
	}
	b, _, err := newBench(t.Context(), set, nil, Options{}, theme.of)
	if err != nil {
		t.Fatal(err)
	}
	f, err := nn{}.fit(t.Context(), b.train, b.train.all(), fitting{selection: selection{words: 20}, trial: true})
	if err != nil || f.settings["engine"] != "sparse" {
		t.Errorf("a trial, of which no model is made: trained by %s, want sparse; %v", f.settings["engine"], err)
	}
}

// TestAutoNetworks: auto tries networks only with few words.
func TestAutoNetworks(t *testing.T) {
	set := toy(60, "bank", "code")
	for _, c := range []struct {
		opt   Options
		tried bool
	}{
		{Options{Words: 20}, true}, {Options{Mu: 0.05}, true},
		{Options{}, false}, {Options{Words: fewWords + 1}, false}, {Options{Words: 20, Classifier: models.C45}, false},
	} {
		_, rep, err := Train(context.Background(), stream(set), c.opt)
		if err != nil {
			t.Fatal(err)
		}
		if _, tried := rep.Accuracy[models.NN]; tried != c.tried {
			t.Errorf("%+v: nn tried %v, want %v", c.opt, tried, c.tried)
		}
	}
}

func TestNetworkProcs(t *testing.T) {
	set := toy(90, "bank", "code", "star")
	var files [2]bytes.Buffer
	for i, procs := range []int{1, 4} {
		old := runtime.GOMAXPROCS(procs)
		m, _, err := Train(context.Background(), stream(set), Options{Classifier: models.NN, Words: 20, Seed: 2})
		runtime.GOMAXPROCS(old)
		if err != nil {
			t.Fatal(err)
		}
		testkit.Must(t, m.Write(&files[i]))
	}
	if !bytes.Equal(files[0].Bytes(), files[1].Bytes()) {
		t.Error("one processor and four give two models")
	}
}

func TestNetworkRefuses(t *testing.T) {
	set := toy(40, "bank", "code")
	for name, opt := range map[string]Options{
		"no word gains": {Mu: 9},
	} {
		opt.Classifier = models.NN
		if _, _, err := Train(context.Background(), stream(set), opt); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	l := randomLesson(rand.New(rand.NewPCG(1, 1)), shape{terms: 4, hidden: 2, classes: 2}, 10)
	wrong := *l
	wrong.y = make([]int, len(l.y))
	wrong.y[4] = 9 // no such class
	if _, err := wrong.repeat(ctx, 1); err == nil {
		t.Error("golearn panics and says nothing")
	}
	cancel()
	if _, _, err := l.study(ctx); err == nil {
		t.Error("interrupted: no error")
	}
	if _, err := l.repeat(ctx, 3); err == nil {
		t.Error("golearn interrupted: no error")
	}
}

type rates struct{ steps, shrinks []float64 }

func (r *rates) step(_ features.Vector, _ int, rate float64) { r.steps = append(r.steps, rate) }
func (r *rates) shrink(by float64)                           { r.shrinks = append(r.shrinks, by) }

// TestRates: the rate is 0.05/(1 + epoch/5), and weights shrink by a quarter of it.
func TestRates(t *testing.T) {
	l, r := &lesson{rows: make([]features.Vector, 1), y: []int{0}}, &rates{}
	for _, epoch := range []int{0, 5, 10} {
		testkit.Must(t, l.epoch(context.Background(), r, epoch, []int{0}, rand.New(rand.NewPCG(1, 1))))
	}
	for i, want := range []float64{0.05, 0.025, 0.05 / 3} {
		if !(math.Abs(r.steps[i]-want) <= 1e-15) || !(math.Abs(r.shrinks[i]-(1-want/4)) <= 1e-15) {
			t.Errorf("epoch %d: rate %v, weights by %v; want %v, %v", 5*i, r.steps[i], r.shrinks[i], want, 1-want/4)
		}
	}
}
