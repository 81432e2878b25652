package maintext

import (
	"bytes"
	"strconv"
	"strings"

	"fossick/internal/maintext/blocks"
)

// Markdown is the main text in CommonMark, with tables as GitHub writes them. Links are what
// link makes of their addresses on the page; those it answers with "" are text alone.
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

// writer writes one page.
type writer struct {
	*Main
	link func(string) string
	out  strings.Builder
	mark int // of doc.Marks, the first that is not behind the text so far
	open style
	item int32 // the item whose marker is written
	list bool  // the last block stood in a list

	layout int32 // the last table that was none
}

// block writes a block that is no part of a table.
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
		if n := w.doc.Nodes[item]; w.doc.Nodes[n.Parent].Tag == blocks.OL {
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
	case w.within(b.Node, blocks.Pre):
		w.code(i, strings.Repeat("> ", quotes)+strings.Repeat("  ", len(items)))
	case node.Tag.Heading():
		w.out.WriteString(strings.Repeat("#", int(node.Tag-blocks.H1)+1) + " " + w.inline(i, false))
	default:
		w.out.WriteString(w.inline(i, true))
	}
	w.out.WriteByte('\n')
}

// around counts the quotations around a node and names the items of lists, outermost first.
func (w *writer) around(n int32) (quotes int, items []int32) {
	for ; n >= 0; n = w.doc.Nodes[n].Parent {
		switch w.doc.Nodes[n].Tag {
		case blocks.Quote:
			quotes++
		case blocks.Item:
			items = append([]int32{n}, items...)
		}
	}
	const deepest = 8
	return min(quotes, deepest), items[:min(len(items), deepest)]
}

func (w *writer) within(n int32, tag blocks.Tag) bool { return w.above(n, tag) >= 0 }

// above is the nearest element with a tag that n is or stands in, -1 when there is none.
func (w *writer) above(n int32, tag blocks.Tag) int32 {
	for n >= 0 && w.doc.Nodes[n].Tag != tag {
		n = w.doc.Nodes[n].Parent
	}
	return n
}

// code writes a block as it is, between fences longer than any in it.
func (w *writer) code(i int, prefix string) {
	text := w.doc.TextOf(i)
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
