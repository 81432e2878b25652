// Package usage tells mistakes in what was asked for from failures. Who asked can mend
// the first kind, and a program that ends for one says so.
package usage

import "fmt"

// Error is a mistake in what was asked for.
type Error struct{ Err error }

// Error implements error.
func (e Error) Error() string { return e.Err.Error() }

// Unwrap returns what went wrong.
func (e Error) Unwrap() error { return e.Err }

// Errorf makes one as fmt.Errorf does.
func Errorf(format string, args ...any) error { return Error{fmt.Errorf(format, args...)} }

// Of is err, unless nil, as a mistake in what was asked for.
func Of(err error) error {
	if err == nil {
		return nil
	}
	return Error{err}
}
