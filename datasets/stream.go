package datasets

import (
	"errors"
	"iter"
)

// Stream is examples one by one, with the errors between them; most can be read again.
// Each function here passes on a part of what it is given, and the errors, without
// holding rows.
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

// Readable leaves out the rows that could not be read, for a second look at rows
// whose errors are reported.
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
