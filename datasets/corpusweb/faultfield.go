package corpusweb

import (
	"net/http"
	"strconv"
	"strings"
)

// fieldFaults are header fields that one reader takes for nonsense and another, a
// browser above all, does not; and fields that are harmless until somebody keeps
// them.
func fieldFaults() []Fault {
	header := func(name, about, states string, fields ...string) Fault {
		return whole(name, about, states+" duplicate", func(v *victim) {
			v.fields(fields)
			v.rw.WriteHeader(http.StatusOK)
			_, _ = v.rw.Write(v.page) // the client may be gone
		})
	}
	const html = "Content-Type"
	return []Fault{
		header("version-bytes", "names its version and its date in bytes that are not UTF-8", "ok",
			html, "text/html", "ETag", "\"\xff\xfe\x80\"", "Last-Modified", "\xc0\xaf yesterday"),
		header("version-long", "names its version in 200 KB", "ok", html, "text/html", "ETag", `"`+strings.Repeat("e", 200<<10)+`"`),
		header("type-bytes", "has bytes that are not UTF-8 in its type and X-Robots-Tag", "ok", html, "text/html; charset=\xff\xfe", "X-Robots-Tag", "\xff\xfe: noarchive"),
		header("type-list", "names two types in one field", "ok", html, "text/plain, text/html"),
		header("type-repeats", "names its type in three fields, one of them empty", "ok", html, "", html, "text/html", html, "*/*"),
	}
}

// fieldMoves are redirects whose Location browsers understand, and others do not.
func fieldMoves() []Fault {
	to := func(name, about, target string) Fault {
		return wire(name, about, "redirect", func(c *rawConn) {
			_, _ = c.Write([]byte("HTTP/1.1 302 Found\r\nLocation: " + target + "\r\nContent-Length: 0\r\n\r\n"))
		})
	}
	return []Fault{
		to("redirect-blanks", "redirects to a URL with a tab and spaces in it", " /~moved/a\tb c"),
		to("redirect-percent", "redirects to a URL with a percent sign that is not an escape", "/~moved/100%_off"),
		to("redirect-backslash", "redirects to the crawler's own machine, with backslashes for slashes", `\\127.0.0.1:22\~moved`),
		to("redirect-mixed", "redirects to the crawler's own machine, with a slash and a backslash", `/\127.0.0.1:22/~moved`),
	}
}

// fieldRules are robots.txt files that refuse everything, under an odd header.
func fieldRules() []Fault {
	fault := func(name, about string, status int, fields ...string) Fault {
		return rules(name, about, "robots_denied", func(v *victim) {
			const body = "User-agent: *\nDisallow: /\n"
			v.fields(fields)
			v.rw.Header().Set("Content-Length", strconv.Itoa(len(body)))
			v.rw.WriteHeader(status)
			_, _ = v.rw.Write([]byte(body)) // the client may be gone
		})
	}
	return []Fault{
		fault("robots-203", "comes through a proxy that changed it", http.StatusNonAuthoritativeInfo),
		fault("robots-206", "comes in a part without a request for it", http.StatusPartialContent, "Content-Range", "bytes 0-25/9999"),
		fault("robots-version", "names its version in bytes that are not UTF-8", http.StatusOK, "ETag", "\"\xff\xfe\"", "Content-Type", "text/plain; x=\xff"),
	}
}
