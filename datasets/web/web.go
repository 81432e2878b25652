package web

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"fossick/datasets"
)

// Options configure a Web. The zero value answers at once, allows everything and logs nothing.
type Options struct {
	Latency  time.Duration // mean delay of an answer; each URL has its own, from 0.5 to 1.5 times the mean
	Disallow float64       // fraction of each host's pages that robots.txt forbids, in [0,1)
	// CrawlDelay is the delay that one host in eight asks for in robots.txt, in whole milliseconds;
	// 0 for none.
	CrawlDelay time.Duration
	Seed       uint64         // of everything that is random
	Progress   func(rows int) // called for each row read; may be nil
	Log        io.Writer      // one JSON object per request; nil for none
	Logger     *slog.Logger   // nil is silent
	Faults     FaultPlan      // deliberate faults
	Change     ChangePlan     // how pages change, vanish and return
	Shells     float64        // share of the hosts' patterns of URLs whose pages have text and links by script and a second request, in [0,1]
	Sitemaps   bool           // give each host a sitemap, named in its robots.txt
	// Documents is the share of the pages that are served as PDF, DOCX or EPUB, in [0,1]. Not
	// with Change or Faults, which alter markup.
	Documents float64
}

// Web serves a corpus. It is an http.Handler, safe for concurrent use.
type Web struct {
	opt   Options
	index datasets.Index   // key to row
	pages []entry          // by row
	hosts map[string]*host // by name, with any non-default port
	extra []extra
	stats Stats
	first string // URL of the first page

	began  time.Time
	draw   draw
	faults *faults
	held   *held

	spool *spool
	ca    *authority
	tls   *tunnels
	log   *requestLog
}

// Stats counts the content of a Web.
type Stats struct {
	Hosts    int
	Pages    int
	Repeated int // rows whose URL, without fragment, occurred before; the first is served
	Unserved int // rows whose URL is neither http nor https
}

// host is one host of the web. robots is complete after New.
type host struct {
	scheme string
	paths  []string // of its pages, with query; kept after New only with Options.Sitemaps
	robots []byte
}

// extra is what one set has beyond pages, by URL key.
type extra struct {
	redirects map[string]datasets.Redirect
	status    map[string]int
	traps     []datasets.Trap
}

// New reads the sets once and returns their web; the first set wins for repeated URLs. It fails on an
// unreadable row, and if no page can be served.
func New(ctx context.Context, opt Options, sets ...*datasets.Set) (w *Web, err error) {
	if opt.Disallow < 0 || opt.Disallow >= 1 {
		return nil, fmt.Errorf("disallow %v: want a share from 0 to less than 1", opt.Disallow)
	}
	if opt.Shells < 0 || opt.Shells > 1 {
		return nil, fmt.Errorf("shells %v: want a share from 0 to 1", opt.Shells)
	}
	if opt.Documents < 0 || opt.Documents > 1 {
		return nil, fmt.Errorf("documents %v: want a share from 0 to 1", opt.Documents)
	}
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	w = &Web{
		began: time.Now(), opt: opt, hosts: map[string]*host{},
		draw: draw(opt.Seed), held: newHeld(),
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Close())
			w = nil
		}
	}()
	if w.spool, err = newSpool(); err != nil {
		return w, err
	}
	for _, set := range sets {
		if err = w.read(ctx, set); err != nil {
			return w, err
		}
	}
	if err = w.spool.done(); err != nil {
		return w, err
	}
	if w.stats.Pages = len(w.pages); w.stats.Pages == 0 {
		return w, fmt.Errorf("no page to serve: %d rows have no http URL", w.stats.Unserved)
	}
	w.stats.Hosts = len(w.hosts)
	w.writeRobots(sets)
	w.faults = newFaults(opt.Faults, w.draw, w.first)
	if w.ca, err = newAuthority(); err != nil {
		return w, err
	}
	if opt.Log != nil {
		w.log = &requestLog{w: opt.Log, logger: opt.Logger}
	}
	w.tls = newTunnels(w)
	return w, nil
}

