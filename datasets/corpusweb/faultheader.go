package corpusweb

import (
	"strings"
	"time"
)

// headerFaults are answers whose header is allowed by no RFC, or by one that
// nobody reads.
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

// framingFaults are bodies whose end two readers would see in two places.
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
			c.pause(slowTick) // so that a client may use the connection again
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

// pulse sends a text again and again with a tick between, as drip does bytes.
func (c *rawConn) pulse(text string) {
	for end := time.Now().Add(slowLimit); time.Now().Before(end); {
		if _, err := c.Write([]byte(text)); err != nil || c.Flush() != nil || !c.pause(slowTick) {
			return
		}
	}
}

// pause waits; false when the web is closing.
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
