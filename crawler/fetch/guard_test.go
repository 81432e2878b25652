package fetch

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"fossick/internal/page"
	"fossick/internal/testkit"

	"code.dny.dev/ssrf"
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

// TestGuardLongName: an impossibly long name costs nothing, though IDNA takes quadratic time.
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

// TestGuardDeniesDirect: no notation of a forbidden address reaches a server.
func TestGuardDeniesDirect(t *testing.T) {
	var hits atomic.Int32
	srv := serve(t, func(http.ResponseWriter, *http.Request) { hits.Add(1) })
	_, port, _ := strings.Cut(strings.TrimPrefix(srv.URL, "http://"), ":")
	f := testkit.Call(New(Options{Hosts: map[string]netip.AddrPort{
		"mapped.example": netip.MustParseAddrPort("127.0.0.1:" + port),
	}})).Must(t)
	defer f.Close()
	for host := range strings.FieldsSeq("127.0.0.1 localhost 2130706433 0x7f.1 0177.1 127.1 [::1] [::ffff:127.0.0.1] [::127.0.0.1] [64:ff9b::7f00:1] mapped.example 0.0.0.0 １２７.0.0.1") {
		checkState(t, f.Fetch(t.Context(), Request{URL: "http://" + host + ":" + port + "/"}), StateGuardDenied)
	}
	if n := hits.Load(); n != 0 {
		t.Errorf("%d requests reached the server", n)
	}
}

// rebinder answers first with a public address, then with loopback.
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
	f := testkit.Call(New(Options{Resolver: dns, DNSTTL: 1})).Must(t)
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

// TestGuardAtTheSocket: the check at the socket holds even if targets was fooled.
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

// TestGuardThroughProxy: forbidden address literals are never sent to a proxy.
func TestGuardThroughProxy(t *testing.T) {
	var seen []string
	proxy := serve(t, func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.URL.String())
		w.Header().Set("Content-Type", "text/html")
		w.Write([]byte("<p>via proxy"))
	})
	proxyURL, _ := url.Parse(proxy.URL)
	f := testkit.Call(New(Options{Proxy: proxyURL})).Must(t)
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
	allowed := testkit.Call(New(Options{Proxy: proxyURL, AllowNet: []netip.Prefix{loopback}})).Must(t)
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
		// Any address for Go's strict parser must be one for ours.
		if strict, serr := netip.ParseAddr(host); serr == nil && (!literal || strict != addr) {
			t.Errorf("parseLiteral(%q) = %v %v, netip says %v", host, addr, literal, strict)
		}
	})
}

// differences lists where and why guard and oracle differ.
var differences = []struct {
	net    string
	denied bool // by the guard and not by the oracle
	why    string
}{
	{"::ffff:0:0/96", false, "IPv4-mapped: the kernel dials the IPv4 address inside, so that is judged"},
	{"64:ff9b::/96", false, "NAT64: where there is no IPv4, real servers are reached by it; the address inside is judged"},
	{"168.63.129.16/32", true, "Azure's metadata, in public space"},
}

// TestGuardAgainstOracle compares the guard with code.dny.dev/ssrf at the edges of all nets, at
// random addresses, and at IPv6 forms of all these.
func TestGuardAgainstOracle(t *testing.T) {
	g, oracle := newGuard(nil), ssrf.New()
	met, addresses := make([]int, len(differences)), testkit.Tries(t, "addresses")
	for _, a := range guardAddresses() {
		got, want := g.check(a) != nil, oracle.SafeAddr(a) != nil
		listed := got == want
		for i, d := range differences {
			if got != want && d.denied == got && netip.MustParsePrefix(d.net).Contains(a) {
				listed = true
				met[i]++
			}
		}
		addresses.Try(listed, "%v: the guard refuses it %v, the oracle %v", a, got, want)
	}
	for i, d := range differences {
		if met[i] == 0 {
			t.Errorf("%s (%s) is listed as a difference, and none was met", d.net, d.why)
		}
	}
}

// TestGuardJudgesInside: IPv4-mapped and NAT64 addresses are judged by their IPv4 address.
func TestGuardJudgesInside(t *testing.T) {
	g := newGuard(nil)
	for _, a := range guardAddresses() {
		if !a.Is4() {
			continue
		}
		for _, prefix := range []string{"::ffff:0:0", "64:ff9b::"} {
			if in := embed(prefix, 12, a); (g.check(in) == nil) != (g.check(a) == nil) {
				t.Errorf("%v: %v, but %v: %v", in, g.check(in), a, g.check(a))
			}
		}
	}
}

