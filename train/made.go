package train

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"fossick/classify"
	"fossick/datasets"
	"fossick/internal/cli"
	"fossick/internal/fileio"
	"fossick/internal/report"
	"fossick/internal/stats"
	"fossick/models"
)

// worstShown is how many of the surest mistakes a model's page lists.
const worstShown = 40

// Make trains the model, judges it, and writes it and its page. rows may wrap the stream of training rows.
func (p *Plan) Make(ctx context.Context, rows func(datasets.Stream) datasets.Stream) (*Result, error) {
	made, err := p.train(ctx, rows)
	if err != nil {
		return nil, err
	}
	p.Options.Step("testing the model")
	explained := 0
	if p.Explain != "" {
		explained = worstShown
	}
	j, err := p.judge(ctx, made, explained)
	if err != nil {
		return nil, err
	}
	for _, old := range p.Rename.unused() {
		p.Log.Warn("--rename: no row has this label", "label", old)
	}
	r := p.result(made, j)
	if err := made.Model.WriteFile(p.Out); err != nil {
		return nil, err
	}
	if p.Explain == "" {
		return r, nil
	}
	r.Explain = &p.Explain
	page := page{
		model: made.Model, name: filepath.Base(p.Out), judgement: j, notes: made.Parts.sets.notes,
		curve: made.Report.Curve, candidates: made.Report.Accuracy, worst: worst(j.mistakes, worstShown),
		made: []report.Fact{{Name: "trained by", Value: "fossick " + p.Version}},
	}
	return r, fileio.WritePage(p.Explain, page.write)
}

func (p *Plan) result(made *made, j *judgement) *Result {
	m, rep := made.Model, made.Report
	r := &Result{
		Classifier: m.Classifier, Words: len(m.Terms), Classes: m.Classes, TrainPages: rep.Pages,
		LeftOut: rep.LeftOut, Unreadable: rep.Unreadable, LostBelow: rep.LostBelow, Spilled: rep.Spilled,
		CV: rep.Accuracy, Keywords: m.Keywords, Curve: rep.Curve, TrainSeconds: made.Took.Seconds(), Model: p.Out, Unlabelled: made.adaptation,
	}
	if rep.PU != nil {
		rep.PU.From = p.Unlabelled
		r.PU = rep.PU
	}
	r.tell(m, j)
	if topic := p.Options.Topic; topic != "" {
		t := m.Threshold(topic)
		r.Threshold = &t
	}
	return r
}

// timedPages is how many training pages time a model that has no test.
const timedPages = 300

// tested holds a model's labels of labelled pages.
type tested struct {
	pages    []judgedPage
	across   []bool // by page: a training page has the same body
	mistakes []mistake
	took     []time.Duration // per page, from raw bytes to its label
}

// median returns the median time per page in microseconds, nil without pages.
func (t *tested) median() *float64 {
	if len(t.took) == 0 {
		return nil
	}
	slices.Sort(t.took)
	us := float64(t.took[len(t.took)/2].Nanoseconds()) / 1e3
	return &us
}

// clean returns the pages that are not training pages too.
func (t *tested) clean() []judgedPage {
	var out []judgedPage
	for i, p := range t.pages {
		if !t.across[i] {
			out = append(out, p)
		}
	}
	return out
}

// test classifies labelled pages; pages of a class that the model lacks count as errors.
func (p *Plan) test(ctx context.Context, c *classify.Classifier, test datasets.Stream, trained func(*datasets.Example) bool) (*tested, error) {
	t := &tested{}
	m := c.Model()
	foreign := map[string]int{} // pages by label, of classes that the model lacks
	defer func() {
		for _, label := range slices.Sorted(maps.Keys(foreign)) {
			p.Log.Warn("test pages of a class that no training page has count as errors", "label", label, "pages", foreign[label])
		}
	}()
	for e, err := range test {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			if datasets.IsRow(err) {
				p.Log.Warn("test row left out", "err", err)
				continue
			}
			return nil, err
		}
		label := p.Options.Class(e)
		if label == "" {
			continue
		}
		start := time.Now()
		d, err := Doc(e)
		if err != nil {
			p.Log.Warn("test page left out", "url", e.URL, "err", err)
			continue
		}
		if m.Class(label) < 0 {
			foreign[label]++
		}
		r := c.Classify(d)
		t.took = append(t.took, time.Since(start))
		t.pages = append(t.pages, judgedPage{URL: e.URL, File: e.File, Line: e.Line, Truth: m.Class(label), Label: m.Class(r.Label), Score: r.Score, Mark: models.Mark(d)})
		t.across = append(t.across, trained(e))
		if r.Label != label {
			t.mistakes = append(t.mistakes, mistake{e.URL, label, r.Label, r.Score, c.ExplainFor(d, r.Label)})
		}
	}
	return t, nil
}

