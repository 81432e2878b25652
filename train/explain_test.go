package train

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"fossick/internal/testkit"
	"fossick/models"
)

// hostile is what a word, label or URL from the web may contain.
const hostile = `"><script>alert(1)</script><img src=x onerror=alert(1)>{{.}}`

func bareModel(terms ...string) *models.Model {
	return &models.Model{
		Classes: []string{"bank", hostile, "sport"}, Terms: terms, Thresholds: []float64{0.5, 0.5, 0.5},
		Calibration: models.Calibration{Scale: 1}, Keywords: map[string][]string{"bank": {"loan", hostile}},
		Card: models.Card{Data: []string{"set"}, Pages: 9, PerClass: map[string]int{"bank": 4}, Settings: map[string]string{"c": "3"}},
	}
}

func linearModel() *models.Model {
	m := bareModel("loan", "goal", hostile)
	m.Classifier = models.LinearSVM
	m.Linear = &models.Linear{Weights: []float32{3, 0, 0, -1, 0, 4, 0, 2, 1}, Bias: make([]float32, 3)}
	return m
}

// treeModel leans to one side: loan > 0 → bank; goal > 1 → (goal > 3 → sport, else bank); else hostile.
func treeModel() *models.Model {
	m := bareModel("loan", "goal", hostile)
	m.Classifier = models.C45
	m.Tree = &models.Tree{
		Term: []int32{0, 1, 2, -1, -1, -1, -1}, Threshold: []float32{0, 1, 0, 0, 0, 0, 0},
		Low: []int32{1, 2, 4, -1, -1, -1, -1}, High: []int32{3, 5, 6, -1, -1, -1, -1},
		Leaf: []int32{-1, -1, -1, 0, 3, 6, 9}, Counts: []float32{4, 1, 0, 0, 2, 0, 0, 0, 3, 1, 0, 1},
	}
	return m
}

func rulesModel() *models.Model {
	m := bareModel("loan", "goal", hostile)
	m.Classifier = models.CN2
	m.Rules = &models.Rules{
		Start: []int32{0, 2, 3}, Term: []int32{0, 2, 1}, Threshold: []float32{0, 0, 2}, Above: []uint8{1, 0, 1},
		Class: []int32{0, 2}, Counts: []float32{4, 1, 0, 0, 0, 3, 4, 2, 3},
	}
	return m
}

// voteModel gives the tree a quarter of the vote, the weights three quarters.
func voteModel() *models.Model {
	m := bareModel("loan", "goal", hostile)
	m.Classifier = models.Voting
	m.Vote = &models.Vote{Members: []models.Member{
		{Share: 0.25, Places: []int32{0, 1, 2}, Model: treeModel()}, {Share: 0.75, Places: []int32{0, 1, 2}, Model: linearModel()},
	}}
	return m
}

func pageOf(m *models.Model) *page {
	var held []judgedPage
	for i := range 9 {
		held = append(held, judgedPage{Truth: i % 3, Label: i % 2, Score: 0.5 + float64(i)/20})
	}
	q, r := measureJudged(3, held)
	return &page{
		model: m, name: hostile, judgement: &judgement{from: testPages, measures: &q, reliability: r, mistakes: make([]mistake, 7)},
		curve: []CurvePoint{{Pages: 4, Accuracy: 0.5, CI: [2]float64{0.3, 0.7}}, {Pages: 8, Accuracy: 0.75, CI: [2]float64{0.5, 0.9}}},
		worst: []mistake{{"javascript:alert(1)//" + hostile, "bank", hostile, 0.9, hostile}}, notes: []string{hostile},
		candidates: map[string]float64{models.LinearSVM: 0.9, models.C45: 0.8},
	}
}

var outside = regexp.MustCompile(`(?i)@import|[^a-z.]url\([^#]|<link|<[^>]* src=|#0102|NaN|%!|&lt;nil&gt;`)

