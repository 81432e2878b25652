package train

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"sync/atomic"

	"fossick/classify"
	"fossick/datasets"
	"fossick/internal/cli"
	"fossick/internal/report"
	"fossick/internal/stats"
	"fossick/models"
	"fossick/models/features"
)

// labelledPage is a page with the label that a model gave it.
type labelledPage struct {
	Name  string  `json:"name"`
	Label string  `json:"label"`
	Score float64 `json:"score"`
	Rule  string  `json:"rule"`
	Known bool    `json:"known"` // false: the model cannot tell, and Rule says why
}

// verdict is the outcome of labelling pages by a model, or by two.
type verdict struct {
	Results   []labelledPage            `json:"results"`
	Accuracy  *float64                  `json:"accuracy"` // null without labelled rows
	CI        *[2]float64               `json:"accuracy_ci"`
	MacroF1   *float64                  `json:"macro_f1"`
	PerClass  map[string]ClassQuality   `json:"per_class"`
	Confusion map[string]map[string]int `json:"confusion"`
	Worst     []mistake                 `json:"worst"`      // null without labelled rows
	AccuracyB *float64                  `json:"accuracy_b"` // null without a second model
	McNemar   *comparison               `json:"mcnemar"`
	Trained   *float64                  `json:"trained_on"` // share of the labelled rows that the model was trained on; null if unknown
	TrainedB  *float64                  `json:"trained_on_b"`
}

// Verdicts collect what a model says of pages.
type Verdicts struct {
	name             string // of the model
	classifier       *classify.Classifier
	class            Target // maps a row's label to one of the model's
	labelled         []labelledPage
	truth, predicted []int // classes, by labelled row
	mistakes         []mistake
	rival            *rival          // nil without a second model
	known            Trained         // labelled pages that the model was trained on
	texts            map[uint64]bool // marks of the labelled pages; see models.Mark
	spread           string          // of the accuracy, in words
}

// NewVerdicts starts with a model and its name for people.
func NewVerdicts(name string, c *classify.Classifier) *Verdicts {
	m := c.Model()
	v := &Verdicts{name: name, classifier: c, labelled: []labelledPage{}, texts: map[uint64]bool{}, class: Target{Labels: m.Classes}}
	// A model of one topic against the rest calls the rest Other.
	if len(m.Classes) == 2 && slices.Contains(m.Classes, Other) {
		v.class = Target{Topic: m.Classes[1-m.Class(Other)]}
	}
	v.known.Card = &m.Card
	return v
}

// Label labels a page.
func (v *Verdicts) Label(name string, d features.Doc) {
	v.label(name, d)
}

func (v *Verdicts) label(name string, d features.Doc) labelledPage {
	r, why := v.classifier.ClassifyAndExplain(d)
	said := labelledPage{name, r.Label, r.Score, why, r.Unknown == ""}
	v.labelled = append(v.labelled, said)
	return said
}

// Row labels a row of a set, and compares the label with the row's class if the model knows it.
func (v *Verdicts) Row(e *datasets.Example, d features.Doc) {
	m := v.classifier.Model()
	said, truth := v.label(e.URL, d), v.class.Class(e)
	if m.Class(truth) < 0 {
		return
	}
	v.truth, v.predicted = append(v.truth, m.Class(truth)), append(v.predicted, m.Class(said.Label))
	v.known.look(d)
	v.texts[models.Mark(d)] = true
	if said.Label != truth {
		v.mistakes = append(v.mistakes, mistake{said.Name, truth, said.Label, said.Score, said.Rule})
	}
	if v.rival != nil {
		v.rival.judge(d, truth)
	}
}

// Result sums up the verdicts, with at most this number of mistakes.
func (v *Verdicts) Result(mistakes int) (*verdict, error) {
	r := &verdict{Results: v.labelled}
	if len(v.truth) > 0 {
		classes := v.classifier.Model().Classes
		m := measure(len(classes), v.truth, v.predicted)
		m.Units = len(v.texts)
		r.Accuracy, r.CI, r.MacroF1, v.spread = &m.Accuracy, m.Interval(), &m.MacroF1, m.Spread()
		r.PerClass, r.Confusion = byClass(classes, &m), confusion(classes, &m)
		r.Worst = worst(v.mistakes, mistakes)
		r.Trained = v.known.Share()
	}
	if v.rival != nil {
		if err := v.compare(r); err != nil {
			return nil, err
		}
		r.TrainedB = v.rival.known.Share()
	}
	return r, nil
}

