package web

import (
	"bufio"
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
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
)

// wireFaults affect the response header and the connection below it.
func wireFaults() []Fault {
	page := "Content-Type: text/html\r\nContent-Length: 24\r\n\r\n<title>odd</title><p>odd"
	return []Fault{
		wire("silence", "takes the request and says nothing", "header_timeout", (*rawConn).wait),
		wire("slow-header", "sends the header a byte at a time", "header_timeout", drips("HTTP/1.1 200 OK\r\nX-Slow: "+strings.Repeat("z", 4096))),
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
		wire("header-flood", "sends endless header fields", "header_error", sends("HTTP/1.1 200 OK\r\n", floods("X-Flood: "+strings.Repeat("f", 1000)+"\r\n", 256<<20))),
		wire("header-line", "sends one header field of 256 MB", "header_error", sends("HTTP/1.1 200 OK\r\nX-Long: ", floods(strings.Repeat("l", 4096), 256<<20))),
		wire("continue-flood", "says 100 Continue endlessly", "header_error", floods("HTTP/1.1 100 Continue\r\n\r\n", 16<<20)),
		wire("two-lengths", "announces two lengths that differ", "header_error", answers("0123456789", "Content-Length: 10", "Content-Length: 20")),
		wire("negative-length", "announces a length below zero", "header_error", answers("0123456789", "Content-Length: -1")),
		wire("bad-field", "sends header fields with forbidden bytes", "header_error", answers("<p>page", "X-\x00Null\x01: \x02", ": no name", "no colon")),
		wire("hints-flood", "says 103 Early Hints endlessly", "header_error", floods("HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n", 16<<20)),
		wire("processing", "says 102 Processing again and again, for ever", "header_timeout", func(c *rawConn) {
			c.pulse("HTTP/1.1 102 Processing\r\n\r\n")
		}),
		wire("hints", "says 103 three times, then answers", "ok duplicate", sends(strings.Repeat("HTTP/1.1 103 Early Hints\r\nContent-Length: 7\r\n\r\n", 3)+"HTTP/1.1 200 OK\r\n"+page)),
		wire("status-099", "answers with a status below 100", "code header_error", sends("HTTP/1.1 099 Odd\r\n"+page)),
		wire("status-1000", "answers with a status of four digits", "header_error", sends("HTTP/1.1 1000 Odd\r\n"+page)),
		wire("status-minus", "answers with a status below zero", "header_error", sends("HTTP/1.1 -20 Odd\r\n"+page)),
		wire("status-bare", "answers with a status without a reason phrase", "ok duplicate", sends("HTTP/1.1 200\r\n"+page)),
		wire("version", "answers in an unknown version of HTTP", "ok duplicate header_error", sends("HTTP/3.7 200 OK\r\n"+page)),
		wire("http2-frames", "answers in HTTP/2 without being asked", "header_error header_timeout", sends("\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x64\x00\x00\x00\x04\x01\x00\x00\x00\x00", (*rawConn).wait)),
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

// bodyFaults affect the body: its framing and its end.
func bodyFaults() []Fault {
	return []Fault{
		wire("drip-body", "sends the body a byte at a time", "body_timeout", answersThen(drips(strings.Repeat("drip ", 20000)), "", "Content-Length: 100000")),
		wire("stall", "stops in the middle of the body", "body_timeout", answersThen((*rawConn).wait, "<p>half of a pa", "Content-Length: 100000")),
		wire("endless-body", "sends an endless body", "too_large", answersThen(floods("<p>"+strings.Repeat("again and again ", 256), 1<<30), "", "Connection: close")),
		wire("endless-chunks", "sends endless chunks", "too_large", answersThen(floods("1000\r\n"+strings.Repeat("c", 0x1000)+"\r\n", 1<<30), "", "Transfer-Encoding: chunked")),
		wire("short-body", "hangs up before the announced length", "body_error", answers("<p>not all of it", "Content-Length: 5000")),
		wire("long-body", "sends more than the announced length", "ok duplicate", answers("<title>long</title><p>body<p>which goes on", "Content-Length: 26")),
		wire("reset-body", "resets the connection in the middle of the body", "body_error", answersThen((*rawConn).reset, "<p>not all of it", "Content-Length: 5000")),
		wire("bad-chunk", "gives a chunk a length that is not a number", "body_error", answers("5\r\n<p>ab\r\nbanana\r\n", "Transfer-Encoding: chunked")),
		wire("huge-chunk", "gives a chunk a length too large for any integer", "body_error", answers("5\r\n<p>ab\r\nfffffffffffffffff\r\nxy", "Transfer-Encoding: chunked")),
		wire("cut-chunks", "hangs up before the last chunk", "body_error", answers("5\r\n<p>ab\r\n5\r\ncd", "Transfer-Encoding: chunked")),
		wire("huge-length", "announces eight exabytes", "too_large", answersThen((*rawConn).wait, "<p>and so on", "Content-Length: 9223372036854775807")),
		wire("two-framings", "gives both a length and chunks, as in request smuggling", "ok duplicate", answers("7\r\n<p>abcd\r\n0\r\n\r\n", "Content-Length: 5", "Transfer-Encoding: chunked")),
		wire("odd-framing", "is chunked twice over", "header_error", answers("7\r\n<p>abcd\r\n0\r\n\r\n", "Transfer-Encoding: chunked, chunked")),
		wire("gzip-framing", "compresses by Transfer-Encoding instead of Content-Encoding", "header_error", answers("7\r\n<p>abcd\r\n0\r\n\r\n", "Transfer-Encoding: gzip, chunked")),
		wire("chunk-extension", "gives a chunk an endless extension", "body_error", answersThen(floods(strings.Repeat("y", 4096), 64<<20), "7;x=", "Transfer-Encoding: chunked")),
		wire("tiny-chunks", "sends chunks of one byte, each with a long extension", "body_error too_large", answersThen(floods("1;"+strings.Repeat("x", 2000)+"\r\na\r\n", 256<<20), "", "Transfer-Encoding: chunked")),
		wire("trailer-flood", "sends endless trailers", "body_error", answersThen(floods("X-Trailer: "+strings.Repeat("t", 1000)+"\r\n", 64<<20), "7\r\n<p>abcd\r\n0\r\n", "Transfer-Encoding: chunked")),
		wire("trailer-type", "changes its mind about the type in a trailer", "ok duplicate", answers("7\r\n<p>abcd\r\n0\r\nContent-Type: image/png\r\nLocation: http://127.0.0.1/\r\n\r\n", "Transfer-Encoding: chunked", "Trailer: Content-Type, Location")),
		wire("second-answer", "sends a second answer without a request for it", "ok duplicate", func(c *rawConn) {
			_ = c.head("Content-Length: 10")
			_, _ = c.Write([]byte("<p>a page.HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 11\r\n\r\n<p>poisoned"))
			_ = c.Flush()
			c.pause(slowTick) // lets a client reuse the connection
		}),
		wire("stays-open", "keeps a connection open after it said that it would close it", "ok duplicate", answersThen((*rawConn).wait, "<p>a page.", "Content-Length: 10", "Connection: close")),
		wire("no-body", "announces a body and sends none", "body_timeout", answersThen((*rawConn).wait, "", "Content-Length: 5000")),
	}
}

// codingFaults affect compression, type and character set.
func codingFaults() []Fault {
	packed := []string{"Content-Encoding: gzip", "Connection: close"}
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
		whole("gzip-bomb", "sends 1 GB of spaces, compressed to 1 MB", "too_large", func(v *victim) {
			v.rw.Header().Set("Content-Encoding", "gzip")
			v.bomb("text/html", "")
		}),
		whole("brotli-bomb", "sends a coding that the request did not allow", "body_error", func(v *victim) {
			v.html(bytes.Repeat([]byte{0x5b, 0xff, 0xff, 0x6f}, 4096), "Content-Encoding", "br")
		}),
		whole("gzip-lie", "announces plain text as gzip", "body_error", func(v *victim) {
			v.html([]byte("<p>this is not compressed at all"), "Content-Encoding", "gzip")
		}),
		whole("gzip-cut", "cuts the compressed body short", "body_error", func(v *victim) {
			packed := zipped(v.page)
			v.html(packed[:len(packed)/2], "Content-Encoding", "gzip")
		}),
		whole("gzip-twice", "names two codings", "body_error", func(v *victim) {
			v.html(v.page, "Content-Encoding", "gzip, gzip")
		}),
		whole("binary", "announces an image as HTML", "wrong_type", func(v *victim) {
			v.html(append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"), make([]byte, 4096)...))
		}),
		whole("wrong-type", "announces a page as PDF", "wrong_type", func(v *victim) {
			v.html(v.page, "Content-Type", "application/pdf")
		}),
		whole("bad-type", "gives an invalid type", "ok wrong_type", func(v *victim) {
			v.html(v.page, "Content-Type", "text/html/html; charset=\"")
		}),
		whole("wrong-charset", "announces UTF-8 text as UTF-16", "ok duplicate", func(v *victim) {
			v.html(v.page, "Content-Type", "text/html; charset=utf-16le")
		}),
		whole("no-such-charset", "names an unknown charset", "ok duplicate", func(v *victim) {
			v.html(v.page, "Content-Type", "text/html; charset=x-klingon-8")
		}),
		wire("gzip-members", "sends endless empty gzip members", "too_large", answersThen(floods(strings.Repeat(string(zipped(nil)), 100), 256<<20), "", packed...)),
		wire("gzip-name", "gives a gzip file an endless name", "body_error", answersThen(floods(strings.Repeat("n", 4096), 64<<20), "\x1f\x8b\x08\x08\x00\x00\x00\x00\x00\x03", packed...)),
		wire("gzip-junk", "sends endless junk after a gzip file", "ok duplicate", func(c *rawConn) {
			_ = c.head(packed...)
			_, _ = c.Write(zipped([]byte("<title>packed</title><p>and then junk")))
			c.flood(strings.Repeat("junk", 1024), 64<<20)
		}),
		wire("gzip-drip", "sends a bomb a byte at a time", "body_timeout", answersThen(drips(string(zipped(bytes.Repeat([]byte("<p>"), 1<<20)))), "", packed...)),
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

// tlsFaults affect a host's TLS handshakes.
func tlsFaults() []Fault {
	shake := func(name, about, states string, f func(*handshake) *tls.Config) Fault {
		return Fault{Name: name, About: about, States: strings.Fields(states), scope: onTLS, shake: f}
	}
	certified := func(of func(h *handshake) (*tls.Certificate, error)) func(*handshake) *tls.Config {
		return func(h *handshake) *tls.Config {
			return &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return of(h) }}
		}
	}
	// valid shows a certificate of the authority with another period.
	valid := func(from, to func() time.Time) func(*handshake) *tls.Config {
		return certified(func(h *handshake) (*tls.Certificate, error) {
			template := leafTemplate(h.name)
			template.NotBefore, template.NotAfter = from(), to()
			return h.ca.sign(template, h.ca.cert, h.ca.leaf, h.ca.key)
		})
	}
	says := func(text string) func(*handshake) *tls.Config {
		return func(h *handshake) *tls.Config {
			_, _ = h.Write([]byte(text)) // the client may be gone
			return nil
		}
	}
	// after waits for the client's first bytes: a proxied connection must stay silent until then.
	after := func(f func(*handshake) *tls.Config) func(*handshake) *tls.Config {
		return func(h *handshake) *tls.Config {
			_ = h.SetReadDeadline(time.Now().Add(headerTimeout))
			if _, err := h.Read(make([]byte, 4096)); err != nil {
				return nil
			}
			return f(h)
		}
	}
	in := func(years, months, days int) func() time.Time {
		return func() time.Time { return time.Now().AddDate(years, months, days) }
	}
	honest := func(h *handshake) (*tls.Certificate, error) { return h.ca.certificate(h.name) }
	limited := func(to *tls.Config) func(*handshake) *tls.Config {
		return func(h *handshake) *tls.Config {
			cfg := to.Clone()
			cfg.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return honest(h) }
			return cfg
		}
	}
	return []Fault{
		shake("tls-expired", "shows a certificate that ended yesterday", "tls_error", valid(in(0, 0, -30), in(0, 0, -1))),
		shake("tls-future", "shows a certificate that begins next month", "tls_error", valid(in(0, 1, 0), in(1, 0, 0))),
		shake("tls-name", "shows a certificate of another name", "tls_error", certified(func(h *handshake) (*tls.Certificate, error) {
			return h.ca.certificate("elsewhere.invalid")
		})),
		shake("tls-self", "shows a self-signed certificate", "tls_error", certified(func(h *handshake) (*tls.Certificate, error) {
			key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
			if err != nil {
				return nil, err
			}
			template := leafTemplate(h.name)
			template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().AddDate(1, 0, 0)
			return h.ca.sign(template, template, key, key)
		})),
		shake("tls-chain", "shows a chain of 500 certificates", "tls_error ok", certified(func(h *handshake) (*tls.Certificate, error) {
			good, err := honest(h)
			if err != nil {
				return nil, err
			}
			long := *good
			long.Certificate = append(slices.Clone(good.Certificate), slices.Repeat([][]byte{h.ca.cert.Raw}, 500)...)
			return &long, nil
		})),
		shake("tls-old", "knows only TLS 1.0", "tls_error", limited(&tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS10})),
		shake("tls-cipher", "knows only one cipher, which no client uses", "tls_error", limited(&tls.Config{
			MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{tls.TLS_ECDHE_RSA_WITH_RC4_128_SHA},
		})),
		shake("tls-plain", "speaks HTTP instead of TLS", "tls_error", says("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")),
		shake("tls-hang-up", "hangs up on the handshake", "tls_error", says("")),
		shake("tls-garbage", "answers the handshake with noise", "tls_error", after(says(strings.Repeat("\x16\x03\x01\xff\xff noise", 1000)))),
		shake("tls-alert", "answers the handshake with an alert", "tls_error", after(says("\x15\x03\x03\x00\x02\x02\x50"))),
		shake("tls-silence", "never answers the handshake", "connect_timeout", func(h *handshake) *tls.Config {
			_ = h.SetReadDeadline(time.Now().Add(slowLimit))
			_, _ = io.Copy(io.Discard, h.Conn) // until the client hangs up
			return nil
		}),
		// A record of 1 KB, one byte per tick.
		shake("tls-drip", "answers the handshake a byte at a time", "connect_timeout", after(func(h *handshake) *tls.Config {
			c := &rawConn{Conn: h.Conn, Writer: bufio.NewWriter(h.Conn), held: h.held}
			c.drip("\x16\x03\x03\x04\x00\x02\x00\x03\xfc\x03\x03" + strings.Repeat("\x00", int(slowLimit/slowTick)))
			return nil
		})),
	}
}

// handshake is a connection on which the client expects a TLS handshake with a host.
type handshake struct {
	net.Conn
	name string
	ca   *authority
	held *held
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
