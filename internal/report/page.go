package report

import (
	"bytes"
	_ "embed" // parts.html and report.css
	"fmt"
	"html/template"
	"io"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"fossick/internal/printable"
)

// Head is the top of a page: embed it in what a report's template is filled with.
type Head struct {
	Title     string
	Subtitle  string
	Sentences []string // what there is to say: the verdict with what it compares with, then the rest by weight
	Tiles     []Tile   // the headline figures
	Made      []Fact   // how it was made: version, seed, model card, …
}

const leadSentences = 3

// Lead is the sentences above the plots.
func (h Head) Lead() []string { return h.Sentences[:min(len(h.Sentences), leadSentences)] }

// Rest is the sentences below the plots.
func (h Head) Rest() []string { return h.Sentences[len(h.Lead()):] }

// Tile is a headline figure.
type Tile struct{ Label, Value, Note string }

// Fact is a name and what it stands for.
type Fact struct{ Name, Value string }

var (
	//go:embed parts.html
	partsHTML string
	//go:embed report.css
	stylesheet string
)

// Write writes a page: the template body, executed on data. It may use those of
// parts.html ("head", "tiles", "more", "figure", "matrix", "made", "foot") and the functions
// below. Nothing is written when the template fails.
func Write(w io.Writer, body string, data any) error {
	t := template.New("report").Funcs(template.FuncMap{
		"css":    func() template.CSS { return template.CSS(stylesheet) },
		"chance": Chance,
		"number": Number, "ratio": optionalRatio, "nobreak": noBreak,
		"percent": func(x float64) string { return noBreak(Percent(x)) },
		"tenth":   tenth,
		"share":   func(x *float64) string { return noBreak(Share(x)) },
		"span":    func(ci [2]float64) string { return noBreak(Span(ci)) },
	})
	for _, text := range []string{partsHTML, body} {
		if _, err := t.Parse(text); err != nil {
			return fmt.Errorf("report template: %w", err)
		}
	}
	var page bytes.Buffer // whole before the first byte goes out
	if err := t.Execute(&page, data); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if _, err := printable.Text(w).Write(page.Bytes()); err != nil { // html/template lets bidirectional controls through
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

func tenth(x *float64) string {
	if x == nil {
		return "–"
	}
	return fmt.Sprintf("%.1f", *x)
}

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

func noBreak(s string) string { return strings.ReplaceAll(s, " %", "\u00a0%") }

func optionalRatio(x *float64) string {
	if x == nil {
		return "–"
	}
	return fmt.Sprintf("%.2f", *x)
}

// Count writes a number of things: 1 host, 2 hosts.
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%s %ss", Number(n), thing)
}

// StartPages counts start pages.
func StartPages(n int) string { return Count(n, "start page") }

// Interval writes an interval of a share as numbers, – when there is none.
func Interval(ci *[2]float64) string {
	if ci == nil {
		return "–"
	}
	return fmt.Sprintf("%.3f–%.3f", ci[0], ci[1])
}

// ScriptOnly says how many pages of a crawl scripts make. A sentence without its full stop.
func ScriptOnly(n int) string {
	verb := "are"
	if n == 1 {
		verb = "is"
	}
	return Pages(n) + " " + verb + " made by script; fossick does not run scripts"
}
