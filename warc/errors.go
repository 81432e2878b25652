package warc

import (
	"errors"
	"fmt"
)

// What can be wrong with a file, wrapped in an *Error.
var (
	ErrFormat  = errors.New("no WARC record")
	ErrCut     = errors.New("cut short")
	ErrDamaged = errors.New("damaged")
	ErrLength  = errors.New("longer than its Content-Length")
	ErrDigest  = errors.New("wrong digest")
	ErrBomb    = errors.New("grows too much when unpacked")
)

// Error is damage at a place of a file. Records behind it can be read on.
type Error struct {
	Offset int64 // of the record or, packed, of its member, in the file
	Err    error
}

func (e *Error) Error() string { return fmt.Sprintf("offset %d: %v", e.Offset, e.Err) }

func (e *Error) Unwrap() error { return e.Err }
