// Package lists reads text files that people write: a thing a line, with # comments, by any
// editor, packed or not.
package datasets

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"fossick/internal/reading"
)

// maxLineBytes bounds one line, hence the memory of a pass. A page of 50 MB still fits, with its
// escapes.
const maxLineBytes = 128 << 20

// ErrTooLong reports a line that is longer than any page can be.
var ErrTooLong = fmt.Errorf("line is longer than %d MiB", maxLineBytes>>20)

// RowError is one row that could not be read.
type RowError struct {
	File string
	Line int // from 1; 0 when the file has no lines
	Err  error
}

func (e *RowError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %v", e.File, e.Err)
	}
	return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
}

func (e *RowError) Unwrap() error { return e.Err }

// ErrCut reports a file of which only the beginning could be read: an archive that breaks off, or is
// damaged from some point on. It is not about one row, and nothing follows it: how many rows are lost
// is not known.
var ErrCut = errors.New("cut file")

// broken is the error of a file that cannot be read on, or not at all when n is 0.
func broken(path string, n int, err error) error {
	if n == 0 {
		return err // open has named the file
	}
	return fmt.Errorf("%s:%d: %w", path, n, err)
}

// eachLine calls do with every line of a file, without its line end; the slice is reused. A line that
// is too long comes with an error and is skipped if do lets the reading go on.
func eachLine(path string, do func(n int, line []byte, err error) bool) {
	f, err := OpenFile(path)
	if err != nil {
		do(0, nil, err)
		return
	}
	defer f.Close() // opened for reading: nothing can be lost
	r := bufio.NewReaderSize(f, 1<<20)
	var line []byte
	for n := 1; ; n++ {
		line, err = readLine(r, line[:0], maxLineBytes)
		switch {
		case errors.Is(err, ErrTooLong):
			if !do(n, nil, err) {
				return
			}
			line = nil
			continue
		case err == io.EOF && len(line) == 0:
			return
		case err != nil && err != io.EOF:
			do(n, nil, readError(err))
			return
		}
		if !do(n, line, nil) || err == io.EOF {
			return
		}
	}
}

// readLine appends the next line to buf. io.EOF comes with the last line when that has no line end. Of
// a line of more than limit bytes nothing is kept.
func readLine(r *bufio.Reader, buf []byte, limit int) ([]byte, error) {
	tooLong := false
	for {
		part, err := r.ReadSlice('\n')
		if !tooLong {
			buf = append(buf, part...)
			tooLong = len(buf) > limit+len("\n")
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case tooLong && (err == nil || err == io.EOF):
			return nil, ErrTooLong
		case err != nil:
			return buf, err
		}
		buf = buf[:len(buf)-1]
		if n := len(buf); n > 0 && buf[n-1] == '\r' {
			buf = buf[:n-1]
		}
		return buf, nil
	}
}

// readError says what to do about a file that breaks off.
func readError(err error) error {
	if errors.Is(err, reading.ErrBomb) {
		return err // fetched again it is the same
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: the archive is truncated here (%v); fetch the file again", ErrCut, err)
	}
	return fmt.Errorf("%w: it is damaged from here on (%v); fetch the file again", ErrCut, err)
}

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

// asUTF8 returns a line as UTF-8: what is UTF-8 stays, and each byte that is not is taken for
// Windows-1252, as browsers do. A line may mix both, when rows of several sources were put together.
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

// Index finds the page of a corpus that a URL asks for, however it is spelt, as the corpus served as a
// web does. Rows are numbered by the caller. The zero value is empty and ready; after the last Add it
// is safe for concurrent use.
type Index struct {
	rows  map[string]int    // by Key
	alias map[string]string // normal forms whose dropped parameters pages have → their keys
}

// Add enters a row by its Key; false when another row has it already.
func (x *Index) Add(key string, row int) bool {
	if x.rows == nil {
		x.rows, x.alias = map[string]int{}, map[string]string{}
	}
	if _, again := x.rows[key]; again {
		return false
	}
	x.rows[key] = row
	if short := URLKey(key); short != key {
		if _, taken := x.alias[short]; !taken {
			x.alias[short] = key
		}
	}
	return true
}

