package corpusweb

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"strings"
	"unicode/utf16"
)

// zipped compresses into memory, where nothing fails.
func zipped(b []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, _ = z.Write(b)
	_ = z.Close()
	return out.Bytes()
}

// packingFaults are of the content coding, beyond the plain bomb.
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
				return // BestSpeed is a level
			}
			blank := bytes.Repeat([]byte("<p> "), 1<<16)
			for range 4 << 10 {
				if _, err := z.Write(blank); err != nil {
					return // the client has gone
				}
			}
		}),
	}
}

// charsetFaults are pages in characters that are not what they seem.
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
