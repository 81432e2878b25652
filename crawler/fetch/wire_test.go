package fetch

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"

	"fossick/internal/testkit"
)

// scribe is an HTTP/1 server with literal answers by path, which records requests.
type scribe struct {
	answers map[string]string
	mu      sync.Mutex // guards the rest
	asked   []string
}

func (s *scribe) serve(t *testing.T, ln net.Listener) {
	var conns sync.WaitGroup
	t.Cleanup(func() { ln.Close(); conns.Wait() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			conns.Go(func() { s.speak(c) })
			t.Cleanup(func() { c.Close() })
		}
	}()
}

func (s *scribe) speak(c net.Conn) {
	defer c.Close()
	r := bufio.NewReader(c)
	for {
		request, path := "", ""
		for line := ""; line != "\r\n"; {
			var err error
			if line, err = r.ReadString('\n'); err != nil {
				return
			}
			if request += line; path == "" {
				path = strings.Fields(line)[1]
			}
		}
		s.mu.Lock()
		s.asked = append(s.asked, request)
		s.mu.Unlock()
		for part := range strings.SplitSeq(s.answers[path], "|") { // in separate packets
			io.WriteString(c, part)
		}
	}
}

func (s *scribe) last() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[len(s.asked)-1]
}

// TestWire: headers are recorded as sent in both directions, plain and over TLS.
func TestWire(t *testing.T) {
	long := "X-Long: " + strings.Repeat("long ", 2000) + "\r\n"
	answers := map[string]string{
		"/":       "HTTP/1.1 200 Fine\r\nserver:  odd \r\nCONTENT-type: text/html\r\nX-b: 1\r\nx-B: 2\r\nX-a:\r\nContent-Length: 3\r\n\r\nabc",
		"/pieces": "HTTP|/1.1 200 OK\r|\nContent-Type|: text/html\r\nX-c: \xe9\xff\r\n|Set-Cookie: a=b\r\nTransfer-Encoding: chunked\r\n\r|\n1|\r\na\r\n0\r\n\r\n",
		"/early":  "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Type: text/html\r\n\r\n",
		"/bare":   "HTTP/1.1 200\nContent-Type: text/html\nContent-Length: 1\n\nx",
		"/moved":  "HTTP/1.1 301 Gone There\r\nlocation: /\r\ncontent-length: 0\r\n\r\n",
		"/same":   "HTTP/1.1 304 Not Modified\r\nEtag: \"1\"\r\n\r\n",
		"/gone":   "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n",
		"/long":   "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1\r\n" + long + long + "\r\nx",
	}
	certified, cas := tlsServer(t, false, nil)
	for _, scheme := range []string{"http", "https"} {
		t.Run(scheme, func(t *testing.T) {
			s := &scribe{answers: answers}
			ln := testkit.Call(net.Listen("tcp", "127.0.0.1:0")).Must(t)
			addr := netip.MustParseAddrPort(ln.Addr().String())
			if scheme == "https" {
				ln = tls.NewListener(ln, &tls.Config{Certificates: certified.TLS.Certificates})
			}
			s.serve(t, ln)
			f := newTest(t, Options{RootCAs: cas, Hosts: map[string]netip.AddrPort{"example.com": addr}, UserAgent: "odd/1"})
			for _, path := range []string{"/", "/pieces", "/early", "/", "/bare", "/moved", "/same", "/gone", "/long"} {
				r := f.Fetch(t.Context(), Request{URL: scheme + "://example.com" + path, ETag: `"1"`})
				if r.Wire == nil || r.Wire.Protocol != "http/1.1" || r.Wire.Rebuilt || r.Wire.Cut != (path == "/long") {
					t.Fatalf("%s: %s %v, %+v", path, r.State, r.Err, r.Wire)
				}
				whole := strings.ReplaceAll(answers[path], "|", "")
				whole = whole[max(0, strings.LastIndex(whole, "HTTP/1.1 ")):]
				want, _, _ := strings.Cut(whole, "\n\r\n")
				want, _, _ = strings.Cut(want, "\n\n")
				if path == "/long" {
					want, _, _ = strings.Cut(want, long+"X")
					want += long[:len(long)-1]
				}
				if got := string(r.Wire.Response); got != want+"\n" {
					t.Errorf("%s: received\n%.400q\nwant\n%.400q", path, got, want+"\n")
				}
				if got := string(r.Wire.Request); got+"\r\n" != s.last() || !strings.Contains(got, "odd/1") {
					t.Errorf("%s: sent\n%q\nand the server had\n%q", path, got, s.last())
				}
			}
		})
	}
}

