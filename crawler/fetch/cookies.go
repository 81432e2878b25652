package fetch

import (
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/netip"
	"net/url"
	"strings"
	"sync"

	"golang.org/x/net/publicsuffix"

	"fossick/internal/page"
)

// Limits on one site's cookies and on the number of sites. RFC 6265, 6.1 demands room for 50
// cookies of 4 KiB; real sites need a tenth.
const (
	maxCookieBytes     = 4 << 10
	maxSiteCookieBytes = 16 << 10
	maxCookieSites     = 2048
)

// cookies keeps a jar for each site (registrable domain) in memory while the Fetcher lives.
// Each site sees its own cookies alone. Safe for concurrent use; a nil *cookies keeps none.
type cookies struct {
	mu    sync.Mutex // guards sites
	sites page.Cache[string, *siteCookies]
}

// siteCookies is a site's jar with the sizes of its cookies.
type siteCookies struct {
	jar   *cookiejar.Jar
	sizes map[string]int // by name, domain and path
	bytes int
}

func newCookies() *cookies {
	return &cookies{sites: page.NewCache[string, *siteCookies](maxCookieSites / 2)}
}

// header returns the Cookie header for u; "" when there is none.
func (c *cookies) header(u *url.URL) string {
	if c == nil {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.site(u, false)
	if s == nil {
		return ""
	}
	var b strings.Builder
	for _, cookie := range s.jar.Cookies(u) {
		if b.Len() > 0 {
			b.WriteString("; ")
		}
		value := cookie.Value
		if cookie.Quoted { // the jar removes quotes that are part of the value
			value = `"` + value + `"`
		}
		fmt.Fprintf(&b, "%s=%s", cookie.Name, value)
	}
	return b.String()
}

// keep stores the cookies in the answer for u. A site that exceeds its limit loses all of them
// and starts anew.
func (c *cookies) keep(u *url.URL, res *http.Response) {
	if c == nil || len(res.Header["Set-Cookie"]) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.site(u, true)
	for _, cookie := range res.Cookies() {
		size := len(cookie.Name) + len(cookie.Value) + len(cookie.Domain) + len(cookie.Path)
		if size > maxCookieBytes {
			continue
		}
		key := cookie.Name + "\x00" + cookie.Domain + "\x00" + cookie.Path + "\x00" + u.Host
		if s.bytes += size - s.sizes[key]; s.bytes > maxSiteCookieBytes {
			*s = *newSiteCookies()
			s.bytes = size
		}
		s.sizes[key] = size
		s.jar.SetCookies(u, []*http.Cookie{cookie})
	}
}

// site returns the jar of u's site; nil when there is none and create is false. At least half
// of maxCookieSites, the last used ones, are kept.
func (c *cookies) site(u *url.URL, create bool) *siteCookies {
	name := siteOf(u.Hostname())
	s, ok := c.sites.Get(name)
	if !ok && create {
		s = newSiteCookies()
		c.sites.Put(name, s)
	}
	return s
}

func newSiteCookies() *siteCookies {
	jar, _ := cookiejar.New(&cookiejar.Options{PublicSuffixList: publicsuffix.List}) // never fails
	return &siteCookies{jar: jar, sizes: map[string]int{}}
}

// siteOf returns a host's registrable domain, or the host itself for an address or a public
// suffix.
func siteOf(host string) string {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if _, err := netip.ParseAddr(host); err == nil {
		return host
	}
	site, err := publicsuffix.EffectiveTLDPlusOne(host)
	if err != nil {
		return host
	}
	return site
}
