package datasets

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Report counts what one pass over a set met. All counts are of rows.
type Report struct {
	Rows       int            // read, errors not counted
	Examples   int            // handed out: the rows that Options ask for
	Errors     int            // rows that could not be read
	Unlabelled int            // examples without a label
	Empty      int            // examples without a body, or with white space only
	Large      int            // examples of which only the first MaxPageBytes are read
	NotUTF8    int            // rows with bytes that were no UTF-8 and were replaced or decoded
	Duplicates int            // examples whose body an earlier one had, to the byte
	Skipped    map[string]int // files that hold no page, by reason
	PerLabel   map[string]int // examples of each label
	EmptyClass []string       // class folders without a page, sorted
	Unmatched  int            // rows of labels.tsv that name no page of the corpus
	Complete   bool           // the pass came to its end, and the file was whole

	first map[string]place // where each kind of thing that looks wrong was first met
	fault string           // the first error that was passed over
	web   *Web             // what an archive holds besides pages
}

// place is a line of a file; line 0 is the whole file.
type place struct {
	file string
	line int
}

// met notes where something was met, if it is the first of its kind.
func (r *Report) met(kind string, e *Example) {
	if _, known := r.first[kind]; !known {
		r.first[kind] = place{e.File, e.Line}
	}
}

// skip counts a file that holds no page.
func (r *Report) skip(reason, path string) {
	r.Skipped[reason]++
	r.met(skipped+reason, &Example{File: path})
}

// firstError notes an error that is passed over, if it is the first.
func (r *Report) firstError(err error) {
	if r.fault == "" {
		r.fault = ", first " + err.Error()
	}
}

// where says in words where something was met first; "" when that is not known.
func (r *Report) where(kind string) string {
	p, known := r.first[kind]
	switch {
	case !known || p.file == "":
		return ""
	case p.line == 0:
		return ", first " + p.file
	}
	return fmt.Sprintf(", first %s:%d", p.file, p.line)
}

// Kinds of things that look wrong and have a place.
const (
	unlabelled = "unlabelled"
	empty      = "empty"
	duplicate  = "duplicate"
	notUTF8    = "not UTF-8"
	large      = "large"
	label      = "label "   // and its name
	skipped    = "skipped " // and the reason
)

func newReport() *Report {
	return &Report{Skipped: map[string]int{}, PerLabel: map[string]int{}, first: map[string]place{}}
}

func (r *Report) clone() Report {
	c := *r
	c.Skipped, c.PerLabel = maps.Clone(r.Skipped), maps.Clone(r.PerLabel)
	c.first = maps.Clone(r.first)
	c.EmptyClass = slices.Clone(r.EmptyClass)
	return c
}

// Labels returns the labels that were met, sorted.
func (r Report) Labels() []string {
	return slices.Sorted(maps.Keys(r.PerLabel))
}

// Notes returns a sentence for each thing that looks wrong, in a fixed order.
func (r Report) Notes() []string {
	var notes []string
	note := func(n int, one, many, rest string) {
		switch {
		case n == 1:
			notes = append(notes, "1 "+one+rest)
		case n > 1:
			notes = append(notes, fmt.Sprintf("%d %s%s", n, many, rest))
		}
	}
	note(r.Errors, "row could not be read", "rows could not be read", r.fault)
	note(r.Unlabelled, "row has no label", "rows have no label", r.where(unlabelled))
	note(r.Empty, "row has an empty body", "rows have an empty body", r.where(empty))
	note(r.Large, "row has", "rows have", fmt.Sprintf(" a body of more than %d MiB, the most that a crawl takes of a page; the rest of it is not read%s", MaxPageBytes>>20, r.where(large)))
	note(r.NotUTF8, "row held", "rows held", " bytes that are not UTF-8; their encoding was guessed"+r.where(notUTF8))
	note(r.Duplicates, "row repeats", "rows repeat", " the body of an earlier one; where one is a training page and the other a test page, the accuracy looks too good"+r.where(duplicate))
	note(r.Unmatched, "row of labels.tsv names", "rows of labels.tsv name", " no page of the corpus")
	for _, reason := range slices.Sorted(maps.Keys(r.Skipped)) {
		note(r.Skipped[reason], "file skipped: ", "files skipped: ", reason+r.where(skipped+reason))
	}
	for _, class := range r.EmptyClass {
		notes = append(notes, fmt.Sprintf("class %q has no pages", class))
	}
	for _, pair := range r.twins() {
		notes = append(notes, fmt.Sprintf("labels %s", pair))
	}
	return notes
}

// twins returns a sentence for each group of labels that look alike.
func (r Report) twins() []string {
	groups := map[string][]string{}
	for _, l := range r.Labels() {
		spelt := fmt.Sprintf("%q", l)
		if place := strings.TrimPrefix(r.where(label+l), ", "); place != "" {
			spelt += " (" + place + ")"
		}
		groups[PlainLabel(l)] = append(groups[PlainLabel(l)], spelt)
	}
	var twins []string
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		if g := groups[key]; len(g) > 1 {
			twins = append(twins, strings.Join(g, " and ")+" differ only in case, spaces, invisible characters or the Unicode form of letters, and count as different classes")
		}
	}
	return twins
}

// PlainLabel returns what is left of a label without that which a reader does not see:
// case, blanks, characters of no width such as the soft hyphen, and the way that letters
// are composed (Unicode NFKC). Labels whose plain forms are equal look alike.
func PlainLabel(label string) string {
	seen := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.In(r, unicode.Cf, unicode.Cc, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) {
			return -1
		}
		return r
	}, norm.NFKC.String(label))
	return norm.NFKC.String(cases.Fold().String(seen))
}
