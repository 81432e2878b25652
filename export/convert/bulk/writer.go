package bulk

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
	"time"
)

// signature begins each file; two numbers follow: no flags, no extension.
const signature = "PGCOPY\n\xff\r\n\x00"

// maxFieldBytes is what a value of text may have; PostgreSQL takes a little less than 1 GiB
// for a whole row.
const maxFieldBytes = 1 << 28

// epoch is where PostgreSQL counts time from.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// Writer writes the rows of one table. After an error it writes no more; Close tells it.
type Writer struct {
	to      *bufio.Writer
	columns int
	left    int // values of the row that are to come
	buf     []byte
	err     error
}

// NewWriter begins a file of rows with so many values.
func NewWriter(to io.Writer, t Table) *Writer {
	w := &Writer{to: bufio.NewWriterSize(to, 64<<10), columns: len(t.Columns)}
	w.write(append([]byte(signature), make([]byte, 8)...))
	return w
}

func (w *Writer) write(b []byte) {
	if w.err == nil {
		_, w.err = w.to.Write(b)
	}
}

// value begins the next value of the row, of so many bytes; -1 is NULL.
func (w *Writer) value(bytes int32) {
	w.buf = w.buf[:0]
	if w.left == 0 {
		w.left = w.columns
		w.buf = binary.BigEndian.AppendUint16(w.buf, uint16(w.columns))
	}
	w.left--
	w.buf = binary.BigEndian.AppendUint32(w.buf, uint32(bytes))
}

// Int writes a bigint.
func (w *Writer) Int(v int64) {
	w.value(8)
	w.buf = binary.BigEndian.AppendUint64(w.buf, uint64(v))
	w.write(w.buf)
}

// Real writes a double precision.
func (w *Writer) Real(v float64) { w.Int(int64(math.Float64bits(v))) }

// Time writes a timestamp with time zone, to the microsecond.
func (w *Writer) Time(v time.Time) { w.Int(v.UnixMicro() - epoch.UnixMicro()) }

// Text writes text, NULL where it is empty. What PostgreSQL does not take is left out (the
// character 0) or becomes U+FFFD (bytes that are no UTF-8).
func (w *Writer) Text(v string) {
	v = Clean(v)
	if v == "" {
		w.Null()
		return
	}
	if len(v) > maxFieldBytes {
		w.err = fmt.Errorf("a text of %d bytes; %d can be loaded", len(v), maxFieldBytes)
	}
	w.value(int32(len(v)))
	w.buf = append(w.buf, v...)
	w.write(w.buf)
}

// Null writes no value.
func (w *Writer) Null() {
	w.value(-1)
	w.write(w.buf)
}

// Close ends the file; what it goes to stays open.
func (w *Writer) Close() error {
	if w.err == nil && w.left != 0 {
		w.err = fmt.Errorf("the last row lacks %d values of %d", w.left, w.columns)
	}
	w.write([]byte{0xff, 0xff})
	if w.err == nil {
		w.err = w.to.Flush()
	}
	return w.err
}

// Clean makes text that PostgreSQL takes.
func Clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
}