// TestWireRebuilt: headers without HTTP/1 lines, or with unreadable ones, are recorded as such
// lines and marked.
func TestWireRebuilt(t *testing.T) {
	srv, cas := tlsServer(t, true, func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Date"] = nil
		w.Header().Set("Content-Type", "text/html")
		w.Header()["X-B"] = []string{"2", "1"}
		w.Header().Set("Content-Length", "1")
		io.WriteString(w, "x")
	})
	proxy := httptest.NewServer(forwardProxy(srv.Listener.Addr().String()))
	defer proxy.Close()
	at := testkit.Call(url.Parse(proxy.URL)).Must(t)
	at.User = url.UserPassword("user", secret)
	direct := newTest(t, Options{RootCAs: cas, UserAgent: "odd/1", Hosts: map[string]netip.AddrPort{"example.com": netip.MustParseAddrPort(srv.Listener.Addr().String())}})
	for name, f := range map[string]*Fetcher{"HTTP/2": direct, "through a proxy": newTest(t, Options{RootCAs: cas, UserAgent: "odd/1", Proxy: at})} {
		r := f.Fetch(t.Context(), Request{URL: "https://example.com/a?b"})
		want := Wire{Protocol: "h2", Rebuilt: true,
			Request:  []byte("GET /a?b HTTP/1.1\r\nhost: example.com\r\naccept: text/html, application/xhtml+xml, text/plain, application/pdf;q=0.9, application/*;q=0.5\r\naccept-encoding: gzip\r\nuser-agent: odd/1\r\n"),
			Response: []byte("HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-type: text/html\r\nx-b: 2\r\nx-b: 1\r\n"),
		}
		w := r.Wire
		if w == nil || w.Protocol != want.Protocol || !w.Rebuilt || w.Cut || !bytes.Equal(w.Request, want.Request) || !bytes.Equal(w.Response, want.Response) {
			t.Errorf("%s: %s %v\ngot  %+v\nwant %+v", name, r.State, r.Err, w, want)
		}
	}
	large := http.Header{"X-Long": {strings.Repeat("x", maxWireBytes)}, "A": {"b"}}
	if lines, cut := rebuilt("first\r\n", large, strings.ToLower); !cut || string(lines) != "first\r\na: b\r\n" {
		t.Errorf("%q, %v", lines, cut)
	}
}

// signing puts the secret into a fake signature.
type signing struct{}

func (signing) Sign(h http.Header, _ *url.URL) {
	h.Set("Signature", secret)
	h.Set("Signature-Input", secret)
	h.Set("Authorization", secret)
}

// TestWireHasNoSecrets: secrets that we send reach the server and no record.
func TestWireHasNoSecrets(t *testing.T) {
	page := func(w http.ResponseWriter, r *http.Request) {
		if len(r.Header["Signature"]) == 0 {
			t.Error("no signature came")
		}
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, r.Header.Get("Cookie"))
	}
	plain := serve(t, page)
	proxy := httptest.NewServer(forwardProxy(""))
	defer proxy.Close()
	one, cas1 := tlsServer(t, false, page)
	two, cas2 := tlsServer(t, true, page)
	via := testkit.Call(url.Parse(proxy.URL)).Must(t)
	via.User = url.UserPassword("user", secret)
	hosts := func(s *httptest.Server) map[string]netip.AddrPort {
		return map[string]netip.AddrPort{"example.com": netip.MustParseAddrPort(s.Listener.Addr().String())}
	}
	for name, c := range map[string]struct {
		opt Options
		url string
	}{
		"plain":   {Options{Hosts: hosts(plain)}, "http://example.com/"},
		"TLS":     {Options{Hosts: hosts(one), RootCAs: cas1}, "https://example.com/"},
		"HTTP/2":  {Options{Hosts: hosts(two), RootCAs: cas2}, "https://example.com/"},
		"a proxy": {Options{Proxy: via}, "http://example.com/"},
	} {
		c.opt.Cookies, c.opt.Signer = true, signing{}
		f := newTest(t, c.opt)
		u := testkit.Call(url.Parse(c.url)).Must(t)
		f.cookies.keep(u, &http.Response{Header: http.Header{"Set-Cookie": {"id=" + secret}}})
		r := f.Fetch(t.Context(), Request{URL: c.url})
		if !bytes.Contains(r.Body, []byte(secret)) {
			t.Errorf("%s: %s %v, the server had no secret: %q", name, r.State, r.Err, r.Body)
		}
		if w := r.Wire; w == nil || bytes.Contains(w.Request, []byte(secret)) || bytes.Contains(w.Response, []byte(secret)) ||
			bytes.Contains(w.Request, []byte("Basic")) || !bytes.Contains(bytes.ToLower(w.Request), []byte("user-agent: fossick\r\n")) {
			t.Errorf("%s: %+v", name, w)
		}
	}
}

// FuzzHead: a header is the same however it is cut into packets, and equals a naive reader's.
func FuzzHead(f *testing.F) {
	f.Add([]byte("HTTP/1.1 103 Early\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\nX: y\r\n\r\nbody\r\n\r\n"), uint64(3))
	f.Add([]byte("HTTP/1.1 101 Switching\nX: y\n\n"), uint64(1))
	f.Add([]byte("HTTP/1.1 200 OK\r\n\r\r\n\r\n"), uint64(1))
	f.Add([]byte("HTTP/000 1\n\n\r\n"), uint64(2))
	f.Add([]byte("GET / HTTP/1.1\r\nX: "+strings.Repeat("long\r\nX: ", 4000)), uint64(1000))
	f.Fuzz(func(t *testing.T, stream []byte, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var whole, cut head
		whole.begin()
		whole.add(stream)
		cut.begin()
		for rest := stream; len(rest) > 0; {
			n := min(1+rng.IntN(1+int(seed%999)), len(rest))
			cut.add(rest[:n])
			rest = rest[n:]
		}
		if !bytes.Equal(whole.lines, cut.lines) || whole.done != cut.done || whole.cut != cut.cut || len(whole.lines) > maxWireBytes {
			t.Fatalf("%q cut is\n%q, whole\n%q", stream, cut.lines, whole.lines)
		}
		if len(stream) > maxWireBytes || !whole.done {
			return
		}
		var lines []byte
		for line := range bytes.Lines(stream) {
			switch {
			case len(bytes.TrimRight(line, "\r\n")) > 0:
				lines = append(lines, line...)
			case bytes.HasPrefix(lines, []byte("HTTP/")) && interim(lines):
				lines = nil
			default:
				if !bytes.Equal(lines, whole.lines) {
					t.Fatalf("%q: got\n%q, want\n%q", stream, whole.lines, lines)
				}
				return
			}
		}
		t.Fatalf("%q: %q is no whole header", stream, whole.lines)
	})
}
