package maintext

import (
	"strings"

	"fossick/internal/maintext/blocks"
)

// grid is a table: rows of cells of blocks.
type grid struct {
	rows [][][]int
	last int // block
}

// maxColumns is the width beyond which a table is written as text.
const maxColumns = 40

// table finds the table that begins at a block, if it is one of data: two rows and columns
// or more, and no table, list or code in it, as tables that only lay out a page have.
func (w *writer) table(first int) (g grid, ok bool) {
	at := w.above(w.doc.Blocks[first].Node, blocks.Table)
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
		if w.above(n, blocks.Table) != at {
			if w.inside(n, at) {
				return g, false // a table in a table
			}
			break
		}
		if !w.chosen[i] {
			continue
		}
		if w.within(n, blocks.Pre) || w.below(n, at, blocks.Item) {
			return g, false
		}
		r, c := w.above(n, blocks.Row), w.cell(n)
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

// inside says whether node n stands in node at.
func (w *writer) inside(n, at int32) bool {
	for n > at {
		n = w.doc.Nodes[n].Parent
	}
	return n == at
}

// below says whether an element with a tag is between n and at, or n itself.
func (w *writer) below(n, at int32, tag blocks.Tag) bool { return w.above(n, tag) > at }

func (w *writer) cell(n int32) int32 {
	return max(w.above(n, blocks.Cell), w.above(n, blocks.HeadCell))
}

// rows writes a table, its first row as the head.
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
