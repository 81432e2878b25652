package fetch

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"fossick/internal/tries"
)

// guardedV4 are addresses that are refused, one of each kind of net.
var guardedV4 = []string{
	"127.0.0.1", "10.0.0.1", "172.16.5.6", "192.168.1.1", "169.254.169.254", "100.100.100.200", "192.0.0.192", "168.63.129.16",
	"0.0.0.0", "192.0.2.1", "198.18.0.1", "192.88.99.1", "224.0.0.1", "255.255.255.255",
}

// carriers are the forms of IPv6 that carry an IPv4 address, by bytes before it and after.
var carriers = []struct {
	net  string // that holds the form
	make func(v4 [4]byte) netip.Addr
	v4   bool // the kernel dials the IPv4 address itself
}{
	{"::ffff:0:0/96", carry("::ffff:0:0", 12), true},
	{"64:ff9b::/96", carry("64:ff9b::", 12), false},
	{"64:ff9b:1::/48", carry("64:ff9b:1::", 12), false},
	{"2002::/16", carry("2002::1", 2), false},
	{"::/96", carry("::", 12), false},
	{"::ffff:0:0:0/96", carry("::ffff:0:0:0", 12), false},
	{"2001::/32", carry("2001:0:4136:e378:8000:63bf::", 12), false}, // Teredo: inverted there, but whoever reads it otherwise
	{"fe80::/10", carry("fe80::5efe:0:0", 12), false},               // ISATAP
}

func carry(form string, at int) func([4]byte) netip.Addr {
	return func(v4 [4]byte) netip.Addr {
		b := netip.MustParseAddr(form).As16()
		copy(b[at:], v4[:])
		return netip.AddrFrom16(b)
	}
}

// TestGuardCarriers: that --allow-net names an IPv4 net opens that net, and no other form
// in which its addresses can be written and which leads elsewhere.
func TestGuardCarriers(t *testing.T) {
	addresses := tries.Of(t, "addresses in other forms")
	for _, text := range guardedV4 {
		v4 := netip.MustParseAddr(text)
		for _, c := range carriers {
			a := c.make(v4.As4())
			own, all := netip.MustParsePrefix(c.net), netip.MustParsePrefix("0.0.0.0/0")
			around, err := v4.Prefix(8)
			if err != nil {
				t.Fatal(err)
			}
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

// spellings are ways to write a name that mean the same to a resolver.
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

// TestGuardNames: through a proxy only the name is seen. Addresses that no
// public server has are refused in whatever spelling, by Fetch, before the
// proxy hears of them. --allow-net opens those that lead where it does; names
// that look alike are let through.
func TestGuardNames(t *testing.T) {
	var asked atomic.Int32
	proxy := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "text/html")
	})
	open := func(allow ...string) *Fetcher {
		f, err := New(Options{Proxy: mustURL(t, proxy.URL), AllowNet: nets(allow...)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(f.Close)
		return f
	}
	shut, private := open("198.18.0.0/15"), tries.Of(t, "private names through a proxy")
	names := slices.Concat(loopbackNames, metadataNames, privateNames, []string{
		"vault", "kubernetes", "db.internal", "api.default.svc", "kubernetes.default.svc.cluster.local", "printer.local", "nas.lan",
	})
	for _, name := range names {
		for how, spell := range spellings {
			host := spell(name)
			if how == "below" && !strings.Contains(name, ".") && (name == "vault" || name == "kubernetes") {
				continue // x.vault may be anybody's some day
			}
			for _, u := range []string{"http://" + host + "/", "http://u:p@" + host + ":8080/x", "https://" + host + "/"} {
				if _, err := url.Parse(u); err != nil {
					continue // so it is no URL of a page
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
