package web

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf16"
)

// wireFaults affect the response header and the connection below it.
func wireFaults() []Fault {
	return []Fault{
		wire("silence", "takes the request and says nothing", "header_timeout", (*rawConn).wait),
		wire("slow-header", "sends the header a byte at a time", "header_timeout", func(c *rawConn) {
			c.drip("HTTP/1.1 200 OK\r\nX-Slow: " + strings.Repeat("z", 4096))
		}),
		wire("half-header", "hangs up in the middle of the header", "header_error", func(c *rawConn) {
			_ = c.say("HTTP/1.1 200 OK") // if the client is gone, the next write fails too
			_, _ = c.Write([]byte("Content-Ty"))
		}),
		wire("hang-up", "hangs up before the header", "header_error", func(*rawConn) {}),
		wire("reset", "resets the connection before the header", "header_error", (*rawConn).reset),
		wire("garbage", "answers with random bytes", "header_error", func(c *rawConn) {
			for i := range 4096 {
				_, _ = c.Write([]byte{byte(i * i >> 3)})
			}
		}),
		wire("bad-status-line", "gives a status that is not a number", "header_error", func(c *rawConn) {
			_ = c.say("HTTP/1.1 fine Thanks")
			_ = c.say("")
		}),
		wire("no-header", "sends a page without any header, as HTTP/0.9 did", "header_error", sends("<html><title>old</title><p>a page\n")),
		wire("header-flood", "sends endless header fields", "header_error", func(c *rawConn) {
			_ = c.say("HTTP/1.1 200 OK")
			c.flood("X-Flood: "+strings.Repeat("f", 1000)+"\r\n", 256<<20)
		}),
		wire("header-line", "sends one header field of 256 MB", "header_error", func(c *rawConn) {
			_ = c.say("HTTP/1.1 200 OK")
			_, _ = c.Write([]byte("X-Long: "))
			c.flood(strings.Repeat("l", 4096), 256<<20)
		}),
		wire("continue-flood", "says 100 Continue endlessly", "header_error", func(c *rawConn) {
			c.flood("HTTP/1.1 100 Continue\r\n\r\n", 16<<20)
		}),
		wire("two-lengths", "announces two lengths that differ", "header_error", answers("0123456789", "Content-Length: 10", "Content-Length: 20")),
		wire("negative-length", "announces a length below zero", "header_error", answers("0123456789", "Content-Length: -1")),
		wire("bad-field", "sends header fields with forbidden bytes", "header_error", answers("<p>page", "X-\x00Null\x01: \x02", ": no name", "no colon")),
	}
}

func bodyFaults() []Fault {
	return []Fault{
		wire("drip-body", "sends the body a byte at a time", "body_timeout", func(c *rawConn) {
			_ = c.head("Content-Length: 100000")
			c.drip(strings.Repeat("drip ", 20000))
		}),
		wire("stall", "stops in the middle of the body", "body_timeout", func(c *rawConn) {
			_ = c.head("Content-Length: 100000")
			_, _ = c.Write([]byte("<p>half of a pa"))
			c.wait()
		}),
		wire("endless-body", "sends an endless body", "too_large", func(c *rawConn) {
			_ = c.head("Connection: close")
			c.flood("<p>"+strings.Repeat("again and again ", 256), 1<<30)
		}),
		wire("endless-chunks", "sends endless chunks", "too_large", func(c *rawConn) {
			_ = c.head("Transfer-Encoding: chunked")
			c.flood("1000\r\n"+strings.Repeat("c", 0x1000)+"\r\n", 1<<30)
		}),
		wire("short-body", "hangs up before the announced length", "body_error", answers("<p>not all of it", "Content-Length: 5000")),
		wire("long-body", "sends more than the announced length", "ok duplicate", answers("<title>long</title><p>body<p>which goes on", "Content-Length: 26")),
		wire("reset-body", "resets the connection in the middle of the body", "body_error", func(c *rawConn) {
			_ = c.head("Content-Length: 5000")
			_, _ = c.Write([]byte("<p>not all of it"))
			c.reset()
		}),
		wire("bad-chunk", "gives a chunk a length that is not a number", "body_error", answers("5\r\n<p>ab\r\nbanana\r\n", "Transfer-Encoding: chunked")),
		wire("huge-chunk", "gives a chunk a length too large for any integer", "body_error", answers("5\r\n<p>ab\r\nfffffffffffffffff\r\nxy", "Transfer-Encoding: chunked")),
		wire("cut-chunks", "hangs up before the last chunk", "body_error", answers("5\r\n<p>ab\r\n5\r\ncd", "Transfer-Encoding: chunked")),
		wire("huge-length", "announces eight exabytes", "too_large", func(c *rawConn) {
			_ = c.head("Content-Length: 9223372036854775807")
			_, _ = c.Write([]byte("<p>and so on"))
			c.wait()
		}),
	}
}

