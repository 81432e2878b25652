package demo

import (
	"fmt"
	"html"
	"net/url"
	"strings"
)

// anchor is a link of the demo web: text and target, absolute or from the root.
type anchor struct{ text, href string }

// span is running text, a link when href is set.
type span struct{ text, href string }

// block is one piece of a document's body.
type block struct {
	heading string   // h2, or
	spans   []span   // a paragraph, or
	items   [][]span // a list
}

// document is a page before its markup.
type document struct {
	title, description string
	crumbs, nav, foot  []anchor
	byline             string
	blocks             []block
	refresh            string // target of a meta refresh
}

// hrefs returns the absolute targets of all links, in the order of the document.
func (d *document) hrefs(base string) []string {
	var out []string
	b, err := url.Parse(base)
	if err != nil { // bases are made by us
		return nil
	}
	add := func(href string) {
		if href == "" {
			return
		}
		if u, err := b.Parse(href); err == nil {
			out = append(out, u.String())
		}
	}
	for _, list := range [][]anchor{d.nav, d.crumbs} {
		for _, a := range list {
			add(a.href)
		}
	}
	for _, bl := range d.blocks {
		for _, s := range bl.spans {
			add(s.href)
		}
		for _, item := range bl.items {
			for _, s := range item {
				add(s.href)
			}
		}
	}
	for _, a := range d.foot {
		add(a.href)
	}
	return out
}

// render writes the document in a site's style.
func (d *document) render(s *site) string {
	w := &writer{old: s.style == styleOld, xhtml: s.style == styleXHTML}
	switch s.style {
	case stylePlain:
		d.plain(w, s)
	case styleOld:
		d.old(w, s)
	case styleXHTML:
		d.xhtml(w, s)
	default:
		d.modern(w, s)
	}
	return w.String()
}

// writer writes markup: escaped text, and tags in the style's case.
type writer struct {
	strings.Builder
	old, xhtml bool
}

func (w *writer) f(format string, args ...any) { fmt.Fprintf(w, format, args...) }

