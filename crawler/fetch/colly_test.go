package fetch

import (
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gocolly/colly/v2"
)

// spy notes what Colly was given in the exchange before.
type spy struct {
	sent   string // as it goes out
	header http.Header
	code   int    // of the answer's header, 0 when none came
	body   []byte // nil when OnResponse did not run
}

// spyOn makes f's clones tell Colly's side of each exchange.
func spyOn(f *Fetcher) *spy {
	s := new(spy)
	make := f.clones.New
	f.clones.New = func() any {
		l := make().(*clone)
		l.collector.OnRequest(func(r *colly.Request) {
			*s = spy{sent: r.URL.String(), header: maps.Clone(*r.Headers)}
		})
		l.collector.OnResponseHeaders(func(r *colly.Response) { s.code = r.StatusCode })
		l.collector.OnResponse(func(r *colly.Response) { s.body = slices.Clone(r.Body) })
		return l
	}
	return s
}

// TestCollyMakesTheExchange: the URL and the header go out through Colly, and
// status, header and body of a page come back through it; what is no page ends
// with its header.
func TestCollyMakesTheExchange(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer string
		req    Request
		want   State
		body   bool // OnResponse has it
	}{
		{"page", answer200("", "<p>x"), Request{}, StateOK, true},
		{"empty page", answer200("", ""), Request{}, StateOK, true},
		{"gzip", answer200("Content-Encoding: gzip\r\n", gzipped(samplePage)), Request{}, StateOK, true},
		{"cut at the limit", answer200("", string(samplePage)), Request{MaxBodyBytes: 100, Truncate: true}, StateOK, true},
		{"streamed", answer200("", string(samplePage)), Request{Stream: func(r io.Reader) { io.Copy(io.Discard, r) }}, StateOK, false},
		{"other success", "HTTP/1.1 203 So\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\n<p>x", Request{AnySuccess: true}, StateOK, true},
		{"not modified", "HTTP/1.1 304 Not Modified\r\n\r\n", Request{ETag: `"1"`}, StateNotModified, false},
		{"redirect", "HTTP/1.1 301 Moved\r\nLocation: /y\r\nContent-Length: 4\r\n\r\n<p>x", Request{}, StateRedirect, false},
		{"code", "HTTP/1.1 404 Gone\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\n<p>x", Request{}, StateCode, false},
		{"wrong type", "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 4\r\n\r\n\x89PNG", Request{}, StateWrongType, false},
		{"announced too large", answer200("", string(samplePage)), Request{MaxBodyBytes: 100}, StateTooLarge, false},
		{"found too large", chunkedHTML + "8\r\n<p>hello\r\n0\r\n\r\n", Request{MaxBodyBytes: 7}, StateTooLarge, false},
		{"broken", chunkedHTML + "9\r\n<p>hello\r\n", Request{}, StateBodyError, false},
		{"no header", "SSH-2.0\r\n", Request{}, StateHeaderError, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newTest(t, Options{UserAgent: "fossick/1"})
			colly := spyOn(f)
			c.req.URL = "http://" + rawServer(t, false, say(c.answer)) + "/a/b%20c?q=1&r=%C3%A9"
			resp := f.Fetch(t.Context(), c.req)
			checkState(t, resp, c.want)
			if colly.sent != c.req.URL || colly.header.Get("User-Agent") != "fossick/1" {
				t.Errorf("Colly was asked for %q with %v", colly.sent, colly.header)
			}
			if colly.code != resp.Code {
				t.Errorf("Colly saw status %d, the response has %d", colly.code, resp.Code)
			}
			if got := colly.body != nil; got != c.body || string(colly.body) != string(resp.Body) {
				t.Errorf("Colly handed over %q (%v), the response has %q", colly.body, got, resp.Body)
			}
		})
	}
}

