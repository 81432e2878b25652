package train

import (
	"bytes"
	"context"
	_ "embed" // sweep.html
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"fossick/internal/cli"
	"fossick/internal/report"
	"fossick/models/features"
)

func (t *Trials) sweep(ctx context.Context, b *bench, level labelLevel) ([]trialRow, error) {
	var trials []trial
	ways, mus := t.ways(features.ByTFDFGain, features.ByGain), t.MuSweep.values()
	for _, way := range ways {
		for _, name := range t.Classifiers {
			for _, mu := range mus {
				trials = append(trials, trial{classifier: name, mu: mu, by: way})
			}
		}
	}
	t.Plan.Say("%s level: trying %d classifiers at %d values of μ, with words chosen in %s", level, len(t.Classifiers), len(mus), report.Count(len(ways), "way"))
	return t.try(ctx, b, level, trials)
}

// swept holds a sweep's rows at one level and one way to choose words, by classifier.
type swept struct {
	level   labelLevel
	by      string
	classes int
	pages   string
	lines   []sweptLine
}

type sweptLine struct {
	classifier string
	rows       []trialRow // by rising μ
}

// sweptParts groups the rows of a sweep, which come in this order.
func sweptParts(rows []trialRow) []swept {
	var out []swept
	for _, r := range rows {
		if n := len(out); n == 0 || out[n-1].level != r.Level || out[n-1].by != r.Select {
			out = append(out, swept{level: r.Level, by: r.Select, classes: r.Classes, pages: pagesSaid(r)})
		}
		s := &out[len(out)-1]
		if n := len(s.lines); n == 0 || s.lines[n-1].classifier != r.Classifier {
			s.lines = append(s.lines, sweptLine{classifier: r.Classifier})
		}
		l := &s.lines[len(s.lines)-1]
		l.rows = append(l.rows, r)
	}
	return out
}

func pagesSaid(r trialRow) string {
	if r.TestPages == nil {
		return fmt.Sprintf("%s pages, by cross-validation", report.Number(r.TrainPages))
	}
	return fmt.Sprintf("%s training and %s test pages", report.Number(r.TrainPages), report.Number(*r.TestPages))
}

// best returns the row with the highest accuracy, of ties that of the highest μ; nil if no row has one.
func (l sweptLine) best() (top *trialRow) {
	for i := range l.rows {
		if r := &l.rows[i]; r.Accuracy != nil && (top == nil || *r.Accuracy >= *top.Accuracy) {
			top = r
		}
	}
	return top
}

// knee returns the row of the highest μ within the best's interval: fewer words are worse beyond chance.
func (l sweptLine) knee() *trialRow {
	top := l.best()
	if top == nil || top.AccuracyCI == nil {
		return top
	}
	for i := range slices.Backward(l.rows) {
		if r := &l.rows[i]; r.Accuracy != nil && *r.Accuracy >= top.AccuracyCI[0] {
			return r
		}
	}
	return top
}

func printSweep(w io.Writer, rows []trialRow) {
	for _, s := range sweptParts(rows) {
		cli.Fprintf(w, "%s: %d classes, %s, words by %s\n", s.level, s.classes, s.pages, s.by)
		tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		io.WriteString(tw, "μ\twords\t")
		for _, l := range s.lines {
			cli.Fprintf(tw, "%s\t", l.classifier)
		}
		io.WriteString(tw, "\n")
		for i, r := range s.lines[0].rows {
			cli.Fprintf(tw, "%v\t%d\t", *r.Mu, r.Words)
			for _, l := range s.lines {
				cli.Fprintf(tw, "%s\t", percentOf(l.rows[i].Accuracy))
			}
			io.WriteString(tw, "\n")
		}
		io.WriteString(tw, "\n")
		for _, row := range s.summary() {
			for _, cell := range row {
				cli.Fprintf(tw, "%s\t", cell)
			}
			io.WriteString(tw, "\n")
		}
		_ = tw.Flush() // its only errors are w's, which stdout would show anyway
		io.WriteString(w, "\n")
	}
}

// none returns the least μ that no word reaches, nil if the sweep ends below it.
func (s swept) none() *float64 {
	for _, r := range s.lines[0].rows {
		if r.Words == 0 {
			return r.Mu
		}
	}
	return nil
}

// top returns the line of the classifier that is best at the level; its best row is nil if no word reaches any μ.
func (s swept) top() (top sweptLine) {
	for _, l := range s.lines {
		if best := l.best(); best != nil && (top.best() == nil || *best.Accuracy > *top.best().Accuracy) {
			top = l
		}
	}
	return top
}

func (s swept) tile() report.Tile {
	t := report.Tile{Label: fmt.Sprintf("%s, words by %s", s.level, s.by), Value: "–", Note: "no word reaches the smallest μ"}
	if top := s.top(); top.best() != nil {
		best := top.best()
		t.Value, t.Note = percentOf(best.Accuracy), fmt.Sprintf("right, by %s with %s words (μ\u00a0=\u00a0%v)", top.classifier, report.Number(best.Words), *best.Mu)
	}
	return t
}

