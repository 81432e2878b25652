package fetch

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fossick/internal/testkit"
)

// countConns counts new connections to a server.
func countConns(srv *httptest.Server) *atomic.Int32 {
	var n atomic.Int32
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			n.Add(1)
		}
	}
	return &n
}

// TestKeepAlive: short answers leave the connection reusable; a long unwanted body does not.
func TestKeepAlive(t *testing.T) {
	big := strings.Repeat("x", 1<<20)
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/gone":
			http.Error(w, strings.Repeat("not here ", 500), 404)
		case "/moved":
			http.Redirect(w, r, "/", http.StatusFound)
		case "/chunked":
			w.WriteHeader(500)
			w.(http.Flusher).Flush()
			io.WriteString(w, "oops")
		case "/image":
			w.Header().Set("Content-Type", "image/png")
			io.WriteString(w, big)
		default:
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, "<p>x")
		}
	}))
	conns := countConns(srv)
	srv.Start()
	defer srv.Close()
	f := newTest(t, Options{})
	for range 5 {
		for path := range strings.FieldsSeq("/ /gone /moved /chunked") {
			f.Fetch(t.Context(), Request{URL: srv.URL + path})
		}
	}
	if n := conns.Load(); n != 1 {
		t.Errorf("%d connections for 20 short answers, want 1", n)
	}
	resp := f.Fetch(t.Context(), Request{URL: srv.URL + "/image"})
	checkState(t, resp, StateWrongType)
	if resp.WireBytes != 0 {
		t.Errorf("%d bytes of an image read", resp.WireBytes)
	}
	f.Fetch(t.Context(), Request{URL: srv.URL + "/"})
	if n := conns.Load(); n != 2 {
		t.Errorf("%d connections after an image of 1 MiB, want 2", n)
	}
}

// TestStaleConnection: an idle connection known to be closed costs nothing.
func TestStaleConnection(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<p>x")
	})
	f := newTest(t, Options{})
	for range 20 {
		for { // the close may arrive while a request is being sent
			resp := f.Fetch(t.Context(), Request{URL: srv.URL})
			if resp.State != StateHeaderError {
				checkState(t, resp, StateOK)
				break
			}
		}
		srv.CloseClientConnections()
	}
}

// TestOneRequestAnExchange: a server that hangs up gets no second request.
func TestOneRequestAnExchange(t *testing.T) {
	var asked atomic.Int32
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/gone" {
			asked.Add(1)
			panic(http.ErrAbortHandler) // closes the connection
		}
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<p>x")
	})
	proxy := testkit.Call(url.Parse(srv.URL)).Must(t)
	f := newTest(t, Options{Proxy: proxy}) // all hosts share its connections
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { f.Fetch(t.Context(), Request{URL: "http://a.test/"}) })
	}
	all.Wait()
	checkState(t, f.Fetch(t.Context(), Request{URL: "http://a.test/gone"}), StateHeaderError)
	if n := asked.Load(); n != 1 {
		t.Errorf("%d requests in one exchange", n)
	}
}

func tlsServer(t *testing.T, http2 bool, h http.HandlerFunc) (srv *httptest.Server, cas *x509.CertPool) {
	t.Helper()
	srv = httptest.NewUnstartedServer(h)
	srv.EnableHTTP2 = http2
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	t.Cleanup(srv.Close)
	var file bytes.Buffer
	pem.Encode(&file, &pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	cas = testkit.Call(ReadCAs(&file, "test.pem")).Must(t)
	return srv, cas
}

func TestHTTP2(t *testing.T) {
	srv, cas := tlsServer(t, true, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/image":
			w.Header().Set("Content-Type", "image/png")
			io.WriteString(w, strings.Repeat("x", 1<<18))
		case "/cut":
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set("Content-Length", "99")
			io.WriteString(w, "<p>x")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		case "/slow":
			<-r.Context().Done()
		case "/stall":
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, "<p>x")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		default:
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, r.Proto)
		}
	})
	patient, hasty := limitsFor(StateOK), impatient
	for _, opt := range []*Options{&patient, &hasty} {
		opt.RootCAs = cas
		opt.Hosts = map[string]netip.AddrPort{"example.com": netip.MustParseAddrPort(srv.Listener.Addr().String())}
		opt.Resolver = resolverFunc(func(context.Context, string) ([]netip.Addr, error) { return nil, nil })
	}
	f, late := newTest(t, patient), newTest(t, hasty)
	for _, c := range []struct {
		url, body string
		want      State
	}{
		{srv.URL + "/", "HTTP/2.0", StateOK},
		{"https://example.com/", "HTTP/2.0", StateOK}, // the certificate's name, resolved by Hosts
		{"https://127.0.0.1.example/", "", StateNoIP},
		{srv.URL + "/image", "", StateWrongType},
		{srv.URL + "/cut", "", StateBodyError},
		{srv.URL + "/slow", "", StateHeaderTimeout},
		{srv.URL + "/stall", "", StateBodyTimeout},
		{srv.URL + "/", "HTTP/2.0", StateOK},
	} {
		by := f
		if strings.HasSuffix(string(c.want), "_timeout") {
			by = late
		}
		resp := by.Fetch(t.Context(), Request{URL: c.url})
		checkState(t, resp, c.want)
		if string(resp.Body) != c.body {
			t.Errorf("%s: body %q, want %q", c.url, resp.Body, c.body)
		}
	}
}

