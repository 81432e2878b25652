package classify

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"fossick/internal/testkit"
	"fossick/models"
	"fossick/models/features"
)

func linear() *models.Model {
	return &models.Model{
		Classifier: models.LinearSVM, Classes: []string{"banking", "other"},
		Extractor:   features.ExtractorOptions{Fields: true},
		Terms:       []string{"mortgag", "title:bank", "garden", "loan"},
		Weighting:   features.Weighting{Sublinear: true},
		Linear:      &models.Linear{Weights: []float32{2, -2, 1, -1, -3, 3, 0.5, -0.5}, Bias: []float32{-0.5, 0.5}},
		Calibration: models.Calibration{Scale: 1}, Thresholds: []float64{0.5, 0.5},
	}
}

func tree() *models.Model {
	m := linear()
	m.Classifier, m.Linear, m.Calibration, m.Weighting = models.C45, nil, models.Calibration{Scale: 1}, features.Weighting{}
	m.Tree = &models.Tree{
		Term: []int32{0, -1, 3, -1, -1}, Threshold: []float32{0, 0, 1, 0, 0},
		Low: []int32{1, -1, 3, -1, -1}, High: []int32{2, -1, 4, -1, -1}, Leaf: []int32{-1, 0, -1, 2, 4},
		Counts: []float32{0, 3, 1, 1, 37, 2},
	}
	return m
}

func rules() *models.Model {
	m := tree()
	m.Classifier, m.Tree, m.Calibration = models.CN2, nil, models.Calibration{Scale: 1}
	m.Rules = &models.Rules{
		Start: []int32{0, 2, 3}, Term: []int32{0, 2, 3}, Threshold: []float32{0, 0, 1}, Above: []uint8{1, 0, 1},
		Class: []int32{0, 1}, Counts: []float32{37, 2, 1, 2, 5, 6},
	}
	return m
}

// network has one hidden unit that tells bankers from gardeners, and one that is always half way.
func network() *models.Model {
	m := linear()
	m.Classifier, m.Linear, m.Weighting = models.NN, nil, features.Weighting{}
	m.Network = &models.Network{
		Input: []float32{1, 0, 0.5, 0, -1.5, 0, 0.5, 0}, HiddenBias: []float32{0, 0},
		Output: []float32{2, -2, 1, -1}, OutputBias: []float32{0, 0},
	}
	return m
}

// vote gives half to the tree, and half to a linear model that has only two of the terms.
func vote() *models.Model {
	m, own := linear(), linear()
	own.Terms, own.Linear.Weights = []string{"title:bank", "garden"}, []float32{1, -1, -3, 3}
	m.Classifier, m.Linear, m.Weighting = models.Voting, nil, features.Weighting{}
	m.Vote = &models.Vote{Members: []models.Member{
		{Share: 0.5, Places: []int32{0, 1, 2, 3}, Model: tree()},
		{Share: 0.5, Places: []int32{1, 2}, Model: own},
	}}
	return m
}

