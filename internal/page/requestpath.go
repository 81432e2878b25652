package page

import (
	"net/url"
	"strings"
)

// RobotsURL returns the robots.txt of a URL in normal form, which has a path.
func RobotsURL(u string) string { return origin(u) + "/robots.txt" }

// TDMRepURL returns the tdmrep.json of a URL in normal form.
func TDMRepURL(u string) string { return origin(u) + "/.well-known/tdmrep.json" }

func origin(u string) string {
	scheme, rest, _ := strings.Cut(u, "://")
	host, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + host
}

// Path returns path and query of a URL in normal form, as the rules of a robots.txt see it.
func Path(u string) string {
	_, rest, _ := strings.Cut(u, "://")
	if at := strings.IndexByte(rest, '/'); at >= 0 && plainPath(rest[at:]) {
		return rest[at:]
	}
	parsed, err := url.Parse(u)
	if err != nil {
		return "/"
	}
	return parsed.RequestURI()
}

// plainPath says whether net/url gives a path back as it stands: nearly all are.
func plainPath(path string) bool {
	for i := 0; i < len(path) && path[i] != '?'; i++ {
		c := path[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && strings.IndexByte("/-_.~%!$&'()*+,;=:@", c) < 0 {
			return false
		}
	}
	return true
}