// text escapes s; old pages are Latin-1, so that what has no such letter becomes
// a character reference.
func (w *writer) text(s string) string {
	s = html.EscapeString(s)
	if !w.old {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if r > 0xff {
			fmt.Fprintf(&b, "&#%d;", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func (w *writer) link(text, href string) string {
	if w.old {
		return fmt.Sprintf("<A HREF=%q>%s</A>", href, w.text(text))
	}
	return fmt.Sprintf("<a href=%q>%s</a>", html.EscapeString(href), w.text(text))
}

func (w *writer) spans(spans []span) string {
	var b strings.Builder
	for _, s := range spans {
		if s.href == "" {
			b.WriteString(w.text(s.text))
		} else {
			b.WriteString(w.link(s.text, s.href))
		}
	}
	return b.String()
}

func (w *writer) anchors(list []anchor, sep string) string {
	var parts []string
	for _, a := range list {
		if a.href == "" {
			parts = append(parts, w.text(a.text))
			continue
		}
		parts = append(parts, w.link(a.text, a.href))
	}
	return strings.Join(parts, sep)
}

// body writes the blocks; old pages close neither P nor LI.
func (w *writer) body(blocks []block) {
	h, p, endP, ul, li, endLi := "h2", "<p>", "</p>", "ul", "<li>", "</li>"
	if w.old {
		h, p, endP, ul, li, endLi = "H2", "<P>", "", "UL", "<LI>", ""
	}
	for _, b := range blocks {
		switch {
		case b.heading != "":
			w.f("<%s>%s</%s>\n", h, w.text(b.heading), h)
		case b.items != nil:
			w.f("<%s>\n", ul)
			for _, item := range b.items {
				w.f("%s%s%s\n", li, w.spans(item), endLi)
			}
			w.f("</%s>\n", ul)
		default:
			w.f("%s%s%s\n", p, w.spans(b.spans), endP)
		}
	}
}

// look is the markup of what most styles have in the same order.
type look struct{ crumbs, between, heading, byline string }

// article writes the way to a page, its heading and its text.
func (w *writer) article(d *document, l look) {
	if len(d.crumbs) > 0 {
		w.f(l.crumbs, w.anchors(d.crumbs, l.between))
	}
	w.f(l.heading, w.text(d.title))
	if d.byline != "" {
		w.f(l.byline, w.text(d.byline))
	}
	w.body(d.blocks)
}

func (d *document) modern(w *writer, s *site) {
	w.f("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>%s</title>\n", w.text(d.title))
	if d.description != "" {
		w.f("<meta name=\"description\" content=\"%s\">\n", w.text(d.description))
	}
	if d.refresh != "" {
		w.f("<meta http-equiv=\"refresh\" content=\"0; url=%s\">\n", w.text(d.refresh))
	}
	w.f("<script>window.visits = (window.visits || 0) + 1;</script>\n</head>\n<body>\n")
	w.f("<header><a class=\"logo\" href=\"/\">%s</a>\n<nav>%s</nav>\n</header>\n", w.text(s.title), w.anchors(d.nav, "\n"))
	w.article(d, look{crumbs: "<nav class=\"breadcrumb\">%s</nav>\n", between: " › ", heading: "<main>\n<article>\n<h1>%s</h1>\n", byline: "<p class=\"byline\"><time>%s</time></p>\n"})
	w.f("</article>\n</main>\n<footer>%s</footer>\n</body>\n</html>\n", w.anchors(d.foot, " · "))
}

func (d *document) plain(w *writer, s *site) {
	w.f("<!DOCTYPE HTML PUBLIC \"-//W3C//DTD HTML 4.01 Transitional//EN\">\n<html>\n<head>\n")
	w.f("<meta http-equiv=\"Content-Type\" content=\"text/html; charset=utf-8\">\n<title>%s - %s</title>\n", w.text(d.title), w.text(s.title))
	if d.refresh != "" {
		w.f("<meta http-equiv=\"refresh\" content=\"0;URL='%s'\">\n", w.text(d.refresh))
	}
	w.f("<style type=\"text/css\">#menu a { padding: 0 1em }</style>\n</head>\n<body>\n")
	w.f("<div id=\"menu\">%s</div>\n", w.anchors(d.nav, " | "))
	w.article(d, look{crumbs: "<div class=\"crumbs\">%s</div>\n", between: " &gt; ", heading: "<div id=\"content\">\n<h1>%s</h1>\n", byline: "<p><i>%s</i></p>\n"})
	w.f("</div>\n<div class=\"footer\">%s</div>\n</body>\n</html>\n", w.anchors(d.foot, " | "))
}

func (d *document) old(w *writer, s *site) {
	w.f("<HTML>\n<HEAD>\n<META HTTP-EQUIV=\"Content-Type\" CONTENT=\"text/html; charset=iso-8859-1\">\n")
	w.f("<TITLE>%s</TITLE>\n</HEAD>\n<BODY BGCOLOR=#FFFFFF TEXT=black>\n", w.text(d.title))
	w.f("<TABLE WIDTH=100%% BORDER=0 CELLPADDING=8>\n<TR><TD WIDTH=160 VALIGN=top BGCOLOR=#DDDDCC>\n")
	w.f("<FONT SIZE=-1><B>%s</B><BR>\n%s</FONT>\n<TD VALIGN=top>\n", w.text(s.title), w.anchors(d.nav, "<BR>\n"))
	w.article(d, look{crumbs: "<FONT SIZE=-1>%s</FONT>\n", between: " : ", heading: "<H1><FONT FACE=Arial>%s</FONT></H1>\n", byline: "<I>%s</I>\n"})
	w.f("</TABLE>\n<HR>\n<CENTER><FONT SIZE=-2>%s<BR>&copy; %s</FONT></CENTER>\n</BODY>\n", w.anchors(d.foot, " - "), w.text(s.title))
}

func (d *document) xhtml(w *writer, s *site) {
	w.f("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0 Strict//EN\" ")
	w.f("\"http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd\">\n<html xmlns=\"http://www.w3.org/1999/xhtml\" xml:lang=\"en\">\n<head>\n")
	w.f("<title>%s</title>\n<meta name=\"generator\" content=\"by hand\" />\n</head>\n<body>\n", w.text(d.title))
	w.f("<ul id=\"navigation\">\n")
	for _, a := range d.nav {
		w.f("<li>%s</li>\n", w.link(a.text, a.href))
	}
	w.f("</ul>\n<p class=\"path\">%s</p>\n<h1>%s</h1>\n", w.anchors(d.crumbs, " / "), w.text(d.title))
	if d.byline != "" {
		w.f("<p class=\"date\">%s<br /></p>\n", w.text(d.byline))
	}
	w.body(d.blocks)
	w.f("<hr />\n<address>%s, %s</address>\n</body>\n</html>\n", w.text(s.title), w.anchors(d.foot, ", "))
}
