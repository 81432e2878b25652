package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"fossick/datasets"
	"fossick/internal/stats"
	"fossick/internal/testkit"
	"fossick/models"
	"fossick/models/features"
)

// sitesCorpus has 12 small sites, one site with half of all pages, and pages without a site.
func sitesCorpus() *corpus {
	c := &corpus{classes: []string{"a", "b"}}
	add := func(site string, class, n int) {
		for range n {
			c.sites, c.y = append(c.sites, site), append(c.y, class)
		}
	}
	for i := range 12 {
		add(fmt.Sprintf("s%d", i), i%2, 5)
	}
	add("big", 0, 70)
	add("", 1, 20)
	c.rows = make([]features.Vector, len(c.y))
	return c
}

func TestFoldsBySite(t *testing.T) {
	const n = 5
	c := sitesCorpus()
	fold := folds(c, n, &Options{Seed: 1, BySite: true})
	of := map[string]map[int]bool{}
	size := make([]map[int]int, n)
	for p, f := range fold {
		if of[c.sites[p]] == nil {
			of[c.sites[p]] = map[int]bool{}
		}
		of[c.sites[p]][f] = true
		if size[f] == nil {
			size[f] = map[int]int{}
		}
		size[f][c.y[p]]++
	}
	for site, in := range of {
		dealt := site == "big" || site == "" // too large for a fold, or no site at all
		if dealt != (len(in) > 1) {
			t.Errorf("site %q is in %d folds; dealt out page by page: want %v", site, len(in), dealt)
		}
	}
	for f, classes := range size {
		for class, total := range c.classRows(c.all()) {
			if got := classes[class]; got < total/n-1 || got > total/n+1 {
				t.Errorf("fold %d has %d pages of class %d, want %d, give or take one", f, got, class, total/n)
			}
		}
	}
	if again := folds(c, n, &Options{Seed: 1, BySite: true}); !slices.Equal(fold, again) {
		t.Error("the same seed gives other folds")
	}
	if plain := folds(c, n, &Options{Seed: 1}); slices.Equal(fold, plain) {
		t.Error("folds by site are those without sites")
	}
}

// TestBySiteTellsMenusFromTopics: pages that share only site words look easy unless sites are held out.
func TestBySiteTellsMenusFromTopics(t *testing.T) {
	testkit.Only(t, "seconds of processor time")
	rows := func(yield func(*datasets.Example, error) bool) {
		for site := range 12 {
			for i := range 8 {
				e := &datasets.Example{
					URL: fmt.Sprintf("http://s%d.test/%d", site, i), Site: fmt.Sprint("s", site),
					Label: []string{"a", "b"}[site%2], Text: fmt.Sprintf("menu%c home%c page about this and that", 'a'+site, 'a'+site),
				}
				if !yield(e, nil) {
					return
				}
			}
		}
	}
	accuracy := func(bySite bool, classifier string) float64 {
		_, rep, err := Train(context.Background(), rows, Options{Classifier: classifier, BySite: bySite})
		if err != nil {
			t.Fatal(err)
		}
		return rep.CV.Accuracy
	}
	for _, classifier := range Classifiers()[1:] {
		if got := accuracy(true, classifier); got > 0.7 {
			t.Errorf("%s by site: accuracy %.2f, want about one half", classifier, got)
		}
	}
	if got := accuracy(false, "linear"); got < 0.95 {
		t.Errorf("page by page: accuracy %.2f, want nearly 1", got)
	}
}

func TestMinSites(t *testing.T) {
	rows := func(yield func(*datasets.Example, error) bool) {
		for i := range 160 {
			site, label := i/8, []string{"a", "b"}[i/8%2]
			e := &datasets.Example{
				URL: fmt.Sprintf("http://x.test/%d", i), Site: fmt.Sprint("s", site), Label: label,
				Text: fmt.Sprintf("name%c topic%s", 'a'+site, label),
			}
			if !yield(e, nil) {
				return
			}
		}
	}
	for _, least := range []int{0, 3} {
		m, _, err := Train(context.Background(), rows, Options{Classifier: "linear", MinSites: least})
		if err != nil {
			t.Fatal(err)
		}
		if has := slices.Contains(m.Terms, "namec"); has != (least == 0) {
			t.Errorf("with %d sites at least: the name of a single site is a term: %v", least, has)
		}
		if !slices.Contains(m.Terms, "topica") {
			t.Errorf("with %d sites at least: topica, on ten sites, is no term: %v", least, m.Terms)
		}
	}
}