// heldMistakes lists the pages that cross-validation got wrong. The finished model explains them, because
// the folds' models are gone; the explanation says where it gives another label.
func heldMistakes(ctx context.Context, c *classify.Classifier, rows datasets.Stream, held []judgedPage, explained int) ([]mistake, error) {
	classes := c.Model().Classes
	var all []mistake
	at := map[datasets.Place]int{}
	for _, h := range held {
		if h.Truth != h.Label {
			at[datasets.Place{File: h.File, Line: h.Line, URL: h.URL}] = len(all)
			all = append(all, mistake{URL: h.URL, Truth: classes[h.Truth], Label: classes[h.Label], Score: h.Score})
		}
	}
	listed := map[int]bool{}
	for _, i := range surest(all)[:min(explained, len(all))] {
		listed[i] = true
	}
	for e, err := range datasets.Readable(rows) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		i, known := at[datasets.PlaceOf(e)]
		if !known || !listed[i] {
			continue
		}
		d, err := Doc(e)
		if err != nil {
			return nil, err // training could read it
		}
		r, why := c.ClassifyAndExplain(d)
		if r.Label != all[i].Label {
			why = "the finished model, which also learned from this page, says " + why
		}
		all[i].Rule = why
	}
	return all, nil
}

// judgement says how good a model is.
type judgement struct {
	from        string    // testPages or crossValidation
	measures    *measures // nil when nothing was measured
	reliability reliabilityFigures
	across      *int // test pages that are training pages too; nil without a test
	withoutThem *float64
	mistakes    []mistake // nil without a test, unless they are explained
	predictUS   *float64  // median time per page, from raw bytes to its label
}

// judge measures a newly trained model on the test pages, and notes the result on its card. Without a test
// it uses the cross-validation, and explains that many of its mistakes.
func (p *Plan) judge(ctx context.Context, made *made, explained int) (*judgement, error) {
	m, rep, parts := made.Model, made.Report, made.Parts
	classifier, err := classify.New(m)
	if err != nil {
		return nil, err
	}
	source := parts.Test
	if source == nil {
		source = datasets.First(datasets.Readable(parts.Train), timedPages)
	}
	t, err := p.test(ctx, classifier, source, parts.trainedOn)
	if err != nil {
		return nil, err
	}
	j := &judgement{from: crossValidation, measures: rep.CV, reliability: rep.Calibrated, predictUS: t.median()}
	if parts.Test == nil {
		if explained > 0 {
			j.mistakes, err = heldMistakes(ctx, classifier, parts.Train, rep.Held, explained)
		}
		return j, err
	}
	measures, reliability := measureJudged(len(m.Classes), t.pages)
	j.from, j.measures, j.reliability, j.mistakes = testPages, &measures, reliability, t.mistakes
	m.Card.Test = &models.Score{Pages: measures.Pages, Accuracy: measures.Accuracy, MacroF1: measures.MacroF1}
	clean := t.clean()
	across := len(t.pages) - len(clean)
	j.across = &across
	if across > 0 && len(clean) > 0 {
		without, _ := measureJudged(len(m.Classes), clean)
		j.withoutThem = &without.Accuracy
	}
	return j, nil
}

// ClassQuality is classMeasures as JSON.
type ClassQuality struct {
	Precision *float64 `json:"precision"` // null if the class was never predicted
	Recall    *float64 `json:"recall"`    // null if it has no page
	F1        *float64 `json:"f1"`
	Support   int      `json:"support"` // pages of the class
}

func byClass(classes []string, m *measures) map[string]ClassQuality {
	out := map[string]ClassQuality{}
	for i, label := range classes {
		out[label] = QualityOf(m.PerClass[i])
	}
	return out
}

// QualityOf converts classMeasures for JSON.
func QualityOf(k classMeasures) ClassQuality {
	return ClassQuality{stats.Known(k.Precision), stats.Known(k.Recall), stats.Known(k.F1), k.Support}
}

// confusion counts pages by true class and label, without zeros.
func confusion(classes []string, m *measures) map[string]map[string]int {
	table := map[string]map[string]int{}
	for i, truth := range classes {
		row := map[string]int{}
		for j, predicted := range classes {
			if n := m.Confusion[i][j]; n > 0 {
				row[predicted] = n
			}
		}
		table[truth] = row
	}
	return table
}

// maxLabel is how many runes of a label a table shows.
const maxLabel = 28

func printClasses(w io.Writer, classes []string, quality map[string]ClassQuality, table map[string]map[string]int) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	width := labelWidth(classes)
	cli.Fprintf(tw, "%s\tpages\tprecision\trecall\tF1\tmost often confused with\t\n", pad("class", width))
	for _, label := range classes {
		k := quality[label]
		cli.Fprintf(tw, "%s\t%d\t%s\t%s\t%s\t%s\t\n", pad(cli.Cut(label, maxLabel), width), k.Support,
			Share(k.Precision), Share(k.Recall), Share(k.F1), takenFor(label, classes, table))
	}
	_ = tw.Flush() // its only errors are w's, which stdout would show anyway
}

