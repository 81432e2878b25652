package corpusweb

import (
	"context"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"fossick/datasets"
)

// ServeHTTP answers one request, of a proxy's client or of the host's own.
func (w *Web) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodConnect {
		w.tls.connect(rw, r)
		return
	}
	q := requestOf(r)
	out := &counted{ResponseWriter: rw}
	start := time.Now()
	if w.opt.Latency > 0 {
		rest(r.Context(), w.draw.around(w.opt.Latency, "latency", q.url()))
	}
	w.answer(out, r, q)
	if w.log != nil {
		w.log.add(record{
			Start: start, Sending: out.last, End: time.Now(), URL: q.url(), Host: q.hostport(), Path: q.path,
			Status: out.status, Bytes: out.bytes, UserAgent: r.UserAgent(), Method: r.Method, Fault: out.fault,
			After: rw.Header().Get("Retry-After"),
		})
	}
}

// request is what a client asks for, whichever way it came.
type request struct {
	scheme, host, path string // host as sent; path with query
}

func requestOf(r *http.Request) request {
	q := request{scheme: "http", host: r.Host, path: r.URL.RequestURI()}
	if r.TLS != nil {
		q.scheme = "https"
	}
	if r.URL.IsAbs() { // a proxy's client; its Host header must not decide (RFC 9112, 3.2.2)
		q.scheme, q.host = strings.ToLower(r.URL.Scheme), r.URL.Host
	}
	return q
}

func (q request) url() string { return q.scheme + "://" + q.host + q.path }

// hostport returns the host as name:port.
func (q request) hostport() string {
	if _, _, err := net.SplitHostPort(q.host); err == nil {
		return strings.ToLower(q.host)
	}
	port := "80"
	if q.scheme == "https" {
		port = "443"
	}
	return net.JoinHostPort(strings.ToLower(strings.Trim(q.host, "[]")), port)
}

// answer writes the response to q.
func (w *Web) answer(rw http.ResponseWriter, r *http.Request, q request) {
	h, ok := w.hosts[hostName(q.host)]
	faulty := w.opt.Faults.Share > 0
	v := &victim{web: w, rw: rw, r: r, q: q}
	if !ok && faulty && v.farm() {
		return
	}
	if !ok {
		problem(rw, http.StatusBadGateway, "host "+q.host+" is not in the corpus")
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		rw.Header().Set("Allow", "GET, HEAD")
		problem(rw, http.StatusMethodNotAllowed, "only GET and HEAD are answered")
		return
	}
	if q.path == "/robots.txt" {
		v.robots(h)
		return
	}
	if w.opt.Sitemaps && (v.sitemap(h) || faulty && v.endless()) {
		return
	}
	key, err := datasets.Key(q.url())
	if err != nil { // too long, for one
		problem(rw, http.StatusNotFound, "the URL has no normal form: "+err.Error())
		return
	}
	if faulty && v.trap() {
		return
	}
	for _, x := range w.extra {
		if x.answer(rw, r, key) || x.answer(rw, r, datasets.FlipScheme(key)) {
			return
		}
	}
	if en, moved, ok := w.find(key); moved != "" {
		redirect(rw, moved, http.StatusMovedPermanently)
		return
	} else if ok {
		if f := w.faults.pick(onPage, key); f != nil {
			v.suffer(f, w.spool.read(&en))
			return
		}
		w.sendVersion(rw, r, key, &en)
		return
	}
	if w.sendMoved(rw, r, key) {
		return
	}
	problem(rw, http.StatusNotFound, "the corpus has no page here")
}

// answer serves what a set has beyond pages; false when it has nothing at key.
func (x *extra) answer(rw http.ResponseWriter, r *http.Request, key string) bool {
	if to, ok := x.redirects[key]; ok {
		redirect(rw, to.To, to.Status)
		return true
	}
	if code, ok := x.status[key]; ok {
		problem(rw, code, "this page is so on purpose")
		return true
	}
	for _, t := range x.traps {
		if !strings.HasPrefix(key, t.Prefix) {
			continue
		}
		if page, ok := t.Page(key); ok {
			rw.Header().Set("Content-Type", "text/html; charset=utf-8")
			send(rw, r, []byte(page))
			return true
		}
	}
	return false
}

// robots sends the host's rules, or a fault for them.
func (v *victim) robots(h *host) {
	if f := v.web.faults.pick(onRobots, hostName(v.q.host)); f != nil {
		v.suffer(f, h.robots)
		return
	}
	v.rw.Header().Set("Content-Type", "text/plain; charset=utf-8")
	send(v.rw, v.r, h.robots)
}

func (w *Web) sendPage(rw http.ResponseWriter, r *http.Request, en *entry) {
	h := rw.Header()
	etag := fmt.Sprintf(`"%016x"`, en.sum)
	modified := lastModified(en.sum)
	h.Set("Etag", etag)
	h.Set("Last-Modified", modified.Format(http.TimeFormat))
	if unchanged(r, etag, modified) {
		rw.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", en.contentType())
	h.Set("Content-Length", strconv.Itoa(int(en.length)))
	if r.Method == http.MethodHead {
		rw.WriteHeader(http.StatusOK)
		return
	}
	// A body cut short is what the client sees if the spool cannot be read or
	// the client is gone; there is no one else to tell.
	if _, err := io.Copy(rw, io.NewSectionReader(w.spool.file, en.offset, int64(en.length))); err != nil {
		w.opt.Logger.Debug("body not sent", "url", r.URL.String(), "err", err)
	}
}

// lastModified makes up a date for a body: any day of 2020, always the same.
func lastModified(sum uint64) time.Time {
	return time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(sum%(365*86400)) * time.Second)
}

// unchanged decides a conditional request (RFC 9110, 13.2.2).
func unchanged(r *http.Request, etag string, modified time.Time) bool {
	if match := r.Header.Get("If-None-Match"); match != "" {
		for tag := range strings.SplitSeq(match, ",") {
			tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/")
			if tag == etag || tag == "*" {
				return true
			}
		}
		return false
	}
	since, err := http.ParseTime(r.Header.Get("If-Modified-Since"))
	return err == nil && !modified.After(since)
}

func send(rw http.ResponseWriter, r *http.Request, body []byte) {
	rw.Header().Set("Content-Length", strconv.Itoa(len(body)))
	rw.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = rw.Write(body) // the client may be gone
	}
}

func redirect(rw http.ResponseWriter, to string, code int) {
	rw.Header().Set("Location", to)
	problem(rw, code, "the page is at "+to)
}

// problem answers with a page that says what is the matter.
func problem(rw http.ResponseWriter, code int, what string) {
	body := fmt.Sprintf("<!DOCTYPE html>\n<title>%d %s</title>\n<p>%s\n", code, http.StatusText(code), html.EscapeString(what))
	rw.Header().Set("Content-Type", "text/html; charset=utf-8")
	rw.Header().Set("Content-Length", strconv.Itoa(len(body)))
	rw.WriteHeader(code)
	_, _ = io.WriteString(rw, body) // the client may be gone; to HEAD net/http sends none
}

func rest(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