func headerFaults() []Fault {
	page := "Content-Type: text/html\r\nContent-Length: 24\r\n\r\n<title>odd</title><p>odd"
	return []Fault{
		wire("hints-flood", "says 103 Early Hints endlessly", "header_error", func(c *rawConn) {
			c.flood("HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n", 16<<20)
		}),
		wire("processing", "says 102 Processing again and again, for ever", "header_timeout", func(c *rawConn) {
			c.pulse("HTTP/1.1 102 Processing\r\n\r\n")
		}),
		wire("hints", "says 103 three times, then answers", "ok duplicate", sends(strings.Repeat("HTTP/1.1 103 Early Hints\r\nContent-Length: 7\r\n\r\n", 3)+"HTTP/1.1 200 OK\r\n"+page)),
		wire("status-099", "answers with a status below 100", "code header_error", sends("HTTP/1.1 099 Odd\r\n"+page)),
		wire("status-1000", "answers with a status of four digits", "header_error", sends("HTTP/1.1 1000 Odd\r\n"+page)),
		wire("status-minus", "answers with a status below zero", "header_error", sends("HTTP/1.1 -20 Odd\r\n"+page)),
		wire("status-bare", "answers with a status without a reason phrase", "ok duplicate", sends("HTTP/1.1 200\r\n"+page)),
		wire("version", "answers in an unknown version of HTTP", "ok duplicate header_error", sends("HTTP/3.7 200 OK\r\n"+page)),
		wire("http2-frames", "answers in HTTP/2 without being asked", "header_error header_timeout", func(c *rawConn) {
			_, _ = c.Write([]byte("\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x64\x00\x00\x00\x04\x01\x00\x00\x00\x00"))
			c.wait()
		}),
		wire("nul-value", "has bytes of zero in a header field", "ok duplicate header_error", sends("HTTP/1.1 200 OK\r\nX-Nul: a\x00b\r\nETag: \"\x00\x01\"\r\n"+page)),
		wire("folded", "folds header fields over lines, as was allowed once", "ok duplicate", sends("HTTP/1.1 200 OK\r\nX-Folded: a\r\n b\r\n\tc\r\n"+page)),
		wire("bare-lf", "ends lines of the header with LF alone", "ok duplicate", sends("HTTP/1.1 200 OK\n"+strings.ReplaceAll(page, "\r\n", "\n"))),
		wire("bare-cr", "ends lines of the header with CR alone", "header_error header_timeout", sends("HTTP/1.1 200 OK\r"+strings.ReplaceAll(page, "\r\n", "\r"))),
		wire("many-fields", "has 8,000 header fields", "ok duplicate", sends("HTTP/1.1 200 OK\r\n"+strings.Repeat("X-Many: 0123456789\r\n", 8000)+page)),
		wire("drip-phases", "sends each part just before the time limit", "header_timeout", func(c *rawConn) {
			for _, part := range []string{"HTTP/1.1 ", "200 OK\r\n", "Content-Type: ", "text/html\r\n"} {
				_, _ = c.Write([]byte(part))
				if c.Flush() != nil || !c.pause(slowTick) {
					return
				}
			}
			c.pulse("X-More: and more\r\n")
		}),
	}
}

