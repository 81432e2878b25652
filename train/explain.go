package train

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"fossick/internal/cli"
	"fossick/internal/report"
	"fossick/models"
)

// page is the content of a model's page. The measures must be of the model's classes.
type page struct {
	model *models.Model
	name  string // of the model's file
	*judgement
	curve      []CurvePoint       // empty: no curve
	candidates map[string]float64 // accuracy in cross-validation, by classifier
	worst      []mistake          // the most confident mistakes, the surest first
	notes      []string           // what looks wrong with the set
	made       []report.Fact      // how it was made, beyond the model's card
}

// Sources of the figures.
const (
	testPages       = "test"
	crossValidation = "cross-validation"
)

// Limits of the shown text that pages supply, in runes.
const (
	maxURL  = 110
	maxRule = 300
)

//go:embed explain.html
var pageHTML string

// write writes the page and escapes everything in it.
func (p *page) write(w io.Writer) error {
	v, err := newView(p)
	if err != nil {
		return err
	}
	return report.Write(w, pageHTML, v)
}

type view struct {
	report.Head
	Figures []report.Figure
	Notes   []string
	Classes []classRow
	Judged  bool // there are figures by class
	Matrix  *report.Matrix
	Parts   []part
	Worst   []mistakeRow
	More    int // mistakes that are not listed
}

// part is the table of a model, or of one member of its vote.
type part struct {
	Member string // "linear, 50 % of the vote"; "" for a model without a vote
	Words  []classWords
	Tree   *branch
	Rules  *ruleView
}

func partsOf(m *models.Model) []part {
	if m.Vote == nil {
		return []part{{"", words(m), tree(m), rules(m)}}
	}
	var out []part
	for _, v := range m.Vote.Members {
		p := partsOf(v.Model)[0] // members contain no votes
		p.Member = fmt.Sprintf("%s, %.0f %% of the vote", v.Model.Classifier, 100*v.Share)
		out = append(out, p)
	}
	return out
}

type classRow struct {
	Name                  string
	Trained, Pages        int
	Precision, Recall, F1 string
	Threshold             string
	Keywords              string
}

type mistakeRow struct {
	mistake
	Short string
}

func newView(p *page) (*view, error) {
	m := p.model
	v := &view{
		Head: report.Head{
			Title: "Model " + p.name, Subtitle: subtitle(m), Sentences: sentences(p),
			Tiles: tiles(p), Made: append(card(m), p.made...),
		},
		Notes: p.notes, Classes: classRows(p), Judged: p.measures != nil,
		Parts: partsOf(m), More: len(p.mistakes) - len(p.worst),
	}
	if p.measures != nil {
		v.Matrix = matrix(m.Classes, p.measures)
	}
	for _, e := range p.worst {
		row := mistakeRow{e, report.Cut(e.URL, maxURL)}
		row.Rule = report.Cut(e.Rule, maxRule)
		v.Worst = append(v.Worst, row)
	}
	var err error
	v.Figures, err = figures(p)
	return v, err
}

func subtitle(m *models.Model) string {
	kind := cmp.Or(kinds[m.Classifier], m.Classifier)
	return cli.Sprintf("%s, %d classes, %s words; trained on %s of %s", kind, len(m.Classes),
		report.Number(len(m.Terms)), report.Pages(m.Card.Pages), strings.Join(m.Card.Data, ", "))
}

var kinds = map[string]string{
	models.LinearSVM: "A linear support vector machine", models.NaiveBayes: "Naive Bayes",
	models.C45: "A decision tree (C4.5)", models.CN2: "Rules (CN2)", models.NN: "A back-propagation network",
	models.Voting: "A vote of classifiers", models.Trees: "A forest of decision trees", models.Stack: "A stack of classifiers",
}

func tiles(p *page) []report.Tile {
	var out []report.Tile
	tile := func(label, value, note string) {
		out = append(out, report.Tile{Label: label, Value: value, Note: note})
	}
	if q := p.measures; q != nil {
		tile("Accuracy", percents(q.Accuracy), q.Spread())
		tile("Macro F1", fmt.Sprintf("%.3f", q.MacroF1), "mean over the classes")
		tile("Judged on", report.Number(q.Pages), map[string]string{testPages: "test pages", crossValidation: "training pages, by cross-validation"}[p.from])
		tile("Calibration error", percents(p.reliability.ECE), "expected; 0 is perfect")
	}
	tile("Training pages", report.Number(p.model.Card.Pages), cli.Sprintf("of %d classes", len(p.model.Classes)))
	if p.predictUS != nil {
		tile("Time a page", fmt.Sprintf("%.2g ms", *p.predictUS/1e3), "from raw bytes, median")
	}
	return out
}

