package netstate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// TestTrial: on made webs the trial says what the comparison of TestPredictor does, in
// whatever order the visits are handed in.
func TestTrial(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	for _, c := range webs(r, 10) {
		visits := c.web.visits(r)
		for i := range visits { // no two at one time, so that there is one order
			visits[i].At = start.Add(time.Duration(i) * time.Minute)
		}
		want := compare(visits)
		r.Shuffle(len(visits), func(i, j int) { visits[i], visits[j] = visits[j], visits[i] })
		var trial Trial
		for _, v := range visits {
			trial.Add(v)
		}
		got := trial.Score()
		for what, pair := range map[string][2]float64{
			"visits": {float64(got.Visits), float64(want.n)}, "in all": {float64(got.Of), float64(len(visits))}, "predictor": {got.Brier, want.ours},
			"chain": {got.Chain, want.chain}, "last": {got.Last, want.last}, "off": {got.Off, want.off()},
		} {
			if math.Abs(pair[0]-pair[1]) > 1e-9 {
				t.Errorf("%s, %s: %g, want %g", c.name, what, pair[0], pair[1])
			}
		}
		n, good := 0, 0
		for i, b := range got.Bins {
			n, good = n+b.Visits, good+b.Good
			if b.Visits > 0 && (b.Mean < float64(i)/10 || b.Mean > float64(i+1)/10) {
				t.Errorf("%s: mean %g in bin %d", c.name, b.Mean, i)
			}
		}
		if n != want.n {
			t.Errorf("%s: %d visits in bins, want %d", c.name, n, want.n)
		}
	}
	if s := new(Trial).Score(); s.Visits != 0 || s.Brier != 0 || s.Off != 0 {
		t.Errorf("%+v of no visits", s)
	}
}

// TestTrialIsBounded: of more visits than there is room for, whole hosts are left out.
func TestTrialIsBounded(t *testing.T) {
	var trial Trial
	const each = 40
	for host := range 2 * mostTried / each {
		for n := range each {
			trial.Add(Visit{URL: fmt.Sprint(host), Host: fmt.Sprint(host), At: start.Add(time.Duration(n) * time.Hour), Outcome: Outcome(n % 2)})
		}
	}
	hosts := map[uint64]int{}
	for _, v := range trial.visits {
		hosts[v.host]++
	}
	for _, n := range hosts {
		if n != each {
			t.Fatalf("%d visits of a host, want %d", n, each)
		}
	}
	if n := len(trial.visits); n > mostTried || n < mostTried/4 {
		t.Errorf("%d visits are kept, want %d to %d", n, mostTried/4, mostTried)
	}
}
