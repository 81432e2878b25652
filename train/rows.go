package train

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"fossick/models/features"
)

// rowLog has the rows of a training set as bytes, in the order added: in memory up to a
// limit, then in a file. A row is
//
//	uvarint bytes that follow, then by term: uvarint distance to the one before, count
//
// and a count a uvarint, twice the number, or 1 and 4 bytes when it is not whole.
type rowLog struct {
	dir   string // of the file; "" is the system's
	limit int    // bytes in memory
	pages int

	row   []byte   // scratch
	tail  []byte   // what is not in the file
	file  *os.File // nil until the limit is met
	named bool     // the file's name could not be taken away; close does it
	bytes int64    // in the file
}

// flushBytes is how much is written at once when there is a file.
const flushBytes = 1 << 20

// add appends a row: terms rising, counts above 0.
func (l *rowLog) add(v features.Vector) error {
	l.row = appendRow(l.row[:0], v)
	l.tail = append(binary.AppendUvarint(l.tail, uint64(len(l.row))), l.row...)
	l.pages++
	if l.file == nil && len(l.tail) > l.limit {
		if err := l.open(); err != nil {
			return err
		}
	}
	if l.file != nil && len(l.tail) > flushBytes {
		return l.flush()
	}
	return nil
}

func appendRow(b []byte, v features.Vector) []byte {
	before := int32(0)
	for k, i := range v.Index {
		b = binary.AppendUvarint(b, uint64(i-before))
		before = i
		if n := uint32(v.Value[k]); float32(n) == v.Value[k] {
			b = binary.AppendUvarint(b, uint64(n)<<1)
			continue
		}
		b = append(b, 1)
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v.Value[k]))
	}
	return b
}

func (l *rowLog) open() error {
	f, err := os.CreateTemp(l.dir, "fossick-rows-*")
	if err != nil {
		return fmt.Errorf("a file for the rows of the training set: %w; set TMPDIR to a folder with free space, or raise --memory", err)
	}
	l.file = f
	l.named = os.Remove(f.Name()) != nil // some systems keep the name of an open file
	return l.flush()
}

func (l *rowLog) flush() error {
	n, err := l.file.Write(l.tail)
	l.bytes += int64(n)
	if err != nil {
		return fmt.Errorf("rows of the training set, after %d bytes: %w; set TMPDIR to a folder with free space, or raise --memory", l.bytes, err)
	}
	l.tail = l.tail[:0]
	return nil
}

// close gives back memory and file. The log must not be used afterwards.
func (l *rowLog) close() error {
	l.tail = nil
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	if l.named {
		err = errors.Join(err, os.Remove(l.file.Name()))
	}
	if err != nil {
		return fmt.Errorf("closing the file of the training set's rows: %w", err)
	}
	return nil
}

// each calls f with every row in the order in which they were added. A row is valid
// until f returns. It ends with f's first error.
func (l *rowLog) each(ctx context.Context, f func(page int, v features.Vector) error) error {
	r, err := l.reader()
	if err != nil {
		return err
	}
	var v features.Vector
	for page := range l.pages {
		if page%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err = l.next(r); err == nil {
			v, err = readRow(v, l.row)
		}
		if err != nil {
			return fmt.Errorf("page %d of %d in the file of the training set's rows: %w", page+1, l.pages, err)
		}
		if err := f(page, v); err != nil {
			return err
		}
	}
	return nil
}

// next reads the bytes of a row.
func (l *rowLog) next(r *bufio.Reader) error {
	n, err := binary.ReadUvarint(r)
	if err != nil || n > uint64(l.bytes)+uint64(len(l.tail)) {
		return fmt.Errorf("%w: %w", errRow, errors.Join(io.ErrUnexpectedEOF, err))
	}
	l.row = slices.Grow(l.row[:0], int(n))[:n]
	if _, err := io.ReadFull(r, l.row); err != nil {
		return fmt.Errorf("%w: %w", errRow, err)
	}
	return nil
}

func (l *rowLog) reader() (*bufio.Reader, error) {
	if l.file == nil {
		return bufio.NewReader(bytes.NewReader(l.tail)), nil
	}
	if err := l.flush(); err != nil {
		return nil, err
	}
	// A section reader leaves the place where the next row is written alone.
	return bufio.NewReaderSize(io.NewSectionReader(l.file, 0, l.bytes), 256<<10), nil
}

var errRow = errors.New("damaged row")

// readRow reads one row into dst's slices, which are cut first. Bytes that no
// appendRow wrote are an error.
func readRow(dst features.Vector, b []byte) (features.Vector, error) {
	dst.Index, dst.Value = dst.Index[:0], dst.Value[:0]
	term := uint64(0)
	for at := 0; at < len(b); {
		step, n := binary.Uvarint(b[at:])
		if n <= 0 {
			return dst, fmt.Errorf("%w: a term is cut short", errRow)
		}
		at += n
		if term += step; step > math.MaxInt32 || term > math.MaxInt32 || len(dst.Index) > 0 && step == 0 {
			return dst, fmt.Errorf("%w: terms do not rise", errRow)
		}
		count, n := binary.Uvarint(b[at:])
		value := float32(count >> 1)
		if n > 0 && count&1 == 1 {
			if at += n; len(b) < at+4 {
				n = 0
			} else {
				value, n = math.Float32frombits(binary.LittleEndian.Uint32(b[at:])), 4
			}
		}
		if n <= 0 {
			return dst, fmt.Errorf("%w: a count is cut short", errRow)
		}
		at += n
		dst.Index, dst.Value = append(dst.Index, int32(term)), append(dst.Value, value)
	}
	return dst, nil
}