// guardAddresses returns edges and random addresses, plain and embedded.
func guardAddresses() (all []netip.Addr) {
	nets := slices.Concat(ssrf.IPv4DeniedPrefixes, ssrf.IPv6DeniedPrefixes, []netip.Prefix{ssrf.IPv6GlobalUnicast, ssrf.IPv6NAT64Prefix})
	for _, n := range page.SpecialNets() {
		nets = append(nets, n.Prefix)
	}
	for _, d := range differences {
		nets = append(nets, netip.MustParsePrefix(d.net))
	}
	for _, n := range nets {
		first, last := n.Masked().Addr(), lastOf(n)
		all = append(all, first, last, first.Next(), last.Prev(), first.Prev(), last.Next())
	}
	rng := rand.New(rand.NewPCG(1, 14))
	for range 20_000 {
		var b [16]byte
		binary.LittleEndian.PutUint64(b[:], rng.Uint64())
		binary.LittleEndian.PutUint64(b[8:], rng.Uint64())
		four := netip.AddrFrom4([4]byte(b[:4]))
		six := netip.AddrFrom16(b)
		b[0] = 0x20 | b[0]&0x1f // allocated by IANA
		all = append(all, four, six, netip.AddrFrom16(b))
	}
	all = slices.DeleteFunc(all, func(a netip.Addr) bool { return !a.IsValid() }) // before 0.0.0.0, after ffff:…
	for _, a := range slices.Clone(all) {
		if a.Is4() { // mapped, NAT64, local NAT64, 6to4, Teredo's server, IPv4-compatible, -translated
			all = append(all, embed("::ffff:0:0", 12, a), embed("64:ff9b::", 12, a), embed("64:ff9b:1::", 12, a),
				embed("2002::", 2, a), embed("2001::", 4, a), embed("::", 12, a), embed("::ffff:0:0:0", 12, a))
		}
	}
	return all
}

func lastOf(n netip.Prefix) netip.Addr {
	b := n.Masked().Addr().AsSlice()
	for bit := n.Bits(); bit < 8*len(b); bit++ {
		b[bit/8] |= 0x80 >> (bit % 8)
	}
	last, _ := netip.AddrFromSlice(b)
	return last
}

func embed(prefix string, at int, a netip.Addr) netip.Addr {
	b, four := netip.MustParseAddr(prefix).As16(), a.As4()
	copy(b[at:], four[:])
	return netip.AddrFrom16(b)
}

// guardedV4 has a forbidden address of each kind of net.
var guardedV4 = []string{
	"127.0.0.1", "10.0.0.1", "172.16.5.6", "192.168.1.1", "169.254.169.254", "100.100.100.200", "192.0.0.192", "168.63.129.16",
	"0.0.0.0", "192.0.2.1", "198.18.0.1", "192.88.99.1", "224.0.0.1", "255.255.255.255",
}

// carriers are the IPv6 forms that embed an IPv4 address.
var carriers = []struct {
	net  string // contains the form
	make func(v4 [4]byte) netip.Addr
	v4   bool // the kernel connects to the IPv4 address itself
}{
	{"::ffff:0:0/96", carry("::ffff:0:0", 12), true},
	{"64:ff9b::/96", carry("64:ff9b::", 12), false},
	{"64:ff9b:1::/48", carry("64:ff9b:1::", 12), false},
	{"2002::/16", carry("2002::1", 2), false},
	{"::/96", carry("::", 12), false},
	{"::ffff:0:0:0/96", carry("::ffff:0:0:0", 12), false},
	{"2001::/32", carry("2001:0:4136:e378:8000:63bf::", 12), false}, // Teredo: inverted there, but some may read it otherwise
	{"fe80::/10", carry("fe80::5efe:0:0", 12), false},               // ISATAP
}

func carry(form string, at int) func([4]byte) netip.Addr {
	return func(v4 [4]byte) netip.Addr {
		b := netip.MustParseAddr(form).As16()
		copy(b[at:], v4[:])
		return netip.AddrFrom16(b)
	}
}

