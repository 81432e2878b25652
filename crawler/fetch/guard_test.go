package fetch

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
)

func TestGuardAddresses(t *testing.T) {
	g := newGuard(nil)
	for _, c := range []struct{ addrs, want string }{
		{"127.0.0.1 127.255.255.254 ::1", "loopback"},
		{"0.0.0.0 0.1.2.3 ::", "this network"},
		{"10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1", "private"},
		{"169.254.169.254 169.254.0.1 fe80::1 fe80::1%eth0 febf::1", "link-local"},
		{"100.64.0.1 100.127.255.255 100.100.100.200", "carrier"},
		{"192.0.0.192 192.0.0.8 2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:2::1 2001:10::1 2001:20::1", "assignments"},
		{"192.0.2.1 198.51.100.1 203.0.113.1 2001:db8::1 3fff::1", "documentation"},
		{"198.18.0.1 198.19.255.255", "benchmarking"},
		{"192.88.99.1 2002:7f00:1:: 2002:808:808::", "6to4"},
		{"224.0.0.1 239.255.255.255 ff02::1 ff0e::1", "multicast"},
		{"240.0.0.1 255.255.255.255", "reserved"},
		{"168.63.129.16", "metadata"},
		{"fc00::1 fd00:ec2::254", "unique local"},
		{"fec0::1", "site local"},
		{"::ffff:127.0.0.1", "loopback"},
		{"::ffff:10.0.0.1", "private"},
		{"::ffff:169.254.169.254", "metadata"},
		{"::127.0.0.1 ::8.8.8.8", "compatible"},
		{"::ffff:0:8.8.8.8", "translated"},
		{"64:ff9b::127.0.0.1", "loopback"},
		{"64:ff9b::a9fe:a9fe", "metadata"},
		{"64:ff9b:1::8.8.8.8", "NAT64"},
		{"192.31.196.1 192.175.48.255 2620:4f:8000::1", "AS112"},
		{"192.52.193.1", "AMT"},
		{"100::1", "discard"},
		{"5f00::1", "segment routing"},
		{"101::1 4000::1 64:ff9c::1", "not global"},
		{"8.8.8.8 1.1.1.1 172.15.0.1 172.32.0.1 100.63.0.1 100.128.0.1 192.0.1.1 198.20.0.1 223.255.255.255 168.63.129.17", ""},
		{"2606:4700::1111 2a00:1450::1 2001:4860:4860::8888 2001:200::1 64:ff9b::8.8.8.8 ::ffff:8.8.8.8", ""},
	} {
		for a := range strings.FieldsSeq(c.addrs) {
			err := g.check(netip.MustParseAddr(a))
			switch {
			case c.want == "" && err != nil:
				t.Errorf("%s: %v, want it let through", a, err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || StateOf(err) != StateGuardDenied):
				t.Errorf("%s: %v, want refused as %s", a, err, c.want)
			}
		}
	}
	if g.check(netip.Addr{}) == nil {
		t.Error("the zero address was let through")
	}
}

func TestGuardAllowNet(t *testing.T) {
	g := newGuard([]netip.Prefix{
		netip.MustParsePrefix("127.0.0.0/30"),
		netip.MustParsePrefix("fd00::/16"),
		netip.MustParsePrefix("::ffff:10.1.0.0/112"),
	})
	for a := range strings.FieldsSeq("127.0.0.1 ::ffff:127.0.0.1 fd00::5 10.1.2.3") {
		if err := g.check(netip.MustParseAddr(a)); err != nil {
			t.Errorf("%s: %v, want it let through by --allow-net", a, err)
		}
	}
	for a := range strings.FieldsSeq("127.0.0.4 fd01::5 10.2.0.1 ::1 64:ff9b::127.0.0.1 64:ff9b::10.1.2.3 2002:7f00:1::") {
		if g.check(netip.MustParseAddr(a)) == nil {
			t.Errorf("%s was let through", a)
		}
	}
}

