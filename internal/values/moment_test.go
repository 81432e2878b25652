package values

import (
	"testing"
	"time"
)

func TestMoment(t *testing.T) {
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"2026-11-01":                "2026-11-01T00:00:00Z",
		"2026-11-01T10:00:00+02:00": "2026-11-01T08:00:00Z",
		"2w":                        "2026-11-10T12:00:00Z",
		"0":                         "2026-11-24T12:00:00Z",
		"yesterday":                 "", "": "", "2026-13-01": "",
	} {
		got, err := Moment(text, now)
		if (err != nil) != (want == "") || err == nil && got.UTC().Format(time.RFC3339) != want {
			t.Errorf("%q: %v, %v; want %s", text, got, err, want)
		}
	}
}