func framingFaults() []Fault {
	return []Fault{
		wire("two-framings", "gives both a length and chunks, as in request smuggling", "ok duplicate", answers("7\r\n<p>abcd\r\n0\r\n\r\n", "Content-Length: 5", "Transfer-Encoding: chunked")),
		wire("odd-framing", "is chunked twice over", "header_error", answers("7\r\n<p>abcd\r\n0\r\n\r\n", "Transfer-Encoding: chunked, chunked")),
		wire("gzip-framing", "compresses by Transfer-Encoding instead of Content-Encoding", "header_error", answers("7\r\n<p>abcd\r\n0\r\n\r\n", "Transfer-Encoding: gzip, chunked")),
		wire("chunk-extension", "gives a chunk an endless extension", "body_error", func(c *rawConn) {
			_ = c.head("Transfer-Encoding: chunked")
			_, _ = c.Write([]byte("7;x="))
			c.flood(strings.Repeat("y", 4096), 64<<20)
		}),
		wire("tiny-chunks", "sends chunks of one byte, each with a long extension", "body_error too_large", func(c *rawConn) {
			_ = c.head("Transfer-Encoding: chunked")
			c.flood("1;"+strings.Repeat("x", 2000)+"\r\na\r\n", 256<<20)
		}),
		wire("trailer-flood", "sends endless trailers", "body_error", func(c *rawConn) {
			_ = c.head("Transfer-Encoding: chunked")
			_, _ = c.Write([]byte("7\r\n<p>abcd\r\n0\r\n"))
			c.flood("X-Trailer: "+strings.Repeat("t", 1000)+"\r\n", 64<<20)
		}),
		wire("trailer-type", "changes its mind about the type in a trailer", "ok duplicate", answers("7\r\n<p>abcd\r\n0\r\nContent-Type: image/png\r\nLocation: http://127.0.0.1/\r\n\r\n", "Transfer-Encoding: chunked", "Trailer: Content-Type, Location")),
		wire("second-answer", "sends a second answer without a request for it", "ok duplicate", func(c *rawConn) {
			_ = c.head("Content-Length: 10")
			_, _ = c.Write([]byte("<p>a page.HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 11\r\n\r\n<p>poisoned"))
			_ = c.Flush()
			c.pause(slowTick) // lets a client reuse the connection
		}),
		wire("stays-open", "keeps a connection open after it said that it would close it", "ok duplicate", func(c *rawConn) {
			_ = c.head("Content-Length: 10", "Connection: close")
			_, _ = c.Write([]byte("<p>a page."))
			c.wait()
		}),
		wire("no-body", "announces a body and sends none", "body_timeout", func(c *rawConn) {
			_ = c.head("Content-Length: 5000")
			c.wait()
		}),
	}
}

// pulse sends text once per tick until slowLimit.
func (c *rawConn) pulse(text string) {
	for end := time.Now().Add(slowLimit); time.Now().Before(end); {
		if _, err := c.Write([]byte(text)); err != nil || c.Flush() != nil || !c.pause(slowTick) {
			return
		}
	}
}

// pause waits for d. It returns false if the web is closing.
func (c *rawConn) pause(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-c.held.quit:
		return false
	}
}

// zipped compresses in memory, which cannot fail.
func zipped(b []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, _ = z.Write(b)
	_ = z.Close()
	return out.Bytes()
}

func packingFaults() []Fault {
	packed := []string{"Content-Encoding: gzip", "Connection: close"}
	return []Fault{
		wire("gzip-members", "sends endless empty gzip members", "too_large", func(c *rawConn) {
			_ = c.head(packed...)
			c.flood(strings.Repeat(string(zipped(nil)), 100), 256<<20)
		}),
		wire("gzip-name", "gives a gzip file an endless name", "body_error", func(c *rawConn) {
			_ = c.head(packed...)
			_, _ = c.Write([]byte("\x1f\x8b\x08\x08\x00\x00\x00\x00\x00\x03"))
			c.flood(strings.Repeat("n", 4096), 64<<20)
		}),
		wire("gzip-junk", "sends endless junk after a gzip file", "ok duplicate", func(c *rawConn) {
			_ = c.head(packed...)
			_, _ = c.Write(zipped([]byte("<title>packed</title><p>and then junk")))
			c.flood(strings.Repeat("junk", 1024), 64<<20)
		}),
		wire("gzip-drip", "sends a bomb a byte at a time", "body_timeout", func(c *rawConn) {
			_ = c.head(packed...)
			c.drip(string(zipped(bytes.Repeat([]byte("<p>"), 1<<20))))
		}),
		whole("gzip-in-gzip", "compresses a page twice and announces it once", "wrong_type", func(v *victim) {
			v.html(zipped(zipped(v.page)), "Content-Encoding", "gzip")
		}),
		wire("gzip-lines", "names its coding in two header fields", "body_error", func(c *rawConn) {
			_ = c.head("Content-Encoding: gzip", "Content-Encoding: gzip", "Connection: close")
			_, _ = c.Write(zipped(zipped([]byte("<p>twice"))))
		}),
		wire("deflate-bomb", "sends endless spaces, compressed by deflate", "too_large", func(c *rawConn) {
			_ = c.head("Content-Encoding: deflate", "Connection: close")
			z, err := flate.NewWriter(c, flate.BestSpeed)
			if err != nil {
				return // cannot happen: BestSpeed is valid
			}
			blank := bytes.Repeat([]byte("<p> "), 1<<16)
			for range 4 << 10 {
				if _, err := z.Write(blank); err != nil {
					return // the client is gone
				}
			}
		}),
	}
}

