package fetch

import (
	"context"
	"fmt"
	"math/rand"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

func TestParseNets(t *testing.T) {
	const list = `# a country
192.0.2.0/24   # documentation
198.51.100.7
203.0.113.10 - 203.0.113.20
2001:db8::/32
::ffff:8.8.8.0/120
10.1.2.3/8
`
	nets, err := ParseNets(strings.NewReader(list), "kr.txt")
	if err != nil {
		t.Fatal(err)
	}
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

// TestNetsAgainstNaive asks every net of random lists.
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
		nets, err := ParseNets(strings.NewReader(list.String()), "random")
		if err != nil {
			t.Fatal(err)
		}
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
		var b strings.Builder // what was read can be written and read again
		for _, p := range nets.set.Prefixes() {
			fmt.Fprintln(&b, p)
		}
		again, err := ParseNets(strings.NewReader(b.String()), "y")
		if err != nil || !again.set.Equal(nets.set) {
			t.Fatalf("%q → %q: %v", text, b.String(), err)
		}
	})
}

// A host outside the nets gets no request, though --allow-net lets it through; one
// of several addresses is taken that lies inside.
func TestOnlyNets(t *testing.T) {
	var hits atomic.Int32
	srv := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		hits.Add(1)
		w.Header().Set("Content-Type", "text/html")
	})
	addr := netip.MustParseAddrPort(strings.TrimPrefix(srv.URL, "http://"))
	nets := func(list string) *Nets {
		n, err := ParseNets(strings.NewReader(list), "nets")
		if err != nil {
			t.Fatal(err)
		}
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

// answers are what a name server says of every name.
type answers []netip.Addr

func (a *answers) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return slices.Clone(*a), nil
}

func mustURL(t *testing.T, raw string) *url.URL {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
