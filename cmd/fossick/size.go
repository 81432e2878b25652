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
func (b *byteSize) UnmarshalText(text []byte) error {
	s := strings.ToUpper(strings.TrimSpace(string(text)))
	s = strings.TrimSuffix(strings.TrimSuffix(s, "B"), "I")
	unit := 1.0
	for i, letter := range "KMGT" {
		if cut, ok := strings.CutSuffix(s, string(letter)); ok {
			s, unit = cut, math.Pow(1024, float64(i+1))
		}
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if n *= unit; err != nil || !(n >= 0 && n < 1<<62) {
		return fmt.Errorf("%q: want a number of bytes, as in 512MB or 2GB", text)
	}
	*b = byteSize(n)
	return nil
}