// tunnel is a CONNECT proxy that leads every name to target.
func tunnel(t *testing.T, target string) *url.URL {
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect || strings.HasPrefix(r.Host, "unknown.") {
			http.Error(w, "no such host", http.StatusBadGateway)
			return
		}
		if strings.HasPrefix(r.Host, "silent.") {
			<-r.Context().Done()
			return
		}
		up, err := net.Dial("tcp", target)
		if err != nil {
			t.Error(err)
			return
		}
		down, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		io.WriteString(down, "HTTP/1.1 200 Connected\r\n\r\n")
		go func() { defer up.Close(); io.Copy(up, down) }()
		go func() { defer down.Close(); io.Copy(down, up) }()
	})
	u, _ := url.Parse(srv.URL)
	return u
}

func TestProxyConnect(t *testing.T) {
	srv, cas := tlsServer(t, true, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, r.Host)
	})
	opt := limitsFor(StateOK)
	opt.RootCAs, opt.Proxy = cas, tunnel(t, srv.Listener.Addr().String())
	f := newTest(t, opt)
	late := impatient
	late.Proxy = opt.Proxy
	resp := f.Fetch(t.Context(), Request{URL: "https://example.com/"})
	checkState(t, resp, StateOK)
	if string(resp.Body) != "example.com" || resp.Addr.IsValid() {
		t.Errorf("body %q, address %v", resp.Body, resp.Addr)
	}
	checkState(t, f.Fetch(t.Context(), Request{URL: "https://wrong.example/"}), StateTLSError)
	checkState(t, f.Fetch(t.Context(), Request{URL: "https://unknown.example/"}), StateConnectError)
	checkState(t, newTest(t, late).Fetch(t.Context(), Request{URL: "https://silent.example/"}), StateConnectTimeout)
	resp = f.Fetch(t.Context(), Request{URL: "http://unknown.example/"})
	checkState(t, resp, StateCode)
	if resp.Code != 502 {
		t.Errorf("code %d, want 502", resp.Code)
	}
	opt.Proxy = &url.URL{Scheme: "http", Host: "127.0.0.1:1"}
	checkState(t, newTest(t, opt).Fetch(t.Context(), Request{URL: "http://a.example/"}), StateConnectError)
}

// TestConcurrent: with many goroutines on one fetcher, each gets its own answer.
func TestConcurrent(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		switch r.URL.Query().Get("how") {
		case "1":
			w.WriteHeader(404)
		case "2":
			w.Header().Set("Content-Encoding", "gzip")
			io.WriteString(w, gzipped([]byte(r.URL.Path)))
		case "3":
			w.Header().Set("Content-Length", "1000")
			io.WriteString(w, r.URL.Path)
		default:
			io.WriteString(w, r.URL.Path)
		}
	})
	f := newTest(t, Options{ConnsPerHost: 16})
	var wg sync.WaitGroup
	for w := range 16 {
		wg.Go(func() {
			for i := range 50 {
				path, how := fmt.Sprintf("/%d/%d", w, i), i%4
				resp := f.Fetch(t.Context(), Request{URL: fmt.Sprintf("%s%s?how=%d", srv.URL, path, how)})
				want, body := StateOK, path
				switch how {
				case 1:
					want, body = StateCode, ""
				case 3:
					want, body = StateBodyError, ""
				}
				if resp.State != want || string(resp.Body) != body {
					t.Errorf("%s: %s %q, want %s %q", resp.URL, resp.State, resp.Body, want, body)
				}
			}
		})
	}
	wg.Wait()
}

