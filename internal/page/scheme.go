package page

import "strings"

// WithScheme makes a URL of an address as people say it: www.example.org/bees is taken
// as https. Anything else stays as it is.
func WithScheme(raw string) (full string, assumed bool) {
	s := strings.TrimSpace(raw)
	if strings.HasPrefix(s, "//") {
		return "https:" + s, true
	}
	if strings.Contains(s, "://") {
		return raw, false
	}
	host := s
	if i := strings.IndexAny(s, "/?#"); i >= 0 {
		host = s[:i]
	}
	name, port, _ := strings.Cut(host, ":")
	switch {
	case strings.Trim(port, "0123456789") != "", strings.ContainsAny(name, " @\\\"<>"):
		return raw, false // mailto:, a name and password, prose
	case name != "localhost" && !strings.Contains(strings.Trim(name, "."), "."):
		return raw, false
	}
	return "https://" + s, true
}
