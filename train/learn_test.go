package train

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"fossick/datasets"
	"fossick/internal/stats"
	"fossick/internal/testkit"
	"fossick/models"
	"fossick/models/features"
)

// toy makes n examples of classes with words of their own among common ones.
func toy(n int, labels ...string) []*datasets.Example {
	rng := rand.New(rand.NewPCG(7, 7))
	var set []*datasets.Example
	for i := range n {
		label := labels[i%len(labels)]
		var text strings.Builder
		for range 30 {
			if rng.IntN(6) == 0 {
				fmt.Fprintf(&text, "%sword%c ", label, 'a'+rune(rng.IntN(5)))
			} else {
				fmt.Fprintf(&text, "common%c%c ", 'a'+rune(rng.IntN(6)), 'a'+rune(rng.IntN(6)))
			}
		}
		set = append(set, &datasets.Example{URL: fmt.Sprintf("http://x.test/%d", i), Label: label, Text: text.String()})
	}
	return set
}

func stream(set []*datasets.Example) iter.Seq2[*datasets.Example, error] {
	return testkit.Each(set)
}

func TestTrainLearns(t *testing.T) {
	set := toy(120, "bank", "code", "star")
	for _, name := range Classifiers() {
		m, rep, err := Train(context.Background(), stream(set), Options{Classifier: name, Seed: 3})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if rep.CV.Accuracy < 0.9 {
			t.Errorf("%s: %.3f right in cross-validation; the classes have words of their own", name, rep.CV.Accuracy)
		}
		for c, th := range m.Thresholds {
			if !(th > 0 && th < 1) {
				t.Errorf("%s: threshold %v of %s", name, th, m.Classes[c])
			}
		}
	}
}

func TestTrainRepeats(t *testing.T) {
	set := toy(90, "bank", "code", "star")
	for _, name := range Classifiers() {
		var files [2]bytes.Buffer
		for i := range files {
			m, _, err := Train(context.Background(), stream(set), Options{Classifier: name, Seed: 5})
			if err != nil {
				t.Fatal(err)
			}
			testkit.Must(t, m.Write(&files[i]))
		}
		if !bytes.Equal(files[0].Bytes(), files[1].Bytes()) {
			t.Errorf("%s: two runs, two models", name)
		}
	}
	topic := Options{Classifier: models.LinearSVM, Target: Target{Topic: "bees", Unlabelled: true}, Seed: 3}
	var files [2]bytes.Buffer
	for i := range files {
		m, _, err := Train(t.Context(), pooled(10, 100, 0.3), topic)
		if err != nil {
			t.Fatal(err)
		}
		testkit.Must(t, m.Write(&files[i]))
	}
	if !bytes.Equal(files[0].Bytes(), files[1].Bytes()) {
		t.Error("examples and a pool: two runs, two models")
	}
}

