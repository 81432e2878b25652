package train

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"fossick/datasets"
	"fossick/internal/testkit"
	"fossick/models"
	"fossick/models/features"
)

// examples opens a corpus, or skips the test if it is missing.
func examples(t testing.TB, name string) *datasets.Set {
	t.Helper()
	set := testkit.Call(datasets.Open(testkit.Corpus(t, name), datasets.Options{})).Must(t)
	return set
}

// where passes on the examples that keep accepts.
func where(set *datasets.Set, keep func(n int, e *datasets.Example) bool) iter.Seq2[*datasets.Example, error] {
	return func(yield func(*datasets.Example, error) bool) {
		n := 0
		for e, err := range set.Examples() {
			if err == nil {
				n++
				if !keep(n-1, e) {
					continue
				}
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func apply(t testing.TB, m *models.Model, opt *Options, seq iter.Seq2[*datasets.Example, error]) measures {
	t.Helper()
	ask := asker(m)
	var truth, predicted []int
	for e := range testkit.All(t, seq) {
		class := m.Class(opt.Class(e))
		if class < 0 {
			continue
		}
		d := testkit.Call(Doc(e)).Must(t)
		s := ask(d)
		truth, predicted = append(truth, class), append(predicted, best(s))
	}
	return measure(len(m.Classes), truth, predicted)
}

// asker returns a function that gives a page's probabilities by a model.
func asker(m *models.Model) func(features.Doc) []float64 {
	x := features.NewExtractor(m.Extractor, features.FixedLexicon(m.Terms))
	w := m.Weighting
	w.Bind(m.Terms)
	s, scorer := make([]float64, len(m.Classes)), models.NewScorer(m)
	var members []func(features.Doc) []float64
	if m.Vote != nil {
		for _, member := range m.Vote.Members {
			members = append(members, asker(member.Model))
		}
	}
	return func(d features.Doc) []float64 {
		v := x.Count(features.Vector{}, d)
		w.Apply(v)
		if m.Vote != nil {
			m.Vote.Scores(s, func(i int) []float64 { return members[i](d) })
		} else {
			scorer.Scores(s, v)
		}
		m.Calibration.Apply(s)
		return s
	}
}

// halves says which pages of a corpus train and which test.
type halves struct {
	data   string
	target Target
	test   func(n int, e *datasets.Example) bool
}

var realCorpora = map[string]halves{
	"webkb": {"webkb", Target{Labels: []string{"student", "faculty", "course", "project"}},
		func(_ int, e *datasets.Example) bool { return e.Site == "cornell" }},
	"20news":      {"20news", Target{}, func(_ int, e *datasets.Example) bool { return e.Split == "test" }},
	"wikispeedia": {"wikispeedia/train.jsonl.zst", Target{}, func(n int, _ *datasets.Example) bool { return n%5 == 4 }},
}

// judged is a model trained on one half of a corpus, and its result on the other.
type judged struct {
	*models.Model
	measures
	cv   float64
	took time.Duration
}

// allJudged keeps what trainHalf made, for all tests.
var allJudged = map[string]*judged{}

func trainHalf(t *testing.T, corpus, classifier string, words, folds int) *judged {
	t.Helper()
	key := fmt.Sprintf("%s %s %d %d", corpus, classifier, words, folds)
	if j := allJudged[key]; j != nil {
		return j
	}
	c := realCorpora[corpus]
	set, opt := examples(t, c.data), Options{Classifier: classifier, Target: c.target, Words: words, Folds: folds, Seed: 1}
	start := time.Now()
	m, rep, err := Train(t.Context(), where(set, func(n int, e *datasets.Example) bool { return !c.test(n, e) }), opt)
	if err != nil {
		t.Fatal(err)
	}
	j := &judged{Model: m, cv: rep.CV.Accuracy, took: time.Since(start)}
	j.measures = apply(t, m, &opt, where(set, c.test))
	allJudged[key] = j
	return j
}

// TestRealCorpora: classifiers reach docs/results.md less a margin, on sets not used for tuning. Trees and
// networks take two folds, which choose nothing there: five double the time.
func TestRealCorpora(t *testing.T) {
	testkit.Only(t, "trains on whole corpora")
	for _, c := range []struct {
		corpus, classifier string
		words, folds       int
		accuracy, macroF1  float64
	}{
		{"webkb", "linear", 0, 5, 0.92, 0},
		{"webkb", "nb", 0, 5, 0.80, 0},
		{"webkb", "c45", 77, 2, 0.80, 0},
		{"webkb", "cn2", 77, 5, 0.87, 0},
		{"webkb", "nn", 77, 2, 0.88, 0},
		{"20news", "linear", 0, 5, 0.83, 0.82},
		{"20news", "nb", 0, 5, 0, 0.78},
		{"20news", "c45", 500, 2, 0.5, 0},
		{"20news", "cn2", 500, 5, 0.62, 0},
		{"20news", "nn", 500, 2, 0.66, 0},
		{"wikispeedia", "linear", 0, 5, 0.85, 0},
		{"wikispeedia", "nb", 0, 5, 0.6, 0},
		{"wikispeedia", "c45", 77, 2, 0.40, 0},
		{"wikispeedia", "cn2", 77, 5, 0.56, 0},
	} {
		t.Run(c.corpus+" "+c.classifier, func(t *testing.T) {
			got := trainHalf(t, c.corpus, c.classifier, c.words, c.folds)
			t.Logf("%d test, %d terms: accuracy %.4f, macro F1 %.4f; cross-validated %.4f; %s",
				got.Pages, len(got.Terms), got.Accuracy, got.MacroF1, got.cv, got.took.Round(time.Millisecond))
			if got.Accuracy < c.accuracy || got.MacroF1 < c.macroF1 {
				t.Errorf("accuracy %.4f, macro F1 %.4f; want %.2f, %.2f", got.Accuracy, got.MacroF1, c.accuracy, c.macroF1)
			}
		})
	}
}

// TestStackCompared compares a stack and a forest with linear, topic by topic against the rest, on 600
// training pages and up to 2,000 test pages. It makes docs/data/stack.tsv:
//
//	FOSSICK_COMPARE=1 go test ./train -run TestStackCompared -v -timeout 2h | grep '^	' | cut -f2-
//
// ONLY=webkb,bbc takes these sets alone, BESIDE=stack leaves trees out, which take the most time,
// and DRAW=2 draws other pages.
func TestStackCompared(t *testing.T) {
	if os.Getenv("FOSSICK_COMPARE") == "" {
		t.Skip("trains on four corpora for minutes; set FOSSICK_COMPARE=1 to compare stack and trees with linear")
	}
	for _, set := range []struct {
		name, data string
		topics     []string
	}{
		{"webkb", "webkb", []string{"course", "faculty", "project", "student"}},
		{"bbc", "bbc", []string{"business", "sport", "tech"}},
		{"wikispeedia", "wikispeedia/train.jsonl.zst", []string{"Science", "History", "Geography"}},
		{"20news", "20news", []string{"sci.space", "rec.autos", "talk.politics.guns"}},
	} {
		if only := os.Getenv("ONLY"); only != "" && !slices.Contains(strings.Split(only, ","), set.name) {
			continue
		}
		var all []*datasets.Example
		for e := range testkit.All(t, examples(t, set.data).Examples()) {
			all = append(all, e)
		}
		draw, _ := strconv.ParseUint(cmp.Or(os.Getenv("DRAW"), "1"), 10, 64)
		rand.New(rand.NewPCG(draw, 0x57ac)).Shuffle(len(all), func(a, b int) { all[a], all[b] = all[b], all[a] })
		const trained, tested = 600, 2000
		in, out := all[:trained], all[trained:min(len(all), trained+tested)]
		for _, topic := range set.topics {
			base := judgeTopic(t, models.LinearSVM, topic, in, out)
			for name := range strings.SplitSeq(cmp.Or(os.Getenv("BESIDE"), "trees,stack"), ",") {
				one := judgeTopic(t, name, topic, in, out)
				loss, f1 := base.against(one)
				fmt.Printf("\t%s\t%d\t%s\t%d of %d\t%s\t%.4f\t%.4f\t%s\t%.3f\t%.3f\t%s\t%.0f\t%.0f\n", set.name, draw, topic, base.of(), len(out), one.name,
					mean(base.losses), mean(one.losses), loss, base.f1(nil), one.f1(nil), f1, base.seconds, one.seconds)
			}
		}
	}
}

// topicTest holds a topic model's labels of test pages.
type topicTest struct {
	name        string
	losses      []float64
	truth, kept []bool
	seconds     float64
}

func judgeTopic(t *testing.T, name, topic string, in, out []*datasets.Example) *topicTest {
	opt := Options{Target: Target{Topic: topic}, Classifier: name, Seed: 1}
	start := time.Now()
	m, _, err := Train(context.Background(), stream(in), opt)
	if err != nil {
		t.Fatal(topic, err)
	}
	j := &topicTest{name: name, seconds: time.Since(start).Seconds()}
	if m.Vote != nil {
		j.name += " (" + m.Card.Settings["members"] + ")"
	}
	ask, class := asker(m), m.Class(topic)
	for _, e := range out {
		d := testkit.Call(Doc(e)).Must(t)
		p, on := ask(d)[class], e.Matches(topic)
		loss := p
		if !on {
			loss = 1 - p
		}
		j.losses = append(j.losses, -math.Log(max(loss, leastProbability)))
		j.truth, j.kept = append(j.truth, on), append(j.kept, p >= m.Thresholds[class])
	}
	return j
}

func (j *topicTest) of() (n int) {
	for _, on := range j.truth {
		if on {
			n++
		}
	}
	return n
}

// f1 returns the topic's F1 over the drawn pages, or over all if drawn is nil.
func (j *topicTest) f1(drawn []int) float64 {
	if drawn == nil {
		drawn = upTo(len(j.truth))
	}
	hits, of := 0.0, 0.0
	for _, p := range drawn {
		if j.truth[p] {
			of++
		}
		if j.kept[p] {
			of++
		}
		if j.truth[p] && j.kept[p] {
			hits += 2
		}
	}
	return hits / max(1, of)
}

// against returns the differences of log loss and F1 with 95 % intervals, that of F1 by 1,000 draws.
func (j *topicTest) against(other *topicTest) (loss, f1 string) {
	diff, squares := make([]float64, len(j.losses)), 0.0
	for p := range diff {
		diff[p] = other.losses[p] - j.losses[p]
	}
	m := mean(diff)
	for _, d := range diff {
		squares += (d - m) * (d - m)
	}
	half := 1.96 * math.Sqrt(squares) / float64(len(diff))
	rng := rand.New(rand.NewPCG(1, 0xb007))
	var draws []float64
	for range 1000 {
		drawn := make([]int, len(diff))
		for i := range drawn {
			drawn[i] = rng.IntN(len(drawn))
		}
		draws = append(draws, other.f1(drawn)-j.f1(drawn))
	}
	slices.Sort(draws)
	return fmt.Sprintf("%+.4f (%+.4f to %+.4f)", m, m-half, m+half),
		fmt.Sprintf("%+.3f (%+.3f to %+.3f)", other.f1(nil)-j.f1(nil), draws[25], draws[974])
}

// TestWeka compares our trees and rules with Weka's on the same rows and columns, and prints a table row
// for each:
//
//	FOSSICK_WEKA=/usr/share/java/weka.jar FOSSICK_DATA=data go test ./train -run TestWeka -v
//
// SETS picks some of webkb, wikispeedia and 20news, WEKA some of J48, JRip and PART, WORDS another number of
// words. Weka's time is its own, without starting Java and reading the file.
func TestWeka(t *testing.T) {
	jar := os.Getenv("FOSSICK_WEKA")
	if jar == "" {
		t.Skip("no Weka; set FOSSICK_WEKA to weka.jar")
	}
	for _, p := range protocols {
		if !picked("SETS", p.name) {
			continue
		}
		opt := Options{Target: Target{Labels: p.labels}, Folds: 5, Words: p.words}
		if n, err := strconv.Atoi(os.Getenv("WORDS")); err == nil {
			opt.Words = n
		}
		c, parts := p.read(t, &opt)
		for _, part := range p.parts {
			var in, out []int
			for row, its := range parts {
				if its == part {
					out = append(out, row)
				} else {
					in = append(in, row)
				}
			}
			for _, l := range []learner{c45{}, newCN2(false)} {
				accuracy, size, took := ours(t, c, l, in, out, &opt)
				t.Logf("| %s %s | %s | %.3f | %d | %.2f s |", p.name, part, l.name(), accuracy, size, took.Seconds())
			}
			for name, args := range map[string]string{"J48": "trees.J48", "JRip": "rules.JRip", "PART": "rules.PART"} {
				if picked("WEKA", name) {
					accuracy, took := theirs(t, jar, "weka.classifiers."+args, c, in, out, &opt)
					t.Logf("| %s %s | %s | %.3f | | %.2f s |", p.name, part, name, accuracy, took.Seconds())
				}
			}
		}
	}
}

// protocol says how a corpus is split into training and test parts.
type protocol struct {
	name, data string
	labels     []string
	words      int
	parts      []string // each held out in turn
	part       func(n int, e *datasets.Example) string
}

var protocols = []protocol{
	{"webkb", "webkb", []string{"student", "faculty", "course", "project"}, 77,
		[]string{"texas", "washington", "cornell", "misc"},
		func(_ int, e *datasets.Example) string { return e.Site }},
	{"wikispeedia", "wikispeedia/train.jsonl.zst", nil, 77, []string{"0", "1", "2", "3", "4"},
		func(n int, _ *datasets.Example) string { return strconv.Itoa(n % 5) }},
	{"20news", "20news", nil, 500, []string{"test"},
		func(_ int, e *datasets.Example) string { return e.Split }},
}

func picked(env, name string) bool {
	list := strings.Fields(os.Getenv(env))
	for _, s := range list {
		if s == name {
			return true
		}
	}
	return len(list) == 0
}

// read returns the rows of a corpus and the part that each belongs to.
func (p *protocol) read(t testing.TB, opt *Options) (*corpus, []string) {
	var parts []string
	set := examples(t, p.data)
	n := -1
	c := testkit.Call(gather(context.Background(), func(yield func(*datasets.Example, error) bool) {
		for e, err := range set.Examples() {
			n++
			if err == nil {
				if opt.Class(e) == "" {
					continue
				}
				parts = append(parts, p.part(n, e))
			}
			if !yield(e, err) {
				return
			}
		}
	}, opt, &Report{})).Must(t)
	return c, parts
}

func ours(t *testing.T, c *corpus, l learner, in, out []int, opt *Options) (accuracy float64, size int, took time.Duration) {
	start := time.Now()
	f := testkit.Call(l.fit(context.Background(), c, in, opt.fitting())).Must(t)
	took = time.Since(start)
	right, s := 0, make([]float64, len(c.classes))
	for _, row := range out {
		if f.scores(s, c, row); best(s) == c.y[row] {
			right++
		}
	}
	if f.rules != nil {
		size = f.rules.Len()
	} else {
		size = len(f.tree.Term)/2 + 1
	}
	return float64(right) / float64(len(out)), size, took
}

var (
	wekaTime  = regexp.MustCompile(`Time taken to build model: ([0-9.]+) seconds`)
	wekaRight = regexp.MustCompile(`Correctly Classified Instances\s+\d+\s+([0-9.]+)\s+%`)
)

// theirs trains Weka on the columns that our learner would have.
func theirs(t *testing.T, jar, class string, c *corpus, in, out []int, opt *Options) (accuracy float64, took time.Duration) {
	kept, _ := c.vocabulary(in, opt.fitting().or(0, features.ByTFDFGain))
	f := newFitted(c, kept)
	dir := t.TempDir()
	for name, pages := range map[string][]int{"in.arff": in, "out.arff": out} {
		testkit.Must(t, writeARFF(filepath.Join(dir, name), c, f, pages))
	}
	cmd := exec.Command("java", "-Xmx1500m", "-cp", jar, class, "-t", "in.arff", "-T", "out.arff")
	cmd.Args = append(cmd.Args, strings.Fields(os.Getenv("WEKAFLAGS"))...)
	cmd.Dir = dir
	printed, err := cmd.CombinedOutput()
	seconds, percent := wekaTime.FindSubmatch(printed), wekaRight.FindAllSubmatch(printed, -1)
	if err != nil || seconds == nil || len(percent) != 2 { // of the training set, then of the test
		t.Fatalf("%s: %v\n%s", class, err, printed[max(0, len(printed)-500):])
	}
	s, _ := strconv.ParseFloat(string(seconds[1]), 64)
	a, _ := strconv.ParseFloat(string(percent[1][1]), 64)
	return a / 100, time.Duration(s * float64(time.Second))
}

// writeARFF writes pages in Weka's format: counts by term, 0 or 1 with PRESENCE=1, then the class.
func writeARFF(path string, c *corpus, f *fitted, pages []int) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	w := bufio.NewWriter(file)
	fmt.Fprintln(w, "@relation pages")
	for i := range f.kept {
		fmt.Fprintf(w, "@attribute w%d numeric\n", i)
	}
	fmt.Fprint(w, "@attribute class {")
	for i := range c.classes {
		fmt.Fprint(w, strings.Repeat(",", min(i, 1)), "c", i)
	}
	fmt.Fprintln(w, "}\n@data")
	dense := make([]float32, len(f.kept))
	for i, v := range f.vectors(c, pages) {
		clear(dense)
		fill(dense, v)
		for _, x := range dense {
			fmt.Fprintf(w, "%v,", x)
		}
		fmt.Fprintf(w, "c%d\n", c.y[pages[i]])
	}
	return w.Flush()
}

func fill(dense []float32, v features.Vector) {
	for k, i := range v.Index {
		dense[i] = v.Value[k]
		if os.Getenv("PRESENCE") != "" {
			dense[i] = 1
		}
	}
}
