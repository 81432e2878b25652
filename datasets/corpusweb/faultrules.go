package corpusweb

import (
	"crypto/tls"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// rulesFaults are robots.txt files that are hard to read, or that want harm.
func rulesFaults() []Fault {
	text := func(name, about, states, body string) Fault {
		return rules(name, about, states, func(v *victim) { v.text(body) })
	}
	bomb := sync.OnceValue(func() []byte { return zipped([]byte(strings.Repeat("# nothing\n", 4<<20))) })
	return []Fault{
		text("robots-mark", "begins with a byte order mark", "robots_denied", "\ufeffUser-agent: *\nDisallow: /\n"),
		text("robots-cr", "ends its lines with CR alone", "robots_denied", "User-agent: *\rDisallow: /\r"),
		text("robots-zeros", "is full of zeros", "ok", "User-agent: *\x00\nDis\x00allow: /\nDisallow:\x00\n"+strings.Repeat("\x00", 10_000)),
		text("robots-wide", "is UTF-16", "robots_denied", "\xff\xfeU\x00s\x00e\x00r\x00-\x00a\x00g\x00e\x00n\x00t\x00:\x00 \x00*\x00\n\x00D\x00i\x00s\x00a\x00l\x00l\x00o\x00w\x00:\x00/\x00"),
		text("robots-line", "is one line of 10 MB", "ok", "Disallow: /"+strings.Repeat("l", 10<<20)),
		text("robots-groups", "has 100,000 groups", "ok", strings.Repeat("User-agent: somebody\nDisallow: /\n\n", 100_000)),
		text("robots-stars", "has patterns of stars only", "ok", "User-agent: *\n"+strings.Repeat("Disallow: /"+strings.Repeat("*a", 500)+"$\n", 400)),
		text("robots-sitemap", "names sitemaps at file URLs and at the crawler's own machine", "ok", "Sitemap: file:///etc/passwd\nSitemap: http://127.0.0.1/sitemap.xml\nSitemap: gopher://x\nSitemap: http://[::1\n"),
		text("robots-rest", "asks for rests in strange numbers", "ok", "User-agent: *\nCrawl-delay: 1e308\nCrawl-delay: Infinity\nCrawl-delay: 0x1p10\nCrawl-delay: .\nCrawl-delay: --5\n"),
		rules("robots-204", "has no content", "ok", func(v *victim) { v.rw.WriteHeader(http.StatusNoContent) }),
		rules("robots-429", "is answered with 429", "robots_denied", func(v *victim) { problem(v.rw, http.StatusTooManyRequests, "later") }),
		rules("robots-inside", "redirects to the crawler's own machine", "robots_denied", func(v *victim) {
			redirect(v.rw, "http://127.0.0.1:22/robots.txt", http.StatusFound)
		}),
		rules("robots-drip", "comes a byte at a time", "robots_denied body_timeout", func(v *victim) {
			v.raw(func(c *rawConn) {
				_ = c.head("Content-Length: 100000")
				c.drip(strings.Repeat("# slow\n", 10_000))
			})
		}),
		rules("robots-bomb", "unpacks to a gigabyte", "ok robots_denied", func(v *victim) {
			v.raw(func(c *rawConn) {
				_ = c.head("Content-Encoding: gzip", "Connection: close")
				_, _ = c.Write(bomb())
			})
		}),
	}
}

// shakeFaults are handshakes that fail in ways of their own.
func shakeFaults() []Fault {
	return []Fault{
		shake("tls-future", "shows a certificate that begins next month", "tls_error"),
		shake("tls-chain", "shows a chain of 500 certificates", "tls_error ok"),
		shake("tls-cipher", "knows only one cipher, which no client uses", "tls_error"),
		shake("tls-garbage", "answers the handshake with noise", "tls_error"),
		shake("tls-alert", "answers the handshake with an alert", "tls_error"),
		shake("tls-silence", "never answers the handshake", "connect_timeout"),
		shake("tls-drip", "answers the handshake a byte at a time", "connect_timeout"),
	}
}

// badShake serves a fault of shakeFaults that ends before any certificate; true
// when it did.
func (t *tunnels) badShake(f *Fault, conn net.Conn) bool {
	b := make([]byte, 4096)
	if f.Name == "tls-garbage" || f.Name == "tls-alert" || f.Name == "tls-drip" {
		// Behind a proxy nothing may come before the client has spoken.
		_ = conn.SetReadDeadline(time.Now().Add(headerTimeout))
		if _, err := conn.Read(b); err != nil {
			conn.Close()
			return true
		}
	}
	switch f.Name {
	case "tls-garbage":
		_, _ = conn.Write([]byte(strings.Repeat("\x16\x03\x01\xff\xff noise", 1000))) // the client may be gone
	case "tls-alert":
		_, _ = conn.Write([]byte("\x15\x03\x03\x00\x02\x02\x50"))
	case "tls-silence":
		_ = conn.SetReadDeadline(time.Now().Add(slowLimit))
		for { // until the client hangs up
			if _, err := conn.Read(b); err != nil {
				break
			}
		}
	case "tls-drip":
		t.dripShake(conn)
	default:
		return false
	}
	conn.Close()
	return true
}

// dripShake announces a record of 1 KB and sends it a byte a tick.
func (t *tunnels) dripShake(conn net.Conn) {
	tick := time.NewTicker(slowTick)
	defer tick.Stop()
	rest := "\x16\x03\x03\x04\x00\x02\x00\x03\xfc\x03\x03" + strings.Repeat("\x00", int(slowLimit/slowTick))
	for i := range len(rest) {
		if _, err := conn.Write([]byte{rest[i]}); err != nil {
			return
		}
		select {
		case <-tick.C:
		case <-t.web.held.quit:
			return
		}
	}
}

// badChain returns a certificate of a host behind which stand 500 more.
func (a *authority) badChain(name string) (*tls.Certificate, error) {
	good, err := a.certificate(name)
	if err != nil {
		return nil, err
	}
	long := *good
	long.Certificate = append([][]byte{}, good.Certificate...)
	for range 500 {
		long.Certificate = append(long.Certificate, a.cert.Raw)
	}
	return &long, nil
}
