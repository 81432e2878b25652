package fetch

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
)

const secret = "s3cr3t"

// forwardProxy is an HTTP proxy that asks for user:s3cr3t and answers for every
// host itself, or leads CONNECT to target.
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

// socksProxy is a SOCKS5 proxy (RFC 1928, 1929) that asks for user:s3cr3t, notes
// what it is asked to reach, and reaches target.
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

// socksAsked does the greeting and returns the address asked for, "" if refused.
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

// TestProxiesWithCredentials: every kind of proxy, over IPv4 and IPv6; the wrong
// password is told as such, and no password stands in any error.
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

// TestIPv6 reaches hosts that have an IPv6 address only, by name and as literals.
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