// TestGuardCarriers: --allow-net does not allow embedded forms that lead elsewhere.
func TestGuardCarriers(t *testing.T) {
	addresses := testkit.Tries(t, "addresses in other forms")
	for _, text := range guardedV4 {
		v4 := netip.MustParseAddr(text)
		for _, c := range carriers {
			a := c.make(v4.As4())
			own, all := netip.MustParsePrefix(c.net), netip.MustParsePrefix("0.0.0.0/0")
			around := testkit.Call(v4.Prefix(8)).Must(t)
			for _, try := range []struct {
				allow []netip.Prefix
				want  bool
			}{
				{nil, false},
				{[]netip.Prefix{netip.PrefixFrom(v4, 32)}, c.v4},
				{[]netip.Prefix{around}, c.v4},
				{[]netip.Prefix{all}, c.v4},
				{[]netip.Prefix{netip.MustParsePrefix("::1/128"), all}, c.v4},
				{[]netip.Prefix{own}, true},
				{[]netip.Prefix{netip.PrefixFrom(a, 128)}, true},
			} {
				g := newGuard(try.allow)
				err := g.check(a)
				addresses.Try((err == nil) == try.want && (err == nil || StateOf(err) == StateGuardDenied), "%v with %v: %v, want it let through: %v", a, try.allow, err, try.want)
				err = g.checkHost(a.String())
				addresses.Try((err == nil) == try.want, "through a proxy, %v with %v: %v, want it let through: %v", a, try.allow, err, try.want)
			}
		}
	}
}

// spellings are equivalent for a resolver.
var spellings = map[string]func(name string) string{
	"plain":      func(s string) string { return s },
	"upper case": strings.ToUpper,
	"a dot":      func(s string) string { return s + "." },
	"two dots":   func(s string) string { return s + ".." },
	"below":      func(s string) string { return "x." + s },
	"full width": func(s string) string {
		return strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' {
				return r + 'ａ' - 'a'
			}
			return r
		}, s)
	},
	"ideographic dots": func(s string) string { return strings.ReplaceAll(s, ".", "。") + "。" },
	"soft hyphen":      func(s string) string { return s[:1] + "\u00ad" + s[1:] },
	"zero width space": func(s string) string { return s[:1] + "\u200b" + s[1:] },
	"escaped":          func(s string) string { return fmt.Sprintf("%%%02x", s[0]) + s[1:] },
}

// TestGuardNames: Fetch refuses names of non-public addresses in any spelling before a proxy sees
// them, unless --allow-net allows the address. Similar names pass.
func TestGuardNames(t *testing.T) {
	var asked atomic.Int32
	proxy := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "text/html")
	})
	open := func(allow ...string) *Fetcher {
		f := testkit.Call(New(Options{Proxy: mustURL(t, proxy.URL), AllowNet: nets(allow...)})).Must(t)
		t.Cleanup(f.Close)
		return f
	}
	shut, private := open("198.18.0.0/15"), testkit.Tries(t, "private names through a proxy")
	names := slices.Concat(loopbackNames, metadataNames, privateNames, []string{
		"vault", "kubernetes", "db.internal", "api.default.svc", "kubernetes.default.svc.cluster.local", "printer.local", "nas.lan",
	})
	for _, name := range names {
		for how, spell := range spellings {
			host := spell(name)
			if how == "below" && !strings.Contains(name, ".") && (name == "vault" || name == "kubernetes") {
				continue // x.vault may become public
			}
			for _, u := range []string{"http://" + host + "/", "http://u:p@" + host + ":8080/x", "https://" + host + "/"} {
				if _, err := url.Parse(u); err != nil {
					continue // not a page's URL
				}
				r := shut.Fetch(t.Context(), Request{URL: u})
				private.Try(r.State == StateGuardDenied || r.Err != nil, "%s (%s): %s", u, how, r.State)
			}
		}
	}
	private.Try(asked.Load() == 0, "the proxy was asked %d times", asked.Load())
	for name, allow := range map[string]string{
		"localhost": "127.0.0.0/8", "a.localhost": "127.0.0.1/32", "db.internal": "10.1.0.0/16", "wiki": "192.168.7.0/24", "nas.lan": "0.0.0.0/0",
		"metadata.google.internal": "169.254.169.254/32", "api.default.svc": "10.96.0.0/12",
	} {
		checkState(t, open(allow).Fetch(t.Context(), Request{URL: "http://" + name + "/"}), StateOK)
	}
	for name, allow := range map[string]string{
		"localhost": "10.0.0.0/8", "db.internal": "127.0.0.0/8", "metadata.google.internal": "10.0.0.0/8", "instance-data": "127.0.0.0/8",
	} {
		r := open(allow).Fetch(t.Context(), Request{URL: "http://" + name + "/"})
		private.Try(r.State == StateGuardDenied, "%s with %s: %s", name, allow, r.State)
	}
	for _, name := range []string{
		"internal.example.org", "xinternal.com", "svc.example", "mysvc.com", "metadata.example.org", "metadata.google.internal.example.org",
		"localhost.example.org", "notlocalhost.com", "cluster.local.example.org", "homes.arpa", "local.test", "h0.test", "homedepot.com",
	} {
		checkState(t, shut.Fetch(t.Context(), Request{URL: "http://" + name + "/"}), StateOK)
	}
}
