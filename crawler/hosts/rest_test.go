package hosts

import (
	"testing"
	"time"

	"fossick/store"
)

// TestAfter: rests by hand. Without a fixed delay a host rests for ten times what its exchange took,
// for two seconds at least, and its address for twenty seconds at most (paper E2, with other numbers).
func TestAfter(t *testing.T) {
	const ms, second, minute = time.Millisecond, time.Second, time.Minute
	paper := Delay{Fixed: true, Rest: 30 * second, Fold: 10}
	for _, c := range []struct {
		name                  string
		delay                 Delay
		failures              int
		took, asks, after     time.Duration
		host, address, wish   time.Duration
		reason                string
		hostMillis, ownMillis int64
	}{
		{"a swift exchange", Delay{}, 0, 100 * ms, 0, 0, 2 * second, 2 * second, 0, "", 2000, 0},
		{"a slow one", Delay{}, 0, 3 * second, 0, 0, 30 * second, 20 * second, 0, "", 30_000, 10_000},
		{"paper E, swift", paper, 0, second, 0, 0, 30 * second, 30 * second, 0, "", 30_000, 0},
		{"paper E, slow", paper, 0, 4 * second, 0, 0, 40 * second, 30 * second, 0, "", 40_000, 10_000},
		{"fixed", Delay{Fixed: true, Rest: second}, 0, minute, 0, 0, second, second, 0, "", 1000, 0},
		{"robots.txt asks for more", Delay{}, 0, 0, 5 * second, 0, 5 * second, 2 * second, 5 * second, store.RestForCrawlDelay, 5000, 3000},
		{"robots.txt asks for as much", Delay{}, 0, 0, 2 * second, 0, 2 * second, 2 * second, 0, "", 2000, 0},
		{"the answer asks for most", Delay{}, 3, 0, 5 * second, minute, minute, 2 * second, minute, store.RestForRetryAfter, 60_000, 58_000},
		{"the first failure", Delay{Fixed: true}, 1, 0, 0, 0, second, 0, second, store.RestForFailures, 1000, 1000},
		{"the fourth doubles it three times", Delay{}, 4, 0, 0, 0, 8 * second, 2 * second, 8 * second, store.RestForFailures, 8000, 6000},
		{"the tenth", Delay{}, 10, 0, 0, 0, 512 * second, 2 * second, 512 * second, store.RestForFailures, 512_000, 510_000},
		{"the eleventh", Delay{}, 11, 0, 0, 0, 10 * minute, 2 * second, 10 * minute, store.RestForFailures, 600_000, 598_000},
		{"the web is in memory", Delay{Off: true, Rest: second}, 3, second, second, second, 0, 0, 0, "", 0, 0},
	} {
		got := c.delay.After(c.failures, c.took, c.asks, c.after)
		if want := (Rest{c.host, c.address, c.reason, c.wish}); got != want {
			t.Errorf("%s: %+v, want %+v", c.name, got, want)
		}
		if host, own := got.Millis(); host != c.hostMillis || own != c.ownMillis {
			t.Errorf("%s: %d ms, %d of its own; want %d, %d", c.name, host, own, c.hostMillis, c.ownMillis)
		}
	}
}