// takenFor names the class for which a class is most often mistaken.
func takenFor(label string, classes []string, table map[string]map[string]int) string {
	name, most := "–", 0
	for _, other := range classes {
		if n := table[label][other]; other != label && n > most {
			name, most = fmt.Sprintf("%s (%d)", cli.Cut(other, maxLabel), n), n
		}
	}
	return name
}

// lettered is the most classes that have a letter each.
const lettered = 26

// printMatrix writes a confusion matrix with letters for columns, so that twenty classes fit side by side.
// It leaves out two classes, for which the table by class suffices, and more classes than letters.
func printMatrix(w io.Writer, classes []string, table map[string]map[string]int) {
	if len(classes) < 3 || len(classes) > lettered {
		return
	}
	width, cell := labelWidth(classes), 2
	for _, row := range table {
		for _, n := range row {
			cell = max(cell, len(strconv.Itoa(n)))
		}
	}
	cli.Fprintf(w, "\n%s  ", pad("true class, and label", width+2))
	for i := range classes {
		cli.Fprintf(w, " %*c", cell, 'a'+i)
	}
	io.WriteString(w, "\n")
	for i, truth := range classes {
		cli.Fprintf(w, "%c %s  ", 'a'+i, pad(cli.Cut(truth, maxLabel), max(width, len("true class, and label")-2)))
		for _, label := range classes {
			text := "·"
			if n := table[truth][label]; n > 0 {
				text = strconv.Itoa(n)
			}
			cli.Fprintf(w, " %*s", cell, text)
		}
		io.WriteString(w, "\n")
	}
}

func labelWidth(labels []string) int {
	width := len("class")
	for _, l := range labels {
		width = max(width, utf8.RuneCountInString(cli.Cut(l, maxLabel)))
	}
	return width
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}

// Share formats a share of 1, as – if it is unknown.
func Share(v *float64) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf("%.3f", *v)
}

// mistake is a page that got a wrong label.
type mistake struct {
	URL   string  `json:"url"`
	Truth string  `json:"truth"`
	Label string  `json:"label"`
	Score float64 `json:"score"`
	Rule  string  `json:"rule"`
}

// worst returns the n most confident mistakes, the surest first; ties stay in the order of the set. They
// reveal a wrong label of the set as often as a weakness of the model.
func worst(all []mistake, n int) []mistake {
	list := []mistake{}
	for _, i := range surest(all)[:min(n, len(all))] {
		list = append(list, all[i])
	}
	return list
}

// surest returns the indices of the mistakes, the surest first.
func surest(all []mistake) []int {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(all[b].Score, all[a].Score) })
	return order
}

// printWorst writes the listed mistakes and the number of all.
func printWorst(w io.Writer, list []mistake, mistakes int) {
	if len(list) == 0 {
		return
	}
	cli.Fprintf(w, "\nThe most confident of %d mistakes:\n", mistakes)
	for _, m := range list {
		cli.Fprintf(w, "  %.3f %s, is %s: %s\n        %s\n", m.Score, m.Label, m.Truth, cli.Cut(m.URL, 100), cli.Cut(m.Rule, 160))
	}
}

// Result is the outcome of making a model, as JSON has it.
type Result struct {
	Classifier   string                    `json:"classifier"`
	Words        int                       `json:"words"`
	Classes      []string                  `json:"classes"`
	TrainPages   int                       `json:"train_pages"`
	TestPages    *int                      `json:"test_pages"`                  // null: judged by cross-validation
	LeftOut      int                       `json:"left_out"`                    // rows without a wanted label
	Unreadable   int                       `json:"unreadable"`                  // rows and pages that could not be read
	LostBelow    int                       `json:"terms_lost_below"`            // terms of this many pages or fewer may be missing for lack of memory
	Spilled      int64                     `json:"spilled_bytes"`               // of rows that went to a temporary file
	Across       *int                      `json:"duplicates_across"`           // test pages that are training pages too; null without a test
	WithoutThem  *float64                  `json:"accuracy_without_duplicates"` // null if there are none
	Accuracy     *float64                  `json:"accuracy"`
	AccuracyCI   *[2]float64               `json:"accuracy_ci"` // null below 5 different pages or sites
	spread       string                    // the interval in words
	AccuracyFrom *string                   `json:"accuracy_from"` // test, cross-validation
	Baseline     *float64                  `json:"baseline"`      // accuracy of giving every page the most frequent label
	MacroF1      *float64                  `json:"macro_f1"`
	PerClass     map[string]ClassQuality   `json:"per_class"`
	Confusion    map[string]map[string]int `json:"confusion"`
	Threshold    *float64                  `json:"threshold"` // of --topic
	Thresholds   map[string]float64        `json:"thresholds"`
	CV           map[string]float64        `json:"cv_accuracy"` // by classifier
	Keywords     map[string][]string       `json:"keywords"`
	Reliability  *reliabilityFigures       `json:"reliability"`
	Curve        []CurvePoint              `json:"learning_curve"` // null without --explain
	Worst        []mistake                 `json:"worst"`          // null without a test or --explain
	Explain      *string                   `json:"explain"`
	Unlabelled   *adaptation               `json:"unlabelled"`          // null without --unlabelled
	PU           *PU                       `json:"positive_unlabelled"` // null unless unlabelled pages stood in for pages off topic
	TrainSeconds float64                   `json:"train_seconds"`
	PredictUS    *float64                  `json:"predict_us"`
	Model        string                    `json:"model"`

	*TrialResult // nil without --mu-sweep and --protocol

	mistakes int // of which Worst lists the surest
}

