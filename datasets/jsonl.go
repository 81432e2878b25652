package datasets

import (
	"bytes"
	"errors"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
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
				rep.NotUTF8++
				rep.met(notUTF8, &Example{File: path, Line: n})
				line = asUTF8(line)
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

// asUTF8 returns a line as UTF-8: what is UTF-8 stays, and each byte that is not is
// taken for Windows-1252, as browsers do. A line may mix both, when rows of several
// sources were put together.
func asUTF8(line []byte) []byte {
	out := make([]byte, 0, len(line)+len(line)/8)
	for len(line) > 0 {
		r, size := utf8.DecodeRune(line)
		if r == utf8.RuneError && size == 1 {
			r = charmap.Windows1252.DecodeByte(line[0])
		}
		out = utf8.AppendRune(out, r)
		line = line[size:]
	}
	return out
}
