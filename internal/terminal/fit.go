package terminal

import (
	"slices"
	"strings"
	"unicode/utf8"
)

type Part struct {
	Text  string
	Rank  int // 0 is most important; the highest rank is dropped first
	Style Style
}

const between = " · "

// fit returns the parts that fit into a line of so many columns, in order. Among equal ranks it
// drops the last first. It always keeps one part, truncated if necessary.
func fit(parts []Part, columns int) []Part {
	parts = slices.DeleteFunc(slices.Clone(parts), func(p Part) bool { return p.Text == "" })
	for len(parts) > 1 && lineWidth(parts) > columns {
		worst := 0
		for i, p := range parts {
			if p.Rank >= parts[worst].Rank {
				worst = i
			}
		}
		parts = slices.Delete(parts, worst, worst+1)
	}
	if len(parts) == 1 {
		parts[0].Text = cut(parts[0].Text, columns)
	}
	return parts
}

func lineWidth(parts []Part) int {
	n := 0
	for i, p := range parts {
		if n += utf8.RuneCountInString(p.Text); i > 0 {
			n += utf8.RuneCountInString(between)
		}
	}
	return n
}

func cut(s string, columns int) string {
	r := []rune(s)
	switch {
	case len(r) <= columns:
		return s
	case columns < 1:
		return ""
	}
	return string(r[:columns-1]) + "…"
}

func join(parts []Part, colour bool) string {
	var b strings.Builder
	for i, p := range parts {
		if i > 0 {
			b.WriteString(paint(between, Faint, colour))
		}
		b.WriteString(paint(p.Text, p.Style, colour))
	}
	return b.String()
}