func TestClassify(t *testing.T) {
	for _, c := range []struct {
		name  string
		model *models.Model
		doc   features.Doc
		label string
		score float64
		why   string
	}{
		// Scores 2 + 1 − 0.5 and the opposite: a difference of 5.
		{"linear", linear(), features.Doc{Title: "The Bank", Text: "A mortgage"}, "banking",
			1 / (1 + math.Exp(-5)), "mortgag +2.00, title:bank +1.00 → banking"},
		// The sum is 1 + ½; scores are ±2·tanh(1.5), all due to the words, two thirds to the first.
		{"network", network(), features.Doc{Title: "The Bank", Text: "A mortgage"}, "banking",
			1 / (1 + math.Exp(-4*math.Tanh(1.5))), "mortgag +1.21, title:bank +0.60 → banking"},
		{"network, against it", network(), features.Doc{Text: "garden loan"}, "other",
			1 / (1 + math.Exp(-4*math.Tanh(1))), "garden +2.28 → other"},
		{"tree", tree(), features.Doc{Text: "mortgages, loans and a loan"}, "banking", 38. / 41, "mortgag > 0 ∧ loan > 1 → banking (37/39)"},
		{"rules", rules(), features.Doc{Text: "mortgages"}, "banking", 38. / 41, "mortgag ∧ ¬garden → banking (37/39)"},
		{"rules, none", rules(), features.Doc{Text: "garden"}, "other", 7. / 13, "no rule → other (6/11)"},
		// The linear member's difference is −1 + 2.
		{"vote", vote(), features.Doc{Title: "The Bank", Text: "mortgages, loans and a loan"}, "banking", (38./41 + 1/(1+math.Exp(-1))) / 2,
			"c45 (50 %, 0.93): mortgag > 0 ∧ loan > 1 → banking (37/39); linear (50 %, 0.73): title:bank +1.00 → banking"},
		{"vote, one against", vote(), features.Doc{Text: "mortgages, loans and a loan in the garden"}, "other", (3./41 + 1/(1+math.Exp(-7))) / 2,
			"c45 (50 %, 0.07): mortgag > 0 ∧ loan > 1 → other (2/39); linear (50 %, 1.00): garden +3.00 → other"},
		{"tree, absent", tree(), features.Doc{Text: "a garden"}, "other", 4. / 5, "no mortgag → other (3/3)"},
		{"tree, tie", tree(), features.Doc{Text: "mortgage loan"}, "banking", 0.5, "mortgag > 0 ∧ loan ≤ 1 → banking (1/2)"},
	} {
		cl := testkit.Call(New(c.model)).Must(t)
		r := cl.Classify(c.doc)
		if r.Label != c.label || math.Abs(r.Score-c.score) > 1e-6 {
			t.Errorf("%s: %s %v, want %s %v", c.name, r.Label, r.Score, c.label, c.score)
		}
		if s := cl.Score(c.doc, c.label); s != r.Score {
			t.Errorf("%s: Score %v, Classify %v", c.name, s, r.Score)
		}
		if s := cl.Score(c.doc, "nonsense"); s != 0 {
			t.Errorf("%s: score %v for a label that is none", c.name, s)
		}
		if both, why := cl.ClassifyAndExplain(c.doc); both.Label != r.Label || both.Score != r.Score || why != c.why {
			t.Errorf("%s: ClassifyAndExplain %v, %q, want %v, %q", c.name, both, why, r, c.why)
		}
	}
}

func TestExplainFor(t *testing.T) {
	bank := features.Doc{Title: "The Bank", Text: "A mortgage in the garden"}
	shifted := linear() // every word speaks as much more for both
	for i := range shifted.Linear.Weights {
		shifted.Linear.Weights[i] += 7
	}
	for _, c := range []struct {
		name  string
		model *models.Model
		doc   features.Doc
		label string
		want  string
	}{
		{"linear, the best", linear(), bank, "banking", "mortgag +2.00, title:bank +1.00 → banking"},
		{"linear, beside what the word says for all", shifted, bank, "banking", "mortgag +2.00, title:bank +1.00 → banking"},
		{"linear, the other", linear(), bank, "other", "garden +3.00 → other"},
		{"linear, nothing for it", linear(), features.Doc{Text: "garden"}, "banking", "no word speaks for it → banking"},
		{"linear, nothing known", linear(), features.Doc{Text: "zebra"}, "banking", "no known word → other"},
		{"network, the other", network(), bank, "other", "garden +3.00 → other"},
		{"tree, the best", tree(), features.Doc{Text: "mortgage loan loan"}, "banking", "mortgag > 0 ∧ loan > 1 → banking (37/39)"},
		{"tree, the other", tree(), features.Doc{Text: "mortgage loan loan"}, "other", "mortgag > 0 ∧ loan > 1 → other (2/39)"},
		{"vote, the other", vote(), features.Doc{Text: "mortgage loan loan"}, "other",
			"c45 (50 %, 0.07): mortgag > 0 ∧ loan > 1 → other (2/39); linear (50 %, 0.73): no known word → other"},
		{"no such label", linear(), bank, "sport", ""},
	} {
		cl := testkit.Call(New(c.model)).Must(t)
		if got := cl.ExplainFor(c.doc, c.label); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if best, why := cl.ClassifyAndExplain(c.doc); cl.ExplainFor(c.doc, best.Label) != why {
			t.Errorf("%s: ExplainFor %q, ClassifyAndExplain %q of the best label", c.name, cl.ExplainFor(c.doc, best.Label), why)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	m := linear()
	m.Linear.Weights = m.Linear.Weights[1:]
	if _, err := New(m); err == nil {
		t.Error("a model whose tables do not fit is taken")
	}
}

// TestVoteLeavesNoGarbage: a vote makes no more garbage than one model, for which only the URL is parsed.
func TestVoteLeavesNoGarbage(t *testing.T) {
	d := features.Doc{Title: "The Bank", Text: "mortgages, loans and a loan in the garden"}
	garbage := func(m *models.Model) float64 {
		cl := testkit.Call(New(m)).Must(t)
		return testing.AllocsPerRun(100, func() { cl.Score(d, "banking") })
	}
	if one, all := garbage(linear()), garbage(vote()); all > one {
		t.Errorf("%v allocations a page, of a single model %v", all, one)
	}
}

func TestConcurrent(t *testing.T) {
	cl := testkit.Call(New(linear())).Must(t)
	docs := []features.Doc{{Text: "mortgage loan"}, {Text: "garden"}, {Title: "bank", Text: strings.Repeat("loan ", 50)}}
	var want []Result
	for _, d := range docs {
		want = append(want, cl.Classify(d))
	}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 200 {
				k := (g + i) % len(docs)
				if r := cl.Classify(docs[k]); r.Label != want[k].Label || r.Score != want[k].Score {
					t.Errorf("%v, want %v", r, want[k])
					return
				}
			}
		})
	}
	wg.Wait()
}