func TestTrainRefuses(t *testing.T) {
	mixed := toy(20, "bank", "code")
	for name, c := range map[string]struct {
		set []*datasets.Example
		opt Options
		is  error
	}{
		"nothing":            {nil, Options{}, ErrData},
		"one class":          {toy(9, "bank"), Options{}, ErrData},
		"topic not there":    {mixed, Options{Target: Target{Topic: "star"}}, ErrData},
		"label not there":    {mixed, Options{Target: Target{Labels: []string{"bank", "star"}}}, ErrData},
		"unknown classifier": {mixed, Options{Classifier: "oracle"}, nil},
		"one fold":           {mixed, Options{Folds: 1}, nil},
		"no word gains":      {mixed, Options{Classifier: models.C45, Mu: 9}, nil},
	} {
		_, _, err := Train(context.Background(), stream(c.set), c.opt)
		if err == nil || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := Train(ctx, stream(mixed), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: error %v", err)
	}
}

func TestClass(t *testing.T) {
	e := &datasets.Example{Label: "banking", Labels: []string{"banking", "insurance"}}
	for _, c := range []struct {
		opt  Options
		want string
	}{
		{Options{}, "banking"}, {Options{Target: Target{Topic: "insurance"}}, "insurance"}, {Options{Target: Target{Topic: "sport"}}, Other},
		{Options{Target: Target{Labels: []string{"insurance", "sport"}}}, "insurance"}, {Options{Target: Target{Labels: []string{"sport"}}}, ""},
	} {
		if got := c.opt.Class(e); got != c.want {
			t.Errorf("%+v: class %q, want %q", c.opt, got, c.want)
		}
	}
	if got := (&Options{Target: Target{Topic: "x"}}).Class(&datasets.Example{}); got != "" {
		t.Errorf("a row without labels has class %q", got)
	}
}

// TestSVM: no step along a coordinate lowers the primal objective. Six machines are two groups.
func TestSVM(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	const n, terms, classes = 90, 6, 6
	rows, y := randomRows(rng, n, terms, classes)
	opt := svmOptions{c: 2, eps: 1e-6, maxIter: 5000}
	zeros, far := make([][]float32, n), make([][]float32, n)
	for i := range n {
		zeros[i], far[i] = make([]float32, classes), make([]float32, classes)
		for c := range classes {
			far[i][c] = rng.Float32()
		}
	}
	for _, first := range []int{0, lanes} {
		var best [classes]float64
		for _, start := range [][][]float32{zeros, zeros, far} { // zeros become a solution
			w := svm(context.Background(), rows, y, first, classes, terms, start, opt, rng)
			for class := first; class < min(first+lanes, classes); class++ {
				at := checkMinimum(t, rows, y, class, column(w, class-first), opt)
				if best[class] == 0 {
					best[class] = at
				}
				if !(math.Abs(at-best[class]) <= 1e-6*at) {
					t.Errorf("class %d: objective %v, %v from another start", class, at, best[class])
				}
			}
		}
	}
}

func column(w []lane, c int) []float64 {
	out := make([]float64, len(w))
	for t := range w {
		out[t] = w[t][c]
	}
	return out
}

// checkMinimum returns the objective at w, and fails if it is lower nearby.
func checkMinimum(t *testing.T, rows []features.Vector, y []int, class int, w []float64, opt svmOptions) float64 {
	t.Helper()
	objective := func() float64 {
		var f float64
		for _, v := range w {
			f += 0.5 * v * v
		}
		for i, r := range rows {
			s, sign := w[len(w)-1], -1.0
			for k, t := range r.Index {
				s += w[t] * float64(r.Value[k])
			}
			if y[i] == class {
				sign = 1
			}
			loss := max(0, 1-sign*s)
			f += opt.c * loss * loss
		}
		return f
	}
	at := objective()
	for k := range w {
		for _, d := range []float64{-1e-3, 1e-3} {
			w[k] += d
			if f := objective(); f < at-1e-7 {
				t.Errorf("class %d: objective %v falls to %v when weight %d moves by %v", class, at, f, k, d)
			}
			w[k] -= d
		}
	}
	return at
}

func TestMeasure(t *testing.T) {
	m := measure(3, []int{0, 0, 1, 1, -1}, []int{0, 1, 1, 1, 0})
	if m.Accuracy != 0.6 || m.Confusion[0][1] != 1 || m.PerClass[0].Precision != 0.5 || m.PerClass[1].Recall != 1 {
		t.Errorf("%+v", m)
	}
	if want := (0.5 + 0.8) / 2; !(math.Abs(m.MacroF1-want) <= 1e-12) {
		t.Errorf("macro F1 %v, want %v: class 2 does not occur", m.MacroF1, want)
	}
}

// TestMeasureCounts compares with counts page by page, also for classes without pages or predictions.
func TestMeasureCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		classes := 1 + rng.IntN(5)
		truth, predicted := make([]int, rng.IntN(12)), make([]int, 12)
		predicted = predicted[:len(truth)]
		for i := range truth {
			truth[i], predicted[i] = rng.IntN(classes+1)-1, rng.IntN(classes+1)-1
		}
		m := measure(classes, truth, predicted)
		hits := 0
		for c := range classes {
			right, named, of := 0.0, 0.0, 0.0
			for i, y := range truth {
				if y == c {
					of++
				}
				if predicted[i] == c {
					named++
				}
				if y == c && predicted[i] == c {
					right++
				}
			}
			hits += int(right)
			want := classMeasures{Precision: right / named, Recall: right / of, Support: int(of)}
			if named+of > 0 {
				want.F1 = 2 * right / (named + of)
			}
			if got := m.PerClass[c]; fmt.Sprint(got) != fmt.Sprint(want) { // NaN is NaN
				t.Fatalf("%v taken for %v: class %d has %+v, want %+v", truth, predicted, c, got, want)
			}
		}
		if want := float64(hits) / float64(max(1, len(truth))); m.Accuracy != want {
			t.Fatalf("%v taken for %v: accuracy %v, want %v", truth, predicted, m.Accuracy, want)
		}
	}
}

