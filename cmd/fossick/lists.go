package main

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

// maxListLine bounds a line of a list that people write, in bytes.
const maxListLine = 1 << 20

// openList opens a text file that a person may have made with any editor: with or
// without a byte order mark, in UTF-8 or, with a mark, UTF-16, and packed when its
// name ends in .gz or .zst. What comes out is without the mark.
func openList(path string) (io.ReadCloser, error) {
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

// listLines yields the lines of a list as linesOf does.
func listLines(path string) iter.Seq2[listLine, error] {
	return func(yield func(listLine, error) bool) {
		f, err := openList(path)
		if err != nil {
			yield(listLine{}, err)
			return
		}
		defer f.Close() // opened for reading: nothing can be lost
		linesOf(f, path)(yield)
	}
}

// linesOf yields the lines of a list with their numbers, from 1, without blanks
// around them, empty lines and # comments. An error names the file.
func linesOf(r io.Reader, path string) iter.Seq2[listLine, error] {
	return func(yield func(listLine, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, maxListLine)
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
			yield(listLine{}, fmt.Errorf("%s:%d: over %d KiB without an end of line; is it a text file?", path, n, maxListLine>>10))
		case err != nil: // in the line that came last, whole or not
			yield(listLine{}, fmt.Errorf("%s:%d: the file breaks off or is damaged here (%w); write it again", path, max(1, n-1), err))
		}
	}
}

// A listLine is a line of a list that says something.
type listLine struct {
	n    int
	text string
}