func TestEnoughFolds(t *testing.T) {
	folds := []int{0, 1, 2, 3, 4}
	for _, c := range []struct{ pages, learners, want int }{
		{100, 1, 5}, {2400, 1, 5}, {2600, 1, 4}, {11314, 1, 1}, {11314, 2, 5}, {1_000_000, 1, 1},
	} {
		if got := len(enoughFolds(folds, c.pages, c.learners)); got != c.want {
			t.Errorf("%d pages, %d learners: %d folds, want %d", c.pages, c.learners, got, c.want)
		}
	}
}

// TestTune: the choice is no worse on held-out pages than either weighting; a small set is judged whole.
func TestTune(t *testing.T) {
	set := toy(240, "bank", "code", "star")
	for i, e := range set {
		for k := range 12 {
			e.Text += " rare" + string(rune('a'+(i/3+k*7)%26)) + string(rune('a'+(i/3*k)%26))
		}
	}
	opt := Options{Classifier: "linear", Seed: 1, Folds: 5}
	c := testkit.Call(gather(context.Background(), stream(set), &opt, &Report{})).Must(t)
	every := []int{0, 1, 2, 3, 4}
	h := testkit.Call(tune(context.Background(), c, folds(c, 5, &opt), every, opt.fitting())).Must(t)
	if scores, _ := h.judged(c.y); len(scores) != len(c.y) {
		t.Errorf("%d of %d pages judged", len(scores), len(c.y))
	}
	for _, odds := range []bool{false, true} {
		alone := testkit.Call(crossValidate(context.Background(), c, linear{odds: odds}, folds(c, 5, &opt), every, opt.fitting())).Must(t)
		if h.score < alone.score-1e-12 {
			t.Errorf("tuned %v, below %v with odds %v", h.score, alone.score, odds)
		}
	}
}

// TestWarm: a machine that starts from the solution of some pages converges to the same end.
func TestWarm(t *testing.T) {
	opt := Options{Seed: 1, Folds: 5}
	c := testkit.Call(gather(context.Background(), stream(toy(150, "bank", "code", "star")), &opt, &Report{})).Must(t)
	cold := testkit.Call(linear{}.fit(context.Background(), c, c.all(), opt.fitting())).Must(t)
	part := testkit.Call(linear{passes: 3}.fit(context.Background(), c, c.all()[:100], opt.fitting())).Must(t)
	warm := testkit.Call(linear{warm: part.dual}.fit(context.Background(), c, c.all(), opt.fitting())).Must(t)
	a, b := make([]float64, 3), make([]float64, 3)
	for p := range c.rows {
		cold.scores(a, c, p)
		warm.scores(b, c, p)
		for k := range a {
			if d := a[k] - b[k]; d > svmDefaults.eps || d < -svmDefaults.eps {
				t.Fatalf("page %d: scores %v from nothing, %v from a part", p, a, b)
			}
		}
	}
}

// TestCounting: counters get the pages in order, and an error of one ends the reading.
func TestCounting(t *testing.T) {
	const pages = 20*countedPages + 5
	var got, want []string
	n := newCounting(func(label string, d features.Doc) error {
		got = append(got, label+d.Text)
		return nil
	})
	for i := range pages {
		want = append(want, fmt.Sprint("x", i))
		testkit.Must(t, n.add("x", features.Doc{Text: fmt.Sprint(i)}))
	}
	if err := n.close(); err != nil || !slices.Equal(got, want) {
		t.Errorf("the counter got %d pages, %v; want %d in order", len(got), err, pages)
	}
	n = newCounting(func(string, features.Doc) error { return nil }, func(string, features.Doc) error { return io.ErrShortWrite })
	for n.add("x", features.Doc{}) == nil {
	}
	if err := n.close(); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("error %v, want a short write", err)
	}
}

