// Package lists reads text files that people write: a thing a line, with # comments, by any
// editor, packed or not.
package lists

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"fossick/datasets"
)

// MaxLineBytes bounds a line of a list that people write, in bytes.
const MaxLineBytes = 1 << 20

// Open opens a text file that a person may have made with any editor. It is UTF-8, with
// a byte order mark or without, or UTF-16 with one. It is unpacked when its name ends
// in .gz or .zst. What comes out is without the mark.
func Open(path string) (io.ReadCloser, error) {
	f, err := datasets.OpenFile(path)
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
func File(path string) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		f, err := Open(path)
		if err != nil {
			yield(Line{}, err)
			return
		}
		defer f.Close() // opened for reading: nothing can be lost
		Lines(f, path)(yield)
	}
}

// Lines yields the lines of a list with their numbers, from 1, without blanks
// around them, empty lines and # comments. An error names the file.
func Lines(r io.Reader, path string) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, MaxLineBytes)
		n := 1
		for ; lines.Scan(); n++ {
			text := strings.TrimSpace(lines.Text())
			if text == "" || text[0] == '#' {
				continue
			}
			if !yield(Line{n, text}, nil) {
				return
			}
		}
		switch err := lines.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			yield(Line{}, fmt.Errorf("%s:%d: over %d KiB without an end of line; is it a text file?", path, n, MaxLineBytes>>10))
		case err != nil: // in the line that came last, whole or not
			yield(Line{}, fmt.Errorf("%s:%d: the file is truncated or damaged here (%w); write it again", path, max(1, n-1), err))
		}
	}
}

// A Line is a line of a list that says something.
type Line struct {
	N    int
	Text string
}
