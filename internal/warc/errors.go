package warc

import (
	"errors"
	"fmt"

	"fossick/internal/reading"
)

// What can be wrong with a file, wrapped in an *Error.
var (
	ErrFormat  = errors.New("no WARC record")
	ErrCut     = errors.New("cut short")
	ErrDamaged = errors.New("damaged")
	ErrLength  = errors.New("longer than its Content-Length")
	ErrDigest  = errors.New("wrong digest")
	ErrBomb    = reading.ErrBomb
)

// Error is damage at a place of a file. Records behind it can be read on.
type Error struct {
	Offset int64 // of the record or, packed, of its member, in the file
	Inside int64 // of the record among the unpacked bytes of a member that has several
	Err    error
}

func (e *Error) Error() string {
	if e.Inside > 0 {
		return fmt.Sprintf("offset %d, unpacked byte %d: %v", e.Offset, e.Inside, e.Err)
	}
	return fmt.Sprintf("offset %d: %v", e.Offset, e.Err)
}

func (e *Error) behind(other *Error) bool {
	return e.Offset > other.Offset || e.Offset == other.Offset && e.Inside > other.Inside
}

func (e *Error) Unwrap() error { return e.Err }