// TestBodiesAreTheirOwn: a body is unchanged when the clone serves other exchanges.
func TestBodiesAreTheirOwn(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		n, _ := strconv.Atoi(r.URL.Path[1:])
		io.WriteString(w, strings.Repeat(string(rune('a'+n%26)), n))
	})
	f := newTest(t, Options{})
	bodies := map[int][]byte{}
	sizes := []int{1, 511, 512, 513, 5000, 31 << 10, 32 << 10, 33 << 10, 100_000, 256 << 10, 300_000, 1 << 20, 3_999_999, 4 << 20, 7, 20_000}
	for _, n := range sizes {
		resp := f.Fetch(t.Context(), Request{URL: srv.URL + "/" + strconv.Itoa(n)})
		checkState(t, resp, StateOK)
		bodies[n] = resp.Body
	}
	for _, n := range sizes {
		if want := strings.Repeat(string(rune('a'+n%26)), n); string(bodies[n]) != want {
			t.Errorf("body of %d bytes is now %d bytes, %.20q", n, len(bodies[n]), bodies[n])
		}
	}
	checkState(t, f.Fetch(t.Context(), Request{URL: srv.URL + "/" + strconv.Itoa(4<<20+1)}), StateTooLarge)
	checkState(t, f.Fetch(t.Context(), Request{URL: srv.URL + "/100", MaxBodyBytes: 99}), StateTooLarge)
	resp := f.Fetch(t.Context(), Request{URL: srv.URL + "/100", MaxBodyBytes: 99, Truncate: true})
	checkState(t, resp, StateOK)
	if len(resp.Body) != 99 {
		t.Errorf("%d bytes, want 99", len(resp.Body))
	}
	resp = f.Fetch(t.Context(), Request{URL: srv.URL + "/100", MaxBodyBytes: 100, Truncate: true})
	if len(resp.Body) != 100 {
		t.Errorf("%d bytes at the limit, want 100", len(resp.Body))
	}
}

// TestDialInOrder: an address that refuses is followed by the next; IPv6 works like IPv4.
func TestDialInOrder(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "x") })
	port := netip.MustParseAddrPort(srv.Listener.Addr().String()).Port()
	var addrs []netip.Addr
	f := newTest(t, Options{
		AllowNet: []netip.Prefix{loopback, netip.MustParsePrefix("::1/128")},
		Resolver: resolverFunc(func(context.Context, string) ([]netip.Addr, error) { return addrs, nil }),
		DNSTTL:   1,
	})
	url := fmt.Sprintf("http://a.example:%d/", port)
	addrs = []netip.Addr{netip.MustParseAddr("127.0.0.9"), netip.MustParseAddr("::1"), netip.MustParseAddr("127.0.0.1")}
	resp := f.Fetch(t.Context(), Request{URL: url})
	checkState(t, resp, StateOK)
	if resp.Addr != netip.MustParseAddr("127.0.0.1") {
		t.Errorf("served by %v", resp.Addr)
	}
	ln, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skipf("no IPv6 here: %v", err)
	}
	six := &http.Server{Handler: srv.Config.Handler}
	defer six.Close()
	go six.Serve(ln)
	resp = f.Fetch(t.Context(), Request{URL: "http://" + ln.Addr().String() + "/"})
	checkState(t, resp, StateOK)
	if resp.Addr != netip.MustParseAddr("::1") {
		t.Errorf("served by %v", resp.Addr)
	}
}

