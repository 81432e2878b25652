package corpusweb

import (
	"fmt"
	"net/http"
	"time"
)

// version says how often a page has changed since the web was made. Each has an
// interval of its own, from half to one and a half of Options.Change.
func (w *Web) version(key string, now time.Time) int64 {
	if w.opt.Change <= 0 {
		return 0
	}
	return int64(now.Sub(w.began) / max(w.draw.around(w.opt.Change, "change", key), 1))
}

// sendVersion sends a page that has changed, with words that tell how often; it
// answers conditional requests as sendPage does.
func (w *Web) sendVersion(rw http.ResponseWriter, r *http.Request, key string, en *entry) {
	n := w.version(key, time.Now())
	if n == 0 {
		w.sendPage(rw, r, en)
		return
	}
	etag := fmt.Sprintf(`"%016x-%d"`, en.sum, n)
	modified := lastModified(en.sum).Add(time.Duration(n) * time.Hour)
	rw.Header().Set("Etag", etag)
	rw.Header().Set("Last-Modified", modified.Format(http.TimeFormat))
	if unchanged(r, etag, modified) {
		rw.WriteHeader(http.StatusNotModified)
		return
	}
	body := w.spool.read(en)
	if en.text {
		body = fmt.Appendf(body, "\nRevision %d of this page.\n", n)
	} else {
		body = fmt.Appendf(body, "\n<p>Revision %d of this page.\n", n)
	}
	rw.Header().Set("Content-Type", en.contentType())
	send(rw, r, body)
}
