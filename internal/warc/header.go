package warc

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Bounds of a header. Real ones have some hundred bytes.
const (
	maxHeaderBytes = 64 << 10
	maxFields      = 1000
)

// Field is one named field of a header.
type Field struct{ Name, Value string }

// Header is the fields of a record, in their order.
type Header []Field

// Get returns the value of the first field of a name, whose case does not matter; "" when
// there is none.
func (h Header) Get(name string) string {
	for _, f := range h {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// parseVersion reads the first line of a record: WARC/ and a version such as 1.0.
func parseVersion(line []byte) (string, bool) {
	version, ok := bytes.CutPrefix(line, []byte("WARC/"))
	if !ok {
		return "", false
	}
	major, minor, ok := strings.Cut(string(version), ".")
	return string(version), ok && len(major) == 1 && isDigits(major) && len(minor) <= 2 && isDigits(minor)
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

func (h *Header) add(line []byte) error {
	if line[0] == ' ' || line[0] == '\t' {
		if len(*h) == 0 {
			return fmt.Errorf("%w: its header begins with a continued line", ErrFormat)
		}
		last := &(*h)[len(*h)-1]
		last.Value += " " + strings.TrimSpace(string(line))
		return nil
	}
	name, value, ok := strings.Cut(string(line), ":")
	if !ok || name == "" || strings.ContainsAny(name, " \t") {
		return fmt.Errorf("%w: want a field such as WARC-Type: response, got %.60q", ErrFormat, line)
	}
	if len(*h) == maxFields {
		return fmt.Errorf("%w: more than %d fields", ErrFormat, maxFields)
	}
	*h = append(*h, Field{name, strings.TrimSpace(value)})
	return nil
}

// ReadFields reads a block of type application/warc-fields, of which warcinfo and metadata
// records are: a field a line.
func ReadFields(block io.Reader) (Header, error) {
	text, err := io.ReadAll(io.LimitReader(block, maxHeaderBytes))
	if err != nil {
		return nil, err
	}
	var h Header
	for line := range bytes.Lines(text) {
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
			continue
		}
		if err := h.add(line); err != nil {
			return h, err
		}
	}
	return h, nil
}

func (h Header) length() (int64, error) {
	s := h.Get("Content-Length")
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%w: its Content-Length is %.40q, want a number of bytes", ErrFormat, s)
	}
	return n, nil
}
