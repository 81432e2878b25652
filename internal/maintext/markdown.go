package maintext

import (
	"bytes"
	"strconv"
	"strings"
)

// Markdown returns the main text in CommonMark with GitHub's tables. link maps link targets to
// those to write; "" writes plain text.
func (m *Main) Markdown(link func(href string) string) string {
	w := &writer{Main: m, link: link, item: -1, layout: -1}
	for i := 0; i < len(m.chosen); i++ {
		if !m.chosen[i] {
			continue
		}
		if t, ok := w.table(i); ok {
			w.rows(t)
			i = t.last
			continue
		}
		w.block(i)
	}
	return w.out.String()
}

type writer struct {
	*Main
	link func(string) string
	out  strings.Builder
	mark int // index of the first of doc.Marks after the text written
	open style
	item int32 // item whose marker is written
	list bool  // the last block was in a list

	layout int32 // last table that held no data
}

// block writes a block outside tables.
func (w *writer) block(i int) {
	b := &w.doc.Blocks[i]
	node := w.doc.Nodes[b.Node]
	quotes, items := w.around(b.Node)
	inList := len(items) > 0
	if w.out.Len() > 0 && (!inList || !w.list) {
		w.out.WriteString(strings.TrimRight(strings.Repeat("> ", quotes), " ") + "\n")
	}
	w.list = inList
	prefix := strings.Repeat("> ", quotes)
	indent := ""
	for k, item := range items {
		marker := "- "
		if n := w.doc.Nodes[item]; w.doc.Nodes[n.Parent].Tag == olTag {
			marker = strconv.Itoa(int(n.Order)) + ". "
		}
		if k == len(items)-1 && item != w.item {
			w.item = item
			w.out.WriteString(prefix + indent + marker)
			prefix, indent = "", ""
			break
		}
		indent += strings.Repeat(" ", len(marker))
	}
	w.out.WriteString(prefix + indent)
	switch {
	case w.within(b.Node, preTag):
		w.code(i, strings.Repeat("> ", quotes)+strings.Repeat("  ", len(items)))
	case node.Tag.heading():
		w.out.WriteString(strings.Repeat("#", int(node.Tag-h1Tag)+1) + " " + w.inline(i, false))
	default:
		w.out.WriteString(w.inline(i, true))
	}
	w.out.WriteByte('\n')
}

// around counts the quotations around a node, and lists the list items around it, outermost first.
func (w *writer) around(n int32) (quotes int, items []int32) {
	for ; n >= 0; n = w.doc.Nodes[n].Parent {
		switch w.doc.Nodes[n].Tag {
		case quoteTag:
			quotes++
		case itemTag:
			items = append([]int32{n}, items...)
		}
	}
	const deepest = 8
	return min(quotes, deepest), items[:min(len(items), deepest)]
}

func (w *writer) within(n int32, tag tag) bool { return w.above(n, tag) >= 0 }

// above returns the nearest element with a tag, n or above it, or -1.
func (w *writer) above(n int32, tag tag) int32 {
	for n >= 0 && w.doc.Nodes[n].Tag != tag {
		n = w.doc.Nodes[n].Parent
	}
	return n
}

// code writes a block between fences longer than any in it.
func (w *writer) code(i int, prefix string) {
	text := w.doc.textOf(i)
	fence := "```"
	for bytes.Contains(text, []byte(fence)) {
		fence += "`"
	}
	w.out.WriteString(fence + "\n")
	for line := range strings.Lines(string(text)) {
		w.out.WriteString(prefix + strings.TrimRight(line, "\r\n") + "\n")
	}
	w.out.WriteString(prefix + fence)
}

// style tells whether text is in a link, strong, emphasised, or code.
type style struct {
	href                   string
	strong, emphasis, code int // number of open elements
}

func (s *style) set(m mark) {
	by := -1
	if m.Start {
		by = 1
	}
	switch m.Kind {
	case aLink:
		s.href = m.Href // "" at its end
	case isStrong:
		s.strong = max(0, s.strong+by)
	case isEmphasis:
		s.emphasis = max(0, s.emphasis+by)
	case isCode:
		s.code = max(0, s.code+by)
	}
}

type run struct {
	text  string
	style style
}

// runs splits a block's text by its marks. Call it for blocks in order.
func (w *writer) runs(i int) []run {
	b := &w.doc.Blocks[i]
	var runs []run
	from := b.From
	for ; w.mark < len(w.doc.Marks) && w.doc.Marks[w.mark].At < b.To; w.mark++ {
		m := w.doc.Marks[w.mark]
		if m.At > from {
			runs = append(runs, run{string(w.doc.Text[from:m.At]), w.open})
			from = m.At
		}
		w.open.set(m)
	}
	if from < b.To {
		runs = append(runs, run{string(w.doc.Text[from:b.To]), w.open})
	}
	return runs
}