func charsetFaults() []Fault {
	typed := func(name, about, states, contentType string, body func(url string) []byte) Fault {
		return whole(name, about, states, func(v *victim) { v.html(body(v.q.url()), "Content-Type", contentType) })
	}
	wide := func(text string) []byte {
		var b []byte
		for _, u := range utf16.Encode([]rune(text)) {
			b = append(b, byte(u), byte(u>>8))
		}
		return b
	}
	return []Fault{
		typed("utf-7", "hides markup in UTF-7", "ok", "text/html; charset=utf-7", func(url string) []byte {
			return []byte("<title>seven " + url + "</title>+ADw-a href=+ACI-http://127.0.0.1/+ACI-+AD4-in+ADw-/a+AD4-")
		}),
		typed("utf-16", "sends UTF-16 without announcing it", "wrong_type", "text/html", func(url string) []byte {
			return wide("<title>wide " + url + "</title><p>two bytes each, and no mark")
		}),
		typed("mark-fight", "says UTF-8 in the header and UTF-16 in its byte order mark", "ok duplicate wrong_type", "text/html; charset=utf-8", func(url string) []byte {
			return append([]byte{0xff, 0xfe}, wide("<title>mark "+url+"</title><p>two bytes each")...)
		}),
		typed("overlong", "writes characters longer than UTF-8 allows", "ok duplicate", "text/html; charset=utf-8", func(url string) []byte {
			return []byte("<title>long " + url + "</title><p>" + strings.Repeat("\xc0\xbca href=\xc0\xaf\xe0\x80\xaf\xf0\x80\x80\xbc\xfe\xff", 20_000))
		}),
		typed("escapes", "changes its character set a million times", "ok duplicate", "text/html; charset=iso-2022-jp", func(url string) []byte {
			return []byte("<title>escapes " + url + "</title><p>" + strings.Repeat("\x1b$B\x1b(B\x1b(J", 300_000))
		}),
		typed("replacement", "names a charset that browsers refuse to read", "ok duplicate", "text/html; charset=iso-2022-kr", func(url string) []byte {
			return []byte("<title>refused " + url + "</title><p>\x1b$)C\x0e1122\x0f text")
		}),
		typed("zeros", "scatters zero bytes over its text", "ok duplicate", "text/html", func(url string) []byte {
			return []byte("<title>ze\x00ros " + url + "</title><p>" + strings.Repeat("some words with a zero at the end\x00 and <\x00a hr\x00ef=/x>on ", 1000))
		}),
		typed("charset-long", "names a charset of 200 KB", "ok duplicate", "text/html; charset=\""+strings.Repeat("x", 200<<10)+"\"", func(url string) []byte {
			return []byte("<title>charset " + url + "</title><p>text")
		}),
	}
}

// robotsFaults affect a host's robots.txt; States apply to its pages (RFC 9309: an unreachable file
// forbids everything, 4xx and nonsense allow everything).
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
					return // the client is gone
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

// badTLS serves a handshake fault on a CONNECT connection. A nil config means that the connection is
// already closed.
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

// bad returns a self-signed, expired or not yet valid certificate.
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

