package main

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"fossick/classify"
	"fossick/datasets"
	"fossick/explain"
	"fossick/models"
	"fossick/train"
)

type trainCmd struct {
	Sets []string `arg:"" name:"set" help:"Labelled sets: demo, a .jsonl file (.gz, .zst), a folder with pages.jsonl, a folder of one folder a label."`
	Out  string   `short:"o" required:"" placeholder:"MODEL" help:"Model file to write."`

	Classifier   string   `enum:"auto,c45,cn2,linear,nb" default:"auto" help:"How to classify: ${enum}; auto takes what does best in cross-validation [auto]."`
	CN2          string   `name:"cn2" enum:"ordered,unordered" default:"unordered" help:"Rules as a decision list, or for each class: ${enum} [unordered]."`
	Beam         int      `default:"5" placeholder:"N" help:"Conjunctions that cn2 keeps a step [5]."`
	Significance float64  `default:"0.9" placeholder:"P" help:"How sure cn2 must be that a rule is not chance, above 0 and below 1 [0.9]."`
	Words        int      `xor:"selection" placeholder:"N" help:"Keep the N words that gain most [c45, cn2: 300, others: all]."`
	Mu           float64  `xor:"selection" placeholder:"X" help:"Keep the words whose information gain is at least X nats."`
	MinSites     int      `placeholder:"N" help:"Keep only words that occur on at least N sites: the name of one is no topic's [1]."`
	Labels       []string `xor:"classes" placeholder:"A,B" help:"Only these labels; rows without are left out [all]."`
	Topic        string   `xor:"classes" placeholder:"LABEL" help:"LABEL against the rest, which is called other."`
	Level        int      `placeholder:"N" help:"Which of a row's labels is its class: 0 the first (the theme), 1 the second (the category) [0]."`

	Rename    renames  `sep:"none" placeholder:"OLD=NEW,..." help:"Give rows with the label OLD the label NEW, or with OLD= leave them out; OLD may be any of a row's labels, and the finest one counts. May be repeated."`
	PerSite   int      `placeholder:"N" help:"Of a site at most N pages of a label, drawn at random, so that no site dominates."`
	Train     string   `xor:"part" placeholder:"N|SHARE" help:"Train on so many pages, or on this share of each class, drawn at random; the rest is the test."`
	PerClass  string   `xor:"part" placeholder:"N|A=N,B=N" help:"Train on so many pages of each class; the rest is the test."`
	All       bool     `xor:"part" help:"Train on all rows, whatever split the sets have."`
	Where     []string `sep:"none" placeholder:"FIELD=VALUE" help:"Only rows with this value; may be repeated."`
	Test      string   `xor:"test" placeholder:"SET" help:"Test on this set."`
	TestWhere string   `xor:"test" placeholder:"FIELD=VALUE" help:"Test on the rows with this value, train on the others."`
	Folds     int      `default:"5" placeholder:"K" help:"Folds of the cross-validation [5]."`
	Explain   string   `placeholder:"FILE" help:"Write a page of the whole model: its words, tree or rules, how good it is by class, learning curve, reliability, surest mistakes. Trains as often again."`
	BySite    bool     `help:"Folds hold whole sites, so that the figures are those of sites never seen."`
}

func (trainCmd) Help() string {
	return `Trains a classifier and says how good it is: on the test rows when there are some (the set's own split, --test, --test-where, --train, --per-class), else by cross-validation; then test_pages is null in JSON. Thresholds and the calibration of probabilities come from cross-validation on the training rows alone.

Example:
  fossick train demo -o demo.model --explain demo.html
  fossick train webkb --labels student,faculty,course,project --test-where site=cornell -o webkb.model
  fossick train demo 20news --topic sport --rename rec.sport.hockey=sport,rec.sport.baseball=sport --per-site 100 -o sport.model`
}

