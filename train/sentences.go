package train

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"fossick/internal/report"
)

// sentences says the figures in plain words, the most important first.
func sentences(p *Page) []string {
	q := p.Measures
	if q == nil || q.Pages == 0 {
		return []string{"The quality of this model is not known: there were neither test pages nor enough pages for cross-validation."}
	}
	on := report.Pages(q.Pages) + " that it was not trained on"
	if p.From == CrossValidation {
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

func baselineSays(p *Page) string {
	class, accuracy := p.Measures.Majority()
	return fmt.Sprintf("the label %s for every page would be right on %s.", p.Model.Classes[class], percents(accuracy))
}

func bestAndWorst(p *Page) string {
	best, worst := -1, -1
	for i, k := range p.Measures.PerClass {
		if k.Support == 0 {
			continue
		}
		if best < 0 || k.F1 > p.Measures.PerClass[best].F1 {
			best = i
		}
		if worst < 0 || k.F1 < p.Measures.PerClass[worst].F1 {
			worst = i
		}
	}
	if best == worst {
		return ""
	}
	names, k := p.Model.Classes, p.Measures.PerClass
	return fmt.Sprintf("It knows %s best (F1 %.3f) and %s worst (%.3f).", names[best], k[best].F1, names[worst], k[worst].F1)
}

// confusedMost names the confusion with the most pages, of equal ones the first.
func confusedMost(p *Page) string {
	var truth, label, most int
	for i, row := range p.Measures.Confusion {
		for j, n := range row {
			if i != j && n > most {
				truth, label, most = i, j, n
			}
		}
	}
	if most == 0 {
		return ""
	}
	names := p.Model.Classes
	return fmt.Sprintf("Most often it takes %s for %s: %s of %s.", names[truth], names[label],
		report.Number(most), report.Pages(p.Measures.PerClass[truth].Support))
}

// trust says whether the probabilities can be taken at their word. A difference
// below three points is within what such samples show by chance.
func trust(p *Page) string {
	r := p.Reliability
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

// moreWouldHelp reads the end of the learning curve.
func moreWouldHelp(p *Page) string {
	n := len(p.Curve)
	if n < 2 {
		return ""
	}
	half, all := p.Curve[n-2], p.Curve[n-1]
	gain := all.Accuracy - half.Accuracy
	from := fmt.Sprintf("from %s to %s the accuracy went from %s to %s", report.Number(half.Pages), report.Pages(all.Pages), percents(half.Accuracy), percents(all.Accuracy))
	if gain < 0.01 {
		return fmt.Sprintf("More training pages of the same kind would help little: %s.", from)
	}
	return fmt.Sprintf("More training pages would help: %s.", from)
}

// rivals names the classifiers that did worse.
func rivals(p *Page) string {
	names := slices.SortedFunc(maps.Keys(p.Candidates), func(a, b string) int {
		return cmp.Or(cmp.Compare(p.Candidates[b], p.Candidates[a]), cmp.Compare(a, b))
	})
	if len(names) < 2 {
		return ""
	}
	var others []string
	for _, name := range names {
		if name != p.Model.Classifier {
			others = append(others, fmt.Sprintf("%s %s", name, percents(p.Candidates[name])))
		}
	}
	return fmt.Sprintf("In cross-validation it got %s; the others got: %s.", percents(p.Candidates[p.Model.Classifier]), strings.Join(others, ", "))
}
