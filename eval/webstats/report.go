package webstats

import (
	_ "embed" // report.html
	"fmt"
	"io"

	"fossick/internal/report"
)

//go:embed report.html
var reportHTML string

// view is what report.html is filled with.
type view struct {
	report.Head
	Plots  []report.Figure
	Tables []viewTable
}

type viewTable struct {
	Title, Note string
	Columns     []viewCell
	Rows        [][]viewCell
}

type viewCell struct {
	Text    string
	Numeric bool
}

// WriteReport writes one self-contained page, see report.Write; of says whose pages they are.
func (r *Result) WriteReport(w io.Writer, of string, made ...report.Fact) error {
	head := report.Head{Title: "What a web is made of", Subtitle: of, Sentences: r.Sentences(), Tiles: r.facts.tiles(), Made: made}
	plots, err := r.curves.figures()
	if err != nil {
		return err
	}
	return WritePage(w, head, plots, r.Tables)
}

// WritePage writes a page of plots and tables, see report.Write.
func WritePage(w io.Writer, head report.Head, plots []report.Figure, tables []Table) error {
	v := view{Head: head, Plots: plots}
	for _, t := range tables {
		v.Tables = append(v.Tables, viewOf(t))
	}
	return report.Write(w, reportHTML, v)
}

func viewOf(t Table) viewTable {
	v := viewTable{Title: t.Title, Note: t.Note}
	for _, c := range t.Columns {
		v.Columns = append(v.Columns, viewCell{c.Title, c.Unit != Words})
	}
	for _, row := range t.Rows {
		var cells []viewCell
		for k, value := range row {
			cells = append(cells, viewCell{report.Cut(show(value, t.Columns[k].Unit), 80), t.Columns[k].Unit != Words})
		}
		v.Rows = append(v.Rows, cells)
	}
	return v
}

// tiles are the headline figures.
func (f facts) tiles() []report.Tile {
	n := func(x int64) string { return report.Number(int(x)) }
	return []report.Tile{
		{Label: "URLs known", Value: n(f.known), Note: "requests went to hosts: " + n(f.hosts)},
		{Label: "Requested", Value: n(f.requested), Note: report.StartPages(int(f.seeds)) + " among them"},
		{Label: "Downloaded", Value: n(f.downloaded), Note: show(share(f.downloaded, f.requested), Share) + " of those requested; Korea 91.3 %"},
		{Label: "Stored", Value: n(f.pages), Note: "and duplicates or near-duplicates: " + n(f.copies)},
	}
}

// Sentences say the most important.
func (r *Result) Sentences() []string {
	f := r.facts
	if f.requested == 0 {
		return []string{"No URL has been requested yet."}
	}
	all := []string{fmt.Sprintf("Of %s requested URLs %s gave a page; %s", report.Number(int(f.requested)), show(share(f.downloaded, f.requested), Share), paperOutcome)}
	if with := f.pages + f.copies; with > 0 && f.copies > 0 {
		all = append(all, fmt.Sprintf("%s of the pages are duplicates or near-duplicates of another.", show(share(f.copies, with), Share)))
	}
	if f.shells > 0 {
		all = append(all, report.ScriptOnly(int(f.shells))+".")
	}
	if f.sized > 0 {
		all = append(all, fmt.Sprintf("%s of the bytes of stored pages are markup, scripts and blanks.", show(share(f.unseen, f.sized), Share)))
	}
	return all
}
