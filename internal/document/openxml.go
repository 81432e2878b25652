package document

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// openXMLFile is a document of Word, PowerPoint or Excel (ECMA-376).
type openXMLFile struct {
	*archive
	ctx context.Context
	w   *writer
}

func openOpenXML(ctx context.Context, body []byte, w *writer) (*openXMLFile, error) {
	if slices.Equal(body[:min(len(body), 4)], []byte{0xD0, 0xCF, 0x11, 0xE0}) {
		return nil, ErrLocked // an encrypted document is a compound file
	}
	a, err := openArchive(body)
	if err != nil {
		return nil, err
	}
	f := &openXMLFile{a, ctx, w}
	return f, f.properties()
}

// properties reads title, author, language and date.
func (f *openXMLFile) properties() error {
	const name = "docProps/core.xml"
	if !f.has(name) {
		return nil
	}
	return f.walk(f.ctx, name, f.w.dublinCore())
}

// dublinCore returns a handler of XML that takes the metadata of office documents and books.
func (w *writer) dublinCore() func(e *element) error {
	at := ""
	return func(e *element) error {
		text := strings.TrimSpace(e.text)
		switch {
		case e.end:
			at = ""
		case e.text == "":
			at = e.name
		case text == "":
		case at == "title" && w.title == "":
			w.title = text
		case (at == "creator" || at == "initial-creator") && w.author == "":
			w.author = text
		case at == "language" && w.lang == "":
			w.lang = text
		case (at == "created" || at == "creation-date" || at == "date") && w.date.IsZero():
			w.date = parseDate(text)
		}
		return nil
	}
}

func parseDate(s string) time.Time {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04:05.999999999", time.RFC1123Z, time.RFC1123, "2006-01-02", "2006-01", "2006"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t
		}
	}
	return time.Time{}
}

// maxEntries bounds each table that the parts of a document refer to.
const maxEntries = 1 << 20

// relation is a part or a URL that another part refers to.
type relation struct {
	kind, target string
	external     bool
}

// relations returns the relations of a part by their ID.
func (f *openXMLFile) relations(of string) (map[string]relation, error) {
	found := map[string]relation{}
	name := path.Join(path.Dir(of), "_rels", path.Base(of)+".rels")
	if !f.has(name) {
		return found, nil
	}
	err := f.walk(f.ctx, name, func(e *element) error {
		if e.name != "Relationship" || e.end {
			return nil
		}
		if len(found) > maxEntries {
			return fmt.Errorf("%w: over %d relations", ErrTooBig, maxEntries)
		}
		r := relation{path.Base(e.attr("Type")), e.attr("Target"), e.attr("TargetMode") == "External"}
		if !r.external {
			if strings.HasPrefix(r.target, "/") {
				r.target = partName(r.target)
			} else {
				r.target = path.Join(path.Dir(of), r.target)
			}
		}
		found[e.attr("Id")] = r
		return nil
	})
	return found, err
}

// readWord reads the text of a Word document: its headings by the outline level of their style.
func readWord(ctx context.Context, body []byte, w *writer) error {
	f, err := openOpenXML(ctx, body, w)
	if err != nil {
		return err
	}
	levels, err := f.headingStyles()
	if err != nil {
		return err
	}
	const main = "word/document.xml"
	if err := f.story(main, levels); err != nil {
		return err
	}
	for _, notes := range []string{"word/footnotes.xml", "word/endnotes.xml"} {
		if f.has(notes) {
			if err := f.story(notes, levels); err != nil {
				return err
			}
		}
	}
	return nil
}