type trainResult struct {
	Classifier   string                    `json:"classifier"`
	Words        int                       `json:"words"`
	Classes      []string                  `json:"classes"`
	TrainPages   int                       `json:"train_pages"`
	TestPages    *int                      `json:"test_pages"`                  // null: judged by cross-validation
	LeftOut      int                       `json:"left_out"`                    // rows without a wanted label
	Unreadable   int                       `json:"unreadable"`                  // rows and pages that could not be read
	Across       *int                      `json:"duplicates_across"`           // test pages that are training pages too; null without a test
	WithoutThem  *float64                  `json:"accuracy_without_duplicates"` // null when there are none
	Accuracy     *float64                  `json:"accuracy"`
	AccuracyCI   *[2]float64               `json:"accuracy_ci"`
	AccuracyFrom *string                   `json:"accuracy_from"` // test, cross-validation
	MacroF1      *float64                  `json:"macro_f1"`
	PerClass     map[string]classResult    `json:"per_class"`
	Confusion    map[string]map[string]int `json:"confusion"`
	Threshold    *float64                  `json:"threshold"` // of --topic
	Thresholds   map[string]float64        `json:"thresholds"`
	CV           map[string]float64        `json:"cv_accuracy"` // by classifier
	Keywords     map[string][]string       `json:"keywords"`
	Reliability  *reliabilityResult        `json:"reliability"`
	Curve        []curveResult             `json:"learning_curve"` // null without --explain
	Worst        []mistake                 `json:"worst"`          // null without a test or --explain
	Explain      *string                   `json:"explain"`
	TrainSeconds float64                   `json:"train_seconds"`
	PredictUS    *float64                  `json:"predict_us"`
	Model        string                    `json:"model"`
}

type classResult struct {
	Precision *float64 `json:"precision"`
	Recall    *float64 `json:"recall"`
	F1        *float64 `json:"f1"`
	Support   int      `json:"support"`
}

// examples is a stream of examples that can be read again.
type examples = iter.Seq2[*datasets.Example, error]

func (c trainCmd) Run(a *app) error {
	opt := train.Options{
		Classifier: c.Classifier, Words: c.Words, Mu: c.Mu, Labels: c.Labels, Topic: c.Topic,
		Folds: c.Folds, BySite: c.BySite, MinSites: c.MinSites, Seed: a.seed, Data: c.Sets, Log: a.log,
		Curve: c.Explain != "",
		CN2:   train.CN2{Ordered: c.CN2 == "ordered", Beam: c.Beam, Significance: c.Significance},
	}
	if c.Words < 0 || c.Mu < 0 || c.Folds < 2 || c.PerSite < 0 || c.MinSites < 0 {
		return usagef("--words %d, --mu %v, --folds %d, --per-site %d, --min-sites %d: want no negative numbers, and two folds at least", c.Words, c.Mu, c.Folds, c.PerSite, c.MinSites)
	}
	if c.Beam < 0 || !(c.Significance >= 0 && c.Significance < 1) { // 0 is the default, which demo takes
		return usagef("--beam %d, --significance %v: want no negative numbers, and a significance below 1", c.Beam, c.Significance)
	}
	a.say("training on %s", strings.Join(c.Sets, ", "))
	p, err := c.parts(a, &opt)
	if err != nil {
		return err
	}
	opt.Split = p.how
	start := time.Now()
	m, rep, err := train.Train(a.ctx, p.train, opt)
	if err != nil {
		return err
	}
	r := trainResult{
		Classifier: m.Classifier, Words: len(m.Terms), Classes: m.Classes, TrainPages: rep.Pages,
		LeftOut: rep.LeftOut, Unreadable: rep.Unreadable,
		CV: rep.Accuracy, Keywords: m.Keywords, Curve: curveOf(rep.Curve), TrainSeconds: time.Since(start).Seconds(), Model: c.Out,
	}
	j, err := c.judge(a, m, rep, p, &opt)
	if err != nil {
		return err
	}
	r.tell(m, j)
	if c.Topic != "" {
		t := m.Threshold(c.Topic)
		r.Threshold = &t
	}
	for _, old := range c.Rename.unused() {
		a.log.Warn("--rename: no row has this label", "label", old)
	}
	if err := m.WriteFile(c.Out); err != nil {
		return err
	}
	if c.Explain != "" {
		if err := c.writeExplain(m, rep, j, p); err != nil {
			return err
		}
		r.Explain = &c.Explain
	}
	return a.emit(r, r.print)
}

// judgement is how good a model is.
type judgement struct {
	from        string          // explain.Test or explain.CrossValidation
	measures    *train.Measures // nil when nothing was measured
	reliability train.Reliability
	across      *int // test pages that are training pages too; nil without a test
	withoutThem *float64
	mistakes    []mistake // nil without a test, unless they are to be explained
	predictUS   *float64
}

