package main

import (
	"cmp"
	"fmt"
	"time"

	"fossick/crawlplan"
	"fossick/graph/simulate"
)

const (
	simulatedFetch   = 500 * time.Millisecond
	simulatedWorkers = 32 // as focus has
)

// manners returns those of the crawls, nil without --polite.
func (c *simulateCmd) manners() (*simulate.Manners, error) {
	if !c.Polite {
		if c.Workers != 0 || c.FetchTime != nil || c.Ahead != 0 || c.Delay != "" {
			return nil, usagef("--workers, --fetch-time, --ahead and --delay are manners; add --polite")
		}
		return nil, nil
	}
	m := &simulate.Manners{Workers: cmp.Or(c.Workers, simulatedWorkers), Fetch: simulatedFetch, Ahead: c.Ahead}
	if m.Workers < 1 || m.Ahead < 0 {
		return nil, usagef("--workers %d, --ahead %d: want 1 at least of each", c.Workers, c.Ahead)
	}
	if c.FetchTime != nil {
		if m.Fetch = *c.FetchTime; m.Fetch <= 0 {
			return nil, usagef("--fetch-time %s: want a time above 0, such as 500ms", m.Fetch)
		}
	}
	delay, err := crawlplan.ParseDelay(c.Delay)
	if err != nil {
		return nil, err
	}
	if m.Rest = delay.Rest; !delay.Fixed {
		m.Rest = max(2*time.Second, 10*m.Fetch)
	}
	return m, nil
}

// mannersText says them in a report.
func mannersText(m *simulate.Manners) string {
	if m == nil {
		return ""
	}
	return fmt.Sprintf("%d workers, a fetch takes %s, then its host rests %s", m.Workers, m.Fetch, m.Rest)
}
