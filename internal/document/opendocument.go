package document

import (
	"context"
	"strconv"
	"strings"
)

// readOpenDocument reads a text, presentation or spreadsheet of OpenDocument (ISO 26300). Slides
// and sheets get their names as headings.
func readOpenDocument(ctx context.Context, body []byte, w *writer) error {
	a, err := openArchive(body)
	if err != nil {
		return err
	}
	const main, meta, manifest = "content.xml", "meta.xml", "META-INF/manifest.xml"
	if a.has(manifest) {
		if err := a.walk(ctx, manifest, func(e *element) error {
			if e.name == "encryption-data" {
				return ErrLocked
			}
			return nil
		}); err != nil {
			return err
		}
	}
	if a.has(meta) {
		if err := a.walk(ctx, meta, w.dublinCore()); err != nil {
			return err
		}
	}
	r := openDocumentReader{w: w}
	return a.walk(ctx, main, r.element)
}

// openDocumentReader keeps the state of one pass over content.xml.
type openDocumentReader struct {
	w      *writer
	tables int
	depth  int // of paragraphs and headings that hold text
	pages  int
}

func (r *openDocumentReader) end(name string) {
	w := r.w
	switch name {
	case "p", "h":
		r.depth = max(r.depth-1, 0)
		if r.tables > 0 {
			w.text(" ")
		} else {
			w.end()
		}
	case "a":
		w.linkClose()
	case "table-cell", "covered-table-cell":
		w.cellEnd()
	case "table-row":
		w.tag("</tr>\n")
	case "table":
		r.tables = max(r.tables-1, 0)
		w.tag("</table>\n")
	}
}

func (r *openDocumentReader) element(e *element) error {
	w := r.w
	switch {
	case e.text != "":
		if r.depth > 0 {
			w.text(e.text)
		}
		return nil
	case e.end:
		r.end(e.name)
		return nil
	}
	switch e.name {
	case "tracked-changes", "annotation", "forms", "automatic-styles", "styles", "master-styles":
		return errSkip
	case "page": // of a presentation
		if r.pages++; r.pages > maxPages {
			w.full = true
		}
		if name := e.attr("name"); name != "" {
			w.heading(2)
			w.text(name)
			w.end()
		}
	case "h":
		r.depth++
		level, err := strconv.Atoi(e.attr("outline-level"))
		if err != nil {
			level = 2
		}
		if r.tables == 0 {
			w.heading(level)
		}
	case "p":
		if r.depth++; r.tables == 0 {
			w.block("p")
		}
	case "s":
		n, err := strconv.Atoi(e.attr("c"))
		if err != nil {
			n = 1
		}
		w.text(strings.Repeat(" ", min(max(n, 1), 100)))
	case "tab":
		w.text(" ")
	case "line-break":
		w.text("\n")
	case "a":
		w.linkOpen(e.attr("href"))
	case "table":
		if name := e.attr("name"); name != "" && r.tables == 0 {
			w.heading(2)
			w.text(name)
		}
		r.tables++
		w.tag("<table>\n")
	case "table-row":
		w.tag("<tr>")
	case "table-cell", "covered-table-cell":
		w.cell()
	}
	return nil
}
