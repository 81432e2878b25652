package hosts

import (
	"log/slog"
	"testing"
	"time"

	"fossick/crawler/frontier"
	"fossick/internal/testkit"
	"fossick/store"
)

// TestRestore: after a kill a host rests for all requests that a page may have made.
func TestRestore(t *testing.T) {
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		further int
		want    time.Duration // 0: --delay alone, which the frontier does not keep
	}{{0, 0}, {4, 5 * time.Second}} {
		f := testkit.Call(frontier.New(frontier.Options{})).Must(t)
		clock, log := func() time.Time { return now }, slog.New(slog.DiscardHandler)
		table := New(Options{Now: clock, Delay: Delay{Fixed: true, Rest: time.Second}, Further: tc.further}, nil, f, NewNetwork(clock, log), NewTrapDetector(true, log))
		h := testkit.Call(table.Restore(&store.Host{Name: "a.test"}, now)).Must(t)
		if got := max(0, f.Until(h.Party).Sub(now)); got != tc.want {
			t.Errorf("%d further requests: rests for %v, want %v", tc.further, got, tc.want)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}
