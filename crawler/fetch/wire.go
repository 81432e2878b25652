package fetch

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Wire is the header of an exchange both ways, for archives: lines with their ends, without
// the empty one that follows. Cookies, passwords and signatures that were sent are left out.
type Wire struct {
	Protocol string // "http/1.0", "http/1.1", "h2"
	Request  []byte // as sent
	Response []byte // status line and header as received
	// Rebuilt says that the lines are made of what net/http tells: HTTP/2 has no such lines,
	// and TLS through a proxy is not ours to read. Their order is that of their names.
	Rebuilt bool
	Cut     bool // one of the two was longer than maxWireBytes
}

// maxWireBytes bounds what is kept of a header. Nearly all have less than two KiB.
const maxWireBytes = 16 << 10

// wire returns the header of an exchange whose answer begins with res.
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

// rebuild writes what is known as lines of HTTP/1.1.
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

// rebuilt writes a header as lines, in the order of names, behind those that it begins with.
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

// secrets are the fields of a request that are nobody's business, in lower case.
var secrets = []string{"cookie", "authorization", "proxy-authorization", "signature", "signature-input"}

// withoutSecrets leaves out the lines that an archive must not have.
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
