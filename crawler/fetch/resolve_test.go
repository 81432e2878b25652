package fetch

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
)

// serveOn serves with a handler at an address of loopback.
func serveOn(t *testing.T, at string, handler http.HandlerFunc) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	srv := &httptest.Server{Listener: l, Config: &http.Server{Handler: handler}}
	srv.Start()
	t.Cleanup(srv.Close)
	return netip.MustParseAddrPort(l.Addr().String())
}

func say200(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, text)
	}
}

// TestResolveFindsWhoAnswers: of the addresses that a name server names that counts at
// which a connection comes about, not the first: that may be anybody's.
func TestResolveFindsWhoAnswers(t *testing.T) {
	at := serveOn(t, "127.0.0.2:0", say200("<p>x"))
	f := newTest(t, Options{Resolver: &answers{netip.MustParseAddr("127.0.0.1"), at.Addr()}})
	host := fmt.Sprintf("liar.test:%d", at.Port())
	if a, err := f.Resolve(t.Context(), host); err != nil || a != at.Addr() {
		t.Errorf("%v, %v; want %v", a, err, at.Addr())
	}
	f = newTest(t, Options{Resolver: &answers{netip.MustParseAddr("127.0.0.1")}})
	if a, err := f.Resolve(t.Context(), host); StateOf(err) != StateConnectError {
		t.Errorf("%v, %v; want connect_error", a, err)
	}
	if _, err := f.Resolve(t.Context(), "liar.test"); err == nil {
		t.Error("a name without a port is resolved")
	}
}

// TestRequestAddr: an exchange connects to the address it is told, whatever the name
// system says by then, and the guard holds for it.
func TestRequestAddr(t *testing.T) {
	first := serveOn(t, "127.0.0.1:0", say200("<p>first"))
	second := serveOn(t, fmt.Sprintf("127.0.0.2:%d", first.Port()), say200("<p>second"))
	f := newTest(t, Options{Resolver: &answers{first.Addr(), second.Addr()}})
	url := fmt.Sprintf("http://two.test:%d/", first.Port())
	for _, at := range []netip.AddrPort{first, second} {
		f.transport.CloseIdleConnections()
		if r := f.Fetch(t.Context(), Request{URL: url, Addr: at.Addr()}); r.State != StateOK || r.Addr != at.Addr() {
			t.Errorf("told %v: %s from %v, %v", at, r.State, r.Addr, r.Err)
		}
	}
	f.transport.CloseIdleConnections()
	if r := f.Fetch(t.Context(), Request{URL: url, Addr: netip.MustParseAddr("127.0.0.3")}); r.State != StateConnectError {
		t.Errorf("where nobody listens: %s from %v", r.State, r.Addr)
	}
	if r := f.Fetch(t.Context(), Request{URL: url, Addr: netip.MustParseAddr("10.0.0.1")}); r.State != StateGuardDenied {
		t.Errorf("inside: %s, %v", r.State, r.Err)
	}
}
