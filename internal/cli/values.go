package cli

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// units of time; the longest name comes first if one is a prefix of another.
var units = []struct {
	names []string
	d     time.Duration
}{
	{[]string{"weeks", "week", "w"}, 7 * 24 * time.Hour},
	{[]string{"days", "day", "d"}, 24 * time.Hour},
	{[]string{"hours", "hour", "h"}, time.Hour},
	{[]string{"ms"}, time.Millisecond},
	{[]string{"minutes", "minute", "min", "m"}, time.Minute},
	{[]string{"seconds", "second", "sec", "s"}, time.Second},
	{[]string{"us", "µs", "μs"}, time.Microsecond},
	{[]string{"ns"}, time.Nanosecond},
}

var errTime = errors.New("want a time, such as 90s, 15m, 2h, 1d or 2w, or 0")

// Duration parses a time: 0, or numbers with units, as 500ms, 1h30m, 1.5d, "2 weeks".
func Duration(text string) (time.Duration, error) {
	rest := strings.ToLower(strings.TrimSpace(text))
	if rest == "0" {
		return 0, nil
	}
	sum := 0.0
	for rest != "" {
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789."))
		n, err := strconv.ParseFloat(rest[:digits], 64)
		if err != nil {
			return 0, fmt.Errorf("%q: %w", text, errTime)
		}
		rest = strings.TrimLeft(rest[digits:], " ")
		if rest == "" {
			return 0, fmt.Errorf("%q has no unit: %w", text, errTime)
		}
		unit, after := cutUnit(rest)
		if unit == 0 {
			return 0, fmt.Errorf("%q: %w", text, errTime)
		}
		sum += n * float64(unit)
		rest = strings.TrimLeft(after, " ")
	}
	if text == "" || !(sum < math.MaxInt64) {
		return 0, fmt.Errorf("%q: %w", text, errTime)
	}
	return time.Duration(math.Round(sum)), nil
}

// cutUnit cuts a unit off the start of a text; 0 if there is none.
func cutUnit(text string) (unit time.Duration, rest string) {
	word := text[:len(text)-len(strings.TrimLeft(text, "abcdefghijklmnopqrstuvwxyzµμ"))]
	for _, u := range units {
		if slices.Contains(u.names, word) {
			return u.d, text[len(word):]
		}
	}
	return 0, text
}

// Count parses a whole number: 500, 10k, 1.5M, 2G, 10_000 or 10,000.
func Count(text string) (int64, error) {
	s := strings.TrimSpace(text)
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, nil
	}
	s, unit := strings.ToLower(s), 1.0
	for i, letter := range "kmg" {
		if cut, ok := strings.CutSuffix(s, string(letter)); ok {
			s, unit = cut, math.Pow(1000, float64(i+1))
			break
		}
	}
	s = ungroup(strings.TrimSpace(s))
	if strings.Trim(s, "-0123456789.") != "" { // excludes 1e3, 0x1p3, Inf
		return 0, countError(text)
	}
	n, err := strconv.ParseFloat(s, 64)
	if n *= unit; err != nil || n != math.Trunc(n) || math.Abs(n) >= 1<<53 {
		return 0, countError(text)
	}
	return int64(n), nil
}

// Bytes parses a size: 500, 512MB, 25MiB or 2G; units are of 1024.
func Bytes(text string) (int64, error) {
	word := strings.ToUpper(strings.TrimSpace(text))
	if cut := strings.TrimSuffix(strings.TrimSuffix(word, "B"), "I"); strings.TrimRight(cut, "KMGT") != cut {
		word = cut + "iB"
	}
	n, err := humanize.ParseBytes(word)
	if err != nil || n > math.MaxInt64 {
		return 0, fmt.Errorf("%q: want a size, such as 512MB or 2GB", text)
	}
	return int64(n), nil
}

// ungroup removes separators between groups of three digits.
func ungroup(s string) string {
	for _, sep := range []string{",", "_"} {
		groups := strings.Split(s, sep)
		if len(groups) > 1 && groups[0] != "" && !slices.ContainsFunc(groups[1:], func(g string) bool { return len(g) != 3 }) {
			return strings.Join(groups, "")
		}
	}
	return s
}

func countError(text string) error {
	return fmt.Errorf("%q: want a whole number, such as 500, 10k or 2M", text)
}
