package train

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"fossick/internal/printable"
)

// How good labels are, by class: as JSON and for a terminal.

// ClassQuality is how good the labels of one class are.
type ClassQuality struct {
	Precision *float64 `json:"precision"` // null when the class was never predicted
	Recall    *float64 `json:"recall"`    // null when it has no page
	F1        *float64 `json:"f1"`
	Support   int      `json:"support"` // pages of the class
}

// ByClass is the quality of each class.
func ByClass(classes []string, m *Measures) map[string]ClassQuality {
	out := map[string]ClassQuality{}
	for i, label := range classes {
		out[label] = QualityOf(m.PerClass[i])
	}
	return out
}

// QualityOf is the quality of a class that was measured.
func QualityOf(k ClassMeasures) ClassQuality {
	return ClassQuality{known(k.Precision), known(k.Recall), known(k.F1), k.Support}
}

// Confusion returns how many pages of each class got which label, zeros left out.
func Confusion(classes []string, m *Measures) map[string]map[string]int {
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

// maxLabel is how many runes of a label a table shows.
const maxLabel = 28

// PrintClasses writes a line a class.
func PrintClasses(w io.Writer, classes []string, quality map[string]ClassQuality, table map[string]map[string]int) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	width := labelWidth(classes)
	printable.Fprintf(tw, "%s\tpages\tprecision\trecall\tF1\tmost often confused with\t\n", pad("class", width))
	for _, label := range classes {
		k := quality[label]
		printable.Fprintf(tw, "%s\t%d\t%s\t%s\t%s\t%s\t\n", pad(printable.Cut(label, maxLabel), width), k.Support,
			Share(k.Precision), Share(k.Recall), Share(k.F1), takenFor(label, classes, table))
	}
	_ = tw.Flush() // its only errors are w's, which stdout would show anyway
}

// takenFor names what a class is most often taken for.
func takenFor(label string, classes []string, table map[string]map[string]int) string {
	name, most := "–", 0
	for _, other := range classes {
		if n := table[label][other]; other != label && n > most {
			name, most = fmt.Sprintf("%s (%d)", printable.Cut(other, maxLabel), n), n
		}
	}
	return name
}

// lettered is how many classes have a letter each.
const lettered = 26

// PrintMatrix writes a confusion matrix whose columns have letters, so that twenty
// classes fit beside each other. Two classes, or more than there are letters, need
// none: the table by class says it.
func PrintMatrix(w io.Writer, classes []string, table map[string]map[string]int) {
	if len(classes) < 3 || len(classes) > lettered {
		return
	}
	width, cell := labelWidth(classes), 2
	for _, row := range table {
		for _, n := range row {
			cell = max(cell, len(strconv.Itoa(n)))
		}
	}
	printable.Fprintf(w, "\n%s  ", pad("true class, and label", width+2))
	for i := range classes {
		printable.Fprintf(w, " %*c", cell, 'a'+i)
	}
	io.WriteString(w, "\n")
	for i, truth := range classes {
		printable.Fprintf(w, "%c %s  ", 'a'+i, pad(printable.Cut(truth, maxLabel), max(width, len("true class, and label")-2)))
		for _, label := range classes {
			text := "·"
			if n := table[truth][label]; n > 0 {
				text = strconv.Itoa(n)
			}
			printable.Fprintf(w, " %*s", cell, text)
		}
		io.WriteString(w, "\n")
	}
}

func labelWidth(labels []string) int {
	return slices.Max(append([]int{len("class")}, mapped(labels, func(l string) int { return utf8.RuneCountInString(printable.Cut(l, maxLabel)) })...))
}

func mapped[T, U any](in []T, f func(T) U) []U {
	out := make([]U, len(in))
	for i, v := range in {
		out[i] = f(v)
	}
	return out
}

// pad fills s with blanks to a width in runes.
func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}

// Share writes a share of 1, – where it is not known.
func Share(v *float64) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf("%.3f", *v)
}
