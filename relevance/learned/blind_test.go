package learned

import (
	"math"
	"testing"
)

// TestScarce: it falls with the square of the training pages on topic, and is 0 where their number is
// not known.
func TestScarce(t *testing.T) {
	for seen, want := range map[float64]float64{-1: 0, 0: 0, 1: 16.0 / 17, 4: 0.5, 12: 0.1, 400: 1e-4} {
		if got := scarceOf(seen); math.Abs(got-want) > 1e-6 {
			t.Errorf("%v training pages on topic: %v, want %v", seen, got, want)
		}
	}
}

// TestBlind: where the topic hangs together, a judge that saw little of it has its word on a link's
// text count less, and the best page that links more. Else nothing changes.
func TestBlind(t *testing.T) {
	for _, c := range []struct {
		name          string
		seen, promise float64
		blind         bool
	}{
		{"saw little, hangs together", 2, 0.9, true},
		{"saw little, links leave it", 2, 0.3, false},
		{"saw enough, hangs together", 1e6, 0.9, false},
	} {
		l := New(goldJudge, Options{Cut: 0.5, Seen: c.seen})
		for range 100 {
			l.model.local.add(1, c.promise)
		}
		l.model.turn()
		ofLink := func(parent float32, anchor float32) float64 {
			return logit(l.model.promise(&evidence{
				parents: 1, prob: extreme{parent, parent}, anchor: extreme{anchor, anchor},
				host: &record{}, folder: &record{}, sources: [maxSources]*source{{}},
			}, nil))
		}
		kin, words := ofLink(0.99, 0)-ofLink(0.5, 0), ofLink(0.5, 1)-ofLink(0.5, 0)
		sees := prior[featBestAnchor] + prior[featMeanAnchor]
		if c.blind && !(kin > 3 && words < 0.7*sees) || !c.blind && !(kin < 1 && words > 0.99*sees) {
			t.Errorf("%s: a surer parent adds %.2f, a surer text %.2f of %.2f", c.name, kin, words, sees)
		}
	}
}

// TestBlindStays: links that promise less once the best of them are used up do not make a judge see.
func TestBlindStays(t *testing.T) {
	m := newLinkModel(nil, nil)
	m.scarce = scarceOf(2)
	for _, c := range []struct{ promise, want float64 }{{0.1, 0}, {0.9, m.scarce}, {0.1, m.scarce}} {
		for range 300 {
			m.local.add(1, c.promise)
			m.turn()
		}
		if m.blind != c.want {
			t.Errorf("after links that promise %g: blind %g, want %g", c.promise, m.blind, c.want)
		}
	}
}