func (r *Result) tell(m *models.Model, j *judgement) {
	r.PredictUS, r.Across, r.WithoutThem = j.predictUS, j.across, j.withoutThem
	if j.from == testPages {
		r.TestPages = &j.measures.Pages
	}
	if j.measures != nil && j.measures.Pages > 0 {
		r.AccuracyFrom = &j.from
		if r.Reliability = &j.reliability; r.Reliability.Bins == nil {
			r.Reliability.Bins = []bin{}
		}
		r.measures(m.Classes, j.measures)
	}
	if j.mistakes != nil {
		r.Worst, r.mistakes = worst(j.mistakes, listedMistakes), len(j.mistakes)
	}
	r.Thresholds = map[string]float64{}
	for _, label := range m.Classes {
		r.Thresholds[label] = m.Threshold(label)
	}
}

const listedMistakes = 10

func (r *Result) measures(classes []string, m *measures) {
	r.Accuracy, r.AccuracyCI, r.MacroF1, r.spread = &m.Accuracy, m.Interval(), &m.MacroF1, m.Spread()
	_, baseline := m.majority()
	r.Baseline = &baseline
	r.PerClass, r.Confusion = byClass(classes, m), confusion(classes, m)
}

const printedMistakes = 5

// Print writes the result as text.
func (r *Result) Print(w io.Writer) {
	cli.Fprintf(w, "Trained %s on %s of %d classes, %s words, in %.1f s: %s\n",
		r.Classifier, report.Pages(r.TrainPages), len(r.Classes), report.Number(r.Words), r.TrainSeconds, r.Model)
	for _, name := range slices.SortedFunc(maps.Keys(r.CV), func(a, b string) int {
		return cmp.Or(cmp.Compare(r.CV[b], r.CV[a]), cmp.Compare(a, b))
	}) {
		cli.Fprintf(w, "  in cross-validation %s got %.1f %% right\n", name, 100*r.CV[name])
	}
	if r.LeftOut > 0 || r.Unreadable > 0 {
		cli.Fprintf(w, "  left out: %s rows without a wanted label, %s unreadable\n", report.Number(r.LeftOut), report.Number(r.Unreadable))
	}
	if r.PU != nil {
		r.PU.Print(w)
	}
	if r.Accuracy != nil {
		r.printQuality(w)
	}
	if r.Explain != nil {
		cli.Fprintf(w, "\nThe whole model on a page: %s\n", *r.Explain)
	}
}

func (r *Result) printQuality(w io.Writer) {
	pages := "the training pages, by cross-validation"
	if r.TestPages != nil {
		pages = report.Number(*r.TestPages) + " test pages"
	}
	cli.Fprintf(w, "\nAccuracy %.1f %% (%s), macro F1 %.3f on %s\n",
		100**r.Accuracy, r.spread, *r.MacroF1, pages)
	if r.Across != nil && *r.Across > 0 {
		cli.Fprintf(w, "  %s of them are also training pages, so this may be too good", report.Number(*r.Across))
		if r.WithoutThem != nil {
			cli.Fprintf(w, ": without them %.1f %%", 100**r.WithoutThem)
		}
		io.WriteString(w, "\n")
	}
	cli.Fprintf(w, "  one label for all pages would get %.1f %%\n", 100**r.Baseline)
	cli.Fprintf(w, "  its probabilities are off by %.1f %% on average (expected calibration error)\n\n", 100*r.Reliability.ECE)
	printClasses(w, r.Classes, r.PerClass, r.Confusion)
	printMatrix(w, r.Classes, r.Confusion)
	printWorst(w, r.Worst[:min(printedMistakes, len(r.Worst))], r.mistakes)
}