// headingStyles returns the outline level of each style that has one, from 1.
func (f *openXMLFile) headingStyles() (map[string]int, error) {
	levels, id := map[string]int{}, ""
	const name = "word/styles.xml"
	if !f.has(name) {
		return levels, nil
	}
	err := f.walk(f.ctx, name, func(e *element) error {
		switch {
		case e.end || e.text != "":
		case e.name == "style":
			id = e.attr("styleId")
		case e.name == "outlineLvl" && id != "":
			if n, err := strconv.Atoi(e.attr("val")); err == nil && n < 9 {
				levels[id] = n + 1
			}
		case e.name == "name" && strings.EqualFold(e.attr("val"), "title"):
			levels[id] = 1
		case e.name == "lang" && id == "" && f.w.lang == "":
			f.w.lang = e.attr("val")
		}
		return nil
	})
	return levels, err
}

// maxField bounds the text of a field's instruction.
const maxField = 8 << 10

var fieldLink = regexp.MustCompile(`^\s*HYPERLINK\s+"([^"]+)"`)

// story reads a part of a Word document. Its tables become tables, whose cells may hold several
// paragraphs; deleted text and the second form of alternative content are left out.
func (f *openXMLFile) story(name string, levels map[string]int) error {
	links, err := f.relations(name)
	if err != nil {
		return err
	}
	r := wordReader{w: f.w, links: links, levels: levels}
	return f.walk(f.ctx, name, r.element)
}

// wordReader keeps the state of one pass over a part of a Word document.
type wordReader struct {
	w      *writer
	links  map[string]relation
	levels map[string]int // of headings, by style

	tables          int
	inText, inField bool
	field           string // its instruction so far
}

func (r *wordReader) element(e *element) error {
	w := r.w
	switch {
	case e.text != "":
		if r.inText {
			w.text(e.text)
		} else if r.inField && len(r.field) < maxField {
			r.field += e.text
		}
		return nil
	case e.end:
		r.end(e.name)
		return nil
	}
	switch e.name {
	case "Fallback", "del", "moveFrom":
		return errSkip
	case "p":
		if r.tables == 0 {
			w.block("p")
		}
	case "pStyle":
		r.heading(r.levels[e.attr("val")])
	case "outlineLvl":
		n, _ := strconv.Atoi(e.attr("val"))
		r.heading(n + 1)
	case "t":
		r.inText = true
	case "tab":
		w.text(" ")
	case "br", "cr":
		w.text("\n")
	case "noBreakHyphen":
		w.text("-")
	case "instrText":
		r.inField = true
	case "fldChar":
		r.fieldMark(e.attr("fldCharType"))
	case "hyperlink":
		w.linkOpen(r.links[e.attr("id")].target)
	case "tbl":
		r.tables++
		w.tag("<table>\n")
	case "tr":
		w.tag("<tr>")
	case "tc":
		w.cell()
	}
	return nil
}

func (r *wordReader) end(name string) {
	w := r.w
	switch name {
	case "t":
		r.inText = false
	case "instrText":
		r.inField = false
	case "p":
		if r.tables == 0 {
			w.end()
		} else {
			w.text(" ")
		}
	case "hyperlink":
		w.linkClose()
	case "tc":
		w.cellEnd()
	case "tr":
		w.tag("</tr>\n")
	case "tbl":
		r.tables--
		w.tag("</table>\n")
	}
}

func (r *wordReader) heading(level int) {
	if level > 0 && level < 7 && r.tables == 0 && r.w.empty {
		r.w.heading(level)
	}
}

// fieldMark begins a field, its result, or what follows it.
func (r *wordReader) fieldMark(kind string) {
	switch kind {
	case "begin":
		r.field = ""
	case "separate":
		if m := fieldLink.FindStringSubmatch(r.field); m != nil {
			r.w.linkOpen(m[1])
		}
		r.field = ""
	case "end":
		r.w.linkClose()
	}
}

