package cli

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestParseDuration(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"0": 0, "0s": 0, "90s": 90 * time.Second, "500ms": 500 * time.Millisecond, "2h": 2 * time.Hour, "15m": 15 * time.Minute,
		"1d": day, "2w": 14 * day, "1.5d": 36 * time.Hour, "1d12h": 36 * time.Hour, "1h30m": 90 * time.Minute,
		"2 weeks": 14 * day, "1 day 6 hours": 30 * time.Hour, "10 min": 10 * time.Minute, "1W": 7 * day, "3µs": 3 * time.Microsecond,
	} {
		if got, err := Duration(text); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for text, why := range map[string]string{
		"": "want a time", "5": "no unit", "-5s": "want a time", "d": "want a time", "1x": "want a time", "1.2.3s": "want a time",
		"1 fortnight": "want a time", "1e9s": "want a time", "400000000000h": "want a time", "1d5": "no unit", "soon": "want a time",
	} {
		if got, err := Duration(text); err == nil || !strings.Contains(err.Error(), why) || !strings.Contains(err.Error(), "2w") {
			t.Errorf("%q: %v, %v; want an error with %q and examples", text, got, err, why)
		}
	}
}

func TestParseCount(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "500": 500, "-3": -3, "10k": 10_000, "10K": 10_000, "1.5M": 1_500_000, "2m": 2_000_000, "3G": 3_000_000_000,
		"10,000": 10_000, "1_000_000": 1_000_000, "0.5k": 500, " 7 ": 7, "9223372036854775807": math.MaxInt64,
	} {
		if got, err := Count(text); err != nil || got != want {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "k", "1.5", "1.0001k", "1e3", "0x10", "Inf", "NaN", "10kk", "10,00", ",000", "1__000", "99999999999G", "ten", "1-2"} {
		if got, err := Count(text); err == nil || !strings.Contains(err.Error(), "10k") {
			t.Errorf("%q: %d, %v; want an error with an example", text, got, err)
		}
	}
}

// FuzzValues: values never panic, and Go's notation of times is read as Go reads it.
func FuzzValues(f *testing.F) {
	for _, s := range []string{"90s", "1d12h", "10k", "1.5M", "500MB", "2 weeks", "-1", "", "1µs", "0.1ms", "99999w", "10,000", "1h0.5s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if d, err := Duration(text); err == nil {
			if d < 0 {
				t.Errorf("%q: %v is negative", text, d)
			}
			again, err := Duration(d.String())
			if diff := max(again, d) - min(again, d); err != nil || diff > d/1_000_000_000 {
				t.Errorf("%q: %v is read as %v, %v", text, d, again, err)
			}
		}
		if n, err := Count(text); err != nil && n != 0 {
			t.Errorf("%q: %d with an error", text, n)
		}
	})
}
