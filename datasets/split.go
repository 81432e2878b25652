package datasets

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"fossick/internal/cli"
)

// SplitOptions sets the size of the training part; set at most one of Share, N and PerClass. With none,
// the set's own split applies; a set without one is all training.
type SplitOptions struct {
	Share    float64        // in (0,1]: fraction of each class
	N        int            // total number, in class proportions
	PerClass map[string]int // number per class; "" means every other class
}

// Row is what a split needs of an example, so that the set need not fit in memory.
type Row struct {
	Label, Split string
	Sum          [16]byte // hash of the body
}

// RowOf returns the Row of an example.
func RowOf(e *Example) Row { return Row{e.Label, e.Split, e.sum()} }

// Part is the part of a split that a row belongs to.
type Part byte

// The parts of a split.
const (
	Unused Part = iota // unlabelled, or left over when only part of the training rows is wanted
	Train
	Test
)

// splitReport counts the rows of a split.
type splitReport struct {
	Train, Test, Unused int
	Own                 bool // the set's own split was applied
}

// Assign returns the Part of each row. The choice is stratified by label, and deterministic for equal
// rows, options and rng state.
func Assign(rows []Row, rng *rand.Rand, opt SplitOptions) ([]Part, splitReport, error) {
	rep := splitReport{}
	parts := make([]Part, len(rows))
	pool := map[string][]int{} // row numbers available for training, by label
	for i, r := range rows {
		if r.Split != "" && r.Split != "train" && r.Split != "test" {
			return nil, rep, fmt.Errorf("row %d: split %q; want train, test or nothing", i+1, r.Split)
		}
		rep.Own = rep.Own || r.Split != ""
	}
	for i, r := range rows {
		switch {
		case r.Label == "" || rep.Own && r.Split == "":
		case r.Split == "test":
			parts[i] = Test
		default:
			pool[r.Label] = append(pool[r.Label], i)
		}
	}
	quota, err := opt.quota(pool)
	if err != nil {
		return nil, rep, err
	}
	for _, label := range slices.Sorted(maps.Keys(pool)) {
		ids := pool[label]
		rng.Shuffle(len(ids), func(a, b int) { ids[a], ids[b] = ids[b], ids[a] })
		for k, i := range ids {
			if k < quota[label] {
				parts[i] = Train
			} else if !rep.Own {
				parts[i] = Test
			}
		}
	}
	rep.count(parts)
	return parts, rep, nil
}

func (r *splitReport) count(parts []Part) {
	for _, p := range parts {
		switch p {
		case Unused:
			r.Unused++
		case Train:
			r.Train++
		case Test:
			r.Test++
		}
	}
}

func (o SplitOptions) quota(pool map[string][]int) (map[string]int, error) {
	set := 0
	for _, given := range []bool{o.Share != 0, o.N != 0, o.PerClass != nil} {
		if given {
			set++
		}
	}
	quota := map[string]int{}
	switch {
	case set > 1:
		return nil, fmt.Errorf("split: give a share, a number, or numbers per class, but only one of them")
	case o.PerClass != nil:
		return quota, o.perClass(pool, quota)
	case o.N != 0:
		return quota, o.number(pool, quota)
	case o.Share < 0 || o.Share > 1 || math.IsNaN(o.Share):
		return nil, fmt.Errorf("split: share %v for training; want more than 0 and at most 1", o.Share)
	}
	for label, ids := range pool {
		quota[label] = len(ids)
		if o.Share != 0 {
			// Every class trains, however small the share.
			n := int(math.Round(o.Share * float64(len(ids))))
			quota[label] = max(1, min(n, len(ids)))
		}
	}
	return quota, nil
}

func (o SplitOptions) perClass(pool map[string][]int, quota map[string]int) error {
	for _, label := range slices.Sorted(maps.Keys(o.PerClass)) {
		if _, ok := pool[label]; !ok && label != "" {
			return fmt.Errorf("split: no rows with label %q; the set has %s", label, cli.SomeNames(label, cli.SortedKeys(pool)))
		}
	}
	for _, label := range slices.Sorted(maps.Keys(pool)) {
		n, ok := o.PerClass[label]
		if !ok {
			n = o.PerClass[""]
		}
		if n < 0 || n > len(pool[label]) {
			return fmt.Errorf("split: %d rows of %q for training; there are %d", n, label, len(pool[label]))
		}
		quota[label] = n
	}
	return nil
}

