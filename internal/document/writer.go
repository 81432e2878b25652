package document

import (
	"bytes"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// writer makes the HTML of a document. Text goes into the open block; block ends it and begins
// another one.
type writer struct {
	title, lang, author string
	date                time.Time

	body    bytes.Buffer
	open    string // element of the open block, "" if none
	start   int    // where the open block begins in body
	empty   bool   // no text in the open block yet
	hasText bool
	linked  bool // a link is open
	full    bool // maxHTML is reached; the rest is left out
}

// block ends the open block, and begins one of an element such as "p" or "h2".
func (w *writer) block(element string) {
	w.end()
	if w.full = w.full || w.body.Len() > maxHTML; w.full {
		return
	}
	w.start, w.open, w.empty = w.body.Len(), element, true
	w.body.WriteString("<" + element + ">")
}

// heading begins a heading; level 1 is the document's title, so that chapters begin at 2.
func (w *writer) heading(level int) { w.block(fmt.Sprintf("h%d", min(max(level, 1), 6))) }

// end ends the open block, and removes it if it has no text.
func (w *writer) end() {
	w.linkClose()
	switch {
	case w.open == "":
	case w.empty:
		w.body.Truncate(w.start)
	default:
		w.body.WriteString("</" + w.open + ">\n")
	}
	w.open = ""
}

// text adds text to the open block, or to a new paragraph.
func (w *writer) text(s string) {
	if w.full || s == "" {
		return
	}
	blank := strings.TrimSpace(s) == ""
	if w.open == "" {
		if blank {
			return
		}
		w.block("p")
	}
	if !blank {
		w.empty, w.hasText = false, true
	}
	if room := max(maxHTML-w.body.Len(), 0); len(s) > room {
		s, w.full = s[:room], true
	}
	w.body.WriteString(html.EscapeString(strings.ToValidUTF8(s, "\uFFFD")))
}

// link adds text that leads to a URL.
func (w *writer) link(to, s string) {
	w.linkOpen(to)
	w.text(s)
	w.linkClose()
}

// linkOpen begins a link, and ends the one before. A URL that is no absolute http URL begins none.
func (w *writer) linkOpen(to string) {
	w.linkClose()
	if w.full || !absolute(to) {
		return
	}
	if w.open == "" {
		w.block("p")
	}
	w.empty, w.linked = false, true // a link without text counts too
	w.body.WriteString(`<a href="` + html.EscapeString(strings.TrimSpace(to)) + `">`)
}

func (w *writer) linkClose() {
	if w.linked {
		w.linked = false
		w.body.WriteString("</a>")
	}
}

// unhyphen removes the hyphen at the end of the text, and blanks after it.
func (w *writer) unhyphen() {
	if w.full {
		return
	}
	b := bytes.TrimRight(w.body.Bytes(), " ")
	w.body.Truncate(len(bytes.TrimSuffix(b, []byte("-"))))
}

// inText matches URLs in running text.
var inText = regexp.MustCompile(`https?://[^\s<>"'{}|\\^\x60]+[^\s<>"'{}|\\^\x60.,;:!?)\]]`)

// linkURLs adds text, and links the URLs in it.
func (w *writer) linkURLs(s string) {
	for {
		at := inText.FindStringIndex(s)
		if at == nil {
			w.text(s)
			return
		}
		w.text(s[:at[0]])
		w.link(s[at[0]:at[1]], s[at[0]:at[1]])
		s = s[at[1]:]
	}
}

// cell begins a cell of a table, which takes text and links until cellEnd.
func (w *writer) cell() {
	w.end()
	if w.full = w.full || w.body.Len() > maxHTML; w.full {
		return
	}
	w.body.WriteString("<td>")
	w.open, w.empty = "td", false
}

func (w *writer) cellEnd() { w.end() }

// tag writes markup that has no text of its own, between blocks, such as "<table>".
func (w *writer) tag(markup string) {
	w.end()
	if w.full = w.full || w.body.Len() > maxHTML; !w.full {
		w.body.WriteString(markup)
	}
}

func absolute(link string) bool {
	u, err := url.Parse(strings.TrimSpace(link))
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// document returns the whole HTML.
func (w *writer) document() []byte {
	w.end()
	var b bytes.Buffer
	b.WriteString("<!DOCTYPE html>\n<html")
	if w.lang != "" {
		fmt.Fprintf(&b, " lang=%q", html.EscapeString(w.lang))
	}
	b.WriteString("><head><meta charset=utf-8>")
	if title := strings.TrimSpace(w.title); title != "" {
		b.WriteString("<title>" + html.EscapeString(strings.ToValidUTF8(title, "\uFFFD")) + "</title>")
	}
	if author := strings.TrimSpace(w.author); author != "" {
		b.WriteString(`<meta name="author" content="` + html.EscapeString(strings.ToValidUTF8(author, "\uFFFD")) + `">`)
	}
	if !w.date.IsZero() {
		b.WriteString(`<meta name="date" content="` + w.date.UTC().Format(time.RFC3339) + `">`)
	}
	b.WriteString("</head><body>\n")
	b.Write(w.body.Bytes())
	b.WriteString("</body></html>\n")
	return b.Bytes()
}
