package page

import (
	"bytes"
	"strings"
)

// Limits of scriptOnly, chosen to spare short pages written by people.
const (
	maxShellText   = 100 // bytes of text: a request to wait, a footer
	maxShellLinks  = 2   // <a href>
	maxFallback    = 300 // bytes in <noscript>; more is a page for readers without scripts
	minShellScript = 1 << 10
)

// scriptOnly reports the empty shell of an application that scripts fill. All of this must hold:
//
//   - A script runs. At most maxShellText bytes of text are outside <noscript>, maxFallback inside.
//   - There are at most maxShellLinks links and one image; no frame, form, media element or refresh.
//   - One of three signs is present. (1) The application's mount point, such as <div id=root> or
//     <app-root>, is empty, or all text asks to wait. (2) All text asks to wait, and <noscript> asks
//     for JavaScript. (3) There is no text, link or image, but a script of the page's own host,
//     document.write or minShellScript bytes of inline script. Signs 2 and 3 require that no inline
//     script names location, since such a page redirects.
//
// Only thin pages are read a second time for this.
func (p *parser) scriptOnly() bool {
	links := 0
	for i := range p.links.list {
		if p.links.list[i].Kind == Anchor {
			links++
		}
	}
	words := p.outside.out
	if p.scripts == 0 || links > maxShellLinks || p.refreshed {
		return false
	}
	s := shell{scanner: scanner{page: p.scanner.page}, host: HostName(p.page.URL), fallback: folder{limit: maxFallback + 1}}
	for kind := s.next(); kind != endOfPage; kind = s.next() {
		if p.due() {
			return false
		}
		s.read(kind)
	}
	waits := asksToWait(words)
	switch {
	case s.content || s.images > 1 || len(s.fallback.out) > maxFallback:
		return false
	case s.mounts > 0 && (!s.filled || waits):
		return true
	case s.moves || !waits:
		return false
	case bytes.Contains(bytes.ToLower(s.fallback.out), []byte("javascript")):
		return true
	}
	return len(words)+links+s.images == 0 && (s.own || s.writes || s.inline >= minShellScript)
}

// shell is the second reading of a page by scriptOnly.
type shell struct {
	scanner
	host               string // of the page
	template, noscript region
	mount              region // the application's mount point
	mounts, images     int
	filled             bool   // there is text in a mount point
	content            bool   // there is visible content besides text
	fallback           folder // text in noscript

	own, writes, moves bool // a script is of the page's host; calls document.write; names location
	inline             int  // bytes
}

func (s *shell) read(kind token) {
	switch kind {
	case textToken:
		s.words(decodeText(s.text))
	case endTag:
		s.template.end(s.name)
		s.noscript.end(s.name)
		s.mount.end(s.name)
	case startTag:
		s.template.start(s.name)
		s.noscript.start(s.name)
		s.mount.start(s.name)
		if !s.template.inside() {
			s.startTag()
		}
	}
}

func (s *shell) words(text []byte) {
	switch {
	case s.template.inside() || onlySpace(text):
	case s.noscript.inside():
		s.fallback.write(text)
	case s.mount.inside():
		s.filled = true
	}
}

func (s *shell) startTag() {
	switch name := string(s.name); name {
	case "template":
		s.template.open(s.name)
	case "noscript":
		s.noscript.open(s.name)
	case "script":
		s.script()
	case "style", "title", "noembed":
		s.scanner.content(name)
	case "iframe", "textarea":
		s.content = s.content || !s.noscript.inside() // in noscript it is a hit counter
		s.scanner.content(name)
	case "frame", "frameset", "form", "object", "embed", "video", "audio", "applet":
		s.content = s.content || !s.noscript.inside()
	case "img":
		if !s.noscript.inside() {
			s.images++
		}
	default:
		if !s.mount.inside() && s.isMount() {
			s.mount.open(s.name)
			s.mounts++
		}
	}
}

// isMount reports an application's mount point.
func (s *shell) isMount() bool {
	if bytes.IndexByte(s.name, '-') > 0 { // <app-root>, <my-app>
		return bytes.Contains(s.name, []byte("app")) || bytes.Contains(s.name, []byte("root"))
	}
	id, _ := s.get("id")
	switch strings.ToLower(string(cut(id, 16))) {
	case "root", "app", "app-root", "react-root", "application", "__next", "__nuxt", "___gatsby", "__layout", "svelte", "q-app", "ember-app":
		return true
	}
	return false
}

func (s *shell) script() {
	kind, _ := s.get("type")
	src, _ := s.get("src")
	text, _ := s.scanner.content("script")
	if !runs(kind) {
		return
	}
	if from := string(cut(src, maxAttrBytes)); from != "" {
		if strings.HasPrefix(from, "//") {
			from = "http:" + from
		}
		host := HostName(from)
		s.own = s.own || host == "" || strings.EqualFold(host, s.host)
		return
	}
	text = cut(text, maxScriptBytes)
	s.inline += len(text)
	s.writes = s.writes || bytes.Contains(text, []byte("document.write"))
	s.moves = s.moves || bytes.Contains(text, []byte("location"))
}

// asksToWait reports a text that only says that the page is still to come.
func asksToWait(text []byte) bool {
	t := strings.ToLower(strings.TrimSpace(string(text)))
	if t == "" || strings.HasSuffix(t, "...") || strings.HasSuffix(t, "…") {
		return true
	}
	for _, word := range []string{"loading", "please wait", "enable javascript"} {
		if strings.Contains(t, word) {
			return true
		}
	}
	return false
}
