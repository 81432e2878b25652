package sitemap

import (
	"strings"
	"time"
)

// layouts are the forms of times: W3C's, then those of RFC 822 and its successors without
// the day of the week. Go reads a fraction of a second behind any of them.
var layouts = []string{
	time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05", "2006-01-02 15:04:05",
	time.DateOnly, "2006-01", "2006", "2 Jan 2006 15:04:05 -0700", "2 Jan 2006 15:04 -0700", "2 Jan 2006 15:04:05",
	"2 Jan 06 15:04:05 -0700", "2 Jan 06 15:04 -0700",
}

// zones are the names that RFC 822 gives to offsets from UTC.
var zones = strings.NewReplacer(" GMT", " +0000", " UTC", " +0000", " UT", " +0000", " Z", " +0000",
	" EST", " -0500", " EDT", " -0400", " CST", " -0600", " CDT", " -0500",
	" MST", " -0700", " MDT", " -0600", " PST", " -0800", " PDT", " -0700")

// parseTime reads a W3C date, with or without a time, or a feed's. It returns the zero time
// where s is neither. A time without a zone is taken for UTC.
func parseTime(s string) time.Time {
	s = strings.TrimSpace(s)
	if _, behind, ok := strings.Cut(s, ","); ok {
		s = strings.TrimSpace(behind)
	}
	s = zones.Replace(s)
	for _, layout := range layouts {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}
