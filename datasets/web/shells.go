package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"fossick/datasets"
	"fossick/internal/page"
)

// A shell is a page without text or links: its script asks for them by a second request. A wall is
// as thin, but its script adds nothing, as on a login page. The script of any other page adds
// nothing either. As on the Web, pages with one host and pattern of URLs are of one kind.
const (
	thinPage = `<!DOCTYPE html>
<html><head><meta charset="utf-8"><title></title></head>
<body><div id="root"></div><script src="%s"></script></body></html>
`
	shellScript = "/shell.js"
	idleScript  = "/idle.js"
	shellData   = "/shell.json?page="
	shellSource = `fetch("/shell.json?page=" + encodeURIComponent(location.pathname + location.search))
	.then(answer => answer.json())
	.then(page => {
		const parsed = new DOMParser().parseFromString(page.html, "text/html");
		document.documentElement.replaceChildren(...parsed.documentElement.childNodes);
	});
`
	idleSource = "document.documentElement.dataset.ready = \"yes\";\n"
	// walls is how many pages are walls for each shell, among pages that are no shells.
	walls = .5
)

// scriptOf returns the script of a page, "" for none, and whether the page is without text.
func (w *Web) scriptOf(key string, en *entry) (script string, thin bool) {
	if w.opt.Shells == 0 || !strings.HasPrefix(en.contentType(), "text/html") {
		return "", false
	}
	share := w.opt.Shells
	switch u := w.draw.uniform("shell", hostOf(key)+page.Pattern(key)); {
	case u < share:
		return shellScript, true
	case u < share+(1-share)*walls*share:
		return idleScript, true
	}
	return idleScript, false
}

// sendScripted sends a page with a script. It returns false if the page has none.
func (w *Web) sendScripted(rw http.ResponseWriter, r *http.Request, key string, en *entry) bool {
	script, thin := w.scriptOf(key, en)
	switch {
	case script == "":
		return false
	case thin:
		rw.Header().Set("Content-Type", "text/html; charset=utf-8")
		send(rw, r, fmt.Appendf(nil, thinPage, script))
	default:
		rw.Header().Set("Content-Type", en.contentType())
		send(rw, r, fmt.Appendf(w.spool.read(en), "<script src=\"%s\"></script>\n", script))
	}
	return true
}

// sendShell sends the files that shells ask for. It returns false if the request is for none.
func (w *Web) sendShell(rw http.ResponseWriter, r *http.Request, q request) bool {
	if w.opt.Shells == 0 {
		return false
	}
	if source, is := map[string]string{shellScript: shellSource, idleScript: idleSource}[q.path]; is {
		rw.Header().Set("Content-Type", "text/javascript; charset=utf-8")
		rw.Header().Set("Cache-Control", "max-age=3600")
		send(rw, r, []byte(source))
		return true
	}
	if !strings.HasPrefix(q.path, shellData) {
		return false
	}
	key, err := datasets.Key(q.scheme + "://" + q.host + r.URL.Query().Get("page"))
	if err != nil {
		return false
	}
	en, _, ok := w.find(key)
	if !ok {
		return false
	}
	if script, _ := w.scriptOf(key, &en); script != shellScript {
		return false
	}
	body := w.spool.read(&en)
	if !utf8.Valid(body) {
		body = []byte(strings.ToValidUTF8(string(body), "\uFFFD"))
	}
	text, err := json.Marshal(map[string]string{"html": string(body)})
	if err != nil { // cannot happen: a map of strings
		return false
	}
	rw.Header().Set("Content-Type", "application/json")
	send(rw, r, text)
	return true
}
