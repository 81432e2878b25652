package train

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"text/tabwriter"

	"fossick/datasets"
	"fossick/internal/printable"
	"fossick/models/features"
)

// Paper A's experiment: 77 words, the knee of its curves, and 100 training pages for
// each of BankSearch's eleven categories.
const (
	protocolWords = 77
	protocolPages = 100
)

// protocolDraw returns the training pages a category: those asked for, else 100, or
// as many as the smallest category has.
func (t *Trials) protocolDraw() (string, error) {
	if t.Plan.PerClass != "" || t.Plan.Train != "" {
		return t.Plan.PerClass, nil
	}
	pages := map[string]int{}
	err := t.Plan.Each(func(e *datasets.Example) bool {
		if label := Category.of(e); label != "" && e.Split != "test" {
			pages[label]++
		}
		return true
	})
	n, least := protocolPages, ""
	for _, label := range slices.Sorted(maps.Keys(pages)) {
		if pages[label] < n {
			n, least = pages[label], label
		}
	}
	if least != "" {
		t.Plan.Log.Warn("a category has fewer than the protocol's 100 training pages, so fewer are drawn from each category", "category", least, "pages", n)
	}
	return strconv.Itoa(n), err
}

// published are the figures of paper A for BankSearch, section A5 of the digest.
func published(level Level, t trial) string {
	switch name := t.classifier; {
	case t.words == 0:
		return "" // not tried there
	case level == Theme && name == "cn2":
		return "93.2 %"
	case level == Theme && (name == "c45" || name == "nn"):
		return "90.2 % typical"
	case level == Category && (name == "cn2" || name == "c45"):
		return "above 80 %"
	case level == Category && name == "nn":
		return "below both with few words"
	}
	return ""
}

// protocol tries the classifiers with few words, and linear with all.
func (t *Trials) protocol(ctx context.Context, b *bench, level Level) ([]Row, error) {
	words := cmp.Or(t.Plan.Options.Words, protocolWords)
	var trials []trial
	for _, way := range t.ways(features.ByTFDFGain) {
		for _, name := range t.Classifiers {
			trials = append(trials, trial{classifier: name, words: words, by: way})
		}
	}
	trials = append(trials, trial{classifier: "linear"})
	rows, err := t.try(ctx, b, level, trials)
	for i, one := range trials {
		rows[i].Published = published(level, one)
	}
	return rows, err
}

func printProtocol(w io.Writer, rows []Row) {
	io.WriteString(w, "The published BankSearch experiment, beside the published figures:\n")
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	io.WriteString(tw, "level\tclasses\tclassifier\twords by\twords\ttrain\ttest\taccuracy\t95 % interval\tpublished\n")
	for _, r := range rows {
		tests := "folds"
		if r.TestPages != nil {
			tests = fmt.Sprint(*r.TestPages)
		}
		interval := "–"
		if r.AccuracyCI != nil {
			interval = fmt.Sprintf("%.1f to %.1f", 100*r.AccuracyCI[0], 100*r.AccuracyCI[1])
		}
		printable.Fprintf(tw, "%s\t%d\t%s\t%s\t%d\t%d\t%s\t%s\t%s\t%s\n", r.Level, r.Classes, r.Classifier, cmp.Or(r.Select, "–"), r.Words, r.TrainPages, tests, percentOf(r.Accuracy), interval, r.Published)
	}
	_ = tw.Flush() // its only errors are w's, which stdout would show anyway
}
