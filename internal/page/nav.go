package page

import (
	"bytes"
	"strings"
)

// navStart enters a navigation region when the element is one: by its name,
// its role, or by what its class or id says. Where the content begins, a
// region whose end was forgotten is over.
func (in *place) navStart(tag *scanner) {
	role, _ := tag.get("role")
	if string(tag.name) == "main" || string(tag.name) == "article" || hasWord(role, "main") {
		in.nav = region{}
		return
	}
	if in.nav.inside() {
		return
	}
	switch string(tag.name) {
	case "nav", "aside", "menu":
		in.nav.open(tag.name)
		return
	case "header", "footer":
		if in.article == 0 { // inside an article they are its title and its notes
			in.nav.open(tag.name)
		}
		return
	case "div", "ul", "ol", "dl", "table", "section", "span", "td":
	default:
		return
	}
	class, _ := tag.get("class")
	id, _ := tag.get("id")
	if navRole(role) || saysNav(class) || saysNav(id) {
		in.nav.open(tag.name)
	}
}

// navRole says whether an ARIA role is a landmark beside the content.
func navRole(v []byte) bool {
	for role := range bytes.FieldsSeq(v) {
		switch string(role) {
		case "navigation", "banner", "contentinfo", "complementary", "menu", "menubar", "search":
			return true
		}
	}
	return false
}

// saysNav says whether one of the names in a class or id is that of
// navigation: "nav-bar", "leftMenu", "sphinxsidebar".
func saysNav(v []byte) bool {
	for name := range bytes.FieldsSeq(cut(v, 256)) {
		if navName(name) {
			return true
		}
	}
	return false
}

// navName looks at the parts of a name. "has-sidebar" describes something else,
// and the header of an entry is its title.
func navName(name []byte) bool {
	var arr [64]byte
	strong, weak, piece := false, false, false
	separator := func(r rune) bool { return r == '-' || r == '_' || r == ':' }
	for part := range bytes.FieldsFuncSeq(appendLower(arr[:0], name), separator) {
		switch string(bytes.TrimRight(part, "0123456789")) {
		case "has", "with", "no", "without":
			return false
		case "article", "entry", "post", "section", "card", "content", "page", "panel", "modal", "table":
			piece = true
		case "header", "footer", "related", "toolbar", "banner":
			weak = true
		case "menu", "submenu", "crumbs", "masthead", "topbar", "pager", "pagination", "headerlink", "sitemap":
			strong = true
		default:
			strong = strong || navPart(part)
		}
	}
	return strong || weak && !piece
}

// navPart recognises names run together: "sphinxsidebar", "navheader", "topmenu".
func navPart(part []byte) bool {
	for _, end := range []string{"nav", "menu", "navi", "navbar", "sidebar", "navigation", "breadcrumb", "breadcrumbs", "footer"} {
		if bytes.HasSuffix(part, []byte(end)) {
			return true
		}
	}
	return bytes.HasPrefix(part, []byte("nav"))
}

// Menus that nothing marks as such: at least menuLinks links in a line of text
// that has at most one letter in menuRest outside of them.
const (
	menuLinks = 3
	menuRest  = 6
)

// markMenus marks the links of lines like "Home | News | Contact". Lists are left
// alone, those with a line a link and those with commas: on many pages they
// are the content.
func (l *linkSet) markMenus(text string) {
	var line lineOf
	for i := 0; i < len(l.list); {
		line.find(text, l.marks[i].start)
		j := i + 1
		for j < len(l.list) && !l.marks[i].alone && !l.marks[j].alone && l.marks[j].start >= line.start && l.marks[j].start < line.end {
			j++
		}
		if j-i >= menuLinks && isMenu(text, line, l.marks[i:j]) {
			for k := i; k < j; k++ {
				l.list[k].Nav = true
			}
		}
		i = j
	}
}

// isMenu says whether a line is hardly more than its links.
func isMenu(text string, line lineOf, marks []mark) bool {
	outside, inside, commas := 0, 0, 0
	at := line.start
	for i := range marks {
		start, end := min(max(at, marks[i].start), line.end), min(max(at, marks[i].end), line.end)
		outside += letters(text[at:start])
		inside += letters(text[start:end])
		commas += strings.Count(text[at:start], ",") + strings.Count(text[at:start], ";")
		at = end
	}
	outside += letters(text[at:line.end])
	return inside > 0 && outside*menuRest <= inside+outside && 2*commas < len(marks)
}

// letters counts the bytes of letters and digits.
func letters(s string) int {
	n := 0
	for i := range len(s) {
		if c := s[i]; isLetter(c) || isDigit(c) || c >= 0x80 {
			n++
		}
	}
	return n
}
