package judge

import (
	"fmt"
	"fossick/internal/usage"
	"io"
	"math"
	"slices"

	"fossick/classify"
	"fossick/internal/printable"
	"fossick/internal/report"
	"fossick/internal/stats"
	"fossick/models/features"
	"fossick/train"
)

// McNemar is the test of two models on one labelled set.
type McNemar struct {
	AOnly     int      `json:"a_only"` // pages that A alone has right
	BOnly     int      `json:"b_only"`
	Statistic float64  `json:"statistic"` // χ² with continuity correction
	P         *float64 `json:"p"`         // null of fewer different pages than a test needs
	Method    string   `json:"method"`    // exact, chi-squared
}

// rival is the second model, judged on the labelled rows of the first.
type rival struct {
	name       string
	classifier *classify.Classifier
	right      []bool // by labelled row
	known      Trained
}

// Against has a second model judge the labelled rows as well. Models of other classes
// answer another question, often an easier one: they are not compared.
func (v *Verdicts) Against(name string, c *classify.Classifier) error {
	if first, classes := v.classifier.Model(), c.Model().Classes; !slices.Equal(first.Classes, classes) {
		return usage.Errorf("models of different classes cannot be compared: %s has %s; %s has %s; train both with the same --labels or --topic",
			v.name, printable.SomeNames("", first.Classes), name, printable.SomeNames("", classes))
	}
	v.rival = &rival{name: name, classifier: c, known: Trained{Card: &c.Model().Card}}
	return nil
}

// judge has the second model label a row.
func (b *rival) judge(d features.Doc, truth string) {
	b.known.look(d)
	b.right = append(b.right, b.classifier.Classify(d).Label == truth)
}

// compare tests the first model against the second on the rows that both labelled.
func (v *Verdicts) compare(r *Result) error {
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
	t := train.McNemar(aOnly, bOnly)
	r.AccuracyB = &accuracy
	r.McNemar = &McNemar{t.AOnly, t.BOnly, t.Statistic, &t.P, "chi-squared"}
	if t.Exact {
		r.McNemar.Method = "exact"
	}
	if len(v.texts) < stats.Fewest {
		r.McNemar.P = nil
	}
	return nil
}

// print says in plain words which model is better, and how sure that is.
func (r *McNemar) print(w io.Writer, models []string, a, b float64) {
	printable.Fprintf(w, "\nA  %5.1f %% right  %s\nB  %5.1f %% right  %s\n", 100*a, models[0], 100*b, models[1])
	printable.Fprintf(w, "A alone is right on %s, B alone on %d. ", pages(r.AOnly), r.BOnly)
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
		printable.Fprintf(w, "%s is right on %s more than %s; there is no test of fewer than %d different pages.\n", winner, pages(lead), map[string]string{"A": "B", "B": "A"}[winner], stats.Fewest)
	default:
		printable.Fprintf(w, "%s is right on %s more than %s; a difference this large happens by chance %s (McNemar's test, %s).\n",
			winner, pages(lead), map[string]string{"A": "B", "B": "A"}[winner], oftenness(*r.P), report.PValue(*r.P))
	}
}

func pages(n int) string {
	if n == 1 {
		return "1 page"
	}
	return printable.Sprintf("%d pages", n)
}

// oftenness says in words how often something with probability p happens.
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