func TestParseLiteral(t *testing.T) {
	for _, c := range []struct{ host, want string }{
		{"127.0.0.1", "127.0.0.1"},
		{"127.0.0.1.", "127.0.0.1"},
		{"2130706433", "127.0.0.1"},
		{"0x7f000001", "127.0.0.1"},
		{"0X7F.1", "127.0.0.1"},
		{"0177.0.0.01", "127.0.0.1"},
		{"017700000001", "127.0.0.1"},
		{"127.1", "127.0.0.1"},
		{"127.0.1", "127.0.0.1"},
		{"0xa9.254.0xa9fe", "169.254.169.254"},
		{"0", "0.0.0.0"},
		{"0x", "0.0.0.0"},
		{"4294967295", "255.255.255.255"},
		{"１２７.0.0.１", "127.0.0.1"},
		{"127。0。0。1", "127.0.0.1"},
		{"::1", "::1"},
		{"[::1]", "::1"},
		{"fe80::1%25eth0", "fe80::1%25eth0"},
		{"example.com", ""},
		{"1.example", ""},
		{"a0x1", ""},
		{"4294967296", "error"},
		{"1.2.3.4.5", "error"},
		{"1.2.3.256", "error"},
		{"256.1", "error"},
		{"1.2.3.09", "error"},
		{"x.08", "error"},
		{"99999999999999999999", "error"},
		{"0xfffffffffffffffffffff", "error"},
		{"1:2", "error"},
	} {
		addr, literal, err := parseLiteral(c.host)
		got := ""
		if literal {
			got = addr.String()
		}
		if err != nil {
			got = "error"
		}
		if got != c.want {
			t.Errorf("parseLiteral(%q) = %q (%v), want %q", c.host, got, err, c.want)
		}
	}
}

// TestGuardLongName: a name that no name server knows costs nothing, whoever would look
// it up: IDNA takes time by the square of its length.
func TestGuardLongName(t *testing.T) {
	name := strings.Repeat("名", 1<<20) + ".test"
	if addr, literal, err := parseLiteral(name); literal || err != nil {
		t.Errorf("parseLiteral: %v %v %v, want a name", addr, literal, err)
	}
	proxy := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the proxy was asked") })
	proxyURL, _ := url.Parse(proxy.URL)
	for _, opt := range []Options{{}, {Proxy: proxyURL}} {
		f := newTest(t, opt)
		if resp := f.Fetch(t.Context(), Request{URL: "http://" + name + "/"}); resp.State != StateNoIP || len(resp.Err.Error()) > 1000 {
			t.Errorf("%s: %.200v, want no_ip and a short reason", resp.State, resp.Err)
		}
	}
}