func TestThreshold(t *testing.T) {
	probs := [][]float64{{0.9}, {0.8}, {0.6}, {0.3}, {0.1}}
	y := []int{0, 0, 1, 0, 1} // best: the first two, or four; 0.8 against 6/7
	if got := threshold(probs, y, 0); !(math.Abs(got-0.2) <= 1e-12) {
		t.Errorf("threshold %v, want 0.2", got)
	}
	// One page and all four pages give F1 2/3 each, and the highest threshold wins.
	if got := threshold([][]float64{{0.9}, {0.8}, {0.6}, {0.3}}, []int{0, 1, 1, 0}, 0); !(math.Abs(got-0.85) <= 1e-12) {
		t.Errorf("of equal ones threshold %v, want 0.85", got)
	}
	if got := threshold([][]float64{{0.9}, {0.8}}, []int{1, 1}, 0); got != 0.5 {
		t.Errorf("of a class without pages threshold %v, want 0.5", got)
	}
}

// TestCrossValidated: 200 pages, 90 % right, of folds that train on half, tell as much as 90 of 100.
func TestCrossValidated(t *testing.T) {
	m := measures{Pages: 200, Accuracy: 0.9}
	if m.crossValidated(0.5); m.CI != stats.Wilson(90, 100) {
		t.Errorf("interval %v, want %v", m.CI, stats.Wilson(90, 100))
	}
}

// TestCalibrationLoss, by hand: halved and with offsets 0.3 and −0.2, the scores 2, 0 and 0, 1 become
// 1.3, −0.2 and 0.3, 0.3.
func TestCalibrationLoss(t *testing.T) {
	scores, y, at := [][]float64{{2, 0}, {0, 1}}, []int{0, 0}, []float64{0.3, -0.2, math.Log(0.5)}
	grad, none := make([]float64, 3), make([]float64, 3)
	loss := calibrationLoss(scores, y, at, grad, true)
	if want := (math.Log1p(math.Exp(-1.5))+math.Ln2)/2 + 0.001*0.13; !(math.Abs(loss-want) <= 1e-12) {
		t.Errorf("loss %v, want %v", loss, want)
	}
	for i := range at {
		up, down := slices.Clone(at), slices.Clone(at)
		up[i], down[i] = up[i]+1e-5, down[i]-1e-5
		want := (calibrationLoss(scores, y, up, none, true) - calibrationLoss(scores, y, down, none, true)) / 2e-5
		if !(math.Abs(grad[i]-want) <= 1e-8) {
			t.Errorf("slope %d is %v, want %v", i, grad[i], want)
		}
	}
	if calibrationLoss(scores, y, at, none, false); none[0] != 0 || none[1] != 0 || none[2] != grad[2] {
		t.Errorf("without offsets the slopes are %v", none)
	}
}

// TestCalibrationOffsets: offsets are used if they cost no accuracy. All pages have the same scores here.
func TestCalibrationOffsets(t *testing.T) {
	for _, first := range []int{30, 70} {
		var scores [][]float64
		var y []int
		for i := range 100 {
			class := 1
			if i < first {
				class = 0
			}
			scores, y = append(scores, []float64{1, 0}), append(y, class)
		}
		cal := calibrate(scores, y)
		if cal.Offset == nil || !(math.Abs(scores[0][0]-float64(first)/100) <= 0.02) {
			t.Errorf("%d of the first class: %+v, probability %v", first, cal, scores[0][0])
		}
	}
}

