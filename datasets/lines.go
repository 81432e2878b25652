package datasets

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"fossick/internal/reading"
)

// maxLineBytes bounds one line, hence the memory of a pass. A page of 50 MB
// still fits, with its escapes.
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

// ErrCut reports a file of which only the beginning could be read: an archive that
// breaks off, or is damaged from some point on. It is not about one row, and nothing
// follows it: how many rows are lost is not known.
var ErrCut = errors.New("cut file")

// broken is the error of a file that cannot be read on, or not at all when n is 0.
func broken(path string, n int, err error) error {
	if n == 0 {
		return err // open has named the file
	}
	return fmt.Errorf("%s:%d: %w", path, n, err)
}

// eachLine calls do with every line of a file, without its line end; the slice
// is reused. A line that is too long comes with an error and is skipped if do
// lets the reading go on. Any other error ends the file, and do sees it too.
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

// readLine appends the next line to buf. io.EOF comes with the last line when
// that has no line end. Of a line of more than limit bytes nothing is kept.
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
