package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocolly/colly/v2"

	"fossick/internal/testkit"
)

// spy records what Colly saw of the last exchange.
type spy struct {
	sent   string // URL as sent
	header http.Header
	code   int    // status of the answer; 0 without an answer
	body   []byte // nil if OnResponse did not run
}

// spyOn makes f's clones report to a spy.
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

// TestCollyMakesTheExchange: URL, header, status and body pass through Colly.
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

// TestCollyChangesNothing: bodies and headers pass unchanged, whatever Colly's defaults.
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

// TestRedirectsAreHandedBack: any Location leads to one request, and is kept unchanged.
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

// TestRequestToTheLetter checks the bytes of requests.
func TestRequestToTheLetter(t *testing.T) {
	const agent = "User-Agent: fossick/1 (+https://example.org/bot)\r\n"
	const accept = "Accept: text/html, application/xhtml+xml, text/plain, application/pdf;q=0.9, application/*;q=0.5\r\n"
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

// recorder replaces the network below Colly.
type recorder struct{ req *http.Request }

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	r.req = req
	ex := req.Context().Value(exchangeKey{}).(*exchange)
	res := &http.Response{StatusCode: 204, Header: http.Header{}, Body: http.NoBody, Request: req}
	ex.received(res)
	return res, nil
}

// FuzzURLThroughColly: Colly sends exactly the given URL. No path, query or port makes it refuse
// a host that it accepts.
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

// TestStream: streamed bodies have the same bytes, states and limits as those in memory.
func TestStream(t *testing.T) {
	long := strings.Repeat("a sitemap's line\n", 40_000)
	pack := func(text string) string { return gzipped([]byte(text)) }
	for name, c := range map[string]struct {
		body   string
		coding string
		length string // Content-Length
		limit  int64
		cut    bool // Truncate
		typed  bool // judged by its type, so its start is read before
		state  State
		want   string
	}{
		"plain":             {body: long, limit: 1 << 20, state: StateOK, want: long},
		"peeked":            {body: long, limit: 1 << 20, typed: true, state: StateOK, want: long},
		"empty":             {limit: 10, state: StateOK},
		"gzip":              {body: pack(long), coding: "gzip", limit: 1 << 20, state: StateOK, want: long},
		"junk after gzip":   {body: pack(long) + "junk that is no header", coding: "gzip", limit: 1 << 20, state: StateOK, want: long},
		"cut at the limit":  {body: long, limit: 1000, cut: true, state: StateOK, want: long[:1000]},
		"over the limit":    {body: pack(long), coding: "gzip", limit: 1000, state: StateTooLarge},
		"bomb":              {body: pack(strings.Repeat(" ", 8<<20)), coding: "gzip", limit: 50 << 20, state: StateTooLarge},
		"shorter than said": {body: long[:500], length: "5000", limit: 1 << 20, state: StateBodyError},
	} {
		t.Run(name, func(t *testing.T) {
			srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/plain")
				if c.coding != "" {
					w.Header().Set("Content-Encoding", c.coding)
				}
				if c.length != "" {
					w.Header().Set("Content-Length", c.length)
				}
				_, _ = io.WriteString(w, c.body)
			})
			var got []byte
			var readErr error
			req := Request{URL: srv.URL, MaxBodyBytes: c.limit, Truncate: c.cut, Accept: []string{"*/*"}, Stream: func(r io.Reader) {
				got, readErr = io.ReadAll(r)
			}}
			if c.typed {
				req.Accept = []string{"text/plain"}
			}
			resp := newTest(t, Options{}).Fetch(t.Context(), req)
			if resp.State != c.state || resp.Body != nil {
				t.Errorf("state %s, %d bytes kept, %v; want %s, none", resp.State, len(resp.Body), resp.Err, c.state)
			}
			if (readErr != nil) != (c.state != StateOK) {
				t.Errorf("the reader saw %v in state %s", readErr, resp.State)
			}
			if c.state == StateOK && string(got) != c.want {
				t.Errorf("got %d bytes, want %d", len(got), len(c.want))
			}
		})
	}
}