// TestCollyChangesNothing: bodies and headers pass through Colly as they came,
// whatever it would do about their type, coding, charset, size or status by itself.
func TestCollyChangesNothing(t *testing.T) {
	t.Setenv("COLLY_MAX_BODY_SIZE", "3")
	t.Setenv("COLLY_DETECT_CHARSET", "yes")
	latin := "<p>caf\xe9 \x80"
	long := strings.Repeat("0123456789abcdef", 11<<16) // over Colly's 10 MiB
	packed := gzipped(samplePage)
	answer := func(status, header, body string) string {
		return fmt.Sprintf("HTTP/1.1 %s\r\n%sContent-Length: %d\r\n\r\n%s", status, header, len(body), body)
	}
	for _, c := range []struct{ name, path, answer, body string }{
		{"charset", "/", answer("200 OK", "Content-Type: text/html; charset=windows-1252\r\n", latin), latin},
		{"unknown charset", "/", answer("200 OK", "Content-Type: text/html; charset=klingon\r\n", latin), latin},
		{"charset of two types", "/", answer("200 OK", "Content-Type: text/html\r\nContent-Type: text/html; charset=utf-16\r\n", latin), latin},
		{"charset as a type", "/", answer("200 OK", "Content-Type: charset/koi8-r\r\n", latin), latin},
		{"no charset", "/", answer("200 OK", "Content-Type: text/html\r\n", latin), latin},
		{"charset and gzip", "/", answer("200 OK", "Content-Type: text/html; charset=koi8-r\r\nContent-Encoding: gzip\r\n", gzipped([]byte(latin))), latin},
		{"type of gzip", "/", answer("200 OK", "Content-Type: application/gzip\r\n", packed), packed},
		{"name of gzip", "/sitemap.xml.gz", answer("200 OK", "Content-Type: text/xml\r\n", packed), packed},
		{"longer than Colly's limit", "/", answer("200 OK", "Content-Type: text/plain\r\n", long), long},
		{"other success", "/", answer("206 Partial Content", "Content-Type: text/plain\r\n", "part"), "part"},
		{"location without redirect", "/", answer("200 OK", "Content-Type: text/plain\r\nLocation: http://[bad\r\n", "x"), "x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newTest(t, Options{MaxBodyBytes: 16 << 20})
			resp := f.Fetch(t.Context(), Request{URL: "http://" + rawServer(t, false, say(c.answer)) + c.path, Accept: []string{"*/*"}, AnySuccess: true})
			checkState(t, resp, StateOK)
			if string(resp.Body) != c.body {
				t.Errorf("body of %d bytes %.60q, want %d %.60q", len(resp.Body), resp.Body, len(c.body), c.body)
			}
			head, _, _ := strings.Cut(c.answer, "\r\n\r\n")
			for _, line := range strings.Split(head, "\r\n")[1:] {
				name, value, _ := strings.Cut(line, ": ")
				if !slices.Contains(resp.Header[name], value) {
					t.Errorf("the header has %s %q, the server sent %q", name, resp.Header[name], value)
				}
			}
			if resp.Location != "" {
				t.Errorf("location %q of no redirect", resp.Location)
			}
		})
	}
}

// TestRedirectsAreHandedBack: whatever stands in Location, there is one request,
// and the header has it as it came.
func TestRedirectsAreHandedBack(t *testing.T) {
	for location, want := range map[string]string{
		"/next":             "http://HOST/next",
		"http://b.test/x?y": "http://b.test/x?y",
		"http://b.test:x/":  "http://b.test:x/",
		"http://[bad/":      "http://[bad/",
		"\\\\b.test\\x":     "http://HOST/%5C%5Cb.test%5Cx",
		"/100%":             "/100%",
		"mailto:a@b.test":   "mailto:a@b.test",
	} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			var requests atomic.Int32
			at := rawServer(t, false, func(c net.Conn) {
				requests.Add(1)
				fmt.Fprintf(c, "HTTP/1.1 %d Moved\r\nContent-Type: text/html; charset=koi8-r\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n", status, location)
			})
			resp := newTest(t, Options{}).Fetch(t.Context(), Request{URL: "http://" + at + "/"})
			checkState(t, resp, StateRedirect)
			if want := strings.Replace(want, "HOST", at, 1); resp.Location != want {
				t.Errorf("%d to %q: location %q, want %q", status, location, resp.Location, want)
			}
			if requests.Load() != 1 || resp.Header.Get("Location") != location || resp.Header.Get("Content-Type") == "" {
				t.Errorf("%d to %q: %d requests, header %v", status, location, requests.Load(), resp.Header)
			}
		}
	}
}