// readSlides reads the slides of a presentation in their order; a slide's title is a heading.
func readSlides(ctx context.Context, body []byte, w *writer) error {
	f, err := openOpenXML(ctx, body, w)
	if err != nil {
		return err
	}
	const main = "ppt/presentation.xml"
	links, err := f.relations(main)
	if err != nil {
		return err
	}
	var slides []string
	if err := f.walk(ctx, main, func(e *element) error {
		if e.name == "sldId" && !e.end && len(slides) < maxPages {
			for _, a := range e.attrs {
				if r, ok := links[a.Value]; ok && a.Name.Local == "id" && r.kind == "slide" {
					slides = append(slides, r.target)
				}
			}
		}
		return nil
	}); err != nil {
		return err
	}
	for _, slide := range slides {
		if err := f.slide(slide); err != nil {
			return err
		}
	}
	return nil
}

func (f *openXMLFile) slide(name string) error {
	links, err := f.relations(name)
	if err != nil {
		return err
	}
	if err := f.shapes(name, links); err != nil {
		return err
	}
	for _, r := range links {
		if r.kind == "notesSlide" && f.has(r.target) {
			return f.shapes(r.target, nil)
		}
	}
	return nil
}

// shapes reads the text of a slide's shapes and tables.
func (f *openXMLFile) shapes(name string, links map[string]relation) error {
	w, title, inText, table, to := f.w, false, false, false, ""
	return f.walk(f.ctx, name, func(e *element) error {
		switch {
		case e.text != "":
			if inText && to != "" {
				w.link(to, e.text)
			} else if inText {
				w.text(e.text)
			}
			return nil
		case e.end:
			switch e.name {
			case "t":
				inText = false
			case "r":
				to = ""
			case "p":
				if table {
					w.text(" ")
				} else {
					w.end()
				}
			case "sp":
				title = false
			case "tc":
				w.cellEnd()
			case "tr":
				w.tag("</tr>\n")
			case "tbl":
				table = false
				w.tag("</table>\n")
			}
			return nil
		}
		switch e.name {
		case "Fallback":
			return errSkip
		case "ph":
			switch e.attr("type") {
			case "title", "ctrTitle":
				title = true
			case "sldNum", "dt", "ftr", "hdr":
				return nil
			}
		case "p":
			switch {
			case table:
			case title:
				w.heading(2)
			default:
				w.block("p")
			}
		case "t":
			inText = true
		case "br":
			w.text("\n")
		case "hlinkClick":
			to = links[e.attr("id")].target
		case "tbl":
			table = true
			w.tag("<table>\n")
		case "tr":
			w.tag("<tr>")
		case "tc":
			w.cell()
		}
		return nil
	})
}

// readSheets reads a workbook: a heading and a table for each sheet.
func readSheets(ctx context.Context, body []byte, w *writer) error {
	f, err := openOpenXML(ctx, body, w)
	if err != nil {
		return err
	}
	b := &workbook{openXMLFile: f}
	if err := errors.Join(b.sharedTexts(), b.dateFormats()); err != nil {
		return err
	}
	const main = "xl/workbook.xml"
	links, err := f.relations(main)
	if err != nil {
		return err
	}
	type sheet struct{ name, part string }
	var sheets []sheet
	if err := f.walk(ctx, main, func(e *element) error {
		if e.name == "sheet" && !e.end && len(sheets) < maxPages && e.attr("state") != "hidden" && e.attr("state") != "veryHidden" {
			sheets = append(sheets, sheet{e.attr("name"), links[e.attr("id")].target})
		}
		return nil
	}); err != nil {
		return err
	}
	for _, s := range sheets {
		if !f.has(s.part) {
			continue // a chart
		}
		w.heading(2)
		w.text(s.name)
		w.end()
		if err := b.sheet(s.part); err != nil {
			return err
		}
	}
	return nil
}

// workbook is an Excel file with the texts and formats that its cells refer to.
type workbook struct {
	*openXMLFile
	texts []string
	dates []bool // by style: whether a number is a date
}

