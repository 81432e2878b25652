package fetch

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"fossick/internal/testkit"
)

const secret = "s3cr3t"

// forwardProxy is an HTTP proxy with a login. It connects CONNECT to target.
func forwardProxy(target string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		want := "Basic " + base64.StdEncoding.EncodeToString([]byte("user:"+secret))
		if r.Header.Get("Proxy-Authorization") != want {
			w.Header().Set("Proxy-Authenticate", `Basic realm="here"`)
			http.Error(w, "who are you", http.StatusProxyAuthRequired)
			return
		}
		if r.Method != http.MethodConnect {
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, "by proxy: "+r.Host+r.Header.Get("Authorization"))
			return
		}
		up, err := net.Dial("tcp", target)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		down, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		io.WriteString(down, "HTTP/1.1 200 Connected\r\n\r\n")
		go func() { defer up.Close(); io.Copy(up, down) }()
		go func() { defer down.Close(); io.Copy(down, up) }()
	})
}

// socksProxy is a SOCKS5 proxy (RFC 1928, 1929) with a login. It connects to target.
func socksProxy(t *testing.T, network, target string, asked *atomic.Value) string {
	ln, err := net.Listen(network, map[string]string{"tcp4": "127.0.0.1:0", "tcp6": "[::1]:0"}[network])
	if err != nil {
		t.Skipf("no %s here: %v", network, err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				if to := socksAsked(c); to != "" {
					asked.Store(to)
					up, err := net.Dial("tcp", target)
					if err != nil {
						return
					}
					defer up.Close()
					c.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
					go io.Copy(up, c)
					io.Copy(c, up)
				}
			}()
		}
	}()
	return ln.Addr().String()
}

// socksAsked does the handshake and returns the requested address, "" if refused.
func socksAsked(c net.Conn) string {
	b := make([]byte, 512)
	read := func(n int) []byte { io.ReadFull(c, b[:n]); return b[:n] }
	read(int(read(2)[1]))
	c.Write([]byte{5, 2}) // user and password
	user := string(read(int(read(2)[1])))
	password := string(read(int(read(1)[0])))
	if user != "user" || password != secret {
		c.Write([]byte{1, 1})
		return ""
	}
	c.Write([]byte{1, 0})
	host := ""
	switch read(4)[3] {
	case 1:
		host = netip.AddrFrom4([4]byte(read(4))).String()
	case 3:
		host = string(read(int(read(1)[0])))
	case 4:
		host = netip.AddrFrom16([16]byte(read(16))).String()
	}
	port := read(2)
	return net.JoinHostPort(host, fmt.Sprint(int(port[0])<<8|int(port[1])))
}

// TestProxiesWithCredentials: every kind of proxy. No error contains a password.
func TestProxiesWithCredentials(t *testing.T) {
	site, cas := tlsServer(t, true, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, r.Proto+" "+r.Host)
	})
	plainSite := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "plain "+r.Host)
	})
	handler := forwardProxy(site.Listener.Addr().String())
	plain := httptest.NewServer(handler)
	defer plain.Close()
	secure := httptest.NewUnstartedServer(handler)
	secure.TLS = site.TLS.Clone()
	secure.TLS.NextProtos = nil
	secure.StartTLS()
	defer secure.Close()
	var asked atomic.Value
	proxies := map[string]string{
		"http":   strings.TrimPrefix(plain.URL, "http://"),
		"https":  strings.TrimPrefix(secure.URL, "https://"),
		"socks5": socksProxy(t, "tcp4", plainSite.Listener.Addr().String(), &asked),
	}
	if ln, err := net.Listen("tcp6", "[::1]:0"); err == nil {
		six := &http.Server{Handler: handler}
		go six.Serve(ln)
		defer six.Close()
		proxies["http over IPv6"] = ln.Addr().String()
		proxies["socks5h over IPv6"] = socksProxy(t, "tcp6", plainSite.Listener.Addr().String(), &asked)
	}
	for name, addr := range proxies {
		t.Run(name, func(t *testing.T) {
			scheme, _, _ := strings.Cut(name, " ")
			with := func(password string) *Fetcher {
				opt := limitsFor(StateOK)
				opt.RootCAs, opt.Proxy = cas, &url.URL{Scheme: scheme, Host: addr, User: url.UserPassword("user", password)}
				return newTest(t, opt)
			}
			urls := map[string]string{"http://a.example/": "by proxy: a.example", "https://example.com/": "HTTP/2.0 example.com"}
			if strings.HasPrefix(scheme, "socks") {
				urls = map[string]string{"http://a.example/": "plain a.example", "http://[2606:4700::1111]:8080/": "plain [2606:4700::1111]:8080"}
			}
			for u, want := range urls {
				if r := with(secret).Fetch(t.Context(), Request{URL: u}); r.State != StateOK || string(r.Body) != want {
					t.Errorf("%s: %s %q, %v; want %q", u, r.State, r.Body, r.Err, want)
				}
				r := with(secret+"-wrong").Fetch(t.Context(), Request{URL: u})
				if r.State != StateConnectError || r.Err == nil || strings.Contains(r.Err.Error(), secret) {
					t.Errorf("%s with a wrong password: %s, %v", u, r.State, r.Err)
				}
				t.Logf("%s with a wrong password: %v", u, r.Err)
			}
			if r := with(secret).Fetch(t.Context(), Request{URL: "http://[::1]:80/"}); r.State != StateGuardDenied {
				t.Errorf("loopback through a proxy: %s, %v", r.State, r.Err)
			}
		})
	}
}

