package fetch

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxRetryAfter bounds what a header can ask for; more is as good as never.
const maxRetryAfter = 365 * 24 * time.Hour

// parseRetryAfter reads a Retry-After header (RFC 9110, 10.2.3), seconds or a
// date, as a wait from now. It is 0 for none, nonsense and the past, and at
// most a year.
func parseRetryAfter(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if value == "" {
		return 0
	}
	if isDigits(value) {
		secs, err := strconv.ParseInt(value, 10, 64)
		if err != nil || secs > int64(maxRetryAfter/time.Second) {
			return maxRetryAfter // digits beyond an int64 are a long time too
		}
		return time.Duration(secs) * time.Second
	}
	date, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return min(max(date.Sub(now), 0), maxRetryAfter)
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
