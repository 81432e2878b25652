package crawler

import (
	"testing"
	"time"
)

// TestTurnMeter: each turn is counted once, under the first bound that it keeps, and
// its parts are told apart; what happens while the owner waits belongs to no turn.
func TestTurnMeter(t *testing.T) {
	var m turnMeter
	now := time.Unix(0, 0)
	pass := func(ms int) time.Time { now = now.Add(time.Duration(ms) * time.Millisecond); return now }
	m.end(pass(5)) // before the first turn

	m.begin(TurnJournal, pass(9000))
	before := m.turn(TurnCommit, pass(3))
	m.turn(before, pass(70))
	m.turn(TurnFrontier, pass(4))
	m.end(pass(20)) // 97 ms

	m.begin(TurnFrontier, pass(9000))
	m.end(pass(1))
	m.begin(TurnRescore, pass(0))
	m.end(pass(100_000))

	want := Turns{Total: 100_098 * time.Millisecond, Longest: 100 * time.Second}
	want.Within[0], want.Within[6], want.Within[len(TurnBounds)] = 1, 1, 1
	for part, ms := range map[TurnPart]int{TurnFrontier: 20, TurnJournal: 7, TurnCommit: 70, TurnRescore: 100_000} {
		want.Totals[part] = time.Duration(ms) * time.Millisecond
		want.Parts[part] = time.Duration(ms) * time.Millisecond
	}
	want.Totals[TurnFrontier] += time.Millisecond // of the second turn
	if m.Turns != want {
		t.Errorf("got  %+v\nwant %+v", m.Turns, want)
	}
}
