package corpusweb

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// oddFaults are answers of servers that are set up wrongly, or that try what no
// other fault of the list does.
func oddFaults() []Fault {
	body := func(v *victim) []byte {
		return []byte("<!DOCTYPE html><title>odd " + v.q.url() + "</title><p>an odd page of its own: " + v.q.url())
	}
	header := func(name, about, states string, fields ...string) Fault {
		return whole(name, about, states+" duplicate", func(v *victim) {
			v.fields(fields)
			v.html(body(v))
		})
	}
	cookies := make([]string, 0, 1000)
	for i := range 500 {
		cookies = append(cookies, "Set-Cookie", fmt.Sprintf("c%d=%s; Domain=com; Path=/; Max-Age=99999999999", i, strings.Repeat("x", 200)))
	}
	return []Fault{
		header("cookie-flood", "sets 500 cookies, for all of .com", "ok", cookies...),
		header("cookie-huge", "sets a cookie of 200 KB", "ok", "Set-Cookie", "c="+strings.Repeat("x", 200<<10)),
		header("clock-past", "lives in 1970, and its pages change in 2999", "ok",
			"Date", "Thu, 01 Jan 1970 00:00:00 GMT", "Last-Modified", "Mon, 01 Jan 2999 00:00:00 GMT", "Age", "-1", "Expires", "0", "Cache-Control", "max-age=-5"),
		header("elsewhere-fields", "names the crawler's own machine in every possible field", "ok",
			"Alt-Svc", `h3="127.0.0.1:443", h2="127.0.0.1:22"; ma=99999999`, "Content-Location", "http://127.0.0.1:22/", "Link", `<http://127.0.0.1:22/>; rel="preload next"`,
			"Upgrade", "h2c", "Refresh", "0;url=http://127.0.0.1:22/", "SourceMap", "http://127.0.0.1:22/"),
		wire("two-types", "gives two types that differ", "ok wrong_type duplicate", answers("<title>two</title><p>types", "Content-Type: application/pdf", "Content-Length: 26")),
		header("coding-charset", "calls a character set a content coding", "ok", "Content-Encoding", "utf-8"),
		header("coding-none", "names none as its content coding", "ok", "Content-Encoding", "none"),
		whole("coding-stack", "names three codings and uses none", "body_error", func(v *victim) {
			v.html(body(v), "Content-Encoding", "gzip, br, deflate")
		}),
		wire("odd-chunks", "writes the lengths of chunks with zeros and spaces", "ok duplicate body_error", answers("000000000000007  \r\n<p>odd \r\n00E;a=\"b;c\"\r\nchunks of words\r\n0000\r\n\r\n", "Transfer-Encoding: chunked")),
	}
}

// dateFaults ask for a rest of two seconds once, by dates in odd formats.
func dateFaults() []Fault {
	once := func(name, about, layout string) Fault {
		return later(name, "says 503 with a date two seconds ahead, "+about+", once, then answers", http.StatusServiceUnavailable, func() string {
			return time.Now().Add(2 * time.Second).UTC().Format(layout)
		})
	}
	return []Fault{
		once("busy-rfc850", "written as in 1987", time.RFC850),
		once("busy-asctime", "written as C does", time.ANSIC),
		once("busy-iso", "in the format of ISO 8601", time.RFC3339),
	}
}

// linkFaults are pages whose links, or what looks like some, are not what they seem.
func linkFaults() []Fault {
	inside := "<a href=http://127.0.0.1:22/script>in</a>"
	return []Fault{
		markup("script-links", "has links in scripts, styles, comments and text areas", func(*victim) string {
			var b strings.Builder
			for _, tag := range []string{"script", "style", "textarea", "template", "xmp", "iframe", "noembed", "noscript", "title"} {
				fmt.Fprintf(&b, "<%s>%s</%s>", tag, inside, tag)
			}
			return b.String() + "<!--" + inside + "--><script>document.write('" + inside + "')</script>"
		}),
		markup("link-spellings", "spells a few links in many ways", func(v *victim) string {
			host, path := v.q.host, v.q.path
			var targets []string
			for _, l := range []string{
				"hTTp://" + host + path, "HTTP:" + path, "http:\\\\" + host + "\\x", "\\\\" + host + "\\..\\y", "//" + host + "/%2e%2e/%2E./z", "ht\ntp://" + host + "/line",
				"http://" + host + "/a\tb\x01\x7f", " \x00http://" + host + "/ ", "http://a:b@" + host + "/", "http://@@@" + host + "/", "http:///" + host + "/", "http://" + host + "/%", "http://" + host + "/%zz%00",
				"http://" + host + "?#?#", "http://" + host + ":080/", "http://" + host + ":/", "http://%6c%6f%63%61%6c%68%6f%73%74/", "http://[::ffff:7f00:1%25lo]/", "javascript\n:alert(1)", "view-source:http://" + host + "/",
			} {
				targets = append(targets, strings.ReplaceAll(l, `"`, "&quot;"))
			}
			return string(links("spellings", targets))
		}),
		markup("canonical", "names the crawler's own machine, itself and a broken URL as its canonical URL", func(v *victim) string {
			return "<link rel=canonical href=http://127.0.0.1:22/><link rel=canonical href=" + v.q.path + "><link rel='canonical alternate' hreflang=xx href='http://[::1'>" +
				"<meta property=og:url content=http://169.254.169.254/><p>who am I?"
		}),
		markup("huge-words", "has a title, a word and attributes of 600 KB each", func(*victim) string {
			long := strings.Repeat("endless", 90_000)
			return "<title>" + long + "</title><p title=" + long + ">" + long + "<a href=/~nothing/huge title=" + long + ">link</a>"
		}),
		markup("only-marks", "is a megabyte of accents on one letter, and of signs that change the direction", func(*victim) string {
			return "<p>a" + strings.Repeat("\u0301", 250_000) + strings.Repeat("\u202e\u2066\u200f", 80_000) + "b"
		}),
	}
}

// oddRules are robots.txt files that are not what they seem.
func oddRules() []Fault {
	return []Fault{
		rules("robots-gzip", "is a gzip file that is not announced as one", "ok", func(v *victim) {
			v.text(string(zipped([]byte("User-agent: *\nDisallow: /\n"))))
		}),
		rules("robots-home", "redirects to a web page, like every missing page", "ok", func(v *victim) {
			redirect(v.rw, v.root()+softPath+"robots", http.StatusFound)
		}),
		rules("robots-304", "is said to be unchanged although it was never fetched", "robots_denied", func(v *victim) { v.rw.WriteHeader(http.StatusNotModified) }),
		rules("robots-mixed", "has rules in mixed case, with spaces and comments between them", "robots_denied", func(v *victim) {
			v.rw.Header().Set("Content-Type", "text/html")
			send(v.rw, v.r, []byte("\r\n\r\n  USER-AGENT : * # all\r\n\r\n# and\r\n\tdIsAlLoW\t:\t/\t# everything\r\n"))
		}),
	}
}
