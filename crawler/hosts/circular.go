package hosts

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
	if strings.Count(url, "/") <= len("//")+maxRepeats {
		return "" // as most links, at the cost of one look
	}
	_, rest, _ := strings.Cut(url, "://")
	path, _, _ := strings.Cut(rest, "?")
	n := strings.Count(path, "/")
	if n <= maxRepeats {
		return ""
	}
	if n > maxSegments {
		return fmt.Sprintf("its path has %d folders", n-1)
	}
	var room [1 + maxSegments]string // the host too
	segments := room[:0]
	for s := range strings.SplitSeq(path, "/") {
		segments = append(segments, s)
	}
	segments = segments[1:]
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