// TestStreamStops: a reader may stop an endless body without an error.
func TestStreamStops(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(bytes.Repeat([]byte("x"), 4096)); err != nil {
				return
			}
		}
	})
	resp := newTest(t, Options{Timeout: 10 * time.Second}).Fetch(t.Context(), Request{URL: srv.URL, Accept: []string{"*/*"}, Stream: func(r io.Reader) {
		_, _ = io.CopyN(io.Discard, r, 10_000) // the response's state has any error
	}})
	if resp.State != StateOK || resp.Took > 5*time.Second {
		t.Errorf("state %s after %v, %v", resp.State, resp.Took, resp.Err)
	}
}

// TestStreamPanics: a panicking reader fails only its exchange.
func TestStreamPanics(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "x") })
	resp := newTest(t, Options{}).Fetch(t.Context(), Request{URL: srv.URL, Accept: []string{"*/*"}, Stream: func(io.Reader) { panic("hostile") }})
	if resp.State == StateOK || resp.Err == nil {
		t.Errorf("state %s, %v", resp.State, resp.Err)
	}
}

// TestPlaceWanted: a caller that needs a slow exchange's place ends it, as a timeout.
func TestPlaceWanted(t *testing.T) {
	for _, c := range []struct {
		name, first string
		want        State
		came        int64
	}{
		{"silent", "", StateHeaderTimeout, 0},
		{"in the header", "HTTP/1.1 200 OK\r\nX: ", StateHeaderTimeout, 0},
		{"in the body", "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + strings.Repeat("<p>text ", 100), StateBodyTimeout, 800},
	} {
		t.Run(c.name, func(t *testing.T) {
			sent := make(chan struct{})
			at := rawServer(t, false, func(conn net.Conn) {
				io.WriteString(conn, c.first)
				close(sent)
				hang(conn)
			})
			ctx, cancel := context.WithCancelCause(t.Context())
			pace := new(Pace)
			ended := make(chan *Response)
			f := newTest(t, Options{})
			go func() { ended <- f.Fetch(ctx, Request{URL: "http://" + at + "/", Pace: pace}) }()
			<-sent
			for pace.WireBytes() < c.came || pace.HeldBytes() < c.came {
				runtime.Gosched() // bytes are under way
			}
			cancel(ErrPlaceWanted)
			r := <-ended
			checkState(t, r, c.want)
			if pace.WireBytes() != c.came || r.WireBytes != c.came {
				t.Errorf("%d bytes came, the response says %d; want %d", pace.WireBytes(), r.WireBytes, c.came)
			}
		})
	}
}

// TestSpentExchange: an exchange whose request was sent uses no further connection.
func TestSpentExchange(t *testing.T) {
	opt, _, _ := h2Server(t, func(p *h2Peer, s uint32) bool { p.answer(s); return true })
	f := newTest(t, opt)
	dial := f.transport.DialContext
	addr := "example.com:443"

	ex := newExchange(f, &url.URL{Scheme: "https", Host: "example.com", Path: "/"}, Request{})
	ctx := ex.begin(t.Context())
	defer ex.end()
	conn, err := dial(ctx, "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	hooks := httptrace.ContextClientTrace(ctx)
	hooks.GetConn(addr)
	hooks.GotConn(httptrace.GotConnInfo{Conn: conn})
	hooks.WroteRequest(httptrace.WroteRequestInfo{})
	if ctx.Err() != nil {
		t.Fatal("over too early:", context.Cause(ctx))
	}
	hooks.GetConn(addr) // a second try
	if state := StateOf(context.Cause(ctx)); state != StateHeaderError {
		t.Errorf("a second try: %v", context.Cause(ctx))
	}
	more, err := dial(context.WithoutCancel(ctx), "tcp", addr) // as net/http dials
	if err == nil {
		more.Close()
		t.Error("dialled for an exchange that had its request")
	}
	idle, other := net.Pipe()
	defer other.Close()
	hooks.GotConn(httptrace.GotConnInfo{Conn: idle, Reused: true})
	idle.SetWriteDeadline(time.Now().Add(time.Second)) // nobody reads the other end
	if _, err := idle.Write([]byte("GET")); !errors.Is(err, io.ErrClosedPipe) {
		t.Error("a second request could have gone out")
	}
}

// TestUserAgentEverywhere: every request has our user agent and no other, by the logs of a proxy
// and the server behind it: pages, robots.txt, streams, conditional requests, CONNECT and
// retries.
func TestUserAgentEverywhere(t *testing.T) {
	for _, secure := range []bool{false, true} {
		var mu sync.Mutex
		agents := map[string]int{} // log, method and user agent → requests
		note := func(who string, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			agents[fmt.Sprintf("%s %s %q", who, r.Method, r.Header["User-Agent"])]++
		}
		srv, cas := tlsServer(t, false, func(w http.ResponseWriter, r *http.Request) {
			note("server", r)
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, "<p>page")
		})
		lead := forwardProxy(srv.Listener.Addr().String())
		log := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			note("proxy", r)
			if r.Host == "refused.example:443" {
				http.Error(w, "not there", http.StatusBadGateway)
				return
			}
			lead.ServeHTTP(w, r)
		})
		start := httptest.NewServer
		if secure {
			start = httptest.NewTLSServer
		}
		proxy := start(log)
		t.Cleanup(proxy.Close)
		proxyURL := mustURL(t, proxy.URL)
		proxyURL.User = url.UserPassword("user", secret)
		f := newTest(t, Options{UserAgent: "fossick-test/1.0", Proxy: proxyURL, RootCAs: cas, MaxIdleConns: -1})
		for _, origin := range []string{"http://example.com", "https://example.com"} {
			checkState(t, f.Fetch(t.Context(), Request{URL: origin + "/page"}), StateOK)
			checkState(t, f.Fetch(t.Context(), Request{URL: origin + "/robots.txt", Accept: []string{"*/*"}, Truncate: true, AnySuccess: true}), StateOK)
			checkState(t, f.Fetch(t.Context(), Request{URL: origin + "/again", ETag: `"1"`}), StateOK)
			checkState(t, f.Fetch(t.Context(), Request{URL: origin + "/map", Accept: []string{"*/*"}, Stream: func(r io.Reader) { io.Copy(io.Discard, r) }}), StateOK)
		}
		for range 2 {
			checkState(t, f.Fetch(t.Context(), Request{URL: "https://refused.example/"}), StateConnectError)
		}
		connects := 0
		for seen, n := range agents {
			switch seen {
			case `proxy CONNECT ["fossick-test/1.0"]`:
				connects += n
			case `proxy GET ["fossick-test/1.0"]`, `server GET ["fossick-test/1.0"]`:
				if n != 4 {
					t.Errorf("https proxy %v: %s: %d requests, want 4", secure, seen, n)
				}
			default:
				t.Errorf("https proxy %v: %d requests went out as %s", secure, n, seen)
			}
		}
		if connects < 3 {
			t.Errorf("https proxy %v: %d CONNECTs by our user agent, want 3 at least; seen %v", secure, connects, agents)
		}
	}
}

