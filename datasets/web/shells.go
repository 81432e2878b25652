package web

import (
	"encoding/json"
	"net/http"
	"strings"
	"unicode/utf8"

	"fossick/datasets"
)

// A shell is a page without text or links: its script asks for them by a second request.
const (
	shell = `<!DOCTYPE html>
<html><head><meta charset="utf-8"><title></title></head>
<body><div id="root"></div><script src="/shell.js"></script></body></html>
`
	shellScript = "/shell.js"
	shellData   = "/shell.json?page="
	shellSource = `fetch("/shell.json?page=" + encodeURIComponent(location.pathname + location.search))
	.then(answer => answer.json())
	.then(page => {
		const parsed = new DOMParser().parseFromString(page.html, "text/html");
		document.documentElement.replaceChildren(...parsed.documentElement.childNodes);
	});
`
)

// isShell reports whether a page is served as a shell.
func (w *Web) isShell(key string, en *entry) bool {
	return w.opt.Shells > 0 && strings.HasPrefix(en.contentType(), "text/html") && w.draw.uniform("shell", key) < w.opt.Shells
}

// sendShell sends the files that shells ask for. It returns false if the request is for none.
func (w *Web) sendShell(rw http.ResponseWriter, r *http.Request, q request) bool {
	if w.opt.Shells == 0 {
		return false
	}
	if q.path == shellScript {
		rw.Header().Set("Content-Type", "text/javascript; charset=utf-8")
		send(rw, r, []byte(shellSource))
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
	if !ok || !w.isShell(key, &en) {
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
