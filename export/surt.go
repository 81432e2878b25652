package export

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// surt returns a URL's key in web-archive indexes (Sort-friendly URI Reordering Transform):
// http://www.a.test/B/?d&c becomes test,a)/b?c&d.
//
// A look-up needs the same key on both sides, so surt follows pywb and the Wayback Machine exactly:
// it unescapes repeatedly, drops www, lower-cases, drops the final slash, sorts the arguments and
// removes session ids.
func surt(url string) string {
	scheme, rest, found := strings.Cut(url, "://")
	if !found {
		return escapeSURT(url) // not a page's URL
	}
	rest, _, _ = strings.Cut(rest, "#")
	rest, query, _ := strings.Cut(rest, "?")
	authority, path := rest, ""
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		authority, path = rest[:i], rest[i:]
	}
	key := surtHost(strings.ToLower(scheme), authority) + ")" + surtPath(path)
	if query = surtQuery(query); query != "" {
		key += "?" + query
	}
	return key
}

// surtHost reverses the labels of a host: www.a.test:81 becomes test,a:81.
func surtHost(scheme, authority string) string {
	host := authority[strings.LastIndexByte(authority, '@')+1:]
	port := ""
	if i := strings.LastIndexByte(host, ':'); i >= 0 && digits(host[i+1:]) {
		host, port = host[:i], host[i+1:]
	}
	if n, err := strconv.Atoi(port); port != "" && (err != nil || defaultPorts[scheme] != n) {
		port = ":" + port
	} else {
		port = ""
	}
	host = strings.Trim(strings.ReplaceAll(unescapeSURT(host), "..", "."), ".")
	host = strings.ToLower(escapeSURT(strings.ToLower(host)))
	if rest, found := strings.CutPrefix(host, "www"); found {
		if number, rest, found := strings.Cut(rest, "."); found && digits(number) {
			host = rest
		}
	}
	labels := strings.Split(host, ".")
	slices.Reverse(labels)
	return strings.Join(labels, ",") + port
}

var defaultPorts = map[string]int{"http": 80, "https": 443}

func digits(s string) bool { return strings.Trim(s, "0123456789") == "" }

func surtPath(path string) string {
	var kept []string
	for _, step := range strings.Split(strings.TrimPrefix(unescapeSURT(path), "/"), "/") {
		switch {
		case step == ".":
		case step == ".." && len(kept) > 0:
			kept = kept[:len(kept)-1]
		default:
			kept = append(kept, step)
		}
	}
	var b strings.Builder
	for i, step := range kept {
		if step != "" {
			b.WriteString("/" + step)
		} else if i == len(kept)-1 {
			b.WriteString("/")
		}
	}
	path = strings.ToLower(escapeSURT(b.String()))
	if path == "" {
		return "/"
	}
	if at := lastMatch(pathSession, path); at != nil && strings.Contains(path[at[1]:], ".aspx") {
		path = path[:at[0]+1] + path[at[1]:]
	}
	if len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	return path
}

func surtQuery(query string) string {
	query = strings.ToLower(escapeSURT(unescapeSURT(query)))
	for _, id := range querySessions {
		if at := lastMatch(id, query); at != nil {
			query = query[:at[0]] + query[at[1]:]
		}
	}
	args := strings.Split(query, "&")
	slices.SortStableFunc(args, func(a, b string) int {
		nameA, valueA, hasA := strings.Cut(a, "=")
		nameB, valueB, hasB := strings.Cut(b, "=")
		if c := strings.Compare(nameA, nameB); c != 0 {
			return c
		}
		if hasA != hasB { // a bare name sorts before one with an empty value
			return map[bool]int{true: 1, false: -1}[hasA]
		}
		return strings.Compare(valueA, valueB)
	})
	return strings.Join(args, "&")
}

// Session ids that archives ignore: of servlets, PHP, ASP and ColdFusion.
var (
	pathSession   = regexp.MustCompile(`/\((?:(?:[a-z]\([0-9a-z]{24}\))+|[0-9a-z]{24})\)/`)
	querySessions = []*regexp.Regexp{
		regexp.MustCompile(`jsessionid=[0-9a-z]{32}(&|$)`),
		regexp.MustCompile(`phpsessid=[0-9a-z]{32}(&|$)`),
		regexp.MustCompile(`sid=[0-9a-z]{32}(&|$)`),
		regexp.MustCompile(`aspsessionid[a-z]{8}=[a-z]{24}(&|$)`),
		regexp.MustCompile(`cfid=[^&]+&cftoken=[^&]+(&|$)`),
	}
)

func lastMatch(of *regexp.Regexp, in string) []int {
	all := of.FindAllStringIndex(in, -1)
	if len(all) == 0 {
		return nil
	}
	return all[len(all)-1]
}

func unescapeSURT(s string) string {
	for b := []byte(s); ; {
		n := 0
		for i := 0; i < len(b); i, n = i+1, n+1 {
			b[n] = b[i]
			if b[i] != '%' || i+2 >= len(b) {
				continue
			}
			if c, err := strconv.ParseUint(string(b[i+1:i+3]), 16, 8); err == nil {
				b[n], i = byte(c), i+2
			}
		}
		if n == len(b) {
			return string(b)
		}
		b = b[:n]
	}
}

func escapeSURT(s string) string {
	var b bytes.Buffer
	for _, c := range []byte(s) {
		if c <= ' ' || c >= 0x7f || c == '#' || c == '%' {
			fmt.Fprintf(&b, "%%%02x", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
