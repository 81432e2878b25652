package fetch

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"fossick/internal/page"
)

// newTransport sets up net/http: HTTP/2 and keep-alive on, decompression off (bodyReader has
// limits), every dial through d.
func newTransport(opt Options, d *dialer) *http.Transport {
	t := &http.Transport{
		DialContext:            d.DialContext,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxIdleConns:           opt.MaxIdleConns,
		MaxIdleConnsPerHost:    opt.ConnsPerHost,
		MaxConnsPerHost:        opt.ConnsPerHost,
		IdleConnTimeout:        opt.IdleTimeout,
		MaxResponseHeaderBytes: opt.MaxHeaderBytes,
		TLSClientConfig:        &tls.Config{RootCAs: opt.RootCAs, MinVersion: tls.VersionTLS12},
	}
	if opt.Proxy == nil {
		t.DialTLSContext = (&tlsDialer{d, t.TLSClientConfig.Clone()}).dialTLSContext
	} else {
		t.Proxy = http.ProxyURL(opt.Proxy)
		t.ProxyConnectHeader = http.Header{"User-Agent": {opt.UserAgent}} // else net/http's own is sent
		// net/http treats all plain hosts behind a proxy as one host.
		t.MaxConnsPerHost, t.MaxIdleConnsPerHost = 0, opt.MaxIdleConns
		t.OnProxyConnectResponse = func(_ context.Context, _ *url.URL, req *http.Request, res *http.Response) error {
			if res.StatusCode == http.StatusOK {
				return nil
			}
			return refusedByProxy(res.Status, "CONNECT "+req.Host)
		}
	}
	return t
}

// gate is the http.RoundTripper of Colly's client: our last code before a request leaves, and
// the first to see the answer.
type gate struct {
	f    *Fetcher
	next http.RoundTripper // f's transport
}

func (g *gate) RoundTrip(req *http.Request) (*http.Response, error) {
	ex := req.Context().Value(exchangeKey{}).(*exchange)
	if g.f.opt.Proxy != nil {
		// The proxy dials, so only the URL can be judged here.
		if err := g.f.guard.checkHost(ex.url.Hostname()); err != nil {
			return nil, err
		}
	}
	res, err := g.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode == http.StatusProxyAuthRequired && g.f.forwards(ex.url) {
		_ = res.Body.Close() // unread, so there is no error to report
		return nil, refusedByProxy(res.Status, "GET "+ex.url.Host)
	}
	ex.answer.wire = ex.conn.wire(req, res)
	g.f.cookies.keep(ex.url, res)
	ex.received(res)
	return res, nil
}

// forwards reports whether the proxy itself answers a request for u; it tunnels https, and
// SOCKS tunnels everything.
func (f *Fetcher) forwards(u *url.URL) bool {
	p := f.opt.Proxy
	return p != nil && (p.Scheme == "http" || p.Scheme == "https") && u.Scheme == "http"
}

// refusedByProxy is the error of a proxy that refuses. It leaves out the proxy's URL, which
// may have a password.
func refusedByProxy(status, what string) error {
	hint := ""
	if strings.HasPrefix(status, "407") {
		hint = "; it needs a user and password: http://USER:PASSWORD@HOST:PORT"
	}
	return &stateError{StateConnectError, fmt.Errorf("the proxy answers %s to %s%s", status, what, hint)}
}

// received puts our reader around the body.
func (ex *exchange) received(res *http.Response) {
	ex.clock.enter(phaseBody)
	ex.answer.withhold(res.Header)
	ex.most = ex.mostOf(page.MediaEssence(ex.answer.contentType))
	ex.conn.allowBody(ex.most)
	ex.answer.reader = newBodyReader(ex, res)
	res.Body, res.Uncompressed = ex.answer.reader, true // so that Colly unpacks nothing
}

// Wire holds an exchange's headers in both directions, for archives: lines with their ends,
// without the final empty one. Cookies, passwords and signatures that were sent are left out.
type Wire struct {
	Protocol string // "http/1.0", "http/1.1", "h2"
	Request  []byte // as sent
	Response []byte // status line and header as received
	// Rebuilt reports that the lines were rebuilt from net/http's data, in order of names:
	// HTTP/2 has no such lines, and TLS through a proxy cannot be tapped.
	Rebuilt bool
	Cut     bool // one of the two exceeded maxWireBytes
}

// maxWireBytes bounds a kept header; nearly all have less than two KiB.
const maxWireBytes = 16 << 10