// judge tests the model, and notes the result on its card.
func (c trainCmd) judge(a *app, m *models.Model, rep *train.Report, p *parts, opt *train.Options) (*judgement, error) {
	classifier, err := classify.New(m)
	if err != nil {
		return nil, err
	}
	source := p.test
	if source == nil {
		source = first(readable(p.train), timedPages)
	}
	t, err := runTest(a, classifier, p, source, opt)
	if err != nil {
		return nil, err
	}
	j := &judgement{from: explain.CrossValidation, measures: rep.CV, predictUS: t.median()}
	if p.test == nil {
		_, j.reliability = train.MeasureJudged(len(m.Classes), rep.Held)
		if c.Explain != "" {
			j.mistakes, err = heldMistakes(a, classifier, p.train, rep, worstShown)
		}
		return j, err
	}
	measures, reliability := train.MeasureJudged(len(m.Classes), t.pages)
	j.from, j.measures, j.reliability, j.mistakes = explain.Test, &measures, reliability, t.mistakes
	m.Card.Test = &models.Score{Pages: measures.Pages, Accuracy: measures.Accuracy, MacroF1: measures.MacroF1}
	clean := t.clean()
	across := len(t.pages) - len(clean)
	j.across = &across
	if across > 0 && len(clean) > 0 {
		without, _ := train.MeasureJudged(len(m.Classes), clean)
		j.withoutThem = &without.Accuracy
	}
	return j, nil
}

// tell fills the result with how good the model is.
func (r *trainResult) tell(m *models.Model, j *judgement) {
	r.PredictUS, r.Across, r.WithoutThem = j.predictUS, j.across, j.withoutThem
	if j.from == explain.Test {
		r.TestPages = &j.measures.Pages
	}
	if j.measures != nil && j.measures.Pages > 0 {
		r.AccuracyFrom = &j.from
		r.Reliability = reliabilityOf(j.reliability)
		r.measures(m.Classes, j.measures)
	}
	if j.mistakes != nil {
		r.Worst = worst(j.mistakes, defaultErrors)
	}
	r.Thresholds = map[string]float64{}
	for _, label := range m.Classes {
		r.Thresholds[label] = m.Threshold(label)
	}
}

// defaultErrors is how many of its mistakes a model's result lists.
const defaultErrors = 10

func (r *trainResult) measures(classes []string, m *train.Measures) {
	r.Accuracy, r.AccuracyCI, r.MacroF1 = &m.Accuracy, &m.CI, &m.MacroF1
	r.PerClass = map[string]classResult{}
	r.Confusion = confusion(classes, m)
	for i, label := range classes {
		k := m.PerClass[i]
		r.PerClass[label] = classResult{known(k.Precision), known(k.Recall), known(k.F1), k.Support}
	}
}

func confusion(classes []string, m *train.Measures) map[string]map[string]int {
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

// known returns v for JSON, nil when it is no number.
func known(v float64) *float64 {
	if math.IsNaN(v) {
		return nil
	}
	return &v
}

func (r *trainResult) print(w io.Writer) {
	fmt.Fprintf(w, "Trained %s on %d pages of %d classes, %d words, in %.1f s: %s\n",
		r.Classifier, r.TrainPages, len(r.Classes), r.Words, r.TrainSeconds, r.Model)
	for _, name := range slices.SortedFunc(maps.Keys(r.CV), func(a, b string) int {
		return cmp.Or(cmp.Compare(r.CV[b], r.CV[a]), cmp.Compare(a, b))
	}) {
		fmt.Fprintf(w, "  in cross-validation %s got %.1f %% right\n", name, 100*r.CV[name])
	}
	if r.LeftOut > 0 || r.Unreadable > 0 {
		fmt.Fprintf(w, "  %d rows without a wanted label left out, %d unreadable\n", r.LeftOut, r.Unreadable)
	}
	if r.Accuracy == nil {
		return
	}
	pages := "the training pages, by cross-validation"
	if r.TestPages != nil {
		pages = fmt.Sprintf("%d test pages", *r.TestPages)
	}
	fmt.Fprintf(w, "Accuracy %.1f %% (95 %% interval %.1f to %.1f), macro F1 %.3f on %s\n",
		100**r.Accuracy, 100*r.AccuracyCI[0], 100*r.AccuracyCI[1], *r.MacroF1, pages)
	if r.Across != nil && *r.Across > 0 {
		fmt.Fprintf(w, "  %d test pages are also training pages, which flatters it\n", *r.Across)
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "class\tpages\tprecision\trecall\tF1\tmost often taken for\t")
	for _, label := range r.Classes {
		k := r.PerClass[label]
		fmt.Fprintf(tw, "%s\t%d\t%s\t%s\t%s\t%s\t\n", label, k.Support, share(k.Precision), share(k.Recall), share(k.F1), r.mistake(label))
	}
	_ = tw.Flush() // its only errors are w's, which stdout would show anyway
}

// mistake names what a class is most often taken for.
func (r *trainResult) mistake(label string) string {
	name, most := "–", 0
	for _, other := range r.Classes {
		if n := r.Confusion[label][other]; other != label && n > most {
			name, most = fmt.Sprintf("%s (%d)", other, n), n
		}
	}
	return name
}

func share(v *float64) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf("%.3f", *v)
}