var loopback = netip.MustParsePrefix("127.0.0.0/8")

// newTest returns a fetcher that may connect to loopback.
func newTest(t testing.TB, opt Options) *Fetcher {
	t.Helper()
	if opt.AllowNet == nil {
		opt.AllowNet = []netip.Prefix{loopback}
	}
	f := testkit.Call(New(opt)).Must(t)
	t.Cleanup(f.Close)
	return f
}

func serve(t testing.TB, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv
}

func TestFetchCancelled(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	f := newTest(t, Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if resp := f.Fetch(ctx, Request{URL: srv.URL}); resp.State != StateNone || resp.Err == nil {
		t.Errorf("got %s %v, want none: the caller broke it off", resp.State, resp.Err)
	}
}

// TestFetchCancelledInBody: an exchange ends with its context, also within the body.
func TestFetchCancelledInBody(t *testing.T) {
	for name, stream := range map[string]func(io.Reader){
		"page":   nil,
		"stream": func(body io.Reader) { _, _ = io.Copy(io.Discard, body) },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		at := rawServer(t, false, func(c net.Conn) {
			say(chunkedHTML + "5\r\n<p>hi\r\n")(c)
			cancel()
			hang(c)
		})
		resp := newTest(t, Options{RateGrace: time.Minute}).Fetch(ctx, Request{URL: "http://" + at, Stream: stream})
		if resp.State != StateNone || resp.Body != nil || !errors.Is(resp.Err, context.Canceled) {
			t.Errorf("%s: got %s %q %v, want none", name, resp.State, resp.Body, resp.Err)
		}
	}
}
