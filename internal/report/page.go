package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // parts.html and report.css
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"fossick/internal/cli"
)

// Head is the top of a page: embed it in the data of a report's template.
type Head struct {
	Title     string
	Subtitle  string
	Sentences []string // the verdict with its comparison, then the rest by importance
	Tiles     []Tile   // the headline figures
	Made      []Fact   // how it was made: version, seed, model card, …
}

const leadSentences = 3

// Lead returns the texts above the plots: at most three sentences, unless the first text alone has more.
func (h Head) Lead() []string {
	n := 0
	for i, text := range h.Sentences {
		if n += 1 + strings.Count(text, ". "); i > 0 && n > leadSentences {
			return h.Sentences[:i]
		}
	}
	return h.Sentences
}

// Rest returns the sentences below the plots.
func (h Head) Rest() []string { return h.Sentences[len(h.Lead()):] }

type Tile struct{ Label, Value, Note string }

type Fact struct{ Name, Value string }

var (
	//go:embed parts.html
	partsHTML string
	//go:embed dist/report.css
	stylesheet string
)

// Write executes the template body on data and writes the page. The template may use those of
// parts.html ("head", "tiles", "more", "figure", "matrix", "made", "foot") and the functions below.
// If it fails, nothing is written.
func Write(w io.Writer, body string, data any) error {
	t := template.New("report").Funcs(template.FuncMap{
		"css":    func() template.CSS { return template.CSS(stylesheet) },
		"js":     func() template.JS { return template.JS(script) },
		"policy": policy,
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
	var page bytes.Buffer // complete before the first byte is written
	if err := t.Execute(&page, data); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if _, err := cli.Text(w).Write(page.Bytes()); err != nil { // html/template lets bidirectional controls through
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// policy is the page's Content-Security-Policy: its one script is known by its bytes.
func policy() string {
	sum := sha256.Sum256([]byte(script))
	return "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

func tenth(x *float64) string {
	if x == nil {
		return "–"
	}
	return fmt.Sprintf("%.1f", *x)
}

// Number formats n with commas between thousands.
func Number(n int) string { return humanize.Comma(int64(n)) }

// Pages formats "1 page", "1,200 pages".
func Pages(n int) string { return Count(n, "page") }

// Percent formats a share, and never shows one inside (0,1) as 0 % or 100 %.
func Percent(x float64) string {
	switch {
	case x <= 0 || x >= 1:
		return fmt.Sprintf("%.0f %%", 100*x)
	case x < 0.1, x > 0.99:
		return fmt.Sprintf("%.1f %%", min(max(100*x, 0.1), 99.9))
	}
	return fmt.Sprintf("%.0f %%", 100*x)
}

// Share formats a share like Percent, or "–" if x is nil.
func Share(x *float64) string {
	if x == nil {
		return "–"
	}
	return Percent(*x)
}

// Chance formats the P of a test: 0.012, or < 0.0001, beyond which no test is exact.
func Chance(p float64) string {
	if p < 0.0001 {
		return "< 0.0001"
	}
	return strconv.FormatFloat(p, 'g', 2, 64)
}

// PValue formats a P with its name: p = 0.012, p < 0.0001.
func PValue(p float64) string {
	if text := Chance(p); strings.HasPrefix(text, "<") {
		return "p " + text
	}
	return "p = " + Chance(p)
}

// Span formats an interval of shares, clipped to [0,1]: 56–79 %.
func Span(ci [2]float64) string {
	ci[0], ci[1] = max(0, ci[0]), min(1, ci[1])
	return strings.TrimSuffix(Percent(ci[0]), " %") + "–" + Percent(ci[1])
}

// Cut shortens foreign text to n runes on one line.
func Cut(s string, n int) string {
	return cli.Cut(strings.Join(strings.Fields(s), " "), n)
}

func noBreak(s string) string { return strings.ReplaceAll(s, " %", "\u00a0%") }

func optionalRatio(x *float64) string {
	if x == nil {
		return "–"
	}
	return fmt.Sprintf("%.2f", *x)
}

// Count formats a number of things: 1 host, 2 hosts.
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%s %ss", Number(n), thing)
}

func StartPages(n int) string { return Count(n, "start page") }

// Interval formats an interval of a share as numbers, or "–".
func Interval(ci *[2]float64) string {
	if ci == nil {
		return "–"
	}
	return fmt.Sprintf("%.3f–%.3f", ci[0], ci[1])
}

// ScriptOnly says how many pages of a crawl are made by scripts, without a full stop.
func ScriptOnly(n int) string {
	verb := "are"
	if n == 1 {
		verb = "is"
	}
	return Pages(n) + " " + verb + " made by script; fossick does not run scripts"
}