// No notation of a forbidden address reaches a server that stands there.
func TestGuardDeniesDirect(t *testing.T) {
	var hits atomic.Int32
	srv := serve(t, func(http.ResponseWriter, *http.Request) { hits.Add(1) })
	_, port, _ := strings.Cut(strings.TrimPrefix(srv.URL, "http://"), ":")
	f, err := New(Options{Hosts: map[string]netip.AddrPort{
		"mapped.example": netip.MustParseAddrPort("127.0.0.1:" + port),
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for host := range strings.FieldsSeq("127.0.0.1 localhost 2130706433 0x7f.1 0177.1 127.1 [::1] [::ffff:127.0.0.1] [::127.0.0.1] [64:ff9b::7f00:1] mapped.example 0.0.0.0 １２７.0.0.1") {
		checkState(t, f.Fetch(t.Context(), Request{URL: "http://" + host + ":" + port + "/"}), StateGuardDenied)
	}
	if n := hits.Load(); n != 0 {
		t.Errorf("%d requests reached the server", n)
	}
}

// rebinder answers with a public address first and loopback afterwards.
type rebinder struct {
	asked atomic.Int32
	addrs []netip.Addr
}

func (r *rebinder) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	n := min(int(r.asked.Add(1)), len(r.addrs))
	return []netip.Addr{r.addrs[n-1]}, nil
}

func TestGuardAgainstRebinding(t *testing.T) {
	var hits atomic.Int32
	srv := serve(t, func(http.ResponseWriter, *http.Request) { hits.Add(1) })
	_, port, _ := strings.Cut(strings.TrimPrefix(srv.URL, "http://"), ":")
	dns := &rebinder{addrs: []netip.Addr{netip.MustParseAddr("8.8.8.8"), netip.MustParseAddr("127.0.0.1")}}
	f, err := New(Options{Resolver: dns, DNSTTL: 1}) // a nanosecond: every exchange asks again
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	host := "rebind.example:" + port
	if a, err := firstTarget(t, f, host); err != nil || a.String() != "8.8.8.8" {
		t.Fatalf("first look-up: %v %v", a, err)
	}
	for range 3 {
		checkState(t, f.Fetch(t.Context(), Request{URL: "http://" + host + "/"}), StateGuardDenied)
	}
	if _, err := f.Resolve(t.Context(), host); StateOf(err) != StateGuardDenied {
		t.Errorf("Resolve: %v, want guard_denied", err)
	}
	if hits.Load() != 0 {
		t.Error("a request reached loopback")
	}
}

// The check that counts is at the socket: it holds when targets has been fooled.
func TestGuardAtTheSocket(t *testing.T) {
	var hits atomic.Int32
	srv := serve(t, func(http.ResponseWriter, *http.Request) { hits.Add(1) })
	d := dialer{guard: newGuard(nil)}
	target := netip.MustParseAddrPort(strings.TrimPrefix(srv.URL, "http://"))
	conn, err := d.dialFirst(t.Context(), "tcp", []netip.AddrPort{target})
	if err == nil {
		conn.Close()
	}
	if StateOf(err) != StateGuardDenied {
		t.Errorf("dialled %v: %v", target, err)
	}
}

// Through a proxy, wherever it stands, forbidden literals are refused unsent.
func TestGuardThroughProxy(t *testing.T) {
	var seen []string
	proxy := serve(t, func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.URL.String())
		w.Header().Set("Content-Type", "text/html")
		w.Write([]byte("<p>via proxy"))
	})
	proxyURL, _ := url.Parse(proxy.URL)
	f, err := New(Options{Proxy: proxyURL}) // no AllowNet: the proxy itself is on loopback
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for host := range strings.FieldsSeq("127.0.0.1 localhost a.localhost LOCALHOST. 2130706433 0x7f.1 [::1] [::ffff:7f00:1] 169.254.169.254 metadata.google.internal １２７.1 ⓛocalhost") {
		for scheme := range strings.FieldsSeq("http https") {
			checkState(t, f.Fetch(t.Context(), Request{URL: scheme + "://" + host + "/"}), StateGuardDenied)
		}
	}
	if len(seen) != 0 {
		t.Errorf("the proxy was asked for %q", seen)
	}
	resp := f.Fetch(t.Context(), Request{URL: "http://name.example/p?q"})
	checkState(t, resp, StateOK)
	if len(seen) != 1 || seen[0] != "http://name.example/p?q" || resp.Addr.IsValid() {
		t.Errorf("the proxy saw %q, address %v", seen, resp.Addr)
	}
	if a, err := f.Resolve(t.Context(), "name.example:80"); a.IsValid() || err != nil {
		t.Errorf("Resolve through a proxy: %v %v", a, err)
	}
	allowed, err := New(Options{Proxy: proxyURL, AllowNet: []netip.Prefix{loopback}})
	if err != nil {
		t.Fatal(err)
	}
	defer allowed.Close()
	checkState(t, allowed.Fetch(t.Context(), Request{URL: "http://localhost/"}), StateOK)
	checkState(t, allowed.Fetch(t.Context(), Request{URL: "http://127.0.0.9/"}), StateOK)
}

func FuzzParseLiteral(f *testing.F) {
	for _, s := range []string{"127.0.0.1", "0x7f.1", "[::1]", "example.com", "1.2.3.4.5", "０x7f。1", "::%]", "[fe80::1%eth0]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, host string) {
		addr, literal, err := parseLiteral(host)
		if literal && (err != nil || !addr.IsValid()) {
			t.Errorf("parseLiteral(%q) = %v, literal, %v", host, addr, err)
		}
		// What Go's own strict parser takes for an address is one.
		if strict, serr := netip.ParseAddr(host); serr == nil && (!literal || strict != addr) {
			t.Errorf("parseLiteral(%q) = %v %v, netip says %v", host, addr, literal, strict)
		}
	})
}