func (b *workbook) sharedTexts() error {
	const name = "xl/sharedStrings.xml"
	if !b.has(name) {
		return nil
	}
	var one strings.Builder
	inText, bytes := false, 0
	return b.walk(b.ctx, name, func(e *element) error {
		if len(b.texts) > maxEntries {
			return fmt.Errorf("%w: over %d shared texts", ErrTooBig, maxEntries)
		}
		switch {
		case e.text != "":
			if inText && bytes < maxUnpacked/4 {
				one.WriteString(e.text)
				bytes += len(e.text)
			}
		case e.name == "rPh" && !e.end: // how to read it aloud
			return errSkip
		case e.name == "t":
			inText = !e.end
		case e.name == "si" && e.end:
			b.texts = append(b.texts, one.String())
			one.Reset()
		}
		return nil
	})
}

// dateFormats finds the styles that show numbers as dates: the built-in ones from 14 to 22, and
// those whose code names a year or a day.
func (b *workbook) dateFormats() error {
	const name = "xl/styles.xml"
	if !b.has(name) {
		return nil
	}
	own, inCells := map[string]bool{}, false
	return b.walk(b.ctx, name, func(e *element) error {
		switch {
		case e.text != "":
		case e.name == "numFmt" && !e.end:
			if len(own) > maxEntries {
				return fmt.Errorf("%w: over %d formats", ErrTooBig, maxEntries)
			}
			code := strings.ToLower(e.attr("formatCode"))
			own[e.attr("numFmtId")] = strings.Contains(code, "yy") || strings.Contains(code, "dd")
		case e.name == "cellXfs":
			inCells = !e.end
		case e.name == "xf" && !e.end && inCells:
			id := e.attr("numFmtId")
			n, _ := strconv.Atoi(id)
			if len(b.dates) < maxEntries {
				b.dates = append(b.dates, own[id] || n >= 14 && n <= 22)
			}
		}
		return nil
	})
}

func (b *workbook) sheet(name string) error {
	links, err := b.relations(name)
	if err != nil {
		return err
	}
	w := b.w
	w.tag("<table>\n")
	var kind, style string
	var value strings.Builder
	inValue := false
	if err := b.walk(b.ctx, name, func(e *element) error {
		switch {
		case e.text != "":
			if inValue {
				value.WriteString(e.text)
			}
		case e.name == "row":
			if e.end {
				w.tag("</tr>\n")
			} else {
				w.tag("<tr>")
			}
		case e.name == "c" && !e.end:
			kind, style = e.attr("t"), e.attr("s")
			value.Reset()
		case e.name == "c":
			w.cell()
			w.text(b.shown(kind, style, value.String()))
			w.cellEnd()
		case e.name == "v", e.name == "t":
			inValue = !e.end
		case e.name == "f" && !e.end:
			return errSkip
		}
		return nil
	}); err != nil {
		return err
	}
	w.tag("</table>\n")
	for _, r := range sortedRelations(links) {
		if r.kind == "hyperlink" && r.external {
			w.link(r.target, r.target)
			w.text(" ")
		}
	}
	w.end()
	return nil
}

func sortedRelations(links map[string]relation) []relation {
	var all []relation
	for _, r := range links {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b relation) int { return strings.Compare(a.target, b.target) })
	return all
}

// shown returns a cell's value as a reader sees it.
func (b *workbook) shown(kind, style, value string) string {
	switch kind {
	case "s":
		if n, err := strconv.Atoi(value); err == nil && n >= 0 && n < len(b.texts) {
			return b.texts[n]
		}
		return ""
	case "b":
		return map[string]string{"1": "TRUE", "0": "FALSE"}[value]
	case "", "n":
		if s, err := strconv.Atoi(style); err == nil && s >= 0 && s < len(b.dates) && b.dates[s] {
			if days, err := strconv.ParseFloat(value, 64); err == nil && days > 0 && days < 1e6 {
				return time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC).AddDate(0, 0, int(days)).Format("2006-01-02")
			}
		}
	}
	return value
}