func percents(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }

func classRows(p *page) []classRow {
	var rows []classRow
	for i, name := range p.model.Classes {
		row := classRow{
			Name: name, Trained: p.model.Card.PerClass[name],
			Threshold: fmt.Sprintf("%.2f", p.model.Thresholds[i]), Keywords: strings.Join(p.model.Keywords[name], ", "),
		}
		if p.measures != nil {
			k := p.measures.PerClass[i]
			row.Pages, row.Precision, row.Recall, row.F1 = k.Support, ratio(k.Precision), ratio(k.Recall), ratio(k.F1)
		}
		rows = append(rows, row)
	}
	return rows
}

// ratio formats a measure, "–" if it is NaN.
func ratio(v float64) string {
	if v != v {
		return "–"
	}
	return fmt.Sprintf("%.3f", v)
}

func matrix(classes []string, q *measures) *report.Matrix {
	totals := make([]int, len(classes))
	for i := range classes {
		totals[i] = q.PerClass[i].Support
	}
	return report.NewMatrix(classes, classes, q.Confusion, totals)
}

func card(m *models.Model) []report.Fact {
	var facts []report.Fact
	fact := func(name, value string) {
		if value != "" {
			facts = append(facts, report.Fact{Name: name, Value: value})
		}
	}
	c := m.Card
	fact("classifier", m.Classifier)
	fact("data", strings.Join(c.Data, ", "))
	fact("part of it", c.Split)
	fact("random seed", fmt.Sprint(c.Seed))
	for _, name := range slices.Sorted(maps.Keys(c.Settings)) {
		fact(strings.ReplaceAll(name, "_", " "), c.Settings[name])
	}
	for _, s := range []struct {
		name  string
		score *models.Score
	}{{"cross-validation", c.CV}, {"test", c.Test}} {
		if s.score != nil {
			fact(s.name, fmt.Sprintf("accuracy %s, macro F1 %.3f on %s", percents(s.score.Accuracy), s.score.MacroF1, report.Pages(s.score.Pages)))
		}
	}
	return facts
}