// wire returns the headers of an exchange whose answer begins with res.
func (c *conn) wire(req *http.Request, res *http.Response) *Wire {
	w := &Wire{Protocol: strings.ToLower(res.Proto)}
	if res.ProtoMajor == 2 {
		w.Protocol = "h2"
	}
	var sentCut, cameCut bool
	w.Request, sentCut, w.Response, cameCut = c.tap.taken()
	if w.Cut = sentCut || cameCut; w.Response == nil {
		w.rebuild(req, res)
	}
	w.Request = withoutSecrets(w.Request)
	return w
}

// rebuild writes the known fields as lines of HTTP/1.1.
func (w *Wire) rebuild(req *http.Request, res *http.Response) {
	w.Rebuilt = true
	sent, came := req.Header.Clone(), res.Header
	host := req.Host
	if host == "" {
		host = req.URL.Host
	}
	sent.Del("Host")
	name := strings.ToLower // as HTTP/2 sends them
	if w.Protocol != "h2" {
		name = func(s string) string { return s }
	}
	var cut bool
	w.Request, cut = rebuilt(fmt.Sprintf("GET %s HTTP/1.1\r\n%s: %s\r\n", req.URL.RequestURI(), name("Host"), host), sent, name)
	w.Response, w.Cut = rebuilt(fmt.Sprintf("HTTP/1.1 %03d %s\r\n", res.StatusCode, http.StatusText(res.StatusCode)), came, name)
	w.Cut = w.Cut || cut
}

// rebuilt writes a header as lines after first, in order of names.
func rebuilt(first string, h http.Header, name func(string) string) (lines []byte, cut bool) {
	lines = []byte(first)
	names := make([]string, 0, len(h))
	for n := range h {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		for _, value := range h[n] {
			if len(lines)+len(n)+len(value)+4 > maxWireBytes {
				return lines, true
			}
			lines = append(append(append(append(lines, name(n)...), ": "...), value...), "\r\n"...)
		}
	}
	return lines, false
}

// secrets are the private fields of a request, in lower case.
var secrets = []string{"cookie", "authorization", "proxy-authorization", "signature", "signature-input"}

// withoutSecrets removes the lines that an archive must not have.
func withoutSecrets(request []byte) []byte {
	kept := make([]byte, 0, len(request))
	for line := range bytes.Lines(request) {
		name, _, _ := bytes.Cut(line, []byte(":"))
		if !slices.Contains(secrets, strings.ToLower(string(name))) {
			kept = append(kept, line...)
		}
	}
	return kept
}

// maxMendBytes bounds the header that a mender holds; a longer one passes unchanged.
const maxMendBytes = 64 << 10

// mender rewrites an HTTP/1 answer's header so that net/http accepts what browsers accept. The
// tap sees the original. Only net/http's one reader uses it.
type mender struct {
	held  []byte // an incomplete header
	ready []byte // to be returned next
	err   error  // returned after ready
}

// read fills p from take. open reports whether a header is in progress.
func (m *mender) read(p []byte, open func() bool, take func([]byte) (int, error)) (int, error) {
	for len(m.ready) == 0 && m.err == nil {
		n, err := take(p)
		if len(m.held) == 0 && !open() {
			return n, err
		}
		m.held, m.err = append(m.held, p[:n]...), err
		m.pass()
		if m.err != nil || len(m.held) > maxMendBytes {
			m.ready, m.held = append(m.ready, m.held...), nil
		}
	}
	if len(m.ready) == 0 {
		err := m.err
		m.err = nil
		return 0, err
	}
	n := copy(p, m.ready)
	m.ready = m.ready[n:]
	return n, nil
}

// pass releases complete headers: interim ones, the last, and the data after it.
func (m *mender) pass() {
	for {
		end := headerEnd(m.held)
		if end == 0 {
			return
		}
		header := m.held[:end]
		m.ready = append(m.ready, mended(header)...)
		m.held = m.held[end:]
		if !interim(header) {
			m.ready, m.held = append(m.ready, m.held...), nil
			return
		}
	}
}

// headerEnd returns the length of the header at the front of b; 0 when it is incomplete.
func headerEnd(b []byte) (n int) {
	for line := range bytes.Lines(b) {
		if n += len(line); line[len(line)-1] == '\n' && len(bytes.TrimRight(line, "\r\n")) == 0 {
			return n
		}
	}
	return 0
}

