package maintext

import (
	"strings"

	"fossick/internal/maintext/blocks"
)

// style is what a run of text is: part of a link, strong, emphasised, code.
type style struct {
	href                   string
	strong, emphasis, code int // how many are open
}

func (s *style) set(m blocks.Mark) {
	by := -1
	if m.Start {
		by = 1
	}
	switch m.Kind {
	case blocks.Link:
		s.href = m.Href // "" at its end
	case blocks.Strong:
		s.strong = max(0, s.strong+by)
	case blocks.Emphasis:
		s.emphasis = max(0, s.emphasis+by)
	case blocks.Code:
		s.code = max(0, s.code+by)
	}
}

// run is text of one style.
type run struct {
	text  string
	style style
}

// runs cuts a block's text by its marks. Blocks are asked for in their order.
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

// inline writes the text of a block; with marks, its emphasis too, as a heading needs none.
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
			text = "[" + text + "](" + address.Replace(href) + ")"
		}
		out.WriteString(text + after)
		runs = runs[n:]
	}
	return atStart(out.String())
}

// address escapes what would end the address of a link.
var address = strings.NewReplacer("(", "%28", ")", "%29", " ", "%20", "<", "%3C", ">", "%3E", "\n", "")

// special are the characters that mean something within a line.
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

// trim cuts white space off both ends, and returns a space where there was some.
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

// atStart escapes what means something at the start of a line.
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
