package eval

import (
	_ "embed" // report.html
	"io"

	"fossick/internal/report"
)

// Report is what the HTML page shows.
type Report struct {
	Result
	Crawls []*Crawl      // in the order of Result.Stores
	Made   []report.Fact // how it was made: version, seed, model card, …
}

//go:embed report.html
var reportHTML string

// WriteReport writes one self-contained HTML page, see report.Write.
func WriteReport(w io.Writer, r Report) error {
	v, err := newView(r)
	if err != nil {
		return err
	}
	return report.Write(w, reportHTML, v)
}
