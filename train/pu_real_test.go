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
	"fossick/internal/testkit"
)

// puCorpora are topics by corpus: those on which the settings of PU learning were chosen, and those on which nothing was
// tuned. Of msdocs only every twelfth page is read.
var puCorpora = map[string][]puCorpus{
	"tune": {
		{"wikispeedia/train.jsonl.zst", 1, []string{"Geography", "Music", "People", "History"}},
		{"debdocs", 1, []string{"sql", "programming"}},
		{"msdocs", 12, []string{"topic:accounting", "topic:3d graphics", "topic:network drivers", "topic:spreadsheets", "topic:project management", "topic:handwriting and speech"}},
	},
	"held": {
		{"wikispeedia", 1, []string{"Astronomy", "Biology", "IT", "Religion"}},
		{"webkb", 1, []string{"course", "faculty", "project", "student"}},
		{"debdocs", 1, []string{"science", "computing", "finance"}},
		{"msdocs", 12, []string{"topic:electronic mail", "topic:video", "topic:word processing", "topic:compilers", "topic:directory services", "topic:accessibility"}},
	},
}

type puCorpus struct {
	name   string
	every  int
	topics []string
}

// sqlManuals are the packages of debdocs whose manuals are the topic "sql".
var sqlManuals = []string{"sqlite3-doc", "postgresql-doc-15", "python-sqlalchemy-doc"}

// TestPU compares learning from pages on topic and a pool with a model that takes the pool for off topic
// (naive) and one that knows the pool's labels (supervised). Half of the rows, at most 3,000, are the
// pool; 5,000 others judge.
//
//	FOSSICK_COMPARE=1 go test ./train -run 'TestPU$' -v -timeout 2h
//
// FOSSICK_TOPICS (by |), FOSSICK_GIVEN (by comma), FOSSICK_DRAWS, FOSSICK_WAYS (by comma) and
// FOSSICK_SPLIT (held, tune) change what is compared; FOSSICK_ONESITE=1 has all examples from one site.
func TestPU(t *testing.T) {
	if os.Getenv("FOSSICK_COMPARE") == "" {
		t.Skip("takes many minutes; set FOSSICK_COMPARE=1")
	}
	draws := 3
	fmt.Sscan(os.Getenv("FOSSICK_DRAWS"), &draws)
	fmt.Println("corpus\ttopic\texamples\tfrom sites\tway\tF1\tbest F1\taverage precision\taccepted / true\tshare / true\tprecision held\trecall held")
	for _, of := range puCorpora[cmp.Or(os.Getenv("FOSSICK_SPLIT"), "held")] {
		var b *puBench
		for _, topic := range of.topics {
			if only := os.Getenv("FOSSICK_TOPICS"); only != "" && !slices.Contains(strings.Split(only, "|"), topic) {
				continue
			}
			if b == nil {
				b = newPUBench(t, of)
			}
			for _, given := range strings.Split(cmp.Or(os.Getenv("FOSSICK_GIVEN"), "5,10,30"), ",") {
				n := 10
				fmt.Sscan(given, &n)
				for _, way := range strings.Split(cmp.Or(os.Getenv("FOSSICK_WAYS"), "pu,naive,supervised"), ",") {
					if mean, ok := b.mean(topic, n, draws, way); ok {
						fmt.Printf("%s\t%s\t%d\t%.1f\t%s\t%s\n", of.name, topic, n, mean.sites, way, mean)
					}
				}
			}
		}
	}
}

// puBench is a labelled set that shows only some of its labels.
type puBench struct {
	t      testing.TB
	c      *corpus
	labels []datasets.Labels // by row
}