// TestIPv6 reaches hosts with only an IPv6 address, by name and as literals.
func TestIPv6(t *testing.T) {
	ln, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skipf("no IPv6 here: %v", err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, r.Host)
	})}
	go srv.Serve(ln)
	defer srv.Close()
	port := netip.MustParseAddrPort(ln.Addr().String()).Port()
	only := resolverFunc(func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("::1")}, nil
	})
	six := netip.MustParsePrefix("::1/128")
	open, shut := newTest(t, Options{Resolver: only, AllowNet: []netip.Prefix{six}}), newTest(t, Options{Resolver: only})
	for _, host := range []string{"six.example", "[::1]", "[0:0:0:0:0:0:0:1]"} {
		u := fmt.Sprintf("http://%s:%d/", host, port)
		r := open.Fetch(t.Context(), Request{URL: u})
		if r.State != StateOK || r.Addr != six.Addr() || string(r.Body) != fmt.Sprintf("%s:%d", host, port) {
			t.Errorf("%s: %s from %v, %q, %v", u, r.State, r.Addr, r.Body, r.Err)
		}
		if r := shut.Fetch(t.Context(), Request{URL: u}); r.State != StateGuardDenied {
			t.Errorf("%s without --allow-net: %s, %v", u, r.State, r.Err)
		}
		if a, err := open.Resolve(t.Context(), fmt.Sprintf("%s:%d", host, port)); err != nil || a != six.Addr() {
			t.Errorf("%s resolves to %v, %v", host, a, err)
		}
	}
}

func TestParseNets(t *testing.T) {
	const list = `# a country
192.0.2.0/24   # documentation
198.51.100.7
203.0.113.10 - 203.0.113.20
2001:db8::/32
::ffff:8.8.8.0/120
10.1.2.3/8
`
	nets := testkit.Call(ParseNets(strings.NewReader(list), "kr.txt")).Must(t)
	for a, in := range map[string]bool{
		"192.0.2.0": true, "192.0.2.255": true, "192.0.3.0": false, "198.51.100.7": true, "198.51.100.8": false,
		"203.0.113.9": false, "203.0.113.10": true, "203.0.113.20": true, "203.0.113.21": false,
		"2001:db8::1": true, "2001:db9::1": false, "8.8.8.8": true, "8.8.9.8": false, "10.255.255.255": true, "::": false,
	} {
		err := nets.check(netip.MustParseAddr(a))
		if (err == nil) != in {
			t.Errorf("%s: %v; want it in: %v", a, err, in)
		}
		if err != nil && (StateOf(err) != StateGuardDenied || !strings.Contains(err.Error(), "kr.txt")) {
			t.Errorf("%s: %v (%s)", a, err, StateOf(err))
		}
	}
}

func TestParseNetsErrors(t *testing.T) {
	for text, want := range map[string]string{
		"192.0.2.0/24\n\nkr\n":        `nets.txt:3: "kr" is not a network`,
		"192.0.2.0/33":                `nets.txt:1: "192.0.2.0/33"`,
		"192.0.2.9-192.0.2.1":         "is not a network",
		"192.0.2.9-2001:db8::1":       "is not a network",
		"fe80::1%eth0":                "is not a network",
		"# nothing\n\n":               "it has no network",
		strings.Repeat("1", 1<<17):    "nets.txt:1",
		"192.0.2.0/24 192.0.3.0/24\n": "is not a network",
	} {
		if _, err := ParseNets(strings.NewReader(text), "nets.txt"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v; want %q", text, err, want)
		}
	}
}

