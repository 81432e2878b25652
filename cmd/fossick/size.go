package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// byteSize is a number of bytes on the command line: 500000000, 512MB, 2GB, 1.5GiB.
// K, M and G are powers of 1024, with or without an i.
type byteSize int64

// UnmarshalText implements encoding.TextUnmarshaler.
func (b *byteSize) UnmarshalText(text []byte) (err error) {
	*b, err = parseSize(string(text), 1)
	return err
}

// mebibytes is a byteSize of which a number alone is in MiB.
type mebibytes byteSize

// UnmarshalText implements encoding.TextUnmarshaler.
func (m *mebibytes) UnmarshalText(text []byte) error {
	b, err := parseSize(string(text), 1<<20)
	*m = mebibytes(b)
	return err
}

// parseSize reads a number of bytes; alone is the unit of a number without one.
func parseSize(text string, alone float64) (byteSize, error) {
	s := strings.ToUpper(strings.TrimSpace(text))
	unit := alone
	if cut, ok := strings.CutSuffix(s, "B"); ok {
		s, unit = strings.TrimSuffix(cut, "I"), 1
	}
	s = strings.TrimSuffix(s, "I")
	for i, letter := range "KMGT" {
		if cut, ok := strings.CutSuffix(s, string(letter)); ok {
			s, unit = cut, math.Pow(1024, float64(i+1))
		}
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if n *= unit; err != nil || !(n >= 0 && n < 1<<62) {
		return 0, fmt.Errorf("%q: want a size, such as 512MB or 2GB", text)
	}
	return byteSize(n), nil
}