// TestSelectionHasNoLead: a model of selected words has no lead, a model of all words has one.
func TestSelectionHasNoLead(t *testing.T) {
	set := toy(120, "bank", "code")
	for _, words := range []int{0, 30} {
		m, _, err := Train(context.Background(), stream(set), Options{Classifier: "linear", Seed: 1, Words: words})
		if err != nil {
			t.Fatal(err)
		}
		led := slices.ContainsFunc(m.Terms, func(s string) bool { return strings.HasPrefix(s, "lead:") })
		if led != (words == 0) || (m.Extractor.Lead > 0) != led {
			t.Errorf("%d words: terms of the lead %v, lead of %d words", words, led, m.Extractor.Lead)
		}
	}
}

// rare makes a set with one page in fifty on topic, which some of many words show.
func rare(n int, rng *rand.Rand) (set []*datasets.Example) {
	for i := range n {
		e := &datasets.Example{URL: fmt.Sprintf("http://h%d.test/%d", i%9, i), Label: "rest"}
		words, topical := "", 1
		if i%50 == 0 {
			e.Label, topical = "bees", 6
		}
		for range 40 {
			words += fmt.Sprintf(" plain%c%c", 'a'+rng.IntN(26), 'a'+rng.IntN(4))
		}
		for range topical {
			words += fmt.Sprintf(" bee%c", 'a'+rng.IntN(12))
		}
		e.Text = words
		set = append(set, e)
	}
	return set
}

