package main

import (
	"errors"

	"fossick/datasets"
)

// Streams of examples: each function passes on a part of what it is given, and
// the errors, without holding rows.

// only passes on the rows that pass, and all errors.
func only(rows examples, pass func(*datasets.Example) bool) examples {
	return func(yield func(*datasets.Example, error) bool) {
		for e, err := range rows {
			if err == nil && !pass(e) {
				continue
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func chain(sets []examples) examples {
	return func(yield func(*datasets.Example, error) bool) {
		for _, set := range sets {
			for e, err := range set {
				if !yield(e, err) {
					return
				}
			}
		}
	}
}

// place identifies a row of the sets.
type place struct {
	file string
	line int
	url  string
}

func placeOf(e *datasets.Example) place { return place{e.File, e.Line, e.URL} }

// except passes on the rows of all that are not in without.
func except(all, without examples) examples {
	return func(yield func(*datasets.Example, error) bool) {
		out := map[place]bool{}
		for e, err := range without {
			if err != nil {
				if isRow(err) {
					continue // all has it too
				}
				yield(nil, err)
				return
			}
			out[placeOf(e)] = true
		}
		for e, err := range all {
			if err == nil && out[placeOf(e)] {
				continue
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// pick passes on the rows of one part; assigned counts readable rows only.
func pick(all examples, assigned []datasets.Part, part datasets.Part) examples {
	return func(yield func(*datasets.Example, error) bool) {
		n := 0
		for e, err := range all {
			if err == nil {
				n++
				if n > len(assigned) || assigned[n-1] != part {
					continue
				}
			} else if part != datasets.Train && isRow(err) {
				continue // reported once, with the training rows
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func isRow(err error) bool {
	var row *datasets.RowError
	return errors.As(err, &row)
}

// readable leaves out the rows that could not be read, for a second look at rows
// whose errors are reported.
func readable(all examples) examples {
	return func(yield func(*datasets.Example, error) bool) {
		for e, err := range all {
			if err != nil && isRow(err) {
				continue
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// first passes on the first n rows.
func first(all examples, n int) examples {
	return func(yield func(*datasets.Example, error) bool) {
		left := n
		for e, err := range all {
			if left--; left < 0 || !yield(e, err) {
				return
			}
		}
	}
}
