package webstats

import (
	"bytes"
	"strings"
)

// longestServer bounds what is read of a server's name.
const longestServer = 60

// serverOf returns the product that a header's first Server line begins with, without its
// version: Apache of "Apache/2.4.1 (Unix)". It is "" where there is no such line.
func serverOf(lines []byte) string {
	for first := true; len(lines) > 0; first = false {
		line, rest, _ := bytes.Cut(lines, []byte("\n"))
		lines = rest
		name, value, ok := bytes.Cut(line, []byte(":"))
		if first || !ok || !bytes.EqualFold(name, []byte("server")) {
			continue // the first line is the status
		}
		value = bytes.TrimSpace(value)
		if end := bytes.IndexAny(value, "/ (;,\t"); end >= 0 {
			value = value[:end]
		}
		return strings.ToValidUTF8(string(value[:min(len(value), longestServer)]), "")
	}
	return ""
}
