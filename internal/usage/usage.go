// Package usage tells mistakes in a request, which the caller can correct, from failures.
package usage

import "fmt"

// Error is a mistake in a request.
type Error struct{ Err error }

func (e Error) Error() string { return e.Err.Error() }

func (e Error) Unwrap() error { return e.Err }

// Errorf returns an Error, formatted like fmt.Errorf.
func Errorf(format string, args ...any) error { return Error{fmt.Errorf(format, args...)} }

// Of returns err, unless nil, as an Error.
func Of(err error) error {
	if err == nil {
		return nil
	}
	return Error{err}
}