// TestWriteEscapes: for every kind of model, foreign text never becomes markup, and the page fetches nothing.
func TestWriteEscapes(t *testing.T) {
	for _, m := range []*models.Model{linearModel(), treeModel(), rulesModel(), voteModel()} {
		testkit.Must(t, m.Check())
		var out bytes.Buffer
		testkit.Must(t, pageOf(m).write(&out))
		text := out.String()
		if !strings.Contains(text, "&lt;script&gt;alert(1)") {
			t.Errorf("%s: the hostile word is not there; the test tests nothing", m.Classifier)
		}
		if bad := outside.FindString(text); bad != "" {
			t.Errorf("%s: %q in the page", m.Classifier, bad)
		}
		if n := strings.Count(text, "<script") - strings.Count(text, `<script type="application/json">`); n > 1 { // that of package report
			t.Errorf("%s: %d scripts", m.Classifier, n)
		}
		z := html.NewTokenizer(&out)
		for z.Next() != html.ErrorToken {
			tok := z.Token()
			if tok.Type != html.StartTagToken {
				continue
			}
			switch tok.Data {
			case "img", "iframe", "link", "object", "base":
				t.Errorf("%s: <%s>", m.Classifier, tok.Data)
			}
			for _, a := range tok.Attr {
				if strings.HasPrefix(a.Key, "on") || strings.HasPrefix(strings.ToLower(a.Val), "javascript:") {
					t.Errorf("%s: <%s %s=%q>", m.Classifier, tok.Data, a.Key, a.Val)
				}
			}
		}
		if z.Err() != io.EOF {
			t.Error(z.Err())
		}
	}
}

func TestWriteUnknown(t *testing.T) {
	var out bytes.Buffer
	testkit.Must(t, (&page{model: linearModel(), name: "m", judgement: &judgement{}}).write(&out))
	if !strings.Contains(out.String(), "The quality of this model is not known") || strings.Contains(out.String(), "application/json") {
		t.Errorf("page: %s", out.String())
	}
}

func TestVote(t *testing.T) {
	var out bytes.Buffer
	testkit.Must(t, pageOf(voteModel()).write(&out))
	at := 0
	for _, want := range []string{"A vote of classifiers", "The whole tree: c45, 25 % of the vote", "The words with the most weight: linear, 75 % of the vote"} {
		next := strings.Index(out.String()[at:], want)
		if next < 0 {
			t.Fatalf("%q is missing, or stands before what should follow", want)
		}
		at += next
	}
	for _, not := range []string{"weigh most: c45", "tree: linear", "All rules"} {
		if strings.Contains(out.String(), not) {
			t.Errorf("%q: the member has no such table", not)
		}
	}
}

// TestWords checks weights beyond the classes' mean, and proportional bars.
func TestWords(t *testing.T) {
	m := linearModel()
	m.Weighting.IDF = []float32{2, 1, 1}
	w := words(m)
	// loan: weights 3, 0, 0 with mean 1, times IDF 2; hostile: 0, 2, 1 with mean 1.
	if got, want := fmt.Sprint(w[0].For), "[{loan +4.00 100}]"; got != want {
		t.Errorf("for bank %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(w[0].Against), "[{goal -2.00 100} {"+hostile+" -1.00 50}]"; got != want {
		t.Errorf("against bank %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(w[2].For), "[{goal +3.00 100}]"; got != want {
		t.Errorf("for sport %s, want %s", got, want)
	}
}

func TestTree(t *testing.T) {
	b := tree(treeModel())
	want := []step{
		{"loan", "bank", "4 of 5", nil},
		{"goal > 1", "sport", "3 of 3", nil},
		{hostile, "bank", "1 of 2", nil},
		{"", hostile, "2 of 2", nil},
	}
	if b.Tests != 3 || fmt.Sprint(b.Steps) != fmt.Sprint(want) || b.Label != "bank" || b.Counts != "5 of 12" {
		t.Errorf("%+v, want steps %+v", b, want)
	}
}

// TestTreeChains: a chain decides every page like its tree, and nests at most log₂ of the leaves deep.
func TestTreeChains(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 5))
	for range 200 {
		m := randomTree(r, 1+r.IntN(40))
		testkit.Must(t, m.Check())
		b := tree(m)
		leaves := (len(m.Tree.Term) + 1) / 2
		if d := depthOf(b); 1<<(d-1) > leaves {
			t.Fatalf("%d leaves nest %d deep", leaves, d)
		}
		x := make([]float32, len(m.Terms))
		for i := range x {
			x[i] = float32(r.IntN(4))
		}
		leaf := int32(0)
		for t := m.Tree; t.Term[leaf] >= 0; {
			if x[t.Term[leaf]] > t.Threshold[leaf] {
				leaf = t.High[leaf]
			} else {
				leaf = t.Low[leaf]
			}
		}
		label, counts := majority(m.Classes, m.Tree.LeafCounts(leaf, 2))
		if l, c := walk(b, m.Terms, x); l != label || c != counts {
			t.Fatalf("chain says %s %s, tree %s %s", l, c, label, counts)
		}
	}
}

