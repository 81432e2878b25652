package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"fossick/internal/lists"
)

// eachNamed reads a file that names nodes (rank --personal, --block): a name a line,
// after a tab what is said of it; empty lines and # comments are passed over. It calls do
// with both, spaces cut off, and with the number of the line, and says whether there was
// any.
func eachNamed(r io.Reader, path string, do func(name, value string, line int) error) (found bool, err error) {
	for line, err := range lists.Lines(r, path) {
		if err != nil {
			return found, err
		}
		name, value, _ := strings.Cut(line.Text, "\t")
		if err := do(strings.TrimSpace(name), strings.TrimSpace(value), line.N); err != nil {
			return found, err
		}
		found = true
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
