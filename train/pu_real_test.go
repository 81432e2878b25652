package train

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fossick/datasets"
)

// TestPUTuning is how puDefaults were chosen: topics of Wikispeedia's training file
// that no figure is given of.
//
//	FOSSICK_COMPARE=1 go test ./train -run TestPUTuning -v
func TestPUTuning(t *testing.T) {
	if os.Getenv("FOSSICK_COMPARE") == "" {
		t.Skip("takes minutes; set FOSSICK_COMPARE=1")
	}
	topics := strings.Split(cmp.Or(os.Getenv("FOSSICK_TOPICS"), "Geography,People,History"), ",")
	b := newPUBench(t, examples(t, "wikispeedia/train.jsonl.zst").Examples())
	hows := []struct {
		name string
		how  puHow
	}{
		{"idf 0", puHow{linear{}, 0, 0, 0}},
		{"idf 2 .5-1.5", puHow{linear{}, 2, .5, 1.5}},
		{"odds 0", puHow{linear{odds: true}, 0, 0, 0}},
		{"odds 2 .5-1.5", puHow{linear{odds: true}, 2, .5, 1.5}},
		{"odds 4 .5-1.5", puHow{linear{odds: true}, 4, .5, 1.5}},
		{"odds 7 .5-1.5", puHow{linear{odds: true}, 7, .5, 1.5}},
		{"odds 2 .8-1.2", puHow{linear{odds: true}, 2, .8, 1.2}},
		{"odds 2 .5-3", puHow{linear{odds: true}, 2, .5, 3}},
		{"log 2 .5-1.5", puHow{linear{odds: true, loss: Logistic}, 2, .5, 1.5}},
		{"nb 0", puHow{bayes{complement: true}, 0, 0, 0}},
		{"blend 2 .5-1.5", puHow{blend{linear{}, .3, 1}, 2, .5, 1.5}},
	}
	for _, topic := range topics {
		for _, n := range []int{10, 30} {
			for _, h := range hows {
				t.Logf("%-10s n %3d %-12s %s", topic, n, h.name, b.run(topic, n, 2, h.how))
			}
		}
	}
}

// TestPU compares, on topics that nothing was tuned on, what pages on topic and
// a pool teach. One peer is the usual model that takes the pool for off topic
// (naive). The other knows the pool's labels (supervised: the same pages on
// topic, true negatives). Half of the rows are the pool, the others judge.
//
//	FOSSICK_COMPARE=1 go test ./train -run 'TestPU$' -v
//
// FOSSICK_TOPICS, FOSSICK_GIVEN (by comma), FOSSICK_DRAWS and FOSSICK_CORPUS
// (wikispeedia, 20news) change what is compared.
func TestPU(t *testing.T) {
	if os.Getenv("FOSSICK_COMPARE") == "" {
		t.Skip("takes minutes; set FOSSICK_COMPARE=1")
	}
	draws := 5
	fmt.Sscan(os.Getenv("FOSSICK_DRAWS"), &draws)
	b, topics := wikispeediaPU(t), "Astronomy,Biology,IT,Religion"
	if os.Getenv("FOSSICK_CORPUS") == "20news" {
		b, topics = newsPU(t), "sci.med"
	}
	for _, given := range strings.Split(cmp.Or(os.Getenv("FOSSICK_GIVEN"), "10,30,100"), ",") {
		for _, topic := range strings.Split(cmp.Or(os.Getenv("FOSSICK_TOPICS"), topics), ",") {
			n := 10
			fmt.Sscan(given, &n)
			if left := b.inPool(topic, n); left < n/3 {
				t.Logf("%-10s n %3d: only %d pages on topic would be left in the pool", topic, n, left)
				continue
			}
			t.Logf("%-10s n %3d pu         %s", topic, n, b.run(topic, n, draws, puDefaults))
			t.Logf("%-10s n %3d naive      %s", topic, n, b.naive(topic, n, draws))
			t.Logf("%-10s n %3d supervised %s", topic, n, b.supervised(topic, n, draws))
		}
	}
}

