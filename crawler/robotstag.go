package crawler

import (
	"net/http"
	"strings"
)

// robotsTag returns the lines of X-Robots-Tag, all of them: a server may send one
// for a robot by name, and another for everybody.
func robotsTag(h http.Header) string { return strings.Join(h.Values("X-Robots-Tag"), "\n") }