func randomTree(r *rand.Rand, inner int) *models.Model {
	m := bareModel()
	m.Classes, m.Thresholds = []string{"a", "b"}, []float64{0.5, 0.5}
	for i := range 6 {
		m.Terms = append(m.Terms, fmt.Sprintf("t%d", i))
	}
	t := &models.Tree{}
	m.Tree = t
	var grow func(n int) int32
	grow = func(n int) int32 {
		at := len(t.Term)
		t.Term, t.Threshold = append(t.Term, -1), append(t.Threshold, 0)
		t.Low, t.High, t.Leaf = append(t.Low, -1), append(t.High, -1), append(t.Leaf, -1)
		if n == 0 {
			t.Leaf[at] = int32(len(t.Counts))
			t.Counts = append(t.Counts, float32(r.IntN(1000)), float32(r.IntN(1000)))
			return int32(at)
		}
		t.Term[at], t.Threshold[at] = int32(r.IntN(6)), float32(r.IntN(3))
		low := r.IntN(n)
		t.Low[at] = grow(low)
		t.High[at] = grow(n - 1 - low)
		return int32(at)
	}
	grow(inner)
	return m
}

// TestTreeSays: a leaf shows the class of the largest share, not that of most pages.
func TestTreeSays(t *testing.T) {
	m := bareModel("loan")
	m.Classes = []string{"bank", "sport"}
	m.Tree = &models.Tree{
		Term: []int32{0, -1, -1}, Threshold: []float32{0, 0, 0}, Low: []int32{1, -1, -1}, High: []int32{2, -1, -1},
		Leaf: []int32{-1, 0, 2}, Counts: []float32{1, 1, 3, 0}, Shares: []float32{0.4, 0.6, 0.9, 0.1},
	}
	if s := tree(m).Steps; s[1].Label != "sport" && s[0].Label != "sport" {
		t.Errorf("steps %+v, want sport of one", s)
	}
}

func depthOf(b *branch) int {
	most := 1
	for _, s := range b.Steps {
		if s.Below != nil {
			most = max(most, 1+depthOf(s.Below))
		}
	}
	return most
}

func walk(b *branch, terms []string, x []float32) (label, counts string) {
	for _, s := range b.Steps {
		if !holds(s.Condition, terms, x) {
			continue
		}
		if s.Below != nil {
			return walk(s.Below, terms, x)
		}
		return s.Label, s.Counts
	}
	return "nothing holds", ""
}

func holds(condition string, terms []string, x []float32) bool {
	var threshold float32
	fields := strings.Fields(condition)
	for i, t := range terms {
		switch {
		case condition == "":
			return true
		case condition == t:
			return x[i] > 0
		case condition == "no "+t:
			return x[i] <= 0
		case fields[0] == t:
			fmt.Sscan(fields[2], &threshold)
			return (x[i] > threshold) == (fields[1] == ">")
		}
	}
	panic("no such condition: " + condition)
}

func TestRules(t *testing.T) {
	v := rules(rulesModel())
	if got, want := fmt.Sprint(v.Groups), "[{bank [{loan ∧ no "+hostile+" bank 4 of 5}]} {sport [{goal > 2 sport 3 of 3}]}]"; got != want {
		t.Errorf("groups %s, want %s", got, want)
	}
	if v.Default.Label != "bank" || v.Default.Counts != "4 of 9" {
		t.Errorf("default %+v", v.Default)
	}
	m := rulesModel()
	m.Rules.Ordered = true
	if v = rules(m); len(v.Groups) != 1 || len(v.Groups[0].Rules) != 2 || v.Groups[0].Class != "" {
		t.Errorf("ordered: %+v", v)
	}
}

func TestSentences(t *testing.T) {
	p := pageOf(linearModel())
	p.model.Classes[1] = "code"
	got := strings.Join(sentences(p), "\n")
	for _, want := range []string{
		"Of 9 pages that it was not trained on, 44.4 % get the right label (95 % interval 18.9 to 73.3); the label bank for every page would be right on 33.3 %.",
		"It knows code best (F1 0.571) and sport worst (0.000).",
		"Most often it takes sport for bank: 2 of 3 pages.",
		"Its probabilities are off by 54.4 % on average, in both directions.",
		"More training pages would help: from 4 to 8 pages the accuracy went from 50.0 % to 75.0 %.",
		"In cross-validation it got 90.0 %; the others got: c45 80.0 %.",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}