// mended removes the lines of a header that browsers ignore. Since the extent of the body is
// then less certain, the connection serves no further exchange.
func mended(header []byte) []byte {
	if !bytes.HasPrefix(header, []byte("HTTP/")) {
		return header
	}
	var kept [][]byte
	changed, dropped := false, false
	length, transfer := framing(header)
	for line := range bytes.Lines(header) {
		name, value, colon := strings.Cut(string(bytes.TrimRight(line, "\r\n")), ":")
		folded := len(kept) > 0 && (line[0] == ' ' || line[0] == '\t')
		next := line
		switch {
		case len(kept) == 0, name == "" && !colon: // the status line, the end
		case folded:
			if (dropped || len(kept) == 1) && !namesFraming(line) {
				next = nil
			}
		case (!colon || !isFieldName(name)) && !namesFraming(line):
			next = nil
		case strings.EqualFold(name, "Content-Length"):
			next = length.line(line)
		case strings.EqualFold(name, "Transfer-Encoding"):
			next = transfer.line(line)
		case hasControl(value) && !strings.EqualFold(name, "Location") && !namesFraming(line):
			next = nil
		}
		dropped = next == nil
		changed = changed || !bytes.Equal(next, line)
		if next != nil {
			kept = append(kept, next)
		}
	}
	if !changed {
		return header
	}
	end := len(kept) - 1
	return bytes.Join(slices.Insert(kept, end, []byte("Connection: close\r\n")), nil)
}

// hasControl reports a byte that no value may have.
func hasControl(value string) bool {
	return strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// namesFraming reports a broken line by which another reader may find the body's end. It
// stays, and net/http refuses the answer.
func namesFraming(line []byte) bool {
	line = bytes.ToLower(line)
	return bytes.Contains(line, []byte("transfer-encoding")) || bytes.Contains(line, []byte("content-length"))
}

// isFieldName reports a name that net/http accepts; it also handles names with a blank.
func isFieldName(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r >= 0x7f || strings.ContainsRune("\"(),/:;<=>?@[\\]{}", r) })
}

// frame decides about the lines that give a body's length.
type frame struct {
	keep  bool   // unchanged: valid, or for net/http to refuse
	value string // replaces the first line; "" removes it
	done  bool
}

func (f *frame) line(line []byte) []byte {
	if f.keep {
		return line
	}
	first := !f.done
	if f.done = true; first && f.value != "" {
		name, _, _ := bytes.Cut(line, []byte(":"))
		return []byte(string(name) + ": " + f.value + "\r\n")
	}
	return nil
}

// framing judges Content-Length and Transfer-Encoding. Differing lengths, folded lines,
// negative lengths and anything near "chunked" stay for net/http to refuse: two readers would
// see two bodies. A length that is no number is ignored, as in browsers: the body ends with
// the connection. So is "identity", an old word for no encoding.
func framing(header []byte) (length, transfer *frame) {
	var lengths, codings []string
	folded, last := false, ""
	for line := range bytes.Lines(header) {
		name, value, _ := strings.Cut(string(line), ":")
		if line[0] == ' ' || line[0] == '\t' {
			folded = folded || last == "content-length" || last == "transfer-encoding"
			continue
		}
		switch last = strings.ToLower(name); last {
		case "content-length":
			lengths = append(lengths, items(value)...)
		case "transfer-encoding":
			codings = append(codings, items(value)...)
		}
	}
	length, transfer = &frame{keep: true}, &frame{keep: true}
	several := false
	if some := slices.DeleteFunc(slices.Clone(lengths), func(l string) bool { return l == "" }); len(some) > 0 {
		several, lengths = len(some) < len(lengths), some
	}
	slices.Sort(lengths)
	several = several || len(lengths) > 1
	if lengths = slices.Compact(lengths); len(lengths) == 1 && !folded && !hasControl(lengths[0]) {
		_, err := strconv.ParseInt(lengths[0], 10, 64)
		number := err == nil && lengths[0][0] != '+'
		switch {
		case !number:
			length = &frame{}
		case several:
			length = &frame{value: lengths[0]}
		}
	}
	left := slices.DeleteFunc(slices.Clone(codings), func(c string) bool { return c == "" || c == "identity" })
	if len(left) < len(codings) && !folded {
		if len(left) == 0 {
			transfer = &frame{}
		} else if len(left) == 1 && left[0] == "chunked" && codings[len(codings)-1] == "chunked" {
			transfer = &frame{value: "chunked"}
		}
	}
	return length, transfer
}

// items splits a value at commas, in lower case.
func items(value string) (all []string) {
	for one := range strings.SplitSeq(value, ",") {
		all = append(all, strings.ToLower(strings.Trim(one, " \t\r\n")))
	}
	return all
}