// wide is a model of 20,000 terms and 14 classes, and a page of 20 KB.
func wide() (*models.Model, features.Doc) {
	const terms, classes = 20000, 14
	m := linear()
	m.Classes, m.Terms, m.Thresholds = nil, nil, make([]float64, classes)
	for c := range classes {
		m.Classes = append(m.Classes, fmt.Sprintf("class%02d", c))
	}
	letters := func(i int) string {
		return string([]byte{'b' + byte(i%20), 'a' + byte(i/20%20), 'b' + byte(i/400%20), 'o' + byte(i/8000), 'x'})
	}
	for i := range terms {
		m.Terms = append(m.Terms, letters(i))
	}
	m.Linear = &models.Linear{Weights: make([]float32, terms*classes), Bias: make([]float32, classes)}
	m.Weighting = features.Weighting{Sublinear: true, Norm: true, Blocks: features.DefaultBlocks}
	var text strings.Builder
	for i := 0; text.Len() < 20<<10; i++ {
		text.WriteString(letters(i * i % 2500))
		text.WriteString(" the ")
	}
	return m, features.Doc{URL: "http://x.test/a", Title: "Title", Text: text.String()}
}

func BenchmarkClassify(b *testing.B) {
	m, d := wide()
	benchClassify(b, m, d)
}

func benchClassify(b *testing.B, m *models.Model, d features.Doc) {
	cl := testkit.Call(New(m)).Must(b)
	b.SetBytes(int64(len(d.Text)))
	b.ReportAllocs()
	for b.Loop() {
		cl.Classify(d)
	}
}

// BenchmarkClassifyVote is BenchmarkClassify with two members of all terms each.
func BenchmarkClassifyVote(b *testing.B) {
	own, d := wide()
	all := make([]int32, len(own.Terms))
	for i := range all {
		all[i] = int32(i)
	}
	m := *own
	m.Classifier, m.Linear, m.Weighting = models.Voting, nil, features.Weighting{}
	m.Vote = &models.Vote{Members: []models.Member{{Share: 0.5, Places: all, Model: own}, {Share: 0.5, Places: all, Model: own}}}
	benchClassify(b, &m, d)
}

func TestMost(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	m := &models.Model{}
	for i := range 40 {
		m.Terms = append(m.Terms, fmt.Sprint("t", i*7%40))
	}
	for range 2000 {
		var all []said
		for _, term := range rng.Perm(40)[:rng.IntN(40)] {
			all = append(all, said{int32(term), float64(rng.IntN(7) - 2)})
		}
		got := most(m, all)
		slices.SortFunc(all, func(a, b said) int {
			return cmp.Or(cmp.Compare(b.added, a.added), cmp.Compare(m.Terms[a.term], m.Terms[b.term]))
		})
		want := slices.DeleteFunc(all, func(w said) bool { return !(w.added > 0) })
		if want = want[:min(reasons, len(want))]; !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
}
