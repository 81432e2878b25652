package hosts

import (
	"testing"
	"time"

	"fossick/crawler/fetch"
	"fossick/store"
)

// TestRobotsFresh: rules hold for a day, and those of a clock that was ahead no longer.
func TestRobotsFresh(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	table := New(Options{Now: func() time.Time { return now }}, nil, nil, nil, nil)
	for age, want := range map[time.Duration]bool{
		time.Hour: true, 25 * time.Hour: false, -time.Second: true, -24 * time.Hour: false, -87600 * time.Hour: false,
	} {
		h := &Host{Host: &store.Host{RobotsAt: now.Add(-age).UnixMilli()}, Rules: fetch.AllowAll("")}
		if got := table.RobotsFresh(h); got != want {
			t.Errorf("rules %v old are fresh: %v", age, got)
		}
	}
}
