package cli

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/dustin/go-humanize"

	"fossick/internal/cli"
)

// Mappers make the parser accept values as people write them: times as 90s or 2w, numbers as 10k,
// and choices from a list.
func Mappers() []kong.Option {
	return []kong.Option{
		kong.TypeMapper(reflect.TypeFor[time.Duration](), Mapper(func(v reflect.Value, text string) error {
			d, err := Duration(text)
			v.SetInt(int64(d))
			return err
		})),
		kong.KindMapper(reflect.Int, Mapper(setInt)),
		kong.KindMapper(reflect.Int64, Mapper(setInt)),
		kong.KindMapper(reflect.Uint64, Mapper(func(v reflect.Value, text string) error {
			n, err := Count(text)
			if err == nil && n < 0 {
				err = countError(text)
			}
			v.SetUint(uint64(max(0, n)))
			return err
		})),
		kong.KindMapper(reflect.String, kong.MapperFunc(mapString)),
	}
}

// Mapper returns a mapper for a single value as text.
func Mapper(set func(target reflect.Value, text string) error) kong.Mapper {
	return kong.MapperFunc(func(ctx *kong.DecodeContext, target reflect.Value) error {
		text, err := popText(ctx)
		if err != nil {
			return err
		}
		return set(target, text)
	})
}

func popText(ctx *kong.DecodeContext) (text string, err error) {
	if err = ctx.Scan.PopValueInto("value", &text); err != nil {
		return "", fmt.Errorf("no value given; it takes %s", valueName(ctx.Value))
	}
	return text, nil
}

// valueName returns a value's name in the help.
func valueName(v *kong.Value) string {
	if v.Flag != nil {
		return v.Flag.FormatPlaceHolder()
	}
	return v.Summary()
}

func setInt(v reflect.Value, text string) error {
	n, err := Count(text)
	v.SetInt(n)
	return err
}

// mapString sets a string, which must be among its choices if there are any.
func mapString(ctx *kong.DecodeContext, target reflect.Value) error {
	text, err := popText(ctx)
	if err != nil {
		return err
	}
	if allowed := choices(ctx.Value); len(allowed) > 0 && text != "" && !slices.Contains(allowed, text) {
		return fmt.Errorf("%q: want %s%s", text, cli.OrList(allowed), cli.DidYouMean(text, allowed))
	}
	target.SetString(text)
	return nil
}

// choices returns the allowed values of an enum, without "" for a flag that is not given.
func choices(v *kong.Value) []string {
	if v.Enum == "" {
		return nil
	}
	return slices.DeleteFunc(v.EnumSlice(), func(s string) bool { return s == "" })
}

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

// Moment parses a past time: a day as 2026-11-24 (from midnight UTC), a time as
// 2026-11-24T13:00:00Z, or an age as 2w.
func Moment(text string, now time.Time) (time.Time, error) {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	age, err := Duration(text)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q: want a day such as 2026-11-24, a time such as 2026-11-24T13:00:00Z, or an age such as 2w", text)
	}
	return now.Add(-age), nil
}

// Size is a number of bytes as people write it: 500000000, 512MB, 2GB, 1.5GiB. K, M and G are
// powers of 1024, with or without an i.
type Size int64

func (s *Size) UnmarshalText(text []byte) error {
	word := strings.ToUpper(strings.TrimSpace(string(text)))
	if cut := strings.TrimSuffix(strings.TrimSuffix(word, "B"), "I"); strings.TrimRight(cut, "KMGT") != cut {
		word = cut + "iB"
	}
	n, err := humanize.ParseBytes(word)
	if *s = Size(n); err != nil || *s < 0 {
		return fmt.Errorf("%q: want a size, such as 512MB or 2GB", text)
	}
	return nil
}
