package datasets

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"fossick/internal/usage"
)

// Options says how a set is read. The zero value reads all of it as it stands.
type Options struct {
	Where  []Where  // keep rows for which all hold
	Labels []string // keep rows whose Label is one of these; all when empty

	// Level picks which of a row's Labels becomes its Label: 0 the first (for nested folders and the
	// demo set the theme), 1 the second (the category). A row with fewer uses its last.
	Level int

	// Partial passes over rows that cannot be read; the Report counts them.
	Partial bool

	// DemoSeed seeds the demo set; 0 is 1.
	DemoSeed uint64
}

// Set is a labelled set or a corpus. It may be read by several goroutines.
type Set struct {
	name   string
	layout string // recognised: demo, jsonl, warc, wacz, corpus, sitemap, folders, files, webkb, 20news or sequence
	opt    Options
	read   reader
	links  func() iter.Seq2[Link, error] // nil without links
	web    *Web                          // nil when pages are all there is

	mu     sync.Mutex // guards last
	last   Report
	passed bool
}

// reader makes one pass over the rows. It stops when yield returns false, and notes in rep what it
// leaves out.
type reader func(rep *Report, yield func(*Example, error) bool)

// Link is one link of a corpus, as the corpus writes its URLs.
type Link struct{ Src, Dst string }

// FromSeq makes a set of an iterator, say over a store. It must be repeatable if the set is to be read
// more than once.
func FromSeq(name string, seq iter.Seq2[*Example, error], opt Options) *Set {
	return &Set{name: name, layout: "sequence", opt: opt, read: func(_ *Report, yield func(*Example, error) bool) {
		seq(yield)
	}}
}

// Name says where the set came from: its path, or demo.
func (s *Set) Name() string { return s.name }

