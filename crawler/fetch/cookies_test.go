package fetch

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

// TestCookies: a site gets back only its own cookies; without the option there are none.
func TestCookies(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for _, set := range r.URL.Query()["set"] {
			w.Header().Add("Set-Cookie", set)
		}
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, r.Header.Get("Cookie"))
	})
	addr := netip.MustParseAddrPort(srv.Listener.Addr().String())
	to := resolverFunc(func(context.Context, string) ([]netip.Addr, error) { return []netip.Addr{addr.Addr()}, nil })
	with, without := newTest(t, Options{Resolver: to, Cookies: true}), newTest(t, Options{Resolver: to})
	for _, c := range []struct{ host, set, want string }{
		{"www.a.co.uk", "id=1", ""},
		{"www.a.co.uk", "all=2; Domain=a.co.uk; Path=/", "id=1"},
		{"shop.a.co.uk", "", "all=2"},
		{"www.a.co.uk", "id=3", "id=1; all=2"},
		{"www.a.co.uk", "", "id=3; all=2"},
		{"b.co.uk", "evil=1; Domain=co.uk", ""}, // a public suffix is not a site
		{"c.co.uk", "for=b; Domain=b.co.uk", ""},
		{"b.co.uk", "", ""},
		{"www.a.co.uk", "all=; Domain=a.co.uk; Path=/; Max-Age=0", "id=3; all=2"},
		{"www.a.co.uk", "", "id=3"},
		{"127.0.0.1", "ip=1", ""},
		{"127.0.0.1", "", "ip=1"},
		{"www.a.co.uk", "safe=1; Secure", "id=3"}, // not over http
		{"www.a.co.uk", "big=" + strings.Repeat("x", maxCookieBytes), "id=3"},
		{"www.a.co.uk", "", "id=3"},
		{"d.co.uk", `q="a b, c"`, ""}, // as set, with quotes
		{"d.co.uk", `plain=a b, c`, `q="a b, c"`},
		{"d.co.uk", "", `q="a b, c"; plain=a b, c`},
	} {
		u := fmt.Sprintf("http://%s:%d/", c.host, addr.Port())
		if c.set != "" {
			u += "?set=" + url.QueryEscape(c.set)
		}
		if r := with.Fetch(t.Context(), Request{URL: u}); r.State != StateOK || string(r.Body) != c.want {
			t.Errorf("%s was sent %q (%s, %v), want %q", u, r.Body, r.State, r.Err, c.want)
		}
		if r := without.Fetch(t.Context(), Request{URL: u}); len(r.Body) != 0 {
			t.Errorf("%s was sent %q without --cookies", u, r.Body)
		}
	}
}

// TestCookiesAreBounded: neither one site nor many can fill memory.
func TestCookiesAreBounded(t *testing.T) {
	c := newCookies()
	set := func(host, cookie string) {
		c.keep(&url.URL{Scheme: "http", Host: host, Path: "/"}, &http.Response{Header: http.Header{"Set-Cookie": {cookie}}})
	}
	for i := range 1000 {
		set(fmt.Sprintf("h%d.flood.test", i%7), fmt.Sprintf("c%d=%s; Path=/%d", i, strings.Repeat("x", 1000), i))
		for _, s := range c.sites.All() {
			total := 0
			for _, n := range s.sizes {
				total += n
			}
			if total != s.bytes || total > maxSiteCookieBytes {
				t.Fatalf("after %d cookies the site holds %d bytes, by its count %d", i+1, total, s.bytes)
			}
		}
	}
	for i := range 3 * maxCookieSites {
		set(fmt.Sprintf("www.s%d.test", i), "a=1")
		set("www.kept.test", "a=1")
	}
	if n := len(maps.Collect(c.sites.All())); n > maxCookieSites {
		t.Errorf("%d sites are kept, %d at most", n, maxCookieSites)
	}
	if got := c.header(&url.URL{Scheme: "http", Host: "www.kept.test", Path: "/"}); got != "a=1" {
		t.Errorf("a site in use was forgotten: %q", got)
	}
}
