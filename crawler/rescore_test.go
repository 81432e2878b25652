package crawler

import "testing"

// TestRescoreAfter: the URLs rescored a page are bounded, and the queue never waits
// for more than a hundredth of its length.
func TestRescoreAfter(t *testing.T) {
	for _, c := range []struct{ queue, pages int }{
		{0, 10}, {1_000, 10}, {1_999, 19}, {4_598, 45}, {8_000, 80}, {262_144, 2621}, {4_000_000, 40_000},
	} {
		if got := rescoreAfter(c.queue); got != c.pages {
			t.Errorf("%d URLs: after %d pages, want %d", c.queue, got, c.pages)
		}
	}
}
