package train

import (
	"cmp"
	_ "embed" // explain.html
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"fossick/internal/printable"
	"fossick/internal/report"
	"fossick/models"
)

// Page is what the page shows.
type Page struct {
	Model *models.Model
	Name  string // of the model's file

	From        string // where the figures come from: Test or CrossValidation
	Measures    *Measures
	Reliability Reliability
	Curve       []CurvePoint       // empty: no learning curve
	Candidates  map[string]float64 // accuracy in cross-validation, by classifier
	Mistakes    int                // in all
	Worst       []shownMistake     // the surest of them, the surest first
	Notes       []string           // what is wrong with the set
	PredictUS   *float64           // median time a page in microseconds, from raw bytes

	Made []report.Fact // how it was made, beyond the model's card
}

// Where figures come from.
const (
	Test            = "test"
	CrossValidation = "cross-validation"
)

// Mistake is a page that got a wrong label.
type shownMistake struct {
	URL, Truth, Label string
	Score             float64 // probability of Label
	Rule              string  // what speaks for Label
}

// How much the page shows of what came from elsewhere, in runes.
const (
	maxURL  = 110
	maxRule = 300
)

//go:embed explain.html
var pageHTML string

// Write writes the page. Everything in it is escaped. Measures must be of the
// model's classes, or nil when nothing was measured.
func Write(w io.Writer, p Page) error {
	v, err := newView(&p)
	if err != nil {
		return err
	}
	return report.Write(w, pageHTML, v)
}

// view is what explain.html is filled with.
type view struct {
	report.Head
	Figures []report.Figure
	Notes   []string
	Classes []classRow
	Judged  bool // figures by class are there
	Matrix  *report.Matrix
	Parts   []part
	Worst   []mistakeRow
	More    int // mistakes that are not listed
}

// part is the table of a model, or of a member of its vote.
type part struct {
	Member string // "" of a model by itself; "linear, 50 % of the vote"
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
		p := partsOf(v.Model)[0] // members have no votes in them
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
	shownMistake
	Short string
}

func newView(p *Page) (*view, error) {
	m := p.Model
	v := &view{
		Head: report.Head{
			Title: "Model " + p.Name, Subtitle: subtitle(m), Sentences: sentences(p),
			Tiles: tiles(p), Made: append(card(m), p.Made...),
		},
		Notes: p.Notes, Classes: classRows(p), Judged: p.Measures != nil,
		Parts: partsOf(m), More: p.Mistakes - len(p.Worst),
	}
	if p.Measures != nil {
		v.Matrix = matrix(m.Classes, p.Measures)
	}
	for _, e := range p.Worst {
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
	return printable.Sprintf("%s, %d classes, %s words; trained on %s of %s", kind, len(m.Classes),
		report.Number(len(m.Terms)), report.Pages(m.Card.Pages), strings.Join(m.Card.Data, ", "))
}

// kinds says in words what the classifiers are.
var kinds = map[string]string{
	models.LinearSVM: "A linear support vector machine", models.NaiveBayes: "Naive Bayes",
	models.C45: "A decision tree (C4.5)", models.CN2: "Rules (CN2)", models.NN: "A back-propagation network",
	models.Voting: "A vote of classifiers", models.Trees: "A forest of decision trees", models.Stack: "A stack of classifiers",
}

func tiles(p *Page) []report.Tile {
	var out []report.Tile
	tile := func(label, value, note string) {
		out = append(out, report.Tile{Label: label, Value: value, Note: note})
	}
	if q := p.Measures; q != nil {
		tile("Accuracy", percents(q.Accuracy), q.Spread())
		tile("Macro F1", fmt.Sprintf("%.3f", q.MacroF1), "mean over the classes")
		tile("Judged on", report.Number(q.Pages), map[string]string{Test: "test pages", CrossValidation: "training pages, by cross-validation"}[p.From])
		tile("Calibration error", percents(p.Reliability.ECE), "expected; 0 is perfect")
	}
	tile("Training pages", report.Number(p.Model.Card.Pages), printable.Sprintf("of %d classes", len(p.Model.Classes)))
	if p.PredictUS != nil {
		tile("Time a page", fmt.Sprintf("%.2g ms", *p.PredictUS/1e3), "from raw bytes, median")
	}
	return out
}

// tenths prints a share with one place after the point.
func percents(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }

func classRows(p *Page) []classRow {
	var rows []classRow
	for i, name := range p.Model.Classes {
		row := classRow{
			Name: name, Trained: p.Model.Card.PerClass[name],
			Threshold: fmt.Sprintf("%.2f", p.Model.Thresholds[i]), Keywords: strings.Join(p.Model.Keywords[name], ", "),
		}
		if p.Measures != nil {
			k := p.Measures.PerClass[i]
			row.Pages, row.Precision, row.Recall, row.F1 = k.Support, ratio(k.Precision), ratio(k.Recall), ratio(k.F1)
		}
		rows = append(rows, row)
	}
	return rows
}

// ratio prints a measure, "–" where it is no number.
func ratio(v float64) string {
	if v != v {
		return "–"
	}
	return fmt.Sprintf("%.3f", v)
}

func matrix(classes []string, q *Measures) *report.Matrix {
	totals := make([]int, len(classes))
	for i := range classes {
		totals[i] = q.PerClass[i].Support
	}
	return report.NewMatrix(classes, classes, q.Confusion, totals)
}

// card shows the model's card.
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