// TestCalibrationAlone: if offsets cost accuracy the scale stands alone, and no other is likelier.
func TestCalibrationAlone(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	alone := 0
	for range 100 {
		var scores, given [][]float64
		var y []int
		for range 12 {
			s := []float64{3 * rng.NormFloat64(), 0}
			class := 1
			if rng.Float64() < 1/(1+math.Exp(-s[0])) {
				class = 0
			}
			scores, given, y = append(scores, s), append(given, slices.Clone(s)), append(y, class)
		}
		cal := calibrate(scores, y)
		if cal.Offset != nil {
			continue
		}
		alone++
		loss := func(scale float64) float64 {
			return calibrationLoss(given, y, []float64{0, 0, math.Log(scale)}, make([]float64, 3), false)
		}
		if least := loss(cal.Scale); loss(cal.Scale*1.2) < least || loss(cal.Scale/1.2) < least {
			t.Errorf("scale %v has loss %v, others %v and %v", cal.Scale, least, loss(cal.Scale*1.2), loss(cal.Scale/1.2))
		}
	}
	if alone == 0 {
		t.Error("offsets never cost accuracy")
	}
}

func TestCalibrate(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	var scores [][]float64
	var y []int
	for range 4000 {
		s := rng.NormFloat64() * 2
		class := 1
		if rng.Float64() < 1/(1+math.Exp(-s)) {
			class = 0
		}
		scores, y = append(scores, []float64{2 * s, 0}), append(y, class)
	}
	if cal := calibrate(scores, y); !(math.Abs(cal.Scale-0.5) <= 0.05) {
		t.Errorf("scale %v, want 0.5", cal.Scale)
	}
}

// randomRows returns rows of terms whose values depend on the class.
func randomRows(rng *rand.Rand, n, terms, classes int) (rows []features.Vector, y []int) {
	rows, y = make([]features.Vector, n), make([]int, n)
	for i := range rows {
		y[i] = rng.IntN(classes)
		for k := range int32(terms) {
			if rng.IntN(2) == 0 {
				v := rng.NormFloat64()
				if int(k) == y[i] {
					v++
				}
				rows[i].Index, rows[i].Value = append(rows[i].Index, k), append(rows[i].Value, float32(v))
			}
		}
	}
	return rows, y
}

// rareAndWide makes n pages of two classes. Each has words on most of its pages and some of the other's,
// and words on one page in thirty and never in the other class, which have gain but represent nothing.
func rareAndWide(n int) []*datasets.Example {
	rng := rand.New(rand.NewPCG(11, 1))
	var set []*datasets.Example
	for i := range n {
		label := []string{"bank", "code"}[i%2]
		var text strings.Builder
		for range 20 {
			fmt.Fprintf(&text, "plain%c ", 'a'+rune(rng.IntN(6)))
		}
		for word := range 12 {
			if rng.IntN(20) < 9 {
				fmt.Fprintf(&text, "%swide%c ", label, 'a'+rune(word))
			}
			if rng.IntN(20) < 6 {
				fmt.Fprintf(&text, "%swide%c ", []string{"code", "bank"}[i%2], 'a'+rune(word))
			}
		}
		if word := i / 2 % 30; word < 12 {
			fmt.Fprintf(&text, "%srare%c ", label, 'a'+rune(word))
		}
		set = append(set, &datasets.Example{URL: fmt.Sprintf("http://x.test/%d", i), Label: label, Text: text.String()})
	}
	return set
}

func isRare(word string) bool { return strings.Contains(word, "rare") }

// TestSelectDefaults: by default trees, rules and networks use two steps, linear classifiers gain.
func TestSelectDefaults(t *testing.T) {
	set := rareAndWide(240)
	bytesOf := func(name string, by features.Measure) []byte {
		m, _, err := Train(context.Background(), stream(set), Options{Classifier: name, Words: 20, Select: by, Seed: 2})
		if err != nil {
			t.Fatal(err)
		}
		if got, two := slices.ContainsFunc(m.Terms, isRare), by == features.ByGain; by != "" && got != two {
			t.Errorf("%s by %s: words %v", name, by, m.Terms)
		}
		for label, k := range m.Keywords {
			if by != features.ByGain && (len(k) == 0 || slices.ContainsFunc(k, isRare)) {
				t.Errorf("%s by %q: K of %s is %v", name, by, label, k)
			}
		}
		m.Keywords = nil
		var b bytes.Buffer
		testkit.Must(t, m.Write(&b))
		return b.Bytes()
	}
	for name, same := range map[string]features.Measure{
		models.C45: features.ByTFDFGain, models.CN2: features.ByTFDFGain, models.NN: features.ByTFDFGain,
		models.LinearSVM: features.ByGain, models.NaiveBayes: features.ByGain,
	} {
		two, one, own := bytesOf(name, features.ByTFDFGain), bytesOf(name, features.ByGain), bytesOf(name, "")
		if bytes.Equal(two, one) || !bytes.Equal(own, map[features.Measure][]byte{features.ByTFDFGain: two, features.ByGain: one}[same]) {
			t.Errorf("%s: by itself it does not choose words by %s, or both ways are one", name, same)
		}
	}
}

