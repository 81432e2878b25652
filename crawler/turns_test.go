package crawler

import (
	"testing"
	"time"
)

// TestTurnMeter: each turn is counted once, under the first bound that it keeps, and
// its parts are told apart; what happens while the owner waits belongs to no turn.
func TestTurnMeter(t *testing.T) {
	var m meter
	now := time.Unix(0, 0)
	pass := func(ms int) time.Time { now = now.Add(time.Duration(ms) * time.Millisecond); return now }
	m.End(pass(5)) // before the first turn

	m.begin(turnsJournal, pass(9000))
	before := m.turn(Commit, pass(3))
	m.turn(before, pass(70))
	m.turn(turnsFrontier, pass(4))
	m.End(pass(20)) // 97 ms

	m.begin(turnsFrontier, pass(9000))
	m.End(pass(1))
	m.begin(rescore, pass(0))
	m.End(pass(100_000))

	want := Stats{Total: 100_098 * time.Millisecond, Longest: 100 * time.Second}
	want.Within[0], want.Within[6], want.Within[len(Bounds)] = 1, 1, 1
	for part, ms := range map[part]int{turnsFrontier: 20, turnsJournal: 7, Commit: 70, rescore: 100_000} {
		want.Totals[part] = time.Duration(ms) * time.Millisecond
		want.Parts[part] = time.Duration(ms) * time.Millisecond
	}
	want.Totals[turnsFrontier] += time.Millisecond // of the second turn
	if m.Stats != want {
		t.Errorf("got  %+v\nwant %+v", m.Stats, want)
	}
}