// TestNetsAgainstNaive compares membership in random lists of nets.
func TestNetsAgainstNaive(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	addr := func() netip.Addr {
		if rng.Intn(2) == 0 {
			return netip.AddrFrom4([4]byte{8, byte(rng.Intn(4)), byte(rng.Intn(256)), byte(rng.Intn(256))})
		}
		return netip.AddrFrom16([16]byte{0x20, 1, byte(rng.Intn(4)), byte(rng.Intn(256)), 15: byte(rng.Intn(256))})
	}
	for range 300 {
		var list strings.Builder
		var all []netip.Prefix
		for range 1 + rng.Intn(30) {
			a := addr()
			p := netip.PrefixFrom(a, 10+rng.Intn(a.BitLen()-9))
			all = append(all, p.Masked())
			fmt.Fprintln(&list, p)
		}
		nets := testkit.Call(ParseNets(strings.NewReader(list.String()), "random")).Must(t)
		for range 50 {
			a, want := addr(), false
			for _, p := range all {
				want = want || p.Contains(a)
			}
			if got := nets.check(a) == nil; got != want {
				t.Fatalf("%s in\n%s: %v, want %v", a, list.String(), got, want)
			}
		}
	}
}

func FuzzParseNets(f *testing.F) {
	f.Add("192.0.2.0/24 # a\n2001:db8::1\n1.2.3.4-1.2.3.9")
	f.Add("::ffff:1.2.3.4/96\n0.0.0.0/0")
	f.Fuzz(func(t *testing.T, text string) {
		nets, err := ParseNets(strings.NewReader(text), "x")
		if err != nil {
			return
		}
		var b strings.Builder // written and read again
		for _, p := range nets.set.Prefixes() {
			fmt.Fprintln(&b, p)
		}
		again, err := ParseNets(strings.NewReader(b.String()), "y")
		if err != nil || !again.set.Equal(nets.set) {
			t.Fatalf("%q → %q: %v", text, b.String(), err)
		}
	})
}

// TestOnlyNets: hosts outside the nets get no request; of several addresses one inside is used.
func TestOnlyNets(t *testing.T) {
	var hits atomic.Int32
	srv := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		hits.Add(1)
		w.Header().Set("Content-Type", "text/html")
	})
	addr := netip.MustParseAddrPort(strings.TrimPrefix(srv.URL, "http://"))
	nets := func(list string) *Nets {
		n := testkit.Call(ParseNets(strings.NewReader(list), "nets")).Must(t)
		return n
	}
	url := fmt.Sprintf("http://many.test:%d/", addr.Port())
	dns := &answers{netip.MustParseAddr("127.0.0.9"), addr.Addr()}
	inside := newTest(t, Options{Only: nets("127.0.0.1/32"), Resolver: dns})
	if r := inside.Fetch(t.Context(), Request{URL: url}); r.State != StateOK || r.Addr != addr.Addr() {
		t.Errorf("inside: %s from %s, %v", r.State, r.Addr, r.Err)
	}
	if a, err := inside.Resolve(t.Context(), fmt.Sprintf("many.test:%d", addr.Port())); err != nil || a != addr.Addr() {
		t.Errorf("inside: resolved to %v, %v", a, err)
	}
	outside := newTest(t, Options{Only: nets("127.0.1.0/24"), Resolver: dns})
	if r := outside.Fetch(t.Context(), Request{URL: url}); r.State != StateGuardDenied {
		t.Errorf("outside: %s, %v", r.State, r.Err)
	}
	if _, err := outside.Resolve(t.Context(), "many.test:80"); StateOf(err) != StateGuardDenied {
		t.Errorf("outside: resolved, %v", err)
	}
	if n := hits.Load(); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
	if _, err := New(Options{Only: nets("::/0"), Proxy: mustURL(t, "http://127.0.0.1:1")}); err == nil {
		t.Error("a list of nets goes with a proxy")
	}
}

// answers is a resolver that gives these addresses for every name.
type answers []netip.Addr

func (a *answers) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return slices.Clone(*a), nil
}

func mustURL(t *testing.T, raw string) *url.URL {
	t.Helper()
	u := testkit.Call(url.Parse(raw)).Must(t)
	return u
}