// Print writes a result of v as text.
func (v *Verdicts) Print(w io.Writer, r *verdict) {
	for _, p := range r.Results {
		cli.Fprintf(w, "%s\t%s\t%.3f\t%s\n", p.Name, p.Label, p.Score, p.Rule)
	}
	if r.Accuracy != nil {
		cli.Fprintf(w, "\nAccuracy %.1f %% (%s), macro F1 %.3f on %s labelled pages\n\n",
			100**r.Accuracy, v.spread, *r.MacroF1, report.Number(len(v.truth)))
		classes := v.classifier.Model().Classes
		printClasses(w, classes, r.PerClass, r.Confusion)
		printMatrix(w, classes, r.Confusion)
		printWorst(w, r.Worst, len(v.mistakes))
	}
	if text := v.known.Warning(); text != "" {
		cli.Fprintf(w, "\n%s: %s\n", v.name, text)
	}
	if r.McNemar != nil {
		if text := v.rival.known.Warning(); text != "" {
			cli.Fprintf(w, "%s: %s\n", v.rival.name, text)
		}
		r.McNemar.print(w, []string{v.name, v.rival.name}, *r.Accuracy, *r.AccuracyB)
	}
}

// comparison is McNemar's test of two models on one labelled set.
type comparison struct {
	AOnly     int      `json:"a_only"` // pages that A alone has right
	BOnly     int      `json:"b_only"`
	Statistic float64  `json:"statistic"` // χ² with continuity correction
	P         *float64 `json:"p"`         // null below the number of different pages that a test needs
	Method    string   `json:"method"`    // exact, chi-squared
}

// rival is the second model, judged on the labelled rows of the first.
type rival struct {
	name       string
	classifier *classify.Classifier
	right      []bool // by labelled row
	known      Trained
}

// Against adds a second model, which judges the labelled rows too. Its classes must be the same: a model of
// other classes answers another question, often an easier one.
func (v *Verdicts) Against(name string, c *classify.Classifier) error {
	if first, classes := v.classifier.Model(), c.Model().Classes; !slices.Equal(first.Classes, classes) {
		return cli.Usagef("models of different classes cannot be compared: %s has %s; %s has %s; train both with the same --labels or --topic",
			v.name, cli.SomeNames("", first.Classes), name, cli.SomeNames("", classes))
	}
	v.rival = &rival{name: name, classifier: c, known: Trained{Card: &c.Model().Card}}
	return nil
}

func (b *rival) judge(d features.Doc, truth string) {
	b.known.look(d)
	b.right = append(b.right, b.classifier.Classify(d).Label == truth)
}

func (v *Verdicts) compare(r *verdict) error {
	b := v.rival
	if len(b.right) == 0 {
		return fmt.Errorf("%s against %s: no row with a label that the models have; models are compared on a labelled set", v.name, b.name)
	}
	var both, aOnly, bOnly int
	for i, right := range b.right {
		switch a := v.truth[i] == v.predicted[i]; {
		case a && right:
			both++
		case a:
			aOnly++
		case right:
			bOnly++
		}
	}
	accuracy := float64(both+bOnly) / float64(len(b.right))
	t := mcNemar(aOnly, bOnly)
	r.AccuracyB = &accuracy
	r.McNemar = &comparison{t.AOnly, t.BOnly, t.Statistic, &t.P, "chi-squared"}
	if t.Exact {
		r.McNemar.Method = "exact"
	}
	if len(v.texts) < stats.Fewest {
		r.McNemar.P = nil
	}
	return nil
}

// print says in words which model is better and how sure that is.
func (r *comparison) print(w io.Writer, models []string, a, b float64) {
	cli.Fprintf(w, "\nA  %5.1f %% right  %s\nB  %5.1f %% right  %s\n", 100*a, models[0], 100*b, models[1])
	cli.Fprintf(w, "A alone is right on %s, B alone on %d. ", pages(r.AOnly), r.BOnly)
	winner, lead := "A", r.AOnly-r.BOnly
	if lead < 0 {
		winner, lead = "B", -lead
	}
	switch {
	case r.AOnly+r.BOnly == 0:
		io.WriteString(w, "They are right and wrong on the same pages.\n")
	case lead == 0:
		io.WriteString(w, "Neither is better.\n")
	case r.P == nil:
		cli.Fprintf(w, "%s is right on %s more than %s; there is no test of fewer than %d different pages.\n", winner, pages(lead), map[string]string{"A": "B", "B": "A"}[winner], stats.Fewest)
	default:
		cli.Fprintf(w, "%s is right on %s more than %s; a difference this large happens by chance %s (McNemar's test, %s).\n",
			winner, pages(lead), map[string]string{"A": "B", "B": "A"}[winner], oftenness(*r.P), report.PValue(*r.P))
	}
}

