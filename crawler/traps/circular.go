package traps

import (
	"fmt"
	"strings"
)

const (
	maxRepeats  = 3 // of one folder in a path
	maxSegments = 32
)

// Circular says why a URL's path can only be a trap's, "" when it need not be:
// it names a folder again and again, or has folders without end.
func Circular(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	path, _, _ := strings.Cut(rest, "?")
	if strings.Count(path, "/") <= maxRepeats {
		return ""
	}
	segments := strings.Split(path, "/")[1:]
	if len(segments) > maxSegments {
		return fmt.Sprintf("its path has %d folders", len(segments)-1)
	}
	for i, s := range segments {
		n := 1
		for _, later := range segments[i+1:] {
			if later == s && s != "" {
				n++
			}
		}
		if n > maxRepeats && !isDigits(s) {
			return fmt.Sprintf("its path names the folder %q %d times", s, n)
		}
	}
	return ""
}

func isDigits(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
}
