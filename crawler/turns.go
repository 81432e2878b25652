package crawler

import "time"

// Turns tells how long the owner was busy at a time: from an event, such as the end
// of an exchange, until it waited for the next. What takes it long delays all
// workers, for it alone leases and journals.
type Turns struct {
	// Within counts the turns of at most TurnBounds[i], and in its last place the
	// longer ones; each turn is counted once.
	Within  [len(TurnBounds) + 1]uint64
	Total   time.Duration // of all turns
	Longest time.Duration
	// Parts has the longest time that a turn spent on each part of its work, Totals what
	// all turns did.
	Parts, Totals [TurnParts]time.Duration
}

// TurnBounds are the upper bounds by which turns are counted.
var TurnBounds = [...]time.Duration{
	time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2500 * time.Millisecond, 5 * time.Second,
}

// TurnPart is a part of the owner's work.
type TurnPart int

// The parts of a turn. Frontier goes with what leasing reads of the store,
// Journal is what follows from exchanges and is put into a batch. Commit is the
// wait for the store to take the batch, Rescore new priorities for the queue.
const (
	TurnFrontier TurnPart = iota
	TurnJournal
	TurnCommit
	TurnRescore
	TurnParts
)

func (p TurnPart) String() string { return [...]string{"frontier", "journal", "commit", "rescore"}[p] }

// turnMeter measures turns as they go on.
type turnMeter struct {
	Turns
	now   func() time.Time
	began time.Time // of this turn; zero while the owner waits
	parts [TurnParts]time.Duration
	part  TurnPart  // that goes on
	since time.Time // and since when
}

// begin starts a turn with a part of it.
func (m *turnMeter) begin(part TurnPart, now time.Time) {
	m.began, m.since, m.part = now, now, part
	m.parts = [TurnParts]time.Duration{}
}

// turn goes on to another part and returns the one before.
func (m *turnMeter) turn(to TurnPart, now time.Time) (from TurnPart) {
	m.parts[m.part] += now.Sub(m.since)
	from = m.part
	m.part, m.since = to, now
	return from
}

// end is the end of a turn that was begun, if one was.
func (m *turnMeter) end(now time.Time) {
	if m.began.IsZero() {
		return
	}
	m.turn(m.part, now)
	took := now.Sub(m.began)
	m.began = time.Time{}
	m.Total += took
	m.Longest = max(m.Longest, took)
	at := 0
	for at < len(TurnBounds) && took > TurnBounds[at] {
		at++
	}
	m.Within[at]++
	for p, took := range m.parts {
		m.Parts[p] = max(m.Parts[p], took)
		m.Totals[p] += took
	}
}

// timed counts what f takes as a part of the turn.
func (m *turnMeter) timed(part TurnPart, f func() error) error {
	before := m.turn(part, m.now())
	defer func() { m.turn(before, m.now()) }()
	return f()
}
