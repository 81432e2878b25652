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

	"fossick/internal/fileio"
)

// maxLineBytes bounds one line, and so the memory of a pass. An escaped page of 50 MB still fits.
const maxLineBytes = 128 << 20

// errTooLong reports a line of more than 128 MiB.
var errTooLong = fmt.Errorf("line is longer than %d MiB", maxLineBytes>>20)

// RowError reports one unreadable row.
type RowError struct {
	File string
	Line int // from 1; 0 if the file has no lines
	Err  error
}

func (e *RowError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %v", e.File, e.Err)
	}
	return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
}

func (e *RowError) Unwrap() error { return e.Err }

// ErrCut reports a file of which only the beginning could be read, because it is truncated or damaged.
// No rows follow this error, and the number of lost rows is unknown.
var ErrCut = errors.New("cut file")

func broken(path string, n int, err error) error {
	if n == 0 {
		return err // the error already names the file
	}
	return fmt.Errorf("%s:%d: %w", path, n, err)
}

// eachLine calls do with each line of a file, without its line end; the slice is reused. An overlong
// line comes with ErrTooLong and is skipped.
func eachLine(path string, do func(n int, line []byte, err error) bool) {
	f, err := OpenFile(path)
	if err != nil {
		do(0, nil, err)
		return
	}
	defer f.Close() // read-only: nothing can be lost
	r := bufio.NewReaderSize(f, 1<<20)
	var line []byte
	for n := 1; ; n++ {
		line, err = readLine(r, line[:0], maxLineBytes)
		switch {
		case errors.Is(err, errTooLong):
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

// readLine appends the next line to buf, or nothing if the line exceeds limit bytes. io.EOF
// accompanies a last line without a line end.
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
			return nil, errTooLong
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

// readError adds advice to the error of a truncated or damaged file.
func readError(err error) error {
	if errors.Is(err, fileio.ErrBomb) {
		return err // downloading it again would not help
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: the archive is truncated here (%v); fetch the file again", ErrCut, err)
	}
	return fmt.Errorf("%w: it is damaged from here on (%v); fetch the file again", ErrCut, err)
}

func readJSONL(path string) reader {
	return func(rep *passReport, yield func(*Example, error) bool) {
		eachLine(path, func(n int, line []byte, err error) bool {
			switch {
			case errors.Is(err, errTooLong):
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

// asUTF8 decodes each byte that is not UTF-8 as Windows-1252, as browsers do. One line may mix both
// encodings if rows of several sources were joined.
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

// Index finds the corpus page for a requested URL despite spelling differences. The caller numbers the
// rows. The zero value is ready; after the last Add it is safe for concurrent use.
type Index struct {
	rows  map[string]int    // by Key
	alias map[string]string // normal form without dropped parameters → Key
}

// Add enters a row by its Key. It returns false if the Key is taken.
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

// Keys returns the Keys of all rows, sorted.
func (x *Index) Keys() []string { return slices.Sorted(maps.Keys(x.rows)) }

// Row returns the row with exactly this Key.
func (x *Index) Row(key string) (row int, ok bool) {
	row, ok = x.rows[key]
	return row, ok
}

// Find returns the row for a Key, tolerating the differences a crawler introduces, such as the other
// scheme or a missing session id.
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

// FlipScheme swaps http and https.
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

// OpenFile opens a file and decompresses it if its name ends in .gz or .zst.
func OpenFile(path string) (io.ReadCloser, error) {
	f, err := fileio.OpenNamed(path)
	if err != nil {
		return nil, err
	}
	return fileio.Unpacked(f, path, 1)
}

// listLineBytes bounds one line of a hand-written list.
const listLineBytes = 1 << 20

// OpenList opens a hand-written text file, compressed or not: UTF-8 with or without a byte order mark,
// or UTF-16 with one.
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

// ReadList opens a list and yields its lines as ListLines does.
func ReadList(path string) iter.Seq2[listLine, error] {
	return func(yield func(listLine, error) bool) {
		f, err := OpenList(path)
		if err != nil {
			yield(listLine{}, err)
			return
		}
		defer f.Close() // read-only: nothing can be lost
		ListLines(f, path)(yield)
	}
}

// ListLines yields the trimmed lines of a list with their numbers, and skips empty lines and #
// comments. Errors name the file.
func ListLines(r io.Reader, path string) iter.Seq2[listLine, error] {
	return func(yield func(listLine, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, listLineBytes)
		n := 1
		for ; lines.Scan(); n++ {
			text := strings.TrimSpace(lines.Text())
			if text == "" || text[0] == '#' {
				continue
			}
			if !yield(listLine{n, text}, nil) {
				return
			}
		}
		switch err := lines.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			yield(listLine{}, fmt.Errorf("%s:%d: over %d KiB without an end of line; is it a text file?", path, n, listLineBytes>>10))
		case err != nil: // n-1 is the last line read, possibly incomplete
			yield(listLine{}, fmt.Errorf("%s:%d: the file is truncated or damaged here (%w); write it again", path, max(1, n-1), err))
		}
	}
}

// listLine is one line of a list; N counts from 1.
type listLine struct {
	N    int
	Text string
}
