package crawler

import (
	"regexp"
	"testing"

	"fossick/internal/page"
)

// TestPartyScope: what leaves a party is told from what is too deep in it, at any depth,
// and from what is not wanted anywhere.
func TestPartyScope(t *testing.T) {
	site := Scope{Links: LinksSite, Parties: true, MaxDepth: 2, Exclude: regexp.MustCompile("/no/")}
	host := site
	host.Links = LinksHost
	plain := site
	plain.Parties = false
	for _, tt := range []struct {
		name, to string
		scope    Scope
		link     page.Link
		depth    int
		want     string // reason, by its beginning
		off      bool   // it makes a candidate
	}{
		{"inside", "http://www.a.test/2", site, page.Link{}, 1, "", false},
		{"another host of the site", "https://b.a.test:8080/", site, page.Link{}, 1, "", false},
		{"too deep", "http://www.a.test/2", site, page.Link{}, 3, "deeper than 2 links", false},
		{"another site", "http://b.test/", site, page.Link{}, 1, "other site", true},
		{"another site, too deep", "http://b.test/", site, page.Link{}, 3, "other site", true},
		{"without parties", "http://b.test/", plain, page.Link{}, 3, "deeper than 2 links", false},
		{"excluded", "http://b.test/no/", site, page.Link{}, 3, "excluded by /no/", false},
		{"not to be followed", "http://b.test/", site, page.Link{NoFollow: true}, 1, "the link says rel=nofollow", false},
		{"the host by https", "https://www.a.test/2", host, page.Link{}, 1, "", false},
		{"another host", "http://b.a.test/", host, page.Link{}, 1, "other host", true},
		{"another port", "http://www.a.test:8080/", host, page.Link{}, 1, "other host", true},
	} {
		tt.link.URL = tt.to
		got := tt.scope.skipLink(&page.Page{URL: "http://www.a.test/"}, &tt.link, tt.depth)
		if len(got) < len(tt.want) || got[:len(tt.want)] != tt.want || (got == "") != (tt.want == "") || OffParty(got) != tt.off {
			t.Errorf("%s: %q, a candidate %v; want %q, %v", tt.name, got, OffParty(got), tt.want, tt.off)
		}
	}
}