// number distributes o.N over the labels in proportion, by largest remainder. Ties go to the label that
// sorts first.
func (o SplitOptions) number(pool map[string][]int, quota map[string]int) error {
	total := 0
	for _, ids := range pool {
		total += len(ids)
	}
	if o.N < 0 || o.N > total {
		return fmt.Errorf("split: %d rows for training; there are %d labelled ones", o.N, total)
	}
	labels := slices.Sorted(maps.Keys(pool))
	left := o.N
	for _, l := range labels {
		quota[l] = o.N * len(pool[l]) / total
		left -= quota[l]
	}
	rest := func(l string) int { return o.N * len(pool[l]) % total }
	slices.SortStableFunc(labels, func(a, b string) int { return rest(b) - rest(a) })
	for _, l := range labels[:left] {
		quota[l]++
	}
	return nil
}

// passReport counts what one pass over a set found, in rows unless stated otherwise.
type passReport struct {
	Rows       int            // rows read without error
	Examples   int            // rows that pass the Options
	Errors     int            // unreadable rows
	Unlabelled int            // examples without a label
	Empty      int            // examples with a blank body
	Large      int            // examples of which only the first MaxPageBytes are read
	NotUTF8    int            // rows with invalid UTF-8, which was replaced or decoded
	Duplicates int            // examples with exactly the body of an earlier one
	Skipped    map[string]int // files without a page, by reason
	PerLabel   map[string]int // examples per label
	EmptyClass []string       // class folders without a page, sorted
	Unmatched  int            // rows of labels.tsv whose URL is not in the corpus
	Complete   bool           // the pass reached the end of an undamaged file

	first map[string]place // first occurrence of each kind of problem
	fault string           // first error that was skipped
	web   *Web             // server behaviour found in an archive
}

// place is a line of a file; line 0 means the whole file.
type place struct {
	file string
	line int
}

func (r *passReport) met(kind string, e *Example) {
	if _, known := r.first[kind]; !known {
		r.first[kind] = place{e.File, e.Line}
	}
}

func (r *passReport) skip(reason, path string) {
	r.Skipped[reason]++
	r.met(skipped+reason, &Example{File: path})
}

func (r *passReport) firstError(err error) {
	if r.fault == "" {
		r.fault = ", first " + err.Error()
	}
}

func (r *passReport) where(kind string) string {
	p, known := r.first[kind]
	switch {
	case !known || p.file == "":
		return ""
	case p.line == 0:
		return ", first " + p.file
	}
	return fmt.Sprintf(", first %s:%d", p.file, p.line)
}

// Kinds of problems, the keys of Report.first.
const (
	unlabelled = "unlabelled"
	empty      = "empty"
	duplicate  = "duplicate"
	notUTF8    = "not UTF-8"
	large      = "large"
	label      = "label "   // followed by the label
	skipped    = "skipped " // followed by the reason
)

func newReport() *passReport {
	return &passReport{Skipped: map[string]int{}, PerLabel: map[string]int{}, first: map[string]place{}}
}

func (r *passReport) clone() passReport {
	c := *r
	c.Skipped, c.PerLabel = maps.Clone(r.Skipped), maps.Clone(r.PerLabel)
	c.first = maps.Clone(r.first)
	c.EmptyClass = slices.Clone(r.EmptyClass)
	return c
}

func (r passReport) labels() []string {
	return slices.Sorted(maps.Keys(r.PerLabel))
}

// Notes returns one sentence per kind of problem, in a fixed order.
func (r passReport) Notes() []string {
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

// twins returns one sentence per group of labels that look alike.
func (r passReport) twins() []string {
	groups := map[string][]string{}
	for _, l := range r.labels() {
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

// PlainLabel removes differences that a reader cannot see: case, white space, zero-width characters,
// and Unicode composition (NFKC). Labels with equal results look alike.
func PlainLabel(label string) string {
	seen := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.In(r, unicode.Cf, unicode.Cc, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) {
			return -1
		}
		return r
	}, norm.NFKC.String(label))
	return norm.NFKC.String(cases.Fold().String(seen))
}
