package datasets

import (
	"bytes"
	"errors"
	"unicode/utf8"
)

// readJSONL reads a file of one JSON object a line. Empty lines are passed over.
func readJSONL(path string) reader {
	return func(rep *Report, yield func(*Example, error) bool) {
		eachLine(path, func(n int, line []byte, err error) bool {
			switch {
			case errors.Is(err, ErrTooLong):
				return yield(nil, &RowError{path, n, err})
			case err != nil:
				return yield(nil, broken(path, n, err))
			}
			if n == 1 {
				line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
			}
			if len(bytes.TrimSpace(line)) == 0 {
				return true
			}
			if !utf8.Valid(line) {
				rep.NotUTF8++ // the JSON decoder puts U+FFFD for each such byte
				rep.met(notUTF8, &Example{File: path, Line: n})
			}
			e, err := parseRow(line)
			if err != nil {
				return yield(nil, &RowError{path, n, err})
			}
			e.File, e.Line = path, n
			return yield(e, nil)
		})
	}
}
