package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// roff writes a manual page in the macros of man(7).
type roff struct{ strings.Builder }

func newRoff(name string, section int) *roff {
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

func (p *roff) arguments(node *kong.Node) {
	if len(node.Positional) == 0 {
		return
	}
	p.section("ARGUMENTS")
	for _, arg := range node.Positional {
		p.item(`\fI`+roffEscape(strings.Trim(arg.Summary(), "[]"))+`\fR`, arg.Help)
	}
}

// flags writes all flags, in their groups.
func (p *roff) flags(flags []*kong.Flag) {
	title := ""
	for _, f := range inGroups(flags) {
		if t := groupTitle(f); t != title {
			title = t
			p.line(`.SS "` + roffEscape(strings.TrimSuffix(title, ":")) + `"`)
		}
		term := ""
		if f.Short != 0 {
			term = `\fB\-` + string(f.Short) + `\fR, `
		}
		name := f.Name
		if f.Tag.Negatable != "" {
			name = "[no-]" + name
		}
		term += `\fB\-\-` + roffEscape(name) + `\fR`
		if !f.IsBool() {
			term += `=\fI` + roffEscape(f.FormatPlaceHolder()) + `\fR`
		}
		p.item(term, f.Help)
	}
}

// inGroups puts flags of one group one after the other, groups as they first appear.
func inGroups(flags []*kong.Flag) (sorted []*kong.Flag) {
	done := map[string]bool{}
	for _, first := range flags {
		title := groupTitle(first)
		if done[title] {
			continue
		}
		done[title] = true
		for _, f := range flags {
			if groupTitle(f) == title && !f.Hidden {
				sorted = append(sorted, f)
			}
		}
	}
	return sorted
}

func groupTitle(f *kong.Flag) string {
	if f.Group == nil {
		return "Flags:"
	}
	return cmp.Or(f.Group.Title, f.Group.Key)
}

// ending writes what is the same on all pages.
func (p *roff) ending(main bool) {
	p.section("EXIT STATUS")
	p.text("0 done, 1 failed, 2 wrong usage, 130 interrupted.")
	p.section("FILES")
	p.item(`\fI`+roffEscape(settingsName)+`\fR`, "Settings, in the working folder or in fossick/ of the user's configuration folder; see fossick.toml(5).")
	p.section("SEE ALSO")
	if !main {
		p.line(`.BR fossick (1),`)
	}
	p.line(`.BR fossick.toml (5)`)
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