func newPUBench(t testing.TB, of puCorpus) *puBench {
	set := examples(t, of.name)
	b := &puBench{t: t}
	truth, _ := datasets.ReadTruth(filepath.Join(set.Name(), "labels.tsv.zst")) // the others' rows have labels
	opt := &Options{Classifier: "linear", Target: Target{Unlabelled: true}}     // without URLs, as learnPU
	rows := where(set, func(n int, _ *datasets.Example) bool { return n%of.every == 0 })
	c := testkit.Call(gatherBy(t.Context(), rows, opt, &Report{}, func(e *datasets.Example) string {
		l := datasets.Labels{Label: e.Label, All: slices.Clone(e.Labels)}
		if truth != nil {
			l, _ = truth.Of(e.URL)
		}
		b.labels = append(b.labels, l)
		k := len(b.labels) % 2
		return "ab"[k : k+1] // any two classes
	}, false)).Must(t)
	b.c = c
	return b
}

func (b *puBench) on(topic string, row int) bool {
	if topic == "sql" {
		return slices.ContainsFunc(sqlManuals, b.labels[row].Match)
	}
	return b.labels[row].Match(topic)
}

// draw halves the rows, and picks n of the topic's in the first half, all from one site if oneSite.
func (b *puBench) draw(topic string, n, draw int, oneSite bool) (given, pool, held []int) {
	rng := rand.New(rand.NewPCG(uint64(draw), 0xd7a3))
	order := rng.Perm(len(b.labels))
	half := len(order) / 2
	held = order[half:min(half+5000, len(order))]
	of, site := map[string]int{}, ""
	for _, i := range order[:half] {
		if b.on(topic, i) && oneSite && site == "" {
			if of[b.c.sites[i]]++; of[b.c.sites[i]] == n {
				site = b.c.sites[i] // the first that has so many
			}
		}
	}
	if oneSite && site == "" {
		return nil, nil, nil
	}
	for _, i := range order[:half] {
		if len(given) < n && b.on(topic, i) && (!oneSite || b.c.sites[i] == site) {
			given = append(given, i)
		} else if len(pool) < 1500 {
			pool = append(pool, i)
		}
	}
	return given, pool, held
}

func (b *puBench) sub(topic string, given, others []int) *corpus {
	c := *b.c
	c.classes = []string{Other, topic}
	slices.Sort(c.classes)
	at := slices.Index(c.classes, topic)
	c.rows, c.y, c.sites = nil, nil, nil
	for k, i := range slices.Concat(given, others) {
		y := 1 - at
		if k < len(given) {
			y = at
		}
		c.rows, c.y, c.sites = append(c.rows, b.c.rows[i]), append(c.y, y), append(c.sites, b.c.sites[i])
	}
	return &c
}

// puFigures are the figures of one draw, or their means. Ratios are base-2 logarithms.
type puFigures struct{ sites, f1, best, ap, accepted, share, precisionHeld, recallHeld float64 }

func (f puFigures) all() [8]float64 {
	return [...]float64{f.sites, f.f1, f.best, f.ap, f.accepted, f.share, f.precisionHeld, f.recallHeld}
}

func (f puFigures) String() string {
	return fmt.Sprintf("%.3f\t%.3f\t%.3f\t%.2f\t%.2f\t%.2f\t%.2f", f.f1, f.best, f.ap, math.Exp2(f.accepted), math.Exp2(f.share), f.precisionHeld, f.recallHeld)
}

// mean averages draws, ratios geometrically. precisionHeld and recallHeld become shares of draws.
func (b *puBench) mean(topic string, n, draws int, way string) (mean puFigures, ok bool) {
	var sums [8]float64
	for d := range draws {
		given, pool, held := b.draw(topic, n, d, os.Getenv("FOSSICK_ONESITE") != "")
		if len(given) < n {
			return mean, false
		}
		one := b.one(topic, given, pool, held, int64(d), way).all()
		for k, v := range one {
			sums[k] += v / float64(draws)
		}
	}
	return puFigures{sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6], sums[7]}, true
}

