package values

import (
	"fmt"
	"time"
)

// Moment reads a time of the past: a day as 2026-11-24, which begins in UTC, a time as
// 2026-11-24T13:00:00Z, or how long ago it was, as 2w.
func Moment(text string, now time.Time) (time.Time, error) {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	age, err := Duration(text)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q: want a day such as 2026-11-24, a time such as 2026-11-24T13:00:00Z, or an age such as 2w", text)
	}
	return now.Add(-age), nil
}
