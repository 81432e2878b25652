package eval

import (
	"bytes"
	_ "embed" // report.html and report.css
	"fmt"
	"html/template"
	"io"
	"strings"
)

// Report is what the HTML page shows.
type Report struct {
	Result
	Crawls []*Crawl // in the order of Result.Stores
	Made   []Fact   // how it was made: version, seed, model card, …
}

// Fact is a name and what it stands for.
type Fact struct{ Name, Value string }

var (
	//go:embed report.html
	reportHTML string
	//go:embed report.css
	reportCSS string
)

// WriteReport writes one self-contained HTML page: no script, no font, no
// picture from elsewhere. Everything that came from the web or a file goes
// through html/template's escaping; only the stylesheet and the plots, made
// here from numbers, are trusted.
func WriteReport(w io.Writer, r Report) error {
	t, err := template.New("report").Funcs(template.FuncMap{
		"number": number, "ratio": optionalRatio, "nobreak": noBreak,
		"percent": func(x float64) string { return noBreak(percent(x)) },
		"share":   func(x *float64) string { return noBreak(optionalShare(x)) },
	}).Parse(reportHTML)
	if err != nil {
		return fmt.Errorf("report template: %w", err)
	}
	v, err := newView(r)
	if err != nil {
		return err
	}
	var page bytes.Buffer // whole before the first byte goes out
	if err := t.Execute(&page, v); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if _, err := w.Write(page.Bytes()); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// noBreak keeps a number and its sign on one line.
func noBreak(s string) string { return strings.ReplaceAll(s, " %", "\u00a0%") }

func optionalShare(x *float64) string {
	if x == nil {
		return "–"
	}
	return percent(*x)
}

func optionalRatio(x *float64) string {
	if x == nil {
		return "–"
	}
	return fmt.Sprintf("%.2f", *x)
}