// Web returns what a server needs to know beyond the pages, nil when the corpus is its pages only. Of
// an archive it is known once a pass over it came to its end.
func (s *Set) Web() *Web {
	if s.web != nil {
		return s.web
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last.web
}

// HasLinks reports whether the corpus brings its link pairs.
func (s *Set) HasLinks() bool { return s.links != nil }

// Links streams the link pairs of the corpus, none when it has no links.tsv.
func (s *Set) Links() iter.Seq2[Link, error] {
	if s.links == nil {
		return func(func(Link, error) bool) {}
	}
	return s.links()
}

// Examples streams the rows that pass the options, in the order of the source. With an error the
// example is nil; a *RowError is about one row, and a loop that goes on gets the rest.
func (s *Set) Examples() iter.Seq2[*Example, error] {
	return func(yield func(*Example, error) bool) {
		rep := newReport()
		defer func() {
			s.mu.Lock()
			s.last, s.passed = rep.clone(), true
			s.mu.Unlock()
		}()
		f := newFilter(s.opt)
		seen := map[[16]byte]struct{}{}
		stopped, whole := false, true
		s.read(rep, func(e *Example, err error) bool {
			if err != nil {
				rep.Errors++
				whole = whole && !errors.Is(err, ErrCut)
				if s.opt.Partial && IsRow(err) {
					rep.firstError(err)
					return true
				}
				stopped = !yield(nil, err)
				return !stopped
			}
			rep.Rows++
			e.level(s.opt.Level)
			if !f.keep(e) {
				return true
			}
			rep.count(e, seen)
			stopped = !yield(e, nil)
			return !stopped
		})
		if stopped {
			return
		}
		rep.Complete = whole
		if err := f.err(s.name, rep.Rows); err != nil {
			rep.Errors++
			yield(nil, err)
		}
	}
}

// Report returns the counts of the pass that ended last; a set that was never read is read once for it.
func (s *Set) Report() (Report, error) {
	s.mu.Lock()
	passed, last := s.passed, s.last
	s.mu.Unlock()
	if passed {
		return last.clone(), nil
	}
	for _, err := range s.Examples() {
		if err != nil {
			return Report{}, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last.clone(), nil
}

// count notes an example that is handed out; seen holds the bodies so far.
func (r *Report) count(e *Example, seen map[[16]byte]struct{}) {
	r.Examples++
	if e.Label == "" {
		r.Unlabelled++
		r.met(unlabelled, e)
	} else {
		r.PerLabel[e.Label]++
		r.met(label+e.Label, e)
	}
	if strings.TrimSpace(e.HTML) == "" && strings.TrimSpace(e.Text) == "" {
		r.Empty++
		r.met(empty, e)
		return
	}
	if len(e.HTML) > MaxPageBytes || len(e.Text) > MaxPageBytes {
		r.Large++
		r.met(large, e)
	}
	sum := e.sum()
	if _, again := seen[sum]; again {
		r.Duplicates++
		r.met(duplicate, e)
	}
	seen[sum] = struct{}{}
}

// level makes the n-th of e's labels its label.
func (e *Example) level(n int) {
	if n > 0 && len(e.Labels) > 0 {
		e.Label = e.Labels[min(n, len(e.Labels)-1)]
	}
}

// Opener opens a set. Open is one; a program that has sets of other kinds, as stores, has its own.
type Opener func(path string, opt Options) (*Set, error)

// Stream opens sets and chains their rows that have the values of where; of a row's labels the one at
// level is its class. read, unless nil, is called with each set that was read to its end.
func (open Opener) Stream(paths, where []string, level int, read func(*Set)) (Stream, error) {
	opt := Options{Level: level}
	for _, s := range where {
		w, err := ParseWhere(s)
		if err != nil {
			return nil, usage.Of(err)
		}
		opt.Where = append(opt.Where, w)
	}
	var sets []*Set
	for _, path := range paths {
		set, err := open(path, opt)
		if err != nil {
			return nil, err
		}
		sets = append(sets, set)
	}
	return func(yield func(*Example, error) bool) {
		for _, set := range sets {
			for e, err := range set.Examples() {
				if !yield(e, err) {
					return
				}
			}
			if read != nil {
				read(set)
			}
		}
	}, nil
}

// Stream is examples one by one, with the errors between them; most can be read again. Each function
// here passes on a part of what it is given, and the errors, without holding rows.
type Stream = iter.Seq2[*Example, error]

// Only passes on the rows that pass, and all errors.
func Only(rows Stream, pass func(*Example) bool) Stream {
	return sift(rows, func(e *Example, err error) bool { return err != nil || pass(e) })
}

// Map passes on what f makes of the rows, which it leaves as they are, and all errors.
func Map(rows Stream, f func(*Example) *Example) Stream {
	return func(yield func(*Example, error) bool) {
		for e, err := range rows {
			if err == nil {
				e = f(e)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// sift passes on what passes.
func sift(rows Stream, pass func(*Example, error) bool) Stream {
	return func(yield func(*Example, error) bool) {
		for e, err := range rows {
			if pass(e, err) && !yield(e, err) {
				return
			}
		}
	}
}

// Chain passes on one stream after the other.
func Chain(sets ...Stream) Stream {
	return func(yield func(*Example, error) bool) {
		for _, set := range sets {
			for e, err := range set {
				if !yield(e, err) {
					return
				}
			}
		}
	}
}

// Place identifies a row of the sets.
type Place struct {
	File string
	Line int
	URL  string
}

// PlaceOf is where an example stands.
func PlaceOf(e *Example) Place { return Place{e.File, e.Line, e.URL} }

// Except passes on the rows of all that are not in without.
func Except(all, without Stream) Stream {
	return func(yield func(*Example, error) bool) {
		out := map[Place]bool{}
		for e, err := range without {
			if err != nil {
				if IsRow(err) {
					continue // all has it too
				}
				yield(nil, err)
				return
			}
			out[PlaceOf(e)] = true
		}
		Only(all, func(e *Example) bool { return !out[PlaceOf(e)] })(yield)
	}
}

// Pick passes on the rows of one part; assigned counts readable rows only.
func Pick(all Stream, assigned []Part, part Part) Stream {
	return func(yield func(*Example, error) bool) {
		n := 0
		for e, err := range all {
			if err == nil {
				n++
				if n > len(assigned) || assigned[n-1] != part {
					continue
				}
			} else if part != Train && IsRow(err) {
				continue // reported once, with the training rows
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// IsRow says whether an error is of one row, behind which others may be read.
func IsRow(err error) bool {
	var row *RowError
	return errors.As(err, &row)
}

// Readable leaves out the rows that could not be read, for a second look at rows whose errors are
// reported.
func Readable(all Stream) Stream {
	return sift(all, func(_ *Example, err error) bool { return err == nil || !IsRow(err) })
}

// First passes on the first n rows.
func First(all Stream, n int) Stream {
	return func(yield func(*Example, error) bool) {
		left := n
		for e, err := range all {
			if left--; left < 0 || !yield(e, err) {
				return
			}
		}
	}
}

// Counted passes on all, and counts the readable rows.
func Counted(all Stream, count func(n int)) Stream {
	return Only(all, func(*Example) bool { count(1); return true })
}

var errJSON = errors.New("want one JSON object a line")

// eachMember calls member for each member of the JSON object that is all of line, in order; a repeated
// name is no error. The value is valid until member returns.
func eachMember(line []byte, member func(name string, value jsontext.Value) error) error {
	dec := jsontext.NewDecoder(bytes.NewBuffer(line), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if dec.PeekKind() != '{' {
		if _, err := dec.ReadToken(); err != nil && err != io.EOF {
			return syntax(dec, err)
		}
		return fmt.Errorf("column %d: no { at the start; %w", dec.InputOffset()+1, errJSON)
	}
	if _, err := dec.ReadToken(); err != nil {
		return syntax(dec, err)
	}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return syntax(dec, err)
		}
		key := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return syntax(dec, err)
		}
		if err := member(key, value); err != nil {
			return err
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return syntax(dec, err)
	}
	if _, err := dec.ReadToken(); err != io.EOF {
		return fmt.Errorf("column %d: more after the object; %w", dec.InputOffset()+1, errJSON)
	}
	return nil
}

func syntax(dec *jsontext.Decoder, err error) error {
	return fmt.Errorf("column %d: %w; %w", dec.InputOffset()+1, err, errJSON)
}

// text returns what a JSON string stands for; bytes that are no UTF-8 become U+FFFD. That is all that
// can be wrong with a value that was read.
func text(value jsontext.Value) string {
	out, _ := jsontext.AppendUnquote(make([]byte, 0, len(value)), value) // see above
	return string(out)
}
