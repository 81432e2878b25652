package values

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Size is a number of bytes as people write it: 500000000, 512MB, 2GB, 1.5GiB.
// K, M and G are powers of 1024, with or without an i.
type Size int64

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Size) UnmarshalText(text []byte) (err error) {
	*s, err = parseSize(string(text), 1)
	return err
}

// Mebibytes is a Size of which a number alone is in MiB.
type Mebibytes Size

// UnmarshalText implements encoding.TextUnmarshaler.
func (m *Mebibytes) UnmarshalText(text []byte) error {
	s, err := parseSize(string(text), 1<<20)
	*m = Mebibytes(s)
	return err
}

// parseSize reads a number of bytes; alone is the unit of a number without one.
func parseSize(text string, alone float64) (Size, error) {
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
	return Size(n), nil
}
