package collection

import (
	"strings"

	"fossick/page"
)

// MainText makes of a page's body, as it was fetched, what it says. Safe for concurrent use.
type MainText func(body []byte, p *Page, want Want) (text, markdown string)

// visible is all text that a reader of the page sees, menus and footers too.
func visible(body []byte, p *Page, want Want) (text, markdown string) {
	parsed, err := page.Parse(body, page.ParseOptions{URL: p.URL, ContentType: p.ContentType})
	if err != nil {
		return "", "" // it has no words
	}
	if text = parsed.Text; !want.Markdown {
		return text, ""
	}
	var b strings.Builder
	if parsed.Title != "" {
		b.WriteString("# " + escape(parsed.Title) + "\n")
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			b.WriteString("\n" + escape(line) + "\n")
		}
	}
	return text, b.String()
}

// inline are the signs that mean something anywhere in a line of Markdown.
var inline = strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "<", `\<`, "|", `\|`)

// escape keeps a line of text from being read as Markdown's own signs: those of headings,
// quotes, lists and rules mean something at its beginning alone.
func escape(line string) string {
	line = inline.Replace(line)
	rest := strings.TrimLeft(line, "0123456789")
	numbered := len(rest) < len(line) && rest != "" && (rest[0] == '.' || rest[0] == ')')
	switch {
	case numbered:
		return line[:len(line)-len(rest)] + `\` + rest
	case strings.IndexByte("#>-+=~", line[0]) >= 0:
		return `\` + line
	}
	return line
}