// TestRequestToTheLetter: a server reads exactly our request.
func TestRequestToTheLetter(t *testing.T) {
	const agent = "User-Agent: fossick/1 (+https://example.org/bot)\r\n"
	const accept = "Accept: text/html, application/xhtml+xml, text/plain\r\n"
	const gzip = "Accept-Encoding: gzip\r\n"
	for _, c := range []struct {
		name, path string
		req        Request
		line, rest string
	}{
		{"root", "/", Request{}, "/", agent + accept + gzip},
		{"no path", "", Request{}, "/", agent + accept + gzip},
		{"query", "/p?a=1&b=2&a=1", Request{}, "/p?a=1&b=2&a=1", agent + accept + gzip},
		{"empty query", "/p?", Request{}, "/p?", agent + accept + gzip},
		{"query of odd letters", "/p?q=a|b&c='d'[]{}^`", Request{}, "/p?q=a|b&c='d'[]{}^`", agent + accept + gzip},
		{"broken escape in the query", "/p?q=100%", Request{}, "/p?q=100%", agent + accept + gzip},
		{"escapes", "/%E4%B8%AD%2F%7e", Request{}, "/%E4%B8%AD%2F%7e", agent + accept + gzip},
		{"dot segments", "/a/../b/./%2e%2E/c", Request{}, "/a/../b/./%2e%2E/c", agent + accept + gzip},
		{"slashes", "/a//b///", Request{}, "/a//b///", agent + accept + gzip},
		{"backslash", "/a\\b", Request{}, "/a%5Cb", agent + accept + gzip},
		{"letters of no URL", "/a%2Fb|c^%2e?^|", Request{}, "/a%2Fb%7Cc%5E%2e?^|", agent + accept + gzip},
		{"fragment", "/p#part", Request{}, "/p", agent + accept + gzip},
		{"conditional", "/", Request{ETag: `W/"1"`, LastModified: "Tue, 01 Jan 2030 00:00:00 GMT"}, "/",
			agent + accept + gzip + "If-Modified-Since: Tue, 01 Jan 2030 00:00:00 GMT\r\nIf-None-Match: W/\"1\"\r\n"},
		{"types", "/robots.txt", Request{Accept: []string{"*/*"}}, "/robots.txt", agent + "Accept: */*\r\n" + gzip},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := make(chan string, 1)
			at := rawServer(t, true, func(conn net.Conn) {
				var text strings.Builder
				for b := make([]byte, 1); !strings.HasSuffix(text.String(), "\r\n\r\n"); text.Write(b) {
					if _, err := io.ReadFull(conn, b); err != nil {
						break
					}
				}
				got <- text.String()
				io.WriteString(conn, answer200("", "<p>x"))
			})
			c.req.URL = "http://user:secret@" + at + c.path
			checkState(t, newTest(t, Options{UserAgent: UserAgent("fossick", "1", "https://example.org/bot")}).Fetch(t.Context(), c.req), StateOK)
			if got, want := <-got, fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", c.line, at, c.rest); got != want {
				t.Errorf("sent %q, want %q", got, want)
			}
		})
	}
}

// recorder stands below Colly in place of the network.
type recorder struct{ req *http.Request }

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	r.req = req
	ex := req.Context().Value(exchangeKey{}).(*exchange)
	res := &http.Response{StatusCode: 204, Header: http.Header{}, Body: http.NoBody, Request: req}
	ex.received(res)
	return res, nil
}

// FuzzURLThroughColly: what comes out of Colly is the URL that went in, to the
// letter, however Colly's own parser would spell it. No path, query or port
// makes Colly refuse a host that it takes.
func FuzzURLThroughColly(f *testing.F) {
	for _, s := range []string{
		"http://example.com/a/b?c=d", "http://example.com", "https://example.com:443/%zz", "http://h/%7e%2E%2e/../x//y;p=1",
		"http://h/?q=a|b'\"<>", "http://h/?%zz&%", "http://0x7f.1/", "http://B\u00fccher.example/\u00e9", "http://[::1]:80/",
		"http://h\\x/y", "http://h/\\..\\x", "http://h/ a b", "http://u:p@h/#f", "http://h/?", "http://1.2.3.256/", "http://a_b.c/^`{}[]",
	} {
		f.Add(s)
	}
	fetcher := newTest(f, Options{})
	below := new(recorder)
	clone := newClone(newCollector(below))
	run := func(t *testing.T, u *url.URL) (*http.Request, error) {
		below.req = nil
		ex := newExchange(fetcher, u, Request{})
		ctx := ex.begin(t.Context())
		defer ex.end()
		err := clone.run(ctx, ex)
		return below.req, err
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := parseURL(raw)
		if err != nil {
			return
		}
		want := *u
		got, err := run(t, u)
		if got == nil {
			host := &url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/"}
			if sent, _ := run(t, host); sent != nil {
				t.Fatalf("%q is refused (%v), %s is not", raw, err, host)
			}
			return
		}
		if *got.URL != want || got.Host != want.Host || got.Method != http.MethodGet || got.Body != nil {
			t.Fatalf("%q goes out as %s %s, host %s; want %s", raw, got.Method, got.URL, got.Host, &want)
		}
		if got.Header.Get("Referer") != "" || got.Header.Get("Authorization") != "" {
			t.Fatalf("%q goes out with %v", raw, got.Header)
		}
	})
}