// TestTopical: with twelve of 600 pages on topic, the best ranking wins, with probabilities that hold.
func TestTopical(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	m, rep, err := Train(context.Background(), stream(rare(600, rng)), Options{Target: Target{Topic: "bees"}, Seed: 1, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	if m.Classifier != models.LinearSVM {
		t.Errorf("%s was chosen: %v", m.Classifier, rep.Accuracy)
	}
	if m.Domain == nil || m.Domain.LeastWords < 1 || !(m.Domain.LeastFamiliar > 0) {
		t.Errorf("domain %+v", m.Domain)
	}
	if len(rep.Accuracy) != 3 || rep.CV == nil || rep.CV.Pages != 600 {
		t.Errorf("cross-validated %v, on %+v", rep.Accuracy, rep.CV)
	}
}

// TestRounds: a small set gets more rounds than a large one, each with other folds.
func TestRounds(t *testing.T) {
	for pages, want := range map[int]int{60: 4, 600: 4, 800: 3, 2000: 1, 9000: 1} {
		c := &corpus{classes: []string{"bees", "other"}, y: make([]int, pages)}
		for p := range c.y {
			c.y[p] = p % 2
		}
		all, n := c.rounds(&Options{Folds: 5})
		if len(all) != want || n != 5 {
			t.Errorf("%d pages: %d rounds of %d folds, want %d of 5", pages, len(all), n, want)
		}
		for r := 1; r < len(all); r++ {
			if fmt.Sprint(all[r]) == fmt.Sprint(all[0]) {
				t.Errorf("%d pages: round %d is the first again", pages, r)
			}
		}
	}
	c := &corpus{classes: []string{"bees", "other"}, y: []int{0, 1, 1}}
	if all, n := c.rounds(&Options{Folds: 5}); all != nil || n >= 2 {
		t.Errorf("one page of a class: %v, %d folds", all, n)
	}
}

func TestLead(t *testing.T) {
	a, b := &contender{losses: []float64{1, 2, 3, 4}}, &contender{losses: []float64{2, 4, 3, 4}}
	// Differences 1, 2, 0, 0: mean ¾, squares about it 2.75, standard error √2.75/4.
	if got, want := a.lead(b), 0.75/(math.Sqrt(2.75)/4); !(math.Abs(got-want) <= 1e-12) || !(math.Abs(b.lead(a)+want) <= 1e-12) {
		t.Errorf("%v and %v, want ±%v", got, b.lead(a), want)
	}
	if got := a.lead(a); got != 0 {
		t.Errorf("against itself %v", got)
	}
}

// TestBlended mixes by hand: machine and naive Bayes err on one page each, where the other is sure.
func TestBlended(t *testing.T) {
	y := []int{0, 0, 1}
	machine := &heldOut{learner: linear{}, score: 2. / 3, scores: [][]float64{{1, -1}, {1, -1}, {0.1, -0.1}}}
	nb := &heldOut{learner: bayes{complement: true}, score: 2. / 3, scores: [][]float64{{10, -10}, {-1, 1}, {-10, 10}}}
	h := blended(machine, nb, y)
	b, ok := h.learner.(blend)
	if !ok || h.score != 1 || b.share != 0.1 {
		t.Fatalf("blend %+v with accuracy %v; want the smallest share, 0.1, with 1", h.learner, h.score)
	}
	// Spreads: √((1+1+0.01)/3) and √((100+1+100)/3), a tenth.
	if !(math.Abs(b.ratio-0.1) <= 1e-12) || !(math.Abs(b.factor()-0.1/9) <= 1e-12) {
		t.Errorf("ratio %v, factor %v; want 0.1 and 0.0111", b.ratio, b.factor())
	}
	// About the mean of each page: 1, 1, 0, 0, 4 and 4 squared deviations.
	if got := spread([][]float64{{1, 3}, {2, 2}, nil, {0, 4}}); !(math.Abs(got-math.Sqrt(10./6)) <= 1e-12) {
		t.Errorf("spread %v, want √(10/6)", got)
	}
	if machine.scores[2][0] != 0.1 {
		t.Error("the machine's scores were changed")
	}
	nb.scores[2] = []float64{10, -10} // now naive Bayes errs wherever the machine does
	if h := blended(machine, nb, y); h != machine {
		t.Errorf("blend %+v; want the machine alone, which is no worse", h.learner)
	}
	nb.scores = [][]float64{{0, 0}, {0, 0}, {0, 0}}
	if h := blended(machine, nb, y); h != machine {
		t.Errorf("blend %+v with scores all equal; want the machine alone", h.learner)
	}
}

// TestLearningCurve: the curve rises if there is something to learn, ends with all pages, and is repeatable.
func TestLearningCurve(t *testing.T) {
	set := toy(400, "bank", "code", "star")
	opt := Options{Classifier: models.NaiveBayes, Seed: 3, Explain: true}
	_, rep, err := Train(context.Background(), stream(set), opt)
	if err != nil {
		t.Fatal(err)
	}
	curve := rep.Curve
	if len(curve) != 6 || curve[0].Pages < 10 || curve[0].Pages > 13 || curve[5].Pages != 320 {
		t.Fatalf("points %v; want 6, from 1/32 of 320 pages to all of them", curve)
	}
	for i := 1; i < len(curve); i++ {
		if curve[i].Pages <= curve[i-1].Pages {
			t.Errorf("pages do not rise: %v", curve)
		}
	}
	first, last := curve[0], curve[5]
	if last.Accuracy != rep.Accuracy[models.NaiveBayes] {
		t.Errorf("the last point has %v, cross-validation %v", last.Accuracy, rep.Accuracy)
	}
	if first.Accuracy >= last.Accuracy || first.CI != stats.Wilson(int(first.Accuracy*400+0.5), 400) {
		t.Errorf("first %v, last %v", first, last)
	}
	if _, again, err := Train(context.Background(), stream(set), opt); err != nil || !slices.Equal(again.Curve, curve) {
		t.Errorf("again %v (%v), want %v", again.Curve, err, curve)
	}
}

func TestPartNests(t *testing.T) {
	c := &corpus{classes: []string{"a", "b"}, y: []int{0, 0, 0, 0, 0, 0, 0, 1, 0, 1}}
	order := []int{9, 3, 1, 0, 7, 2, 4, 5, 6, 8}
	pages := []int{0, 1, 2, 3, 4, 5, 7, 9}
	quarter, half := c.part(order, pages, 1./4), c.part(order, pages, 1./2)
	if want := []int{9, 3, 1}; !slices.Equal(quarter, want) {
		t.Errorf("a quarter: %v, want %v", quarter, want)
	}
	for _, p := range quarter {
		if !slices.Contains(half, p) {
			t.Errorf("page %d of %v is not in %v", p, quarter, half)
		}
	}
}

// TestReliability, by hand: of pages sure to .9 two of four are right, of .95 one of one, of .3 none of one.
func TestReliability(t *testing.T) {
	var pages []judgedPage
	for i, right := range []bool{true, true, false, false, true, false, true} {
		p := judgedPage{Score: []float64{0.9, 0.9, 0.9, 0.9, 0.95, 0.3, 1}[i]}
		if !right {
			p.Label = 1
		}
		pages = append(pages, p)
	}
	r := measureReliability(pages)
	if len(r.Bins) != 2 || r.Bins[0].Pages != 1 || r.Bins[1].Pages != 6 {
		t.Fatalf("bins %+v", r.Bins)
	}
	top := r.Bins[1]
	if !(math.Abs(top.Mean-5.55/6) <= 1e-12) || !(math.Abs(top.Right-4./6) <= 1e-12) || top.From != 0.9 || top.To != 1 {
		t.Errorf("top bin %+v", top)
	}
	// ECE = 1/7 · |0 − .3| + 6/7 · |4/6 − 5.55/6|, all of it too sure.
	if want := (0.3 + 1.55) / 7; !(math.Abs(r.ECE-want) <= 1e-12) || !(math.Abs(r.Over-want) <= 1e-12) {
		t.Errorf("ECE %v, over %v, want %v", r.ECE, r.Over, want)
	}
	if none := measureReliability(nil); len(none.Bins) != 0 || none.ECE != 0 {
		t.Errorf("no pages: %+v", none)
	}
}

// TestRightCI: pages of one site count as one if sites are held out.
func TestRightCI(t *testing.T) {
	right := func(i int) bool { return i%10 < 8 && i/10 != 3 } // of ten sites, one is all wrong
	pages := rightCI(100, func(int) string { return "" }, right)
	sites := rightCI(100, func(i int) string { return "abcdefghij"[i/10 : i/10+1] }, right)
	if pages != stats.Wilson(72, 100) {
		t.Errorf("pages: %v, want Wilson's", pages)
	}
	if sites[0] >= pages[0] || sites[1] <= pages[1] {
		t.Errorf("sites %v, want wider than pages %v", sites, pages)
	}
	// A page of an unknown site counts as a site.
	if got := rightCI(100, func(i int) string { return "ab"[:min(1, i/50)] }, right); got == pages || got == sites {
		t.Errorf("half of the sites unknown: %v", got)
	}
}

// TestHeld: the held-out pages are those of the set, in order, and CV sums them up.
func TestHeld(t *testing.T) {
	set := toy(90, "bank", "code", "star")
	m, rep, err := Train(context.Background(), stream(set), Options{Classifier: models.C45, Seed: 3, Explain: true})
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range rep.Held {
		if h.URL != set[i].URL || m.Classes[h.Truth] != set[i].Label || !(h.Score > 0 && h.Score <= 1) {
			t.Fatalf("page %d: %+v of %+v", i, h, set[i])
		}
	}
	cv, _ := measureJudged(len(m.Classes), rep.Held)
	if len(rep.Held) != 90 || cv.Accuracy != rep.CV.Accuracy {
		t.Errorf("%d pages, accuracy %v, want %v", len(rep.Held), cv.Accuracy, rep.CV.Accuracy)
	}
}

// TestFewUnits: copies, and pages of a site held out, are one draw; below five draws there is no interval.
func TestFewUnits(t *testing.T) {
	page := func(n int, each func(i int) judgedPage) (all []judgedPage) {
		for i := range n {
			all = append(all, each(i))
		}
		return all
	}
	for _, c := range []struct {
		name  string
		pages []judgedPage
		units int
	}{
		{"none", nil, 0},
		{"four pages", page(4, func(i int) judgedPage { return judgedPage{Mark: uint64(i + 1)} }), 4},
		{"five pages", page(5, func(i int) judgedPage { return judgedPage{Mark: uint64(i + 1)} }), 5},
		{"twelve copies of a page", page(12, func(int) judgedPage { return judgedPage{Mark: 7} }), 1},
		{"twelve copies of two pages", page(12, func(i int) judgedPage { return judgedPage{Mark: uint64(i%2 + 1)} }), 2},
		{"forty pages of four sites", page(40, func(i int) judgedPage { return judgedPage{Mark: uint64(i + 1), Site: "abcd"[i%4 : i%4+1]} }), 4},
		{"pages of unknown text", page(6, func(int) judgedPage { return judgedPage{} }), 6},
	} {
		m, _ := measureJudged(2, c.pages)
		known := m.Interval() != nil
		if m.Units != c.units || known != (c.units >= 5) || known == strings.HasPrefix(m.Spread(), "no interval: it needs 5") {
			t.Errorf("%s: %d units, interval %v, %q; want %d", c.name, m.Units, m.Interval(), m.Spread(), c.units)
		}
	}
}

// TestPlatt compares with a grid search, on positives separated well, badly or wholly.
func TestPlatt(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, test := range []struct {
		pages, positive int
		apart           float64
	}{{400, 12, 3}, {400, 200, 1}, {300, 3, 1}, {200, 20, 40}, {50, 1, 0}} {
		h, y := newHeldOut(nil, test.pages), make([]int, test.pages)
		for p := range y {
			m := rng.NormFloat64()
			if p < test.positive {
				y[p] = 1
				m += test.apart
			}
			h.scores[p] = []float64{-m / 2, m / 2}
		}
		cal := platt([]*heldOut{h}, y, func(int) bool { return true })
		a, b := cal.Scale, cal.Offset[1]-cal.Offset[0]
		loss := func(a, b float64) (sum float64) {
			high := float64(test.positive+1) / float64(test.positive+2)
			low := 1 / float64(test.pages-test.positive+2)
			for p, s := range h.scores {
				aim := low
				if y[p] == 1 {
					aim = high
				}
				q := 1 / (1 + math.Exp(-(a*(s[1]-s[0]) + b)))
				q = min(max(q, 1e-15), 1-1e-15)
				sum -= aim*math.Log(q) + (1-aim)*math.Log(1-q)
			}
			return sum
		}
		got, least := loss(a, b), math.Inf(1)
		for x := 0.001; x < 8; x += 0.2 {
			for z := -15.; z < 15; z += 0.5 {
				least = min(least, loss(x, z))
			}
		}
		if got > least+1e-3 {
			t.Errorf("%+v: loss %v at %v, %v; the grid has %v", test, got, a, b, least)
		}
	}
	if cal := platt(nil, nil, nil); cal.Scale != 0 || cal.Offset != nil {
		t.Errorf("nothing: %+v", cal)
	}
}

// TestPlattAims: six pages of class 0 and two of class 1 have the targets 1/8 and 3/4, with mean 9/32. If
// margins say nothing, or the opposite, each page gets that: b = ln(9/23).
func TestPlattAims(t *testing.T) {
	for _, margin := range []float64{0, 1} {
		h, y := newHeldOut(nil, 8), []int{0, 1, 0, 0, 0, 1, 0, 0}
		for p, class := range y {
			h.scores[p] = []float64{0, margin * float64(1-2*class)}
		}
		cal := platt([]*heldOut{h}, y, func(int) bool { return true })
		if b := cal.Offset[1] - cal.Offset[0]; !(math.Abs(b-math.Log(9./23)) <= 1e-6) || margin == 1 && cal.Scale != leastSlope {
			t.Errorf("margin %v: slope %v, b %v; want b %v", margin, cal.Scale, b, math.Log(9./23))
		}
	}
}

func TestPlattParts(t *testing.T) {
	h := &heldOut{scores: [][]float64{{0, 1}, {1, 0}, nil, {0, 3}, {2, 1}, {5, -9}}}
	y := []int{1, 0, 1, 0, 1, 0}
	want := platt([]*heldOut{{scores: [][]float64{{0, 1}, {1, 0}, {0, 3}, {2, 1}}}}, []int{1, 0, 0, 1}, func(int) bool { return true })
	got := platt([]*heldOut{h}, y, func(p int) bool { return p != 5 && p != 2 })
	if !(math.Abs(got.Scale-want.Scale) <= 1e-9) || !(math.Abs(got.Offset[0]-want.Offset[0]) <= 1e-9) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
