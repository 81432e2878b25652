package revisit

// meter spreads a budget evenly. What is not spent within a minute is lost, so that a pause
// is not followed by a burst.
type meter struct {
	every float64 // days between two fetches
	next  float64 // when the next one may be
}

const minute = 1.0 / (24 * 60) // of a day

// spend notes a fetch. In no time t are there more than (t + minute)/every + 1 of them.
func (m *meter) spend(now float64) { m.next = max(m.next, now-minute) + m.every }