func pages(n int) string {
	if n == 1 {
		return "1 page"
	}
	return cli.Sprintf("%d pages", n)
}

func oftenness(p float64) string {
	switch {
	case p < 1e-6:
		return "less than once in a million times"
	case p < 0.15:
		return fmt.Sprintf("once in %.0f times", round2(1/p))
	case p < 0.95:
		return fmt.Sprintf("%.0f times in 10", 10*p)
	}
	return "nearly always"
}

// round2 rounds x ≥ 1 to two digits.
func round2(x float64) float64 {
	unit := math.Pow(10, max(0, math.Floor(math.Log10(x))-1))
	return math.Round(x/unit) * unit
}

// Trained counts how many of the pages that a model judges it was trained on. Safe for concurrent use.
type Trained struct {
	Card           *models.Card
	trained, known atomic.Int64
}

func (l *Trained) look(d features.Doc) {
	if len(l.Card.Marks) == 0 {
		return // a model of an earlier build
	}
	trained, known := l.Card.Trained(models.Mark(d))
	if known {
		l.known.Add(1)
	}
	if trained {
		l.trained.Add(1)
	}
}

// Share returns the share of pages that the model was trained on, among those for which its card can tell;
// nil if there are none.
func (l *Trained) Share() *float64 { return stats.Share(l.trained.Load(), l.known.Load()) }

// Warning says that the figures are too good if the model knows some pages; else it returns "".
func (l *Trained) Warning() string {
	if l == nil {
		return ""
	}
	share := l.Share()
	if share == nil || *share == 0 {
		return ""
	}
	return fmt.Sprintf("the model was trained on %s of these pages and knows their labels, so the figures are too good", report.Percent(*share))
}

// topicJudge judges by a model whether pages are on a topic. Safe for concurrent use.
type topicJudge struct {
	Name  string
	Cut   float64 // the lowest probability of a page on topic
	Known Trained // counts the judged pages

	classifier *classify.Classifier
	class      int
}

// NewTopic judges by the model's label asked, or fallback if asked is empty. If the model lacks it, the
// error lists its labels. path is the model's name for people.
func NewTopic(c *classify.Classifier, path, asked, fallback string) (*topicJudge, error) {
	m := c.Model()
	name, err := labelOf(m, path, asked, fallback)
	if err != nil {
		return nil, err
	}
	return &topicJudge{Name: name, Cut: m.Threshold(name), Known: Trained{Card: &m.Card}, classifier: c, class: m.Class(name)}, nil
}

func labelOf(m *models.Model, path, asked, fallback string) (string, error) {
	labels := cli.SomeNames(cmp.Or(asked, fallback), m.Classes)
	switch {
	case slices.Contains(m.Classes, asked):
		return asked, nil
	case asked != "":
		return "", cli.Usagef("label %q is not one of the model's; %s has %s", asked, path, labels)
	case slices.Contains(m.Classes, fallback):
		return fallback, nil
	}
	return "", cli.Usagef("the crawl's topic %q is not one of the model's labels; give one with --topic, in eval with --target: %s has %s", fallback, path, labels)
}

// Probability returns the topic's probability and the most probable other class, "" if there is none.
// unknown says why the model cannot tell, "" if it can; a page that it cannot judge is not on topic.
func (t *topicJudge) Probability(d features.Doc) (p float64, rest, unknown string) {
	t.Known.look(d)
	r := t.classifier.Classify(d)
	probs := r.Probs
	best := -1
	for i, p := range probs {
		if i != t.class && (best < 0 || p > probs[best]) {
			best = i
		}
	}
	if best >= 0 {
		rest = t.classifier.Model().Classes[best]
	}
	return probs[t.class], rest, r.Unknown
}

// Relevant reports whether a page is on topic.
func (t *topicJudge) Relevant(d features.Doc) bool {
	p, _, unknown := t.Probability(d)
	return p >= t.Cut && unknown == ""
}
