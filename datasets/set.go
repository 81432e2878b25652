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

	"fossick/internal/cli"
)

// Options selects rows of a set. The zero value selects all.
type Options struct {
	Where  []condition // keep rows that satisfy all
	Labels []string    // keep rows with one of these as Label; empty keeps all

	// Level picks which of a row's Labels becomes its Label: 0 the first (the theme in nested
	// folders and the demo set), 1 the second (the category). A row with fewer uses its last.
	Level int

	// Partial skips unreadable rows; the Report counts them.
	Partial bool
}

// Set is a labelled set or a corpus. It is safe for concurrent use.
type Set struct {
	name   string
	layout string // demo, jsonl, warc, wacz, corpus, sitemap, folders, files, webkb, 20news or sequence
	opt    Options
	read   reader
	links  func() iter.Seq2[Link, error] // nil without links
	web    *Web                          // nil if the corpus has only pages

	mu     sync.Mutex // guards the fields below
	last   passReport
	passed bool
}

// reader makes one pass over the rows, until yield returns false. It counts omissions in rep.
type reader func(rep *passReport, yield func(*Example, error) bool)

// Link is one link of a corpus, with URLs as the corpus spells them.
type Link struct{ Src, Dst string }

// FromSeq makes a set from an iterator, such as one over a store. The iterator must be repeatable if
// the set is read more than once.
func FromSeq(name string, seq iter.Seq2[*Example, error], opt Options) *Set {
	return &Set{name: name, layout: "sequence", opt: opt, read: func(_ *passReport, yield func(*Example, error) bool) {
		seq(yield)
	}}
}

// Name returns the set's path, or "demo".
func (s *Set) Name() string { return s.name }

// Web describes server behaviour beyond the pages; nil if there is none. For an archive it is known
// only after a complete pass.
func (s *Set) Web() *Web {
	if s.web != nil {
		return s.web
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last.web
}

// HasLinks reports whether the corpus has link pairs.
func (s *Set) HasLinks() bool { return s.links != nil }

// Links streams the link pairs of the corpus.
func (s *Set) Links() iter.Seq2[Link, error] {
	if s.links == nil {
		return func(func(Link, error) bool) {}
	}
	return s.links()
}

// Examples streams the rows that pass the options, in source order. An error comes with a nil example;
// after a *RowError the remaining rows follow.
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

// Report returns the counts of the last finished pass. If there was none, it reads the set once.
func (s *Set) Report() (passReport, error) {
	s.mu.Lock()
	passed, last := s.passed, s.last
	s.mu.Unlock()
	if passed {
		return last.clone(), nil
	}
	for _, err := range s.Examples() {
		if err != nil {
			return passReport{}, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last.clone(), nil
}

// count records an example that is handed out; seen holds the hashes of earlier bodies.
func (r *passReport) count(e *Example, seen map[[16]byte]struct{}) {
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

// level makes label number n, from 0, the example's Label.
func (e *Example) level(n int) {
	if n > 0 && len(e.Labels) > 0 {
		e.Label = e.Labels[min(n, len(e.Labels)-1)]
	}
}

// Opener opens a set. Open is the default; a program with other sources, such as stores, has its own.
type Opener func(path string, opt Options) (*Set, error)

// Stream opens sets and chains the rows that satisfy where; the label at level becomes the class. After
// each set that was read completely it calls read, unless read is nil.
func (open Opener) Stream(paths, where []string, level int, read func(*Set)) (Stream, error) {
	opt := Options{Level: level}
	for _, s := range where {
		w, err := ParseWhere(s)
		if err != nil {
			return nil, cli.Usage(err)
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

// Stream yields examples with errors between them; most streams can be read again. The functions below
// filter streams, pass on errors, and hold no rows in memory.
type Stream = iter.Seq2[*Example, error]

// Only keeps the rows that pass accepts.
func Only(rows Stream, pass func(*Example) bool) Stream {
	return sift(rows, func(e *Example, err error) bool { return err != nil || pass(e) })
}

// Map replaces each row by f(row). f must not change its argument.
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

func sift(rows Stream, pass func(*Example, error) bool) Stream {
	return func(yield func(*Example, error) bool) {
		for e, err := range rows {
			if pass(e, err) && !yield(e, err) {
				return
			}
		}
	}
}

// Chain concatenates streams.
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

// Place identifies a row across sets.
type Place struct {
	File string
	Line int
	URL  string
}

// PlaceOf returns an example's Place.
func PlaceOf(e *Example) Place { return Place{e.File, e.Line, e.URL} }

// Except keeps the rows of all that are not in without.
func Except(all, without Stream) Stream {
	return func(yield func(*Example, error) bool) {
		out := map[Place]bool{}
		for e, err := range without {
			if err != nil {
				if IsRow(err) {
					continue // all yields the same error
				}
				yield(nil, err)
				return
			}
			out[PlaceOf(e)] = true
		}
		Only(all, func(e *Example) bool { return !out[PlaceOf(e)] })(yield)
	}
}

// Pick keeps the rows of one part. assigned has one entry per readable row.
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
				continue // report once, with the training rows
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// IsRow reports whether an error concerns one row only, so that more rows may follow.
func IsRow(err error) bool {
	var row *RowError
	return errors.As(err, &row)
}

// Readable drops the errors of unreadable rows, for a second pass after they were reported.
func Readable(all Stream) Stream {
	return sift(all, func(_ *Example, err error) bool { return err == nil || !IsRow(err) })
}

// First keeps the first n rows.
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

// Counted calls count(1) for each readable row.
func Counted(all Stream, count func(n int)) Stream {
	return Only(all, func(*Example) bool { count(1); return true })
}

var errJSON = errors.New("want one JSON object a line")

// eachMember calls member for each member of the JSON object in line, in order. Repeated names are
// allowed. The value is valid until member returns.
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

// text unquotes a JSON string. Invalid UTF-8 becomes U+FFFD.
func text(value jsontext.Value) string {
	out, _ := jsontext.AppendUnquote(make([]byte, 0, len(value)), value) // the only possible error is invalid UTF-8
	return string(out)
}
