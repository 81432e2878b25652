package report

import (
	"fmt"
	"strconv"
	"strings"

	"fossick/internal/printable"

	"github.com/dustin/go-humanize"
)

// Number groups thousands with a comma.
func Number(n int) string { return humanize.Comma(int64(n)) }

// Pages counts pages in words: "1 page", "1,200 pages".
func Pages(n int) string { return Count(n, "page") }

// Percent prints a share, a small one with a place more. Never is a share above 0
// printed as 0 %, or one below 1 as 100 %.
func Percent(x float64) string {
	switch {
	case x <= 0 || x >= 1:
		return fmt.Sprintf("%.0f %%", 100*x)
	case x < 0.1, x > 0.99:
		return fmt.Sprintf("%.1f %%", min(max(100*x, 0.1), 99.9))
	}
	return fmt.Sprintf("%.0f %%", 100*x)
}

// Share prints a share as Percent does, "–" when it is not known.
func Share(x *float64) string {
	if x == nil {
		return "–"
	}
	return Percent(*x)
}

// Chance prints the P of a test: 0.012, and < 0.0001 where no test is as exact.
func Chance(p float64) string {
	if p < 0.0001 {
		return "< 0.0001"
	}
	return strconv.FormatFloat(p, 'g', 2, 64)
}

// PValue prints a P with its name: p = 0.012, p < 0.0001.
func PValue(p float64) string {
	if text := Chance(p); strings.HasPrefix(text, "<") {
		return "p " + text
	}
	return "p = " + Chance(p)
}

// Span prints an interval of shares: 56–79 %. Few draws make it reach beyond what a share
// can be.
func Span(ci [2]float64) string {
	ci[0], ci[1] = max(0, ci[0]), min(1, ci[1])
	return strings.TrimSuffix(Percent(ci[0]), " %") + "–" + Percent(ci[1])
}

// Cut shortens text from the web to n runes and makes one line of it.
func Cut(s string, n int) string {
	return printable.Cut(strings.Join(strings.Fields(s), " "), n)
}

// noBreak keeps a number and its sign on one line.
func noBreak(s string) string { return strings.ReplaceAll(s, " %", "\u00a0%") }

func optionalRatio(x *float64) string {
	if x == nil {
		return "–"
	}
	return fmt.Sprintf("%.2f", *x)
}
