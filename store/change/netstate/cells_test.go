package netstate

import (
	"math"
	"testing"
)

// TestFirstCells: before any visit each cell of URL and host gives what paper E found after the
// URL's last outcome, or after the host's where the URL has none, whatever the times since.
func TestFirstCells(t *testing.T) {
	p := New(Options{})
	for u := range Outcome(classes) {
		for h := range Outcome(classes) {
			for gap := range gapClasses * gapClasses {
				at := ((int(u)*gapClasses+gap/gapClasses)*classes+int(h))*gapClasses + gap%gapClasses
				want := after(u)
				if u == unknown {
					want = after(h)
				}
				if got := p.byBoth.chance(at); math.Abs(got-want) > 1e-6 { // cells are float32
					t.Fatalf("after outcome %d of the URL and %d of the host: %g, want %g", u, h, got, want)
				}
			}
		}
	}
}

// TestRunClasses: visits in a row are 1, 2, 3 to 7, or more.
func TestRunClasses(t *testing.T) {
	for run, want := range map[int]int{0: 0, 1: 0, 2: 1, 3: 2, 7: 2, 8: 3, 200: 3} {
		p := past{}
		p.run = uint8(run)
		if got := p.inRow(); got != want {
			t.Errorf("%d in a row: class %d, want %d", run, got, want)
		}
	}
}
