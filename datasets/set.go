package datasets

import (
	"errors"
	"iter"
	"strings"
	"sync"
)

// Options says how a set is read. The zero value reads all of it as it stands.
type Options struct {
	Where  []Where  // keep rows for which all hold
	Labels []string // keep rows whose Label is one of these; all when empty

	// Level picks which of a row's Labels becomes its Label: 0 the first (for
	// nested folders and the demo set the theme), 1 the second (the category).
	// A row with fewer uses its last.
	Level int

	// KeepHeaders leaves the mail header of 20 Newsgroups posts in the text.
	// It names the group, so that scores with it mean little.
	KeepHeaders bool

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

// reader makes one pass over the rows. It stops when yield returns false, and
// notes in rep what it leaves out.
type reader func(rep *Report, yield func(*Example, error) bool)

// Link is one link of a corpus, as the corpus writes its URLs.
type Link struct{ Src, Dst string }

// FromSeq makes a set of an iterator, say over a store. It must be repeatable if
// the set is to be read more than once.
func FromSeq(name string, seq iter.Seq2[*Example, error], opt Options) *Set {
	return &Set{name: name, layout: "sequence", opt: opt, read: func(_ *Report, yield func(*Example, error) bool) {
		seq(yield)
	}}
}

// Name says where the set came from: its path, or demo.
func (s *Set) Name() string { return s.name }

// Web returns what a server needs to know beyond the pages, nil when the corpus
// is its pages only. Of an archive it is known once a pass over it came to its end.
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

// Examples streams the rows that pass the options, in the order of the source.
// With an error the example is nil; a *RowError is about one row, and a loop that
// goes on gets the rest. Any other error ends the set: ErrCut says that it is longer
// than what could be read.
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

// Report returns the counts of the pass that ended last; a set that was never
// read is read once for it.
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