// Stats returns counts of the web's content.
func (w *Web) Stats() Stats { return w.stats }

// First returns the URL of the first page, usable as a start page.
func (w *Web) First() string { return w.first }

// CA returns the file of the certificate that https clients must trust.
func (w *Web) CA() string { return w.ca.file }

// Close ends the tunnels and removes the files. The caller may close the log's writer afterwards.
func (w *Web) Close() error {
	w.held.drop()
	var errs []error
	if w.tls != nil {
		errs = append(errs, w.tls.close())
	}
	if w.ca != nil {
		errs = append(errs, w.ca.close())
	}
	if w.spool != nil {
		errs = append(errs, w.spool.close())
	}
	return errors.Join(errs...)
}

func (w *Web) read(ctx context.Context, set *datasets.Set) error {
	for e, err := range set.Examples() {
		if w.opt.Progress != nil {
			w.opt.Progress(1)
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if err := w.add(e); err != nil {
			return err
		}
	}
	return w.addExtra(set.Web())
}

func (w *Web) add(e *datasets.Example) error {
	key, err := datasets.Key(e.URL)
	if err != nil {
		w.stats.Unserved++ // ftp: and file: occur
		w.opt.Logger.Debug("not served", "url", e.URL, "err", err)
		return nil
	}
	if !w.index.Add(key, len(w.pages)) {
		w.stats.Repeated++
		return nil
	}
	en, err := w.spool.add(e, key, w.documentOf(key, e))
	if err != nil {
		return err
	}
	if w.first == "" {
		w.first = key
	}
	w.pages = append(w.pages, en)
	h, path := w.addHost(key)
	h.paths = append(h.paths, path)
	return nil
}

// addHost returns the host of a key, creating it if necessary, and the key's path.
func (w *Web) addHost(key string) (*host, string) {
	u, err := url.Parse(key)
	if err != nil { // cannot happen: a key is a URL
		return &host{}, "/"
	}
	name := hostName(u.Host)
	h := w.hosts[name]
	if h == nil {
		h = &host{scheme: u.Scheme}
		w.hosts[name] = h
	}
	return h, u.RequestURI()
}

func hostOf(key string) string {
	u, err := url.Parse(key)
	if err != nil {
		return ""
	}
	return hostName(u.Host)
}

func (w *Web) find(key string) (en entry, moved string, ok bool) {
	row, moved, ok := w.index.Find(key)
	if !ok {
		return en, "", false
	}
	return w.pages[row], moved, true
}

// addCopy adds a URL that serves the page of another URL, if that page exists.
func (w *Web) addCopy(at, original string) error {
	key, err := datasets.Key(at)
	if err != nil {
		return err
	}
	row, _, ok := w.index.Find(original)
	if ok && w.index.Add(key, row) {
		h, path := w.addHost(key)
		h.paths = append(h.paths, path)
	}
	return nil
}

func (w *Web) addExtra(web *datasets.Web) error {
	if web == nil {
		return nil
	}
	for at, original := range web.Copies {
		if err := w.addCopy(at, original); err != nil {
			return fmt.Errorf("copy at %s: %w", at, err)
		}
	}
	x := extra{redirects: map[string]datasets.Redirect{}, status: map[string]int{}, traps: web.Traps}
	for from, r := range web.Redirects {
		key, err := datasets.Key(from)
		if err != nil {
			return fmt.Errorf("redirect from %s: %w", from, err)
		}
		x.redirects[key] = r
		w.addHost(key)
	}
	for at, code := range web.Status {
		key, err := datasets.Key(at)
		if err != nil || http.StatusText(code) == "" {
			return fmt.Errorf("status %d of %s: no such status or URL: %w", code, at, err)
		}
		x.status[key] = code
		w.addHost(key)
	}
	w.extra = append(w.extra, x)
	return nil
}

// hostName normalises a host: lower case, without the ports of http and https, so that a page answers
// under either scheme.
func hostName(hostport string) string {
	name, port, err := net.SplitHostPort(hostport)
	if err != nil {
		return strings.TrimSuffix(strings.ToLower(strings.Trim(hostport, "[]")), ".")
	}
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	if port == "80" || port == "443" || port == "" {
		return name
	}
	return net.JoinHostPort(name, port)
}

// ServeHTTP answers a request, proxied or direct.
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

type request struct {
	scheme, host, path string // host as sent; path with query
}

func requestOf(r *http.Request) request {
	q := request{scheme: "http", host: r.Host, path: r.URL.RequestURI()}
	if r.TLS != nil {
		q.scheme = "https"
	}
	if r.URL.IsAbs() { // proxy request; its Host header does not count (RFC 9112, 3.2.2)
		q.scheme, q.host = strings.ToLower(r.URL.Scheme), r.URL.Host
	}
	return q
}

func (q request) url() string { return q.scheme + "://" + q.host + q.path }

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
	if w.sendShell(rw, r, q) {
		return
	}
	if w.opt.Sitemaps && (v.sitemap(h) || faulty && v.endless()) {
		return
	}
	key, err := datasets.Key(q.url())
	if err != nil { // too long, for example
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
		if w.sendScripted(rw, r, key, &en) {
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

// answer serves a redirect, status or trap of the set. It returns false if there is none at key.
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

// robots sends the host's robots.txt, or a fault in its place.
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
	// If the spool cannot be read or the client is gone, the client sees a truncated body.
	if _, err := io.Copy(rw, io.NewSectionReader(w.spool.file, en.offset, int64(en.length))); err != nil {
		w.opt.Logger.Debug("body not sent", "url", r.URL.String(), "err", err)
	}
}

// lastModified derives a stable date in 2020 from a body's hash.
func lastModified(sum uint64) time.Time {
	return time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(sum%(365*86400)) * time.Second)
}

// unchanged evaluates a conditional request (RFC 9110, 13.2.2).
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

func problem(rw http.ResponseWriter, code int, what string) {
	body := fmt.Sprintf("<!DOCTYPE html>\n<title>%d %s</title>\n<p>%s\n", code, http.StatusText(code), html.EscapeString(what))
	rw.Header().Set("Content-Type", "text/html; charset=utf-8")
	rw.Header().Set("Content-Length", strconv.Itoa(len(body)))
	rw.WriteHeader(code)
	_, _ = io.WriteString(rw, body) // the client may be gone; net/http sends no body to HEAD
}

func rest(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

const grace = 2 * time.Second

// Serve answers on l until ctx ends, then closes l and waits for running requests. The end of ctx is
// not an error.
func (w *Web) Serve(ctx context.Context, l net.Listener) error {
	server := newServer(w)
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	w.held.drop() // faults would not end by themselves
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	err := errors.Join(server.Shutdown(end), w.tls.shutdown(end))
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close() // slow clients have had their time
	}
	if e := <-served; !errors.Is(e, http.ErrServerClosed) {
		err = errors.Join(err, e)
	}
	return err
}

// OnLoopback serves sets on a free loopback port and returns the proxy URL for a crawl. stop shuts the
// server down and waits for it.
func OnLoopback(ctx context.Context, opt Options, sets ...*datasets.Set) (proxy string, stop func() error, err error) {
	ctx, cancel := context.WithCancel(ctx)
	web, err := New(ctx, opt, sets...)
	if err != nil {
		cancel()
		return "", nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		cancel()
		return "", nil, errors.Join(fmt.Errorf("corpus on loopback: %w", err), web.Close())
	}
	done := make(chan error, 1)
	go func() { done <- web.Serve(ctx, listener) }()
	return "http://" + listener.Addr().String(), func() error {
		cancel()
		return errors.Join(<-done, web.Close())
	}, nil
}
