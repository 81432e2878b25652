package corpusweb

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"net"
	"net/http"
	"strings"
	"time"
)

// robotsFaults are those of a host's robots.txt. The states are its pages'
// (RFC 9309: unreachable is a refusal of all, 4xx and nonsense allow all).
func robotsFaults() []Fault {
	return []Fault{
		rules("robots-500", "fails with 500", "robots_denied", func(v *victim) { problem(v.rw, 500, "no rules") }),
		rules("robots-503", "fails with 503", "robots_denied", func(v *victim) { problem(v.rw, 503, "no rules") }),
		rules("robots-403", "is forbidden", "ok", func(v *victim) { problem(v.rw, 403, "no rules") }),
		rules("robots-loop", "redirects to itself", "ok", func(v *victim) { redirect(v.rw, v.q.url(), http.StatusFound) }),
		rules("robots-html", "is a web page", "ok", func(v *victim) { v.html([]byte("<!DOCTYPE html><p>Disallow: nothing here")) }),
		rules("robots-binary", "is an image", "ok", func(v *victim) {
			v.text("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + strings.Repeat("\x00", 4096))
		}),
		rules("robots-huge", "has 100 MB of rules", "ok", func(v *victim) {
			v.rw.Header().Set("Content-Type", "text/plain")
			_, _ = v.rw.Write([]byte("User-agent: *\nDisallow: /~nothing\n"))
			for i := 0; i < 100<<20; i += 4096 {
				if _, err := v.rw.Write([]byte(strings.Repeat("# many\n", 585) + "\n")); err != nil {
					return // the client has enough
				}
			}
		}),
		rules("robots-hang-up", "ends in a closed connection", "robots_denied header_error", func(v *victim) { v.raw(func(*rawConn) {}) }),
		rules("robots-stall", "never comes", "robots_denied header_timeout", func(v *victim) { v.raw((*rawConn).wait) }),
		rules("robots-delay", "asks for a rest that is not a number, and for a short one", "ok", func(v *victim) {
			v.text("User-agent: *\nCrawl-delay: forever\nCrawl-delay: -5\nCrawl-delay: NaN\nCrawl-delay: 0.01\n")
		}),
	}
}

// tlsFaults are those of a host's handshake, seen through CONNECT.
func tlsFaults() []Fault {
	return []Fault{
		shake("tls-expired", "shows a certificate that ended yesterday", "tls_error"),
		shake("tls-name", "shows a certificate of another name", "tls_error"),
		shake("tls-self", "shows a self-signed certificate", "tls_error"),
		shake("tls-plain", "speaks HTTP instead of TLS", "tls_error"),
		shake("tls-hang-up", "hangs up on the handshake", "tls_error"),
		shake("tls-old", "knows only TLS 1.0", "tls_error"),
	}
}

// badTLS serves a fault of the handshake on a connection that a CONNECT has
// opened; nil config means that the connection is done with.
func (t *tunnels) badTLS(f *Fault, conn net.Conn, name string) *tls.Config {
	cfg := &tls.Config{NextProtos: []string{"http/1.1"}}
	switch f.Name {
	case "tls-plain":
		_, _ = conn.Write([]byte("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")) // the client may be gone
		conn.Close()
		return nil
	case "tls-hang-up":
		conn.Close()
		return nil
	case "tls-old":
		cfg.MinVersion, cfg.MaxVersion = tls.VersionTLS10, tls.VersionTLS10
	case "tls-cipher":
		cfg.MaxVersion, cfg.CipherSuites = tls.VersionTLS12, []uint16{tls.TLS_ECDHE_RSA_WITH_RC4_128_SHA}
	default:
		if t.badShake(f, conn) {
			return nil
		}
	}
	cfg.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		switch f.Name {
		case "tls-name":
			return t.web.ca.certificate("elsewhere.invalid")
		case "tls-expired", "tls-self", "tls-future":
			return t.web.ca.bad(name, f.Name)
		case "tls-chain":
			return t.web.ca.badChain(name)
		}
		return t.web.ca.certificate(name)
	}
	return cfg
}

// bad returns a certificate of a host that is signed by itself, is expired, or
// begins in future.
func (a *authority) bad(name, fault string) (*tls.Certificate, error) {
	template := leafTemplate(name)
	switch fault {
	case "tls-expired":
		template.NotBefore, template.NotAfter = time.Now().AddDate(0, 0, -30), time.Now().AddDate(0, 0, -1)
		return a.sign(template, a.cert, a.leaf, a.key)
	case "tls-future":
		template.NotBefore, template.NotAfter = time.Now().AddDate(0, 1, 0), time.Now().AddDate(1, 0, 0)
		return a.sign(template, a.cert, a.leaf, a.key)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().AddDate(1, 0, 0)
	return a.sign(template, template, key, key)
}