// TestKeywordsSay: K holds nouns if pages are English, else all words but stop words, and says which.
func TestKeywordsSay(t *testing.T) {
	page := func(n int, label, text string) *datasets.Example {
		return &datasets.Example{URL: fmt.Sprintf("http://x.test/%s/%d", label, n), Label: label, Text: text}
	}
	var english, german []*datasets.Example
	for n := range 12 {
		english = append(english, page(n, "bees", "The beekeeper quickly opens the hive, and the bees of the hive are in the garden with honey."),
			page(n, "rail", "The train slowly leaves the station, and the passengers of the train are in the carriage with a ticket."))
		german = append(german, page(n, "bees", "Der Imker öffnet schnell den Stock, und die Bienen des Stocks sind im Garten und haben viel Honig gesammelt."),
			page(n, "rail", "Der Zug verlässt langsam den Bahnhof, und die Reisenden des Zuges sind im Wagen und haben eine Karte gekauft."))
	}
	keywordsOf := func(set []*datasets.Example) ([]string, string) {
		k, by, err := Keywords(t.Context(), stream(set), Options{Target: Target{Topic: "bees"}, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		return k["bees"], by
	}
	k, by := keywordsOf(english)
	if !slices.Contains(k, "hive") || slices.Contains(k, "quickly") || slices.Contains(k, "opens") || !strings.Contains(by, "nouns") {
		t.Errorf("English: %v, by %s", k, by)
	}
	k, by = keywordsOf(german)
	if !slices.Contains(k, "schnell") || !slices.Contains(k, "imker") || !strings.Contains(by, "nouns of English only") {
		t.Errorf("German: %v, by %s", k, by)
	}
}

// TestTooManyLabels: a set with more labels than a model may have is rejected early.
func TestTooManyLabels(t *testing.T) {
	read := 0
	var rows iter.Seq2[*datasets.Example, error] = func(yield func(*datasets.Example, error) bool) {
		for read < 100_000 {
			read++
			if !yield(&datasets.Example{URL: fmt.Sprintf("http://x.test/%d", read), Label: fmt.Sprint(read), Text: "a page"}, nil) {
				return
			}
		}
	}
	_, _, err := Train(context.Background(), rows, Options{Classifier: models.NaiveBayes})
	if !errors.Is(err, ErrData) || !strings.Contains(err.Error(), "--labels") {
		t.Errorf("100,000 labels: %v", err)
	}
	if read != models.MaxClasses+1 {
		t.Errorf("%d rows were read before it was said, want %d", read, models.MaxClasses+1)
	}
}

// TestTitlesOfModel: a model has its classes' title words, and page counts that match its frequencies.
func TestTitlesOfModel(t *testing.T) {
	set := toy(40, "bird", "ship")
	for i, e := range set {
		e.Text, e.HTML = "", fmt.Sprintf("<title>The %ss page, page %d</title><p>%s</p>", e.Label, i/20, e.Text)
	}
	m, _, err := Train(context.Background(), stream(set), Options{Classifier: models.NaiveBayes, Target: Target{Topic: "bird"}})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]models.TitleWord{"bird": {
		{Word: "birds", Lang: "en", Pages: 20}, {Word: "page", Lang: "en", Pages: 20, Others: 20}}}
	if got := titleWordsOf(m, "0", "1"); !reflect.DeepEqual(got, want) {
		t.Errorf("titles %v, want %v", got, want)
	}
	for i, term := range m.Terms {
		var all int32
		for class := range m.Classes {
			all += m.ClassPages[class][i]
		}
		if share := float32(all) / 40; share != m.Frequency[i] {
			t.Errorf("%s: on %d pages, and on the share %v of 40", term, all, m.Frequency[i])
		}
	}
}

// titleWordsOf returns a model's title words but some, as if all were English.
func titleWordsOf(m *models.Model, but ...string) map[string][]models.TitleWord {
	all := map[string][]models.TitleWord{}
	for class, words := range m.Titles {
		for _, w := range words {
			if !slices.Contains(but, w.Word) {
				w.Lang = "en"
				all[class] = append(all[class], w)
			}
		}
	}
	return all
}

// TestTitlesAreBounded: a class keeps the title words of most pages.
func TestTitlesAreBounded(t *testing.T) {
	c := titles{}
	for i := range maxClassTitles + 100 {
		c.add("bird", []string{fmt.Sprintf("word%05d", i)}, "en")
		c.add(Other, []string{"ship"}, "en")
	}
	last := fmt.Sprintf("word%05d", maxClassTitles+99)
	c.add("bird", []string{last}, "en")
	all := c.list()
	kept := all["bird"]
	if len(all) != 1 || len(kept) != maxClassTitles {
		t.Fatalf("%d classes, %d words; want 1 and %d", len(all), len(kept), maxClassTitles)
	}
	if got := kept[len(kept)-1]; got != (models.TitleWord{Word: last, Lang: "en", Pages: 2}) {
		t.Errorf("the last of them %v, want %s of two pages", got, last)
	}
}

func TestLeast(t *testing.T) {
	many := func(n int, of uint16) (all []uint16) {
		for range n {
			all = append(all, of)
		}
		return all
	}
	for _, test := range []struct {
		name  string
		words []uint16
		gain  []int
		want  int
	}{
		{"the least of few pages", []uint16{9, 7, 12}, []int{1, 1, 1}, 7},
		{"nine pages of 400", append(many(9, 2), many(391, 11)...), make([]int, 400), 2},
		{"four pages of 500", append(many(4, 2), many(496, 11)...), make([]int, 500), 11},
		{"the model knows short pages", append(many(4, 2), many(496, 11)...), append([]int{1, 0, 1, -1}, make([]int, 496)...), 2},
		{"the model errs on short pages", append(many(4, 2), many(496, 11)...), append([]int{1, 0, -1, -1}, make([]int, 496)...), 11},
		{"never too many", many(500, 90), make([]int, 500), 80},
	} {
		if got := int(least(test.words, test.gain, 0, 80, fewShare)); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}

func TestDomain(t *testing.T) {
	set := []*datasets.Example{
		{URL: "http://a.test/1", Label: "bees", Text: "the hive the bee"},
		{URL: "http://a.test/2", Label: "bees", Text: "the bee"},
		{URL: "http://a.test/3", Label: "rest", Text: "the car once"},
		{URL: "http://a.test/4", Label: "rest", Text: "the car twice"},
	}
	m, _, err := Train(context.Background(), stream(set), Options{Target: Target{Topic: "bees"}, Classifier: "c45", Words: 1, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	d := m.Domain
	share := map[string]float32{}
	for i, w := range d.Words {
		share[w] = d.Shares[i]
	}
	if d.Words[0] != "the" || share["the"] != 1 || share["bee"] != 0.5 || share["car"] != 0.5 || share["onc"] != 0.25 {
		t.Errorf("common words %v on %v", d.Words, d.Shares)
	}
	// The pages' familiarity: (2 + ¼ + ½)/4, 1.5/2, (1 + ½ + ¼)/3 twice. A quarter of the upper median
	// is less than the least.
	if want := (2.75 / 4) / familiarPart; !(math.Abs(d.LeastFamiliar-want) <= 1e-6) || d.LeastForeign != d.LeastFamiliar {
		t.Errorf("least familiar %v and %v, want %v", d.LeastFamiliar, d.LeastForeign, want)
	}
	if d.LeastWords != 2 {
		t.Errorf("least words %d, want 2", d.LeastWords)
	}
}

// TestSelectInFewBytes: rows in a file and rows in memory give the same words.
func TestSelectInFewBytes(t *testing.T) {
	set := rareAndWide(800)
	var want []string
	for _, memory := range []int64{0, 160 << 10} {
		m, rep, err := Train(context.Background(), stream(set), Options{
			Classifier: models.C45, Words: 20, Memory: memory, Seed: 2,
		})
		if err != nil {
			t.Fatal(err)
		}
		if memory == 0 {
			want = m.Terms
		} else if !slices.Equal(m.Terms, want) || rep.Spilled == 0 {
			t.Errorf("in %d bytes, %d of rows in a file: %v, want %v", memory, rep.Spilled, m.Terms, want)
		}
	}
}
