package report

import (
	"bytes"
	_ "embed" // parts.html and report.css
	"fmt"
	"html/template"
	"io"

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

// leadSentences are those above the first plot.
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

// tenth prints a number with one place, – for an unknown one.
func tenth(x *float64) string {
	if x == nil {
		return "–"
	}
	return fmt.Sprintf("%.1f", *x)
}