// sentences states the figures in words, the most important first.
func sentences(p *page) []string {
	q := p.measures
	if q == nil || q.Pages == 0 {
		return []string{"The quality of this model is not known: there were neither test pages nor enough pages for cross-validation."}
	}
	on := report.Pages(q.Pages) + " that it was not trained on"
	if p.from == crossValidation {
		on = report.Pages(q.Pages) + " of its own, held out in cross-validation"
	}
	out := []string{fmt.Sprintf("Of %s, %s get the right label (%s); %s", on, percents(q.Accuracy), q.Spread(), baselineSays(p))}
	for _, s := range []string{bestAndWorst(p), confusedMost(p), trust(p), moreWouldHelp(p), rivals(p)} {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

func baselineSays(p *page) string {
	class, accuracy := p.measures.majority()
	return fmt.Sprintf("the label %s for every page would be right on %s.", p.model.Classes[class], percents(accuracy))
}

func bestAndWorst(p *page) string {
	best, worst := -1, -1
	for i, k := range p.measures.PerClass {
		if k.Support == 0 {
			continue
		}
		if best < 0 || k.F1 > p.measures.PerClass[best].F1 {
			best = i
		}
		if worst < 0 || k.F1 < p.measures.PerClass[worst].F1 {
			worst = i
		}
	}
	if best == worst {
		return ""
	}
	names, k := p.model.Classes, p.measures.PerClass
	return fmt.Sprintf("It knows %s best (F1 %.3f) and %s worst (%.3f).", names[best], k[best].F1, names[worst], k[worst].F1)
}

// confusedMost names the most frequent confusion, the first of ties.
func confusedMost(p *page) string {
	var truth, label, most int
	for i, row := range p.measures.Confusion {
		for j, n := range row {
			if i != j && n > most {
				truth, label, most = i, j, n
			}
		}
	}
	if most == 0 {
		return ""
	}
	names := p.model.Classes
	return fmt.Sprintf("Most often it takes %s for %s: %s of %s.", names[truth], names[label],
		report.Number(most), report.Pages(p.measures.PerClass[truth].Support))
}

// trust says whether the probabilities can be trusted; such samples differ by three points by chance.
func trust(p *page) string {
	r := p.reliability
	if len(r.Bins) == 0 {
		return ""
	}
	switch {
	case r.ECE < 0.03:
		return fmt.Sprintf("Its probabilities can be trusted (expected calibration error %s).", percents(r.ECE))
	case math.Abs(r.Over) < r.ECE/2:
		return fmt.Sprintf("Its probabilities are off by %s on average, in both directions.", percents(r.ECE))
	case r.Over > 0:
		return fmt.Sprintf("It is too confident: its probabilities are off by %s on average, mostly too high.", percents(r.ECE))
	}
	return fmt.Sprintf("It is not confident enough: its probabilities are off by %s on average, mostly too low.", percents(r.ECE))
}

// moreWouldHelp judges by the end of the learning curve.
func moreWouldHelp(p *page) string {
	n := len(p.curve)
	if n < 2 {
		return ""
	}
	half, all := p.curve[n-2], p.curve[n-1]
	gain := all.Accuracy - half.Accuracy
	from := fmt.Sprintf("from %s to %s the accuracy went from %s to %s", report.Number(half.Pages), report.Pages(all.Pages), percents(half.Accuracy), percents(all.Accuracy))
	if gain < 0.01 {
		return fmt.Sprintf("More training pages of the same kind would help little: %s.", from)
	}
	return fmt.Sprintf("More training pages would help: %s.", from)
}

// rivals compares the classifier with those that did worse.
func rivals(p *page) string {
	names := slices.SortedFunc(maps.Keys(p.candidates), func(a, b string) int {
		return cmp.Or(cmp.Compare(p.candidates[b], p.candidates[a]), cmp.Compare(a, b))
	})
	if len(names) < 2 {
		return ""
	}
	var others []string
	for _, name := range names {
		if name != p.model.Classifier {
			others = append(others, fmt.Sprintf("%s %s", name, percents(p.candidates[name])))
		}
	}
	return fmt.Sprintf("In cross-validation it got %s; the others got: %s.", percents(p.candidates[p.model.Classifier]), strings.Join(others, ", "))
}

func figures(p *page) ([]report.Figure, error) {
	var out []report.Figure
	if len(p.curve) > 1 {
		f, err := curveFigure(p)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	if len(p.reliability.Bins) > 0 {
		f, err := reliability(p)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

func curveFigure(p *page) (report.Figure, error) {
	l := report.Line{Name: "accuracy", Dots: true}
	for _, c := range p.curve {
		l.Points = append(l.Points, report.Point{X: float64(c.Pages), Y: c.Accuracy})
		l.Band = append(l.Band, c.CI)
	}
	return report.NewFigure("Learning curve",
		"Accuracy of the same classifier when it learns from fewer pages, always judged on the same held-out training pages (cross-validation, before calibration). The band is the 95 % interval.",
		report.Chart{XLabel: "training pages", YLabel: "right", Lines: []report.Line{l}, Fit: report.FitBoth})
}

func reliability(p *page) (report.Figure, error) {
	l := report.Line{Name: "this model", Dots: true}
	for _, b := range p.reliability.Bins {
		l.Points = append(l.Points, report.Point{X: b.Mean, Y: b.Right})
		l.Band = append(l.Band, b.CI)
	}
	f, err := report.NewFigure("Reliability",
		fmt.Sprintf("Of the pages whose label has a probability near x, the share that is right: below the line the model is too confident. Expected calibration error %s. The band is the 95 %% interval; it is wide where there are few pages.", percents(p.reliability.ECE)),
		report.Chart{XLabel: "probability of the label", YLabel: "right", Lines: []report.Line{l}, XShares: true, Diagonal: "perfect calibration"})
	if err != nil {
		return f, err
	}
	f.Open = true
	f.Tables = []report.Numbers{binFigure(p)}
	return f, nil
}

func binFigure(p *page) report.Numbers {
	n := report.Numbers{Columns: []string{"probability", "pages", "mean", "right", "95 % interval"}}
	for _, b := range p.reliability.Bins {
		n.Rows = append(n.Rows, []string{
			fmt.Sprintf("%.1f–%.1f", b.From, b.To), report.Number(b.Pages), percents(b.Mean), percents(b.Right), report.Span(b.CI),
		})
	}
	return n
}

// branch is a subtree as a chain of tests, of which the first that holds decides:
//
//	mortgag > 0 → banking (37 of 39)
//	goal > 1    → six more tests, mostly sport
//	otherwise   → other (80 of 84)
//
// Trees of text lean to one side, a hundred levels deep. Chains nest no deeper than log₂ of the leaves: the
// smaller side of a test becomes its own chain and the larger continues this one.
type branch struct {
	Steps  []step
	Tests  int // in the whole subtree
	Label  string
	Counts string // training pages of Label among all that reach it: "37 of 39"
	Top    bool   // the whole tree
}

type step struct {
	Condition string  // "": otherwise
	Label     string  // of a leaf
	Counts    string  // of a leaf
	Below     *branch // nil at a leaf
}

// tree returns the chain of the model's tree, nil if it has none.
func tree(m *models.Model) *branch {
	if m.Tree == nil {
		return nil
	}
	g := gardener{m, make([]int, len(m.Tree.Term)), make([][]float32, len(m.Tree.Term))}
	for i := len(g.tests) - 1; i >= 0; i-- { // children follow their parents
		g.sum(i)
	}
	b := g.chain(0)
	b.Top = true
	return b
}

// gardener holds what is below each node.
type gardener struct {
	*models.Model
	tests []int       // inner nodes, including itself
	pages [][]float32 // training pages by class
}

func (g *gardener) sum(i int) {
	t := g.Tree
	if t.Term[i] < 0 {
		g.pages[i] = t.LeafCounts(int32(i), len(g.Classes))
		return
	}
	low, high := t.Low[i], t.High[i]
	g.tests[i] = 1 + g.tests[low] + g.tests[high]
	g.pages[i] = make([]float32, len(g.Classes))
	for c := range g.Classes {
		g.pages[i][c] = g.pages[low][c] + g.pages[high][c]
	}
}

func (g *gardener) chain(node int32) *branch {
	b := &branch{Tests: g.tests[node]}
	b.Label, b.Counts = majority(g.Classes, g.pages[node])
	t := g.Tree
	for t.Term[node] >= 0 {
		low, high := t.Low[node], t.High[node]
		aside, on, above := high, low, true
		if g.tests[low] < g.tests[high] {
			aside, on, above = low, high, false
		}
		b.Steps = append(b.Steps, g.step(aside, conditionText(g.Terms[t.Term[node]], t.Threshold[node], above)))
		node = on
	}
	b.Steps = append(b.Steps, g.step(node, ""))
	return b
}

func (g *gardener) step(node int32, condition string) step {
	if g.tests[node] > 0 {
		return step{Condition: condition, Below: g.chain(node)}
	}
	s := step{Condition: condition}
	s.Label, s.Counts = majority(g.Classes, g.pages[node])
	if g.Tree.Shares != nil { // a leaf of few pages may get the label of the nodes above it
		shares := g.Tree.LeafShares(node, len(g.Classes))
		s.Label, s.Counts = countsOf(g.Classes, g.pages[node], slices.Index(shares, slices.Max(shares)))
	}
	return s
}

// conditionText formats the test whether a term occurs more often than threshold, or its opposite.
func conditionText(term string, threshold float32, above bool) string {
	count := strconv.FormatFloat(float64(threshold), 'g', 4, 32)
	switch {
	case above && threshold < 1:
		return term
	case above:
		return term + " > " + count
	case threshold < 1:
		return "no " + term
	}
	return term + " ≤ " + count
}

// majority returns the class with the most pages, the first of ties, and its pages as "37 of 39".
func majority(classes []string, counts []float32) (label, of string) {
	return countsOf(classes, counts, slices.Index(counts, slices.Max(counts)))
}

// countsOf returns a class and its pages as "37 of 39".
func countsOf(classes []string, counts []float32, class int) (label, of string) {
	var total float32
	for _, n := range counts {
		total += n
	}
	return classes[class], fmt.Sprintf("%g of %g", counts[class], total)
}

// ruleView is a model's rules in the order in which they are tried.
type ruleView struct {
	Ordered bool
	Groups  []ruleGroup // one of all rules if ordered, else one per class
	Default ruleRow
}

type ruleGroup struct {
	Class string // "" if the rules are ordered
	Rules []ruleRow
}

type ruleRow struct {
	Condition string
	Label     string
	Counts    string // training pages of Label among all that it covers
}

func rules(m *models.Model) *ruleView {
	r := m.Rules
	if r == nil {
		return nil
	}
	v := &ruleView{Ordered: r.Ordered}
	groups := make([]ruleGroup, 1)
	if !r.Ordered {
		groups = make([]ruleGroup, len(m.Classes))
		for c, name := range m.Classes {
			groups[c].Class = name
		}
	}
	for i := range r.Len() {
		at, class := 0, int(r.Class[i])
		if !r.Ordered {
			at = class
		}
		groups[at].Rules = append(groups[at].Rules, ruleRow{conditions(m, i), m.Classes[class], covers(m, i, class)})
	}
	for _, g := range groups {
		if len(g.Rules) > 0 {
			v.Groups = append(v.Groups, g)
		}
	}
	v.Default.Label, v.Default.Counts = majority(m.Classes, r.Covered(r.Len(), len(m.Classes)))
	return v
}

func conditions(m *models.Model, rule int) string {
	r := m.Rules
	var parts []string
	for i := r.Start[rule]; i < r.Start[rule+1]; i++ {
		parts = append(parts, conditionText(m.Terms[r.Term[i]], r.Threshold[i], r.Above[i] == 1))
	}
	return strings.Join(parts, " ∧ ")
}

// covers formats how many of the training pages that a rule covers are of a class.
func covers(m *models.Model, rule, class int) string {
	var total float32
	counts := m.Rules.Covered(rule, len(m.Classes))
	for _, n := range counts {
		total += n
	}
	return fmt.Sprintf("%g of %g", counts[class], total)
}

// bestWords is how many words are shown for a class, and how many against it.
const bestWords = 25

// classWords are the words that speak most for and against a class.
type classWords struct {
	Class        string
	For, Against []word
}

type word struct {
	Term   string
	Weight string
	Width  int // of its bar, in per cent of the heaviest word's
}

// words returns the heaviest words of each class, nil for trees and rules. A word's weight is what one
// occurrence adds to the class's score beyond the mean of all classes, before the page is scaled to length
// 1:
//
//	(w_ic − mean_c w_ic) · IDF(i)
//
// A network's w_ic is the slope of its score at the empty page.
func words(m *models.Model) []classWords {
	weight := weights(m)
	if weight == nil {
		return nil
	}
	var out []classWords
	for class, name := range m.Classes {
		all := make([]weighed, len(m.Terms))
		for i := range m.Terms {
			all[i] = weighed{i, weight(i, class)}
		}
		slices.SortFunc(all, func(a, b weighed) int {
			return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.term, b.term))
		})
		cw := classWords{Class: name, For: heaviest(m, all, 1)}
		slices.Reverse(all)
		cw.Against = heaviest(m, all, -1)
		out = append(out, cw)
	}
	return out
}

type weighed struct {
	term   int
	weight float64
}

// heaviest returns the leading words whose weight has this sign.
func heaviest(m *models.Model, all []weighed, sign float64) []word {
	var out []word
	for _, w := range all[:min(bestWords, len(all))] {
		if w.weight*sign <= 0 {
			break
		}
		out = append(out, word{m.Terms[w.term], fmt.Sprintf("%+.2f", w.weight), max(1, int(100*w.weight/all[0].weight))})
	}
	return out
}

// weights returns the weight of a term for a class, nil if the model has no weights.
func weights(m *models.Model) func(term, class int) float64 {
	if m.Linear != nil {
		return linearWeights(m, m.Linear)
	}
	if m.Network != nil {
		return linearWeights(m, m.Network.Linearized())
	}
	return nil
}

func linearWeights(m *models.Model, l *models.Linear) func(term, class int) float64 {
	k := len(m.Classes)
	return func(term, class int) float64 {
		row := l.Weights[term*k:][:k]
		var mean float64
		for _, w := range row {
			mean += float64(w) / float64(k)
		}
		return (float64(row[class]) - mean) * once(m, term)
	}
}

// once returns the weight of a single occurrence of a term, before the page is scaled.
func once(m *models.Model, term int) float64 {
	if m.Weighting.IDF == nil {
		return 1
	}
	return float64(m.Weighting.IDF[term])
}
