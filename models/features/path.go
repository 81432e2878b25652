package features

import (
	"net/url"
	"strings"
)

// path returns the part of a URL that may tell its subject: its path, unescaped, ""
// of what is no URL.
func path(raw string) string {
	if p, ok := plainPath(raw); ok {
		return p
	}
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Path
}

// plainPath is path for the URLs that nearly all links have, without the work
// of taking a URL apart. Their host has only letters, digits, points and
// hyphens, and in their path nothing is escaped.
func plainPath(raw string) (path string, ok bool) {
	rest, ok := strings.CutPrefix(raw, "https://")
	if !ok {
		if rest, ok = strings.CutPrefix(raw, "http://"); !ok {
			return "", false
		}
	}
	i := 0
	for i < len(rest) && (isWord(rest[i]) || rest[i] == '.' || rest[i] == '-') {
		i++
	}
	from := i
	if i == 0 || i == len(rest) || rest[i] != '/' {
		return "", false
	}
	end := len(rest)
	for ; i < len(rest); i++ {
		switch c := rest[i]; {
		case c <= ' ' || c >= 0x7F || c == '%': // also in a query it can make the URL invalid
			return "", false
		case c == '?' || c == '#':
			end = min(end, i)
		}
	}
	return rest[from:end], true
}