// inline writes the text of a block, with emphasis if marks; a heading needs none.
func (w *writer) inline(i int, marks bool) string {
	var out strings.Builder
	runs := w.runs(i)
	for len(runs) > 0 {
		n := 1
		for n < len(runs) && runs[n].style.href == runs[0].style.href {
			n++
		}
		href := ""
		if runs[0].style.href != "" {
			href = w.link(runs[0].style.href)
		}
		var part strings.Builder
		for _, r := range runs[:n] {
			part.WriteString(r.markdown(marks))
		}
		before, text, after := trim(part.String())
		out.WriteString(before)
		if href != "" && text != "" {
			text = "[" + text + "](" + linkAddress.Replace(href) + ")"
		}
		out.WriteString(text + after)
		runs = runs[n:]
	}
	return atStart(out.String())
}

// linkAddress escapes characters that would end a link's address.
var linkAddress = strings.NewReplacer("(", "%28", ")", "%29", " ", "%20", "<", "%3C", ">", "%3E", "\n", "")

// special escapes characters with a meaning inside a line.
var special = strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "]", `\]`, "<", `\<`)

func (r run) markdown(marks bool) string {
	before, text, after := trim(r.text)
	switch {
	case text == "":
		return before
	case r.style.code > 0 && !strings.Contains(text, "`"):
		return before + "`" + text + "`" + after
	}
	text = special.Replace(text)
	if marks && r.style.emphasis > 0 {
		text = "*" + text + "*"
	}
	if marks && r.style.strong > 0 {
		text = "**" + text + "**"
	}
	return before + text + after
}

// trim cuts white space off both ends, and returns a space for each end that had some.
func trim(s string) (before, text, after string) {
	text = strings.TrimSpace(s)
	switch {
	case text == "" && s != "":
		return " ", "", ""
	case text == "":
		return "", "", ""
	}
	if !strings.HasPrefix(s, text) {
		before = " "
	}
	if !strings.HasSuffix(s, text) {
		after = " "
	}
	return before, text, after
}

// atStart escapes characters with a meaning at the start of a line.
func atStart(line string) string {
	line = strings.TrimSpace(line)
	if line == "" {
		return line
	}
	switch line[0] {
	case '#', '>', '+', '-', '=', '~', '|':
		return `\` + line
	}
	digits := 0
	for digits < len(line) && line[digits] >= '0' && line[digits] <= '9' {
		digits++
	}
	if digits > 0 && digits+1 < len(line) && (line[digits] == '.' || line[digits] == ')') && line[digits+1] == ' ' {
		return line[:digits] + `\` + line[digits:]
	}
	return line
}

// grid is a table: rows of cells of blocks.
type grid struct {
	rows [][][]int
	last int // block
}

// maxColumns is the number of columns beyond which a table is written as text.
const maxColumns = 40

// table returns the table that begins at a block if it holds data: at least two rows and columns,
// and no table, list or code inside, as layout tables have.
func (w *writer) table(first int) (g grid, ok bool) {
	at := w.above(w.doc.Blocks[first].Node, tableTag)
	if at < 0 || at == w.layout {
		return g, false
	}
	defer func() {
		if !ok {
			w.layout = at
		}
	}()
	row, cell := int32(-1), int32(-1)
	wide := 0
	for i := first; i < len(w.chosen); i++ {
		n := w.doc.Blocks[i].Node
		if w.above(n, tableTag) != at {
			if w.inside(n, at) {
				return g, false // a nested table
			}
			break
		}
		if !w.chosen[i] {
			continue
		}
		if w.within(n, preTag) || w.below(n, at, itemTag) {
			return g, false
		}
		r, c := w.above(n, rowTag), w.cell(n)
		if r < at || c < r {
			return g, false
		}
		if r != row {
			g.rows = append(g.rows, nil)
			row, cell = r, -1
		}
		last := &g.rows[len(g.rows)-1]
		if c != cell {
			*last = append(*last, nil)
			cell = c
		}
		(*last)[len(*last)-1] = append((*last)[len(*last)-1], i)
		wide = max(wide, len(*last))
		g.last = i
	}
	return g, len(g.rows) >= 2 && wide >= 2 && wide <= maxColumns
}

func (w *writer) inside(n, at int32) bool {
	for n > at {
		n = w.doc.Nodes[n].Parent
	}
	return n == at
}

// below reports whether n or an element between n and at has a tag.
func (w *writer) below(n, at int32, tag tag) bool { return w.above(n, tag) > at }

func (w *writer) cell(n int32) int32 {
	return max(w.above(n, cellTag), w.above(n, headCellTag))
}

// rows writes a table with its first row as the header.
func (w *writer) rows(g grid) {
	if w.out.Len() > 0 {
		w.out.WriteByte('\n')
	}
	w.list = false
	wide := 0
	for _, row := range g.rows {
		wide = max(wide, len(row))
	}
	for r, row := range g.rows {
		w.out.WriteByte('|')
		for c := range wide {
			var parts []string
			if c < len(row) {
				for _, i := range row[c] {
					parts = append(parts, w.inline(i, true))
				}
			}
			w.out.WriteString(" " + strings.ReplaceAll(strings.Join(parts, " "), "|", `\|`) + " |")
		}
		w.out.WriteByte('\n')
		if r == 0 {
			w.out.WriteString("|" + strings.Repeat(" --- |", wide) + "\n")
		}
	}
}