// badShake serves a fault that ends the handshake before any certificate. It returns true if it did.
func (t *tunnels) badShake(f *Fault, conn net.Conn) bool {
	b := make([]byte, 4096)
	if f.Name == "tls-garbage" || f.Name == "tls-alert" || f.Name == "tls-drip" {
		// A proxied connection must stay silent until the client has sent its first bytes.
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

// dripShake announces a record of 1 KB and sends one byte per tick.
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

// badChain returns a host's certificate with 500 more behind it.
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

// endlessPath starts the URLs of sitemap indexes that name further indexes without end.
const endlessPath = "/~sitemap/"

// sitemapFaults affect the sitemap, given Options.Sitemaps. The host's pages stay reachable.
func sitemapFaults() []Fault {
	fault := func(name, about string, f func(*victim)) Fault {
		return Fault{Name: name, About: "the sitemap " + about, States: []string{"ok"}, scope: onSitemap, serve: f}
	}
	return []Fault{
		fault("sitemap-endless", "is an index that names an index, and so on for ever", func(v *victim) { v.endlessIndex(0) }),
		fault("sitemap-loop", "is an index that names itself", func(v *victim) {
			v.xml(indexOf(v.q.url(), v.root()+sitemapPath+"?again", v.q.url()))
		}),
		fault("sitemap-bomb", "is 1 MB of gzip that unpacks to 1 GB", func(v *victim) {
			v.bomb("application/gzip", "<urlset>")
		}),
		fault("sitemap-huge", "names ten million pages, in 500 MB", func(v *victim) {
			v.rw.Header().Set("Content-Type", "application/xml")
			_, _ = io.WriteString(v.rw, "<urlset>") // the next write reports an error
			for i := range 10_000_000 {
				if _, err := fmt.Fprintf(v.rw, "<url><loc>%s/~nothing/%d</loc></url>\n", v.root(), i); err != nil {
					return // the client is gone
				}
			}
		}),
		fault("sitemap-html", "is a web page", func(v *victim) {
			v.html([]byte("<!DOCTYPE html><title>Not found</title><p>There is no sitemap here. <a href=/>Home</a>"))
		}),
		fault("sitemap-foreign", "names pages and sitemaps of other hosts and of the crawler's own machine", func(v *victim) {
			var b bytes.Buffer
			b.WriteString("<urlset>")
			for i := range 1000 {
				fmt.Fprintf(&b, "<url><loc>http://10.0.0.%d/</loc></url><sitemap><loc>http://victim%d.test/sitemap.xml</loc></sitemap>", i%256, i)
			}
			b.WriteString("<url><loc>http://127.0.0.1/</loc></url><url><loc>http://169.254.169.254/latest/meta-data/</loc></url></urlset>")
			v.xml(b.Bytes())
		}),
		fault("sitemap-deep", "nests a million elements", func(v *victim) { v.xml([]byte(strings.Repeat("<url>", 1_000_000))) }),
	}
}

func (v *victim) xml(body []byte) {
	v.rw.Header().Set("Content-Type", "application/xml")
	send(v.rw, v.r, body)
}

// endlessIndex sends an index that names two more of its kind.
func (v *victim) endlessIndex(n int) {
	v.xml(indexOf(v.root()+endlessPath+strconv.Itoa(2*n+1), v.root()+endlessPath+strconv.Itoa(2*n+2)))
}

// endless serves the indexes below endlessPath. It returns false for other paths.
func (v *victim) endless() bool {
	rest, ok := strings.CutPrefix(v.q.path, endlessPath)
	n, err := strconv.Atoi(rest)
	if !ok || err != nil {
		return false
	}
	v.mark("sitemap-endless")
	v.endlessIndex(n)
	return true
}

// Paths of the traps. Every host of a web with faults serves them, and faulty pages link to them.
const (
	calendarPath = "/~calendar"
	sessionPath  = "/~session"
	depthPath    = "/~deep/"
	cyclePath    = "/~cycle/"
	similarPath  = "/~similar/"
	softPath     = "/~soft/"
	refreshPath  = "/~refresh/"
)

// trapFaults are pages that lead into endless URL spaces.
func trapFaults() []Fault {
	entry := func(name, about string, targets ...string) Fault {
		return whole(name, about, "ok", func(v *victim) { v.html(links("Way to "+name+" from "+v.q.url(), targets)) })
	}
	return []Fault{
		entry("calendar", "leads to a calendar in which each month links to the next, for ever", calendarPath+"?year=2026&month=1"),
		entry("sessions", "leads to pages whose links carry a new session each time", sessionPath+"?sid=0"),
		entry("depth", "leads to folders within folders", depthPath),
		entry("cycle", "leads to relative links that repeat their folders", cyclePath+"a/b/"),
		entry("similar", "leads to thousands of pages that differ only in a number", similarPath+"1"),
		entry("host-farm", "leads to a site that answers to every host name and links to more names", "http://a"+farmSuffix+"/", "http://b"+farmSuffix+"/"),
		entry("refresh-chain", "leads to pages that refresh themselves to the next", refreshPath+"1"),
		entry("soft-404", "leads to missing pages that answer 200", softPath+"1", softPath+"2", softPath+"3"),
	}
}

// trap serves a trap's URL. It returns false for other paths.
func (v *victim) trap() bool {
	path, query, _ := strings.Cut(v.q.path, "?")
	switch {
	case strings.HasPrefix(path, chainPrefix):
		n, err := strconv.ParseUint(path[len(chainPrefix):], 10, 32)
		if err != nil {
			return false
		}
		v.mark("redirect-chain")
		redirect(v.rw, v.root()+chainPrefix+strconv.FormatUint(n+1, 10), http.StatusFound)
	case path == calendarPath:
		v.mark("calendar")
		v.calendar()
	case path == sessionPath:
		v.mark("sessions")
		v.sessions(query)
	case strings.HasPrefix(path, depthPath):
		v.mark("depth")
		n := strings.Count(path, "/")
		v.html(links(fmt.Sprintf("Folder number %d", n), []string{fmt.Sprintf("%s%d/", path, n), fmt.Sprintf("%s%d/", path, n+1)}))
	case strings.HasPrefix(path, cyclePath):
		v.mark("cycle")
		v.html(links("Round "+strconv.Itoa(len(path)), []string{"a/b/", "b/a/", "../b/a/"}))
	case strings.HasPrefix(path, similarPath):
		v.mark("similar")
		n, _ := strconv.Atoi(path[len(similarPath):]) // 0 for nonsense
		v.html(append(links(fmt.Sprintf("Item %d", n), []string{similarPath + strconv.Itoa(2*n+1), similarPath + strconv.Itoa(2*n+2)}),
			fmt.Sprintf("<p>%s This is the item with the number %d.\n", strings.Repeat("Everything on this page is as on all the others of its kind. ", 20), n)...))
	case strings.HasPrefix(path, refreshPath):
		v.mark("refresh-chain")
		n, _ := strconv.Atoi(path[len(refreshPath):])
		v.html(fmt.Appendf(nil, "<!DOCTYPE html><title>Wait</title><meta http-equiv=refresh content=\"0;url=%s%d\"><p>You will be taken there in %d moments.", refreshPath, n+1, n))
	case strings.HasPrefix(path, softPath):
		v.mark("soft-404")
		n, _ := strconv.Atoi(path[len(softPath):])
		v.html(append(links("Page not found", []string{softPath + strconv.Itoa(3*n+1), softPath + strconv.Itoa(3*n+2)}),
			"<p>We are sorry: the page you asked for could not be found. Try these instead.\n"...))
	default:
		return false
	}
	return true
}

// calendar serves a month with links to its days and neighbouring months.
func (v *victim) calendar() {
	q := v.r.URL.Query()
	year, _ := strconv.Atoi(q.Get("year")) // 0 for nonsense
	month, _ := strconv.Atoi(q.Get("month"))
	at := func(m int) string {
		y := year + (m-1)/12
		if m < 1 {
			y, m = y-1, m+12
		}
		return fmt.Sprintf("%s?year=%d&month=%d", calendarPath, y, (m-1)%12+1)
	}
	targets := []string{at(month - 1), at(month + 1), at(month + 12)}
	for day := 1; day <= 28; day++ {
		targets = append(targets, fmt.Sprintf("%s?year=%d&month=%d&day=%d", calendarPath, year, month, day))
	}
	v.html(links(fmt.Sprintf("Calendar %d-%d %s", year, month, q.Get("day")), targets))
}

// sessions serves one of ten pages, whose links carry a new session ID.
func (v *victim) sessions(query string) {
	n := int(v.web.draw.uniform("session", query) * 1e9)
	targets := make([]string, 5)
	for i := range targets {
		targets[i] = fmt.Sprintf("%s?sid=%08x&page=%d", sessionPath, n+i, i)
	}
	v.html(links("Shop, page "+v.r.URL.Query().Get("page"), targets))
}

// farmSuffix ends the host names that host-farm invents. Each host serves a similar page with links to
// more such hosts.
const farmSuffix = ".host-farm.example"

// farm answers for an invented host. It returns false for other hosts.
func (v *victim) farm() bool {
	host := hostName(v.q.host)
	if !strings.HasSuffix(host, farmSuffix) {
		return false
	}
	v.mark("host-farm")
	if v.q.path != "/" {
		problem(v.rw, http.StatusNotFound, "a farm has home pages only")
		return true
	}
	var names []string
	for i := range 5 {
		names = append(names, "http://"+v.web.draw.letters("farm", host+strconv.Itoa(i))+farmSuffix+"/")
	}
	v.html(append(links("Welcome to "+host, names), "<p>You will find all that you want here, and more.\n"...))
	return true
}
