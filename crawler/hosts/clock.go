package hosts

import (
	"time"

	"fossick/store"
)

// What a crawl remembers of hosts has times by the clock on the wall. A clock that
// went ahead and is set right makes them times to come: without the rules here,
// hosts would rest or be given up for years.

// clockSlack is how far apart clocks may be without anything being wrong.
const clockSlack = time.Minute

// RestLeft is how long a host has to rest yet, by its record. When the record's
// robots.txt is of a time to come, so is its last exchange, by as much at least: at
// most a day is rested too long.
func RestLeft(h *store.Host, now time.Time) time.Duration {
	if asked := time.UnixMilli(h.RobotsAt); asked.Sub(now) > clockSlack {
		now = asked
	}
	return time.UnixMilli(h.Next).Sub(now)
}

// stoppedFor is how long the owner did not run between two looks at the clock. The
// clock that Go measures with stands still while the machine sleeps; the one on the
// wall goes on. A wall clock that was set ahead looks like a stop, which does no harm.
func stoppedFor(last, now time.Time) time.Duration {
	return max(now.Sub(last), now.Round(0).Sub(last.Round(0)))
}