// Len returns the number of rows.
func (x *Index) Len() int { return len(x.rows) }

// Keys returns the rows' Keys, sorted.
func (x *Index) Keys() []string { return slices.Sorted(maps.Keys(x.rows)) }

// Row returns the row that was entered by a Key, spelt like that.
func (x *Index) Row(key string) (row int, ok bool) {
	row, ok = x.rows[key]
	return row, ok
}

// Find returns the row for a Key. A crawler may spell a page's URL otherwise than the corpus does: by
// the other scheme, or without a session id.
func (x *Index) Find(key string) (row int, moved string, ok bool) {
	forms := [2]string{key, FlipScheme(key)}
	for _, k := range forms {
		if row, ok = x.rows[k]; ok {
			return row, "", true
		}
		if row, ok = x.rows[x.alias[k]]; ok {
			return row, "", true
		}
	}
	for _, k := range forms {
		other := flipSlash(k)
		if row, ok = x.rows[other]; ok {
			return row, other, true
		}
	}
	return 0, "", false
}

// FlipScheme makes http of https and the reverse.
func FlipScheme(key string) string {
	if rest, ok := strings.CutPrefix(key, "http://"); ok {
		return "https://" + rest
	}
	return "http://" + strings.TrimPrefix(key, "https://")
}

func flipSlash(key string) string {
	path, query, ok := strings.Cut(key, "?")
	if strings.Count(path, "/") == 3 && strings.HasSuffix(path, "/") {
		return key // the root has no other form
	}
	if cut, had := strings.CutSuffix(path, "/"); had {
		path = cut
	} else {
		path += "/"
	}
	if ok {
		path += "?" + query
	}
	return path
}

// OpenFile opens a file, decompressed when its name ends in .gz or .zst.
func OpenFile(path string) (io.ReadCloser, error) {
	f, err := reading.OpenNamed(path)
	if err != nil {
		return nil, err
	}
	return reading.Unpacked(f, path, 1)
}

// MaxLineBytes bounds a line of a list that people write, in bytes.
const MaxLineBytes = 1 << 20

// Open opens a text file that a person may have made with any editor. It is UTF-8, with a byte order
// mark or without, or UTF-16 with one.
func OpenList(path string) (io.ReadCloser, error) {
	f, err := OpenFile(path)
	if err != nil {
		return nil, err
	}
	return &list{transform.NewReader(f, unicode.BOMOverride(transform.Nop)), f}, nil
}

type list struct {
	io.Reader
	io.Closer
}

// File yields the lines of a list as Lines does.
func ReadList(path string) iter.Seq2[ListLine, error] {
	return func(yield func(ListLine, error) bool) {
		f, err := OpenList(path)
		if err != nil {
			yield(ListLine{}, err)
			return
		}
		defer f.Close() // opened for reading: nothing can be lost
		ListLines(f, path)(yield)
	}
}

// Lines yields the lines of a list with their numbers, from 1, without blanks around them, empty lines
// and # comments. An error names the file.
func ListLines(r io.Reader, path string) iter.Seq2[ListLine, error] {
	return func(yield func(ListLine, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, MaxLineBytes)
		n := 1
		for ; lines.Scan(); n++ {
			text := strings.TrimSpace(lines.Text())
			if text == "" || text[0] == '#' {
				continue
			}
			if !yield(ListLine{n, text}, nil) {
				return
			}
		}
		switch err := lines.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			yield(ListLine{}, fmt.Errorf("%s:%d: over %d KiB without an end of line; is it a text file?", path, n, MaxLineBytes>>10))
		case err != nil: // in the line that came last, whole or not
			yield(ListLine{}, fmt.Errorf("%s:%d: the file is truncated or damaged here (%w); write it again", path, max(1, n-1), err))
		}
	}
}

// A Line is a line of a list that says something.
type ListLine struct {
	N    int
	Text string
}
