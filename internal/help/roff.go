package help

import (
	"fmt"
	"strings"
)

// roff writes a manual page in the macros of man(7).
type roff struct{ strings.Builder }

func newRoff(version, name string, section int) *roff {
	p := &roff{}
	p.line(fmt.Sprintf(`.TH "%s" "%d" "" "fossick %s" "fossick"`, roffEscape(strings.ToUpper(name)), section, version))
	p.line(".SH NAME")
	p.line(roffEscape(name) + ` \-`)
	return p
}

func (p *roff) line(s string) { fmt.Fprintln(p, s) }

// name ends the section NAME with what the page is about.
func (p *roff) name(what string) { p.line(roffText(what)) }

func (p *roff) section(name string) { p.line(".SH " + name) }

// text writes paragraphs; lines that begin with a space stay as they are.
func (p *roff) text(text string) {
	for i, block := range strings.Split(strings.TrimSpace(verbatimApart(text)), "\n\n") {
		if strings.HasPrefix(block, " ") {
			p.line(".PP\n.nf\n.RS 4")
			for line := range strings.Lines(block) {
				p.line(roffText(strings.TrimRight(strings.TrimPrefix(line, "  "), "\n")))
			}
			p.line(".RE\n.fi")
			continue
		}
		if i > 0 {
			p.line(".PP")
		}
		for line := range strings.Lines(block) {
			p.line(roffText(strings.TrimSpace(line)))
		}
	}
}

// verbatimApart puts an empty line between running text and lines that begin with a
// space.
func verbatimApart(text string) string {
	var b strings.Builder
	was := ' '
	for line := range strings.Lines(text) {
		is := 't'
		switch {
		case strings.TrimSpace(line) == "":
			is = ' '
		case line[0] == ' ':
			is = 'v'
		}
		if is != was && is != ' ' && was != ' ' {
			b.WriteByte('\n')
		}
		b.WriteString(line)
		was = is
	}
	return b.String()
}

// item writes a term and what it is; the term is roff already.
func (p *roff) item(term, what string) {
	p.line(".TP")
	p.line(term)
	p.line(roffText(what))
}

// roffText escapes a line of running text: what begins like a request is none.
func roffText(s string) string {
	s = roffEscape(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	return s
}

// roffEscape writes letters so that every roff shows them as they are.
func roffEscape(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\\':
			b.WriteString(`\e`)
		case r == '-':
			b.WriteString(`\-`)
		case r == '\'':
			b.WriteString(`\(aq`)
		case r == '`':
			b.WriteString(`\(ga`)
		case r == '~':
			b.WriteString(`\(ti`)
		case r == '^':
			b.WriteString(`\(ha`)
		case r == '"':
			b.WriteString(`\(dq`)
		case r > '~':
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
