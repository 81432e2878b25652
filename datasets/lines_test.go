package datasets

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestReadLine(t *testing.T) {
	long := strings.Repeat("x", 100)
	in := "short\r\n" + strings.Repeat("y", 50) + "\n" + long + "\n\n" + long + "\nend"
	r := bufio.NewReaderSize(strings.NewReader(in), 16)
	want := []struct {
		line string
		err  error
	}{
		{"short", nil}, {strings.Repeat("y", 50), nil}, {"", ErrTooLong}, {"", nil}, {"", ErrTooLong}, {"end", io.EOF}, {"", io.EOF},
	}
	for i, w := range want {
		line, err := readLine(r, nil, 50)
		if string(line) != w.line || !errors.Is(err, w.err) {
			t.Errorf("line %d: %q, %v; want %q, %v", i+1, line, err, w.line, w.err)
		}
	}
}
