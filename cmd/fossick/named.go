package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// maxNamedBytes bounds a line of a file that names nodes.
const maxNamedBytes = 1 << 20

// eachNamed reads a file that names nodes (rank --personal, --block): a name a line,
// after a tab what is said of it; empty lines and # comments are passed over. It calls do
// with both, spaces cut off, and with the number of the line, and says whether there was
// any.
func eachNamed(r io.Reader, path string, do func(name, value string, line int) error) (found bool, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxNamedBytes)
	n := 1
	for ; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		name, value, _ := strings.Cut(text, "\t")
		if err := do(strings.TrimSpace(name), strings.TrimSpace(value), n); err != nil {
			return found, err
		}
		found = true
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return found, fmt.Errorf("%s:%d: a line of more than %d bytes; want a node, and after a tab what is said of it", path, n, maxNamedBytes)
	case err != nil: // in the line that came last, whole or not
		return found, fmt.Errorf("%s:%d: the file breaks off or is damaged here (%w); write it again", path, max(1, n-1), err)
	}
	return found, nil
}

// weightOf reads the weight of a node in a file of --personal, 1 when none stands there.
func weightOf(value string) (float64, error) {
	if value == "" {
		return 1, nil
	}
	x, err := strconv.ParseFloat(value, 64)
	if err != nil || !(x >= 0) || math.IsInf(x, 1) {
		return 0, fmt.Errorf("the weight %q is not a number of at least 0, and finite", value)
	}
	return x, nil
}
