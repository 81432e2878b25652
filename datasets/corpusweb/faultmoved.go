package corpusweb

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// movedFaults send the client in circles, or to what is no page.
func movedFaults() []Fault {
	return []Fault{
		moved("redirect-login", "redirects to itself with a name and a password", func(v *victim) []string {
			return []string{v.q.scheme + "://user:pass@" + v.q.host + v.q.path}
		}),
		moved("redirect-script", "redirects to a script", fixed("javascript:alert(document.domain)")),
		moved("redirect-data", "redirects to a data URL", fixed("data:text/html,<a href=http://127.0.0.1/>in</a>")),
		moved("redirect-bytes", "redirects to bytes that are not UTF-8", fixed("/\xff\xfe\x80\xc0/\xed\xa0\x80")),
		moved("redirect-twin", "redirects to a host whose name looks like its own", func(v *victim) []string {
			return []string{"http://" + strings.Replace(hostName(v.q.host), "t", "\u0442", 1) + "/"}
		}),
		moved("redirect-port", "redirects to a port of another protocol", func(v *victim) []string {
			return []string{"http://" + hostName(v.q.host) + ":25/"}
		}),
		moved("redirect-flip", "redirects from http to https and back, for ever", func(v *victim) []string {
			other := map[string]string{"http": "https", "https": "http"}[v.q.scheme]
			return []string{other + "://" + hostName(v.q.host) + v.q.path}
		}),
		moved("redirect-two", "redirects to two places at once", fixed("/~nothing/1", "http://127.0.0.1/")),
		moved("redirect-hash", "redirects to a part of itself", fixed("#top")),
		moved("redirect-grow", "redirects to itself with an ever longer query", func(v *victim) []string {
			return []string{v.q.path + map[bool]string{true: "&", false: "?"}[strings.Contains(v.q.path, "?")] + "n=1"}
		}),
		whole("cookie-wall", "redirects to itself until a cookie comes back", "redirect", func(v *victim) {
			if _, err := v.r.Cookie("seen"); err == nil {
				v.honest()
				return
			}
			http.SetCookie(v.rw, &http.Cookie{Name: "seen", Value: "1"})
			redirect(v.rw, v.q.url(), http.StatusFound)
		}),
	}
}

// moodFaults are statuses with something odd about them.
func moodFaults() []Fault {
	busy := func(name, about, after string) Fault {
		return later(name, about, http.StatusServiceUnavailable, func() string { return after })
	}
	proxy := status(407, "asks for the proxy's password", "Proxy-Authenticate", "Basic realm=\"in\"")
	proxy.States = append(proxy.States, "connect_error") // through a proxy it looks like the proxy's own
	return []Fault{
		busy("busy-past", "says 503 and Retry-After with a date of 1990 once, then answers", time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC).Format(http.TimeFormat)),
		busy("busy-minus", "says 503 and Retry-After: -5 once, then answers", "-5"),
		busy("busy-fraction", "says 503 and Retry-After: 1e9 once, then answers", "1e9"),
		busy("busy-list", "says 503 and Retry-After with a list once, then answers", "1, 100000, 2"),
		status(401, "asks for a password", "WWW-Authenticate", "Basic realm=\"in\""),
		proxy,
		status(451, "is forbidden by law"),
		wire("204-body", "says that it has no content, and sends some", "code", sends("HTTP/1.1 204 No Content\r\nContent-Type: text/html\r\nContent-Length: 9\r\n\r\n<p>a page")),
		whole("empty", "sends an empty page", "ok duplicate", func(v *victim) { v.html(nil) }),
		wire("refresh-header", "refreshes itself by a header field", "ok", func(c *rawConn) {
			body := "<title>refresh</title><p>" + strings.Repeat("again ", 20) + c.RemoteAddr().String()
			_ = c.head("Refresh: 0;url=http://127.0.0.1/", "Link: <http://[::1>; rel=canonical, </~nothing/next>; rel=next", "Content-Length: "+strconv.Itoa(len(body)))
			_, _ = c.Write([]byte(body))
		}),
	}
}