func TestBadOptions(t *testing.T) {
	for _, o := range []Options{
		{Proxy: &url.URL{Scheme: "ftp", Host: "p:1"}},
		{Proxy: &url.URL{Scheme: "http"}},
		{Timeout: -time.Second},
		{UserAgent: "fossick (+a\nb)"},
		{MaxBodyBytes: -1},
	} {
		if f, err := New(o); err == nil {
			f.Close()
			t.Errorf("%+v: accepted", o)
		}
	}
	if _, err := ReadCAs(strings.NewReader("no pem"), "x.pem"); err == nil || !strings.Contains(err.Error(), "x.pem") {
		t.Errorf("ReadCAs: %v", err)
	}
	f := newTest(t, Options{})
	f.Close()
	checkState(t, f.Fetch(t.Context(), Request{URL: "http://127.0.0.1/"}), StateNone)
}

func TestParseRetryAfter(t *testing.T) {
	now := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		value string
		want  time.Duration
	}{
		{"", 0},
		{"0", 0},
		{"120", 2 * time.Minute},
		{" 7 ", 7 * time.Second},
		{"-5", 0},
		{"1.5", 0},
		{"soon", 0},
		{"99999999999", maxRetryAfter},
		{"99999999999999999999999999", maxRetryAfter},
		{"Tue, 01 Jan 2030 12:05:00 GMT", 5 * time.Minute},
		{"Tuesday, 01-Jan-30 12:05:00 GMT", 5 * time.Minute},
		{"Tue Jan  1 12:05:00 2030", 5 * time.Minute},
		{"Tue, 01 Jan 2030 11:00:00 GMT", 0},
		{"Tue, 01 Jan 2999 11:00:00 GMT", maxRetryAfter},
	} {
		if got := parseRetryAfter(c.value, now); got != c.want {
			t.Errorf("ParseRetryAfter(%q) = %v, want %v", c.value, got, c.want)
		}
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"", "120", "Tue, 01 Jan 2030 12:05:00 GMT", "99999999999999999999"} {
		f.Add(s)
	}
	now := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, s string) {
		if d := parseRetryAfter(s, now); d < 0 || d > maxRetryAfter {
			t.Errorf("ParseRetryAfter(%q) = %v", s, d)
		}
	})
}

func TestParseHosts(t *testing.T) {
	hosts := testkit.Call(ParseHosts(strings.NewReader(
		"# where the test web stands\r\nA.example\t127.0.0.1:8080\r\n\nb.example. 127.0.0.2 # no port\nc.example\t[::1]:443\nd.example\t2001:db8::1\n"), "f")).Must(t)
	want := map[string]string{
		"a.example": "127.0.0.1:8080",
		"b.example": "127.0.0.2:0",
		"c.example": "[::1]:443",
		"d.example": "[2001:db8::1]:0",
	}
	if len(hosts) != len(want) {
		t.Errorf("got %v, want %v", hosts, want)
	}
	for name, target := range want {
		if hosts[name] != netip.MustParseAddrPort(target) {
			t.Errorf("%s: got %v, want %s", name, hosts[name], target)
		}
	}
	for _, c := range []struct{ file, want string }{
		{"a.example\n", "f:1"},
		{"\na.example 1 2\n", "f:2"},
		{"a.example\tb.example\n", `"b.example" is not an address`},
		{"a.example\t127.0.0.1:99999\n", "ip or ip:port"},
		{"x\t1.2.3.4\n" + strings.Repeat("y", 1<<17), "f:2"},
	} {
		if _, err := ParseHosts(strings.NewReader(c.file), "f"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("ParseHosts(%.40q): %v, want it to say %q", c.file, err, c.want)
		}
	}
}

func FuzzParseHosts(f *testing.F) {
	f.Add("a.example\t127.0.0.1:80\n# c\n")
	f.Add("b ::1\nc [::1]:5")
	f.Fuzz(func(t *testing.T, s string) {
		hosts, err := ParseHosts(strings.NewReader(s), "f")
		if err != nil {
			return
		}
		var again strings.Builder
		for name, ap := range hosts {
			if !ap.Addr().IsValid() {
				t.Errorf("%q: no address", name)
			}
			again.WriteString(name + "\t" + ap.String() + "\n")
		}
		second, err := ParseHosts(strings.NewReader(again.String()), "f")
		for name, ap := range hosts {
			if name = strings.TrimSuffix(name, "."); err == nil && second[name] != ap && hosts[name] == ap {
				t.Errorf("%q: %v when read again, was %v", name, second[name], ap)
			}
		}
	})
}