func wikispeediaPU(t *testing.T) *puBench {
	set := examples(t, "wikispeedia")
	truth, err := datasets.ReadTruth(filepath.Join(set.Name(), "labels.tsv.zst"))
	if err != nil {
		t.Fatal(err)
	}
	return newPUBench(t, func(yield func(*datasets.Example, error) bool) {
		for e, err := range set.Examples() {
			if err == nil {
				l, _ := truth.Of(e.URL)
				e.Label, e.Labels = l.Label, l.All
			}
			if !yield(e, err) {
				return
			}
		}
	})
}

// newsPU is every fourth post of 20 Newsgroups.
func newsPU(t *testing.T) *puBench {
	return newPUBench(t, where(examples(t, "20news"), func(n int, _ *datasets.Example) bool { return n%4 == 0 }))
}

// inPool is how many pages on topic the first draw leaves in the pool.
func (b *puBench) inPool(topic string, n int) (left int) {
	_, pool, _ := b.draw(topic, n, 0)
	for _, i := range pool {
		if b.labels[i].Match(topic) {
			left++
		}
	}
	return left
}

// puBench is a labelled set of which the labels are shown in part.
type puBench struct {
	t      testing.TB
	c      *corpus
	labels []datasets.Labels // by row
}

func newPUBench(t testing.TB, rows func(func(*datasets.Example, error) bool)) *puBench {
	b := &puBench{t: t}
	opt := &Options{Method: Method{Classifier: "linear"}, Target: Target{Unlabelled: true}} // without URLs, as learnPU
	views, err := gatherViews(t.Context(), rows, opt, &Report{}, func(e *datasets.Example) []string {
		b.labels = append(b.labels, datasets.Labels{Label: e.Label, All: slices.Clone(e.Labels)})
		k := len(b.labels) % 2
		return []string{"ab"[k : k+1]} // any two classes
	}, false)
	if err != nil {
		t.Fatal(err)
	}
	b.c = views[0]
	return b
}

// draw halves the rows, and shows n of the topic's in the first half.
func (b *puBench) draw(topic string, n, draw int) (given, pool, held []int) {
	rng := rand.New(rand.NewPCG(uint64(draw), 0xd7a3))
	order := rng.Perm(len(b.labels))
	half := len(order) / 2
	held = order[half:]
	for _, i := range order[:half] {
		if b.labels[i].Match(topic) && len(given) < n {
			given = append(given, i)
		} else {
			pool = append(pool, i)
		}
	}
	if len(given) < n {
		b.t.Logf("%s: only %d pages", topic, len(given))
	}
	return given, pool, held
}

// sub is the corpus of some rows.
func (b *puBench) sub(topic string, rows []int, on func(row int) bool) *corpus {
	c := *b.c
	c.classes = []string{Other, topic}
	slices.Sort(c.classes)
	at := slices.Index(c.classes, topic)
	c.rows, c.y, c.sites = nil, nil, nil
	for _, i := range rows {
		y := 1 - at
		if on(i) {
			y = at
		}
		c.rows, c.y, c.sites = append(c.rows, b.c.rows[i]), append(c.y, y), append(c.sites, "")
	}
	return &c
}

type puFigures struct{ f1, auc, share, truth, best float64 }

func (f puFigures) String() string {
	return fmt.Sprintf("F1 %.3f (best %.3f) AUC %.4f share %.3f (true %.3f)", f.f1, f.best, f.auc, f.share, f.truth)
}