// lead says which classifier is best at the level, and how few words it needs.
func (s swept) lead() string {
	top := s.top()
	best, knee := top.best(), top.knee()
	if best == nil {
		return fmt.Sprintf("At the %s level, with words by %s, no word reaches the smallest μ.", s.level, s.by)
	}
	text := fmt.Sprintf("At the %s level, with words by %s, %s does best: %s of the pages are right with %s words (μ\u00a0=\u00a0%v)", s.level, s.by, top.classifier, percentOf(best.Accuracy), report.Number(best.Words), *best.Mu)
	if knee.Words < best.Words {
		text += fmt.Sprintf("; %s words (μ\u00a0=\u00a0%v, %s) are within the 95 %% interval of that", report.Number(knee.Words), *knee.Mu, percentOf(knee.Accuracy))
	}
	return text + "."
}

func (r *trialRow) interval() string {
	if r.AccuracyCI == nil {
		return "–"
	}
	return report.Span(*r.AccuracyCI)
}

// summary tabulates, by classifier, the best row and the one with the fewest words within its interval.
func (s swept) summary() [][]string {
	rows := [][]string{{"classifier", "best", "95 % interval", "words", "μ", "fewest words within it", "μ", "accuracy"}}
	for _, l := range s.lines {
		top, knee := l.best(), l.knee()
		if top == nil {
			rows = append(rows, []string{l.classifier, "–", "–", "0", "–", "–", "–", "–"})
			continue
		}
		rows = append(rows, []string{
			l.classifier, percentOf(top.Accuracy), top.interval(), report.Number(top.Words), fmt.Sprint(*top.Mu),
			report.Number(knee.Words), fmt.Sprint(*knee.Mu), percentOf(knee.Accuracy),
		})
	}
	return rows
}

//go:embed sweep.html
var sweepHTML string

type sweepPage struct {
	report.Head
	Plots  []report.Figure
	Levels []sweepView
}

type sweepView struct {
	Title, Note string
	Columns     []string
	Rows        [][]string
}

// writeSweep writes paper A's figures as one page.
func (t *Trials) writeSweep(rows []trialRow) error {
	page := sweepPage{Head: report.Head{
		Title:    "Accuracy and the number of words",
		Subtitle: strings.Join(t.Plan.Sets, ", ") + ": words that gain at least μ nats",
		Made:     t.facts(),
	}}
	for _, s := range sweptParts(rows) {
		v := sweepView{Title: fmt.Sprintf("At the %s level, with words by %s", s.level, s.by), Note: cli.Sprintf("%d classes, %s.", s.classes, s.pages)}
		if mu := s.none(); mu != nil {
			v.Note += fmt.Sprintf(" No word gains %v or more.", *mu)
		}
		page.Sentences, page.Tiles = append(page.Sentences, s.lead()), append(page.Tiles, s.tile())
		table := s.summary()
		v.Columns, v.Rows = table[0], table[1:]
		plots, err := s.figures()
		if err != nil {
			return err
		}
		page.Plots, page.Levels = append(page.Plots, plots...), append(page.Levels, v)
	}
	var b bytes.Buffer
	if err := report.Write(&b, sweepHTML, page); err != nil {
		return err
	}
	if err := os.WriteFile(t.HTML, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("page of the sweep: %w", err)
	}
	return nil
}

func (t *Trials) facts() []report.Fact {
	facts := []report.Fact{
		{Name: "set", Value: strings.Join(t.Plan.Sets, ", ")},
		{Name: "μ", Value: fmt.Sprintf("%v to %v by %v, in nats", t.MuSweep.from, t.MuSweep.to, t.MuSweep.step)},
		{Name: "random seed", Value: strconv.FormatInt(t.Plan.Options.Seed, 10)},
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		facts = append(facts, report.Fact{Name: "Go", Value: info.GoVersion})
	}
	return facts
}

func (s swept) figures() ([]report.Figure, error) {
	of := fmt.Sprintf(": %s, words by %s", s.level, s.by)
	accuracy := report.Chart{XLabel: "μ", YLabel: "right", XNumbers: true, Fit: report.FitBoth}
	words := report.Chart{XLabel: "μ", YLabel: "words", XNumbers: true, YCounts: true}
	line := report.Line{Name: "words", Dots: true}
	for _, r := range s.lines[0].rows {
		if r.Words > 0 {
			line.Points = append(line.Points, report.Point{X: *r.Mu, Y: float64(r.Words)})
		}
	}
	words.Lines = []report.Line{line}
	for _, l := range s.lines {
		line := report.Line{Name: l.classifier}
		for _, r := range l.rows {
			if r.Accuracy != nil {
				line.Points = append(line.Points, report.Point{X: *r.Mu, Y: *r.Accuracy})
				if r.AccuracyCI != nil { // rows have the same pages, so all have one or none
					line.Band = append(line.Band, *r.AccuracyCI)
				}
			}
		}
		accuracy.Lines = append(accuracy.Lines, line)
	}
	first, err := report.NewFigure("Accuracy against μ"+of, "The share of pages with the right label. The bands are 95 % intervals; to the left there are more words.", accuracy)
	if err != nil {
		return nil, err
	}
	second, err := report.NewFigure("Words against μ"+of, "How many words gain at least μ, on a logarithmic scale. They are counted on the training pages alone.", words)
	return []report.Figure{first, second}, err
}