func (b *puBench) one(topic string, given, pool, held []int, seed int64, way string) (got puFigures) {
	opt := &Options{Target: Target{Topic: topic}, Folds: 5, Seed: seed}
	var f *fitted
	var c *corpus
	var margin float64
	if way == "pu" {
		c = b.sub(topic, given, pool)
		p, err := newPU(c, opt)
		if err == nil {
			err = p.run(b.t.Context())
		}
		if err == nil {
			f, err = p.learner.fit(b.t.Context(), p.c, p.labelled(), opt.fitting())
		}
		if err != nil {
			b.t.Fatal(err)
		}
		margin = p.cut(p.scores)
		got = b.judge(topic, f, c, held, margin)
		told, err := p.told(b.t.Context())
		if err != nil {
			b.t.Fatal(err)
		}
		b.promised(&got, topic, p, pool, told, len(given))
		return got
	}
	if way == "supervised" {
		pool = slices.DeleteFunc(slices.Clone(pool), func(i int) bool { return b.on(topic, i) })
	}
	c = b.sub(topic, given, pool)
	top, err := choose(context.Background(), c, []learner{linear{}}, opt, &Report{Accuracy: map[string]float64{}})
	if err == nil {
		f, err = top.learner.fit(b.t.Context(), c, c.all(), opt.fitting())
	}
	if err != nil {
		b.t.Fatal(err)
	}
	at := slices.Index(c.classes, topic)
	scores, y := top.judged(c.y)
	cal := calibrate(scores, y) // scores are probabilities now
	cut := threshold(scores, y, at)
	// The margin of that probability: logit, less the offsets, over the scale.
	margin = math.Log(cut / (1 - cut))
	if cal.Offset != nil {
		margin -= cal.Offset[at] - cal.Offset[1-at]
	}
	return b.judge(topic, f, c, held, margin/cal.Scale)
}

// promised compares the estimates of a run with the truth.
func (b *puBench) promised(got *puFigures, topic string, p *pu, pool []int, told *PU, given int) {
	margin := p.cut(p.scores)
	on, found, hits := float64(given), 0.0, 0.0
	for _, i := range p.given {
		if p.scores[i] >= margin {
			found++
			hits++
		}
	}
	for k, i := range p.pool {
		right := b.on(topic, pool[k])
		if right {
			on++
		}
		if p.scores[i] >= margin {
			found++
			if right {
				hits++
			}
		}
	}
	got.sites = float64(max(1, told.Sites))
	got.share = math.Log2((told.Share*float64(len(pool)) + 1) / (on - float64(given) + 1))
	holds := func(ci [2]float64, truth float64) float64 {
		if math.IsNaN(truth) || ci[0] <= truth && truth <= ci[1] {
			return 1
		}
		return 0
	}
	got.precisionHeld, got.recallHeld = holds(told.PrecisionCI, hits/found), holds(told.RecallCI, hits/on)
}

func (b *puBench) judge(topic string, f *fitted, c *corpus, held []int, margin float64) (got puFigures) {
	at := slices.Index(c.classes, topic)
	whole := *c
	whole.rows = b.c.rows
	margins, s := make([]float64, len(b.labels)), make([]float64, 2)
	var on, hits, found, right float64
	for _, i := range held {
		f.scores(s, &whole, i)
		margins[i] = s[at] - s[1-at]
		if b.on(topic, i) {
			on++
		}
	}
	for k, i := range ranked(held, margins) {
		if b.on(topic, i) {
			hits++
			got.ap += hits / float64(k+1) / on
		}
		got.best = max(got.best, 2*hits/(float64(k+1)+on))
		if margins[i] >= margin {
			found, right = float64(k+1), hits
		}
	}
	got.f1 = 2 * right / (found + on)
	got.accepted = math.Log2((found + 1) / (on + 1))
	return got
}

