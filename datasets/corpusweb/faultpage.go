package corpusweb

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// codingFaults are those of a body that is not what its header says.
func codingFaults() []Fault {
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
	}
}

// contentFaults are those of a page with content to choke on.
func contentFaults() []Fault {
	return []Fault{
		whole("deep-nesting", "nests a million elements", "ok", func(v *victim) {
			v.html([]byte("<!DOCTYPE html><title>deep " + v.q.url() + "</title>" + strings.Repeat("<b>", 1_000_000) + "deep"))
		}),
		whole("attributes", "gives one element 100,000 attributes", "ok", func(v *victim) {
			var b bytes.Buffer
			fmt.Fprintf(&b, "<!DOCTYPE html><title>attributes %s</title><p", v.q.url())
			for i := range 100_000 {
				fmt.Fprintf(&b, " a%d=%d", i, i)
			}
			v.html(append(b.Bytes(), ">attributes"...))
		}),
		whole("unclosed", "opens a comment, a script and a tag and closes none", "ok", func(v *victim) {
			v.html([]byte("<!DOCTYPE html><title>unclosed " + v.q.url() + "</title><p>text<script>" +
				strings.Repeat("<!-- <script> ", 50_000) + "<a href=\""))
		}),
		whole("entities", "is made of entities, named, numbered and broken", "ok", func(v *victim) {
			v.html([]byte("<!DOCTYPE html><title>entities " + v.q.url() + "</title><p>" +
				strings.Repeat("&amp;&#x0;&#1114112;&CounterClockwiseContourIntegral;&#xD800;&", 20_000)))
		}),
		whole("million-links", "links to a million pages", "ok too_large", func(v *victim) {
			v.html(manyLinks(v.q.url(), 1_000_000))
		}),
		whole("many-links", "links to 50,000 missing pages", "ok", func(v *victim) {
			v.html(manyLinks(v.q.url(), 50_000))
		}),
		whole("long-links", "has links of 64 KB each", "ok", func(v *victim) {
			v.html(links("long "+v.q.url(), []string{"/" + strings.Repeat("l", 64<<10), "/?" + strings.Repeat("q=1&", 16<<10)}))
		}),
		whole("odd-links", "has links that are not to web pages", "ok", func(v *victim) {
			v.html(links("odd "+v.q.url(), []string{"javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "http://[::1", "http://",
				"//", "gopher://a/", "mailto:a@b", "http://127.0.0.1/", "http://0x7f.1/", "http://2130706433/",
				"http://169.254.169.254/latest/meta-data/", "http://[::ffff:10.0.0.1]/", "http://user:pass@" + v.q.host + "/", "http://a..b/", "\x00\x01"}))
		}),
	}
}

func manyLinks(title string, n int) []byte {
	var b bytes.Buffer
	b.WriteString("<!DOCTYPE html><title>links " + title + "</title>")
	for i := range n {
		b.WriteString("<a href=/~nothing/")
		b.WriteString(strconv.Itoa(i))
		b.WriteString(">n</a>")
	}
	return b.Bytes()
}

// redirectFaults send the client where it should not go on.
func redirectFaults() []Fault {
	return []Fault{
		moved("redirect-self", "redirects to itself", func(v *victim) []string { return []string{v.q.url()} }),
		moved("redirect-chain", "redirects to ever new URLs", func(v *victim) []string { return []string{v.root() + chainPrefix + "1"} }),
		moved("redirect-loopback", "redirects to the crawler's own machine", fixed("http://127.0.0.1:22/")),
		moved("redirect-private", "redirects to a private network", fixed("http://10.0.0.1/admin")),
		moved("redirect-metadata", "redirects to the metadata service of a cloud", fixed("http://169.254.169.254/latest/meta-data/")),
		moved("redirect-mapped", "redirects to an IPv4 address written as IPv6", fixed("http://[::ffff:127.0.0.1]/")),
		moved("redirect-decimal", "redirects to loopback as one number", fixed("http://2130706433/")),
		moved("redirect-scheme", "redirects to a file", fixed("file:///etc/passwd")),
		moved("redirect-nowhere", "redirects to an invalid URL", fixed("http://[::1")),
		moved("redirect-long", "redirects to a URL of 100 KB", fixed("/"+strings.Repeat("l", 100<<10))),
		whole("redirect-empty", "redirects without saying where", "code", func(v *victim) {
			problem(v.rw, http.StatusMovedPermanently, "moved")
		}),
	}
}

// chainPrefix begins the URLs of redirect-chain: each redirects to the next.
const chainPrefix = "/~chain/"

// statusFaults answer with a status and no page.
func statusFaults() []Fault {
	seconds := func() string { return "1" }
	return []Fault{
		status(403, "forbids the page"),
		status(410, "says that the page is gone"),
		status(500, "fails on every request"),
		later("busy-503", "says 503 and Retry-After: 1 once, then answers", http.StatusServiceUnavailable, seconds),
		later("busy-429", "says 429 and Retry-After: 1 once, then answers", http.StatusTooManyRequests, seconds),
		later("busy-date", "says 429 with a date two seconds ahead once, then answers", http.StatusTooManyRequests, func() string {
			return time.Now().Add(2 * time.Second).UTC().Format(http.TimeFormat)
		}),
		later("busy-nonsense", "says 503 with an invalid Retry-After, then answers", http.StatusServiceUnavailable, func() string { return "soon" }),
		whole("status-999", "answers with an unknown status", "code", func(v *victim) {
			problem(v.rw, 999, "no page")
		}),
		whole("unasked-304", "says not modified although the crawler has no copy", "code", func(v *victim) {
			v.rw.WriteHeader(http.StatusNotModified)
		}),
		whole("unasked-206", "sends a part without a request for it", "code", func(v *victim) {
			v.rw.Header().Set("Content-Range", "bytes 0-9/5000")
			v.rw.Header().Set("Content-Type", "text/html")
			v.rw.WriteHeader(http.StatusPartialContent)
			_, _ = io.WriteString(v.rw, "<p>a part\n")
		}),
		whole("switch", "switches to another protocol without being asked", "code header_error", func(v *victim) {
			v.raw(func(c *rawConn) {
				_ = c.say("HTTP/1.1 101 Switching Protocols\r\nUpgrade: nonsense\r\nConnection: Upgrade\r\n")
				c.wait()
			})
		}),
	}
}