func (b *puBench) run(topic string, n, draws int, how puHow) (mean puFigures) {
	for d := range draws {
		given, pool, held := b.draw(topic, n, d)
		c := b.sub(topic, append(slices.Clone(given), pool...), func(i int) bool { return slices.Contains(given, i) })
		opt := &Options{Target: Target{Topic: topic}, Validation: Validation{Folds: 5}, Seed: int64(d)}
		p, err := newPU(c, opt, how)
		if err != nil {
			b.t.Fatal(err)
		}
		if err := p.run(b.t.Context()); err != nil {
			b.t.Fatal(err)
		}
		var labelled []int
		for i, use := range p.use {
			if use {
				labelled = append(labelled, i)
			}
		}
		f, err := how.learner.fit(b.t.Context(), p.c, labelled, opt.fitting())
		if err != nil {
			b.t.Fatal(err)
		}
		margin, _, _ := p.cut()
		got := b.judge(topic, f, c, held, margin)
		got.share = p.share()
		for _, i := range pool {
			if b.labels[i].Match(topic) {
				got.truth += 1 / float64(len(pool))
			}
		}
		mean.add(got, draws)
	}
	return mean
}

func (m *puFigures) add(f puFigures, of int) {
	m.f1 += f.f1 / float64(of)
	m.auc += f.auc / float64(of)
	m.best += f.best / float64(of)
	m.share += f.share / float64(of)
	m.truth += f.truth / float64(of)
}

// supervised is the usual model of the same pages on topic and the pool's pages that
// are off topic by the truth.
func (b *puBench) supervised(topic string, n, draws int) (mean puFigures) {
	return b.usual(topic, n, draws, func(i int) bool { return !b.labels[i].Match(topic) })
}

// naive is the usual model with the whole pool for off topic.
func (b *puBench) naive(topic string, n, draws int) (mean puFigures) {
	return b.usual(topic, n, draws, func(int) bool { return true })
}

func (b *puBench) usual(topic string, n, draws int, take func(int) bool) (mean puFigures) {
	for d := range draws {
		given, pool, held := b.draw(topic, n, d)
		rows := slices.Clone(given)
		for _, i := range pool {
			if take(i) {
				rows = append(rows, i)
			}
		}
		c := b.sub(topic, rows, func(i int) bool { return slices.Contains(given, i) })
		opt := &Options{Target: Target{Topic: topic}, Validation: Validation{Folds: 5}, Seed: int64(d)}
		top, err := choose(context.Background(), c, []learner{linear{}}, opt, &Report{Accuracy: map[string]float64{}})
		if err != nil {
			b.t.Fatal(err)
		}
		f, err := top.learner.fit(b.t.Context(), c, c.all(), opt.fitting())
		if err != nil {
			b.t.Fatal(err)
		}
		at := slices.Index(c.classes, topic)
		scores, y := top.judged(c.y)
		cal := calibrate(scores, y) // scores are probabilities now
		cut := threshold(scores, y, at)
		// The margin of that probability: logit, less the offsets, over the scale.
		margin := math.Log(cut / (1 - cut))
		if cal.Offset != nil {
			margin -= cal.Offset[at] - cal.Offset[1-at]
		}
		mean.add(b.judge(topic, f, c, held, margin/cal.Scale), draws)
	}
	return mean
}

// judge measures a classifier on held rows.
func (b *puBench) judge(topic string, f *fitted, c *corpus, held []int, margin float64) (got puFigures) {
	at := slices.Index(c.classes, topic)
	whole := *c
	whole.rows = b.c.rows
	s := make([]float64, 2)
	var on, off []float64
	for _, i := range held {
		f.scores(s, &whole, i)
		if m := s[at] - s[1-at]; b.labels[i].Match(topic) {
			on = append(on, m)
		} else {
			off = append(off, m)
		}
	}
	slices.Sort(on)
	slices.Sort(off)
	count := func(x []float64, m float64) float64 {
		n, _ := slices.BinarySearch(x, m)
		return float64(len(x) - n)
	}
	f1 := func(m float64) float64 { return 2 * count(on, m) / (count(on, m) + count(off, m) + float64(len(on))) }
	got.f1 = f1(margin)
	for _, m := range on {
		n, _ := slices.BinarySearch(off, m)
		got.auc += float64(n) / float64(len(off)) / float64(len(on))
		got.best = max(got.best, f1(m))
	}
	return got
}