// TestPUCoverage measures how often the 95 % intervals of PU learning hold the finished model's result on
// other pages: docs/data/coverage.tsv. All topics of a corpus count together.
//
//	FOSSICK_FULL=1 FOSSICK_DRAWS=25 go test ./train -run TestPUCoverage -v -timeout 3h
//
// FOSSICK_SPLIT (held, tune), FOSSICK_CORPUS and FOSSICK_GIVEN change what is drawn.
func TestPUCoverage(t *testing.T) {
	testkit.Only(t, "trains hundreds of models")
	draws, given := 1, 10
	fmt.Sscan(os.Getenv("FOSSICK_DRAWS"), &draws)
	fmt.Sscan(os.Getenv("FOSSICK_GIVEN"), &given)
	for _, of := range puCorpora[cmp.Or(os.Getenv("FOSSICK_SPLIT"), "held")] {
		if !strings.HasPrefix(of.name, cmp.Or(os.Getenv("FOSSICK_CORPUS"), "wikispeedia")) {
			continue
		}
		b := newPUBench(t, of)
		var all puCoverage
		for d := range draws {
			for _, topic := range of.topics {
				if b.cover(topic, given, d, &all) {
					t.Logf("%s, %d examples, draw %d, %s: %s", of.name, given, d, topic, &all)
				}
			}
		}
		for k, c := range all {
			if n := c.held + c.above + c.below; n > 0 {
				testkit.Coverage(t, of.name+": "+puTold[k], c.held, n)
			}
		}
	}
}

// puCoverage counts, by figure, the intervals that hold the truth, lie above it or lie below it.
type puCoverage [4]struct{ held, above, below int }

var puTold = [...]string{"recall", "precision", "recall elsewhere", "precision elsewhere"}

func (c *puCoverage) String() string {
	var s []string
	for k, name := range puTold {
		n := c[k].held + c[k].above + c[k].below
		s = append(s, fmt.Sprintf("%s %d of %d (%d below)", name, c[k].held, n, c[k].below))
	}
	return strings.Join(s, ", ")
}

// leastTruth is on how many pages a true share must rest.
const leastTruth = 20

func (c *puCoverage) note(k int, ci [2]float64, hits, of float64) {
	if of < leastTruth {
		return
	}
	switch truth := hits / of; {
	case truth < ci[0]:
		c[k].above++
	case truth > ci[1]:
		c[k].below++
	default:
		c[k].held++
	}
}

// puTruth counts pages: on topic, found, and both.
type puTruth struct{ on, found, hits float64 }

func (x *puTruth) count(on, found bool) {
	if on {
		x.on++
	}
	if found {
		x.found++
	}
	if on && found {
		x.hits++
	}
}

// cover makes one draw; it returns false if the topic has too few pages.
func (b *puBench) cover(topic string, n, draw int, all *puCoverage) bool {
	given, pool, held := b.draw(topic, n, draw, false)
	if len(given) < n {
		return false
	}
	opt := &Options{Target: Target{Topic: topic}, Folds: 5, Seed: int64(draw)}
	c := b.sub(topic, given, pool[:min(600, len(pool))])
	p, err := newPU(c, opt)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := p.run(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
	f, err := p.learner.fit(b.t.Context(), p.c, p.labelled(), opt.fitting())
	if err != nil {
		b.t.Fatal(err)
	}
	margin := p.cut(p.scores)
	told, err := p.told(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	whole := *p.c
	whole.rows = b.c.rows
	sites := p.sites()
	var here, there puTruth
	for _, i := range held {
		s := make([]float64, 2)
		f.scores(s, &whole, i)
		on, found := b.on(topic, i), s[p.topic]-s[1-p.topic] >= margin
		if here.count(on, found); !slices.Contains(sites, b.c.sites[i]) {
			there.count(on, found)
		}
	}
	all.note(0, told.RecallCI, here.hits, here.on)
	all.note(1, told.PrecisionCI, here.hits, here.found)
	if told.Elsewhere != nil {
		all.note(2, told.Elsewhere.RecallCI, there.hits, there.on)
		all.note(3, told.Elsewhere.PrecisionCI, there.hits, there.found)
	}
	return true
}
