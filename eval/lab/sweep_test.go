package lab

import "testing"

// TestSweepPlot: a sweep is drawn also where some or all of its points have no interval.
func TestSweepPlot(t *testing.T) {
	ci := &[2]float64{0.1, 0.3}
	for name, points := range map[string][]Swept{
		"all":  {{0, Mean{Value: 0.2, CI: ci}}, {0.5, Mean{Value: 0.2, CI: ci}}},
		"some": {{0, Mean{Value: 0.2}}, {0.5, Mean{Value: 0.2, CI: ci}}},
		"last": {{0, Mean{Value: 0.2, CI: ci}}, {0.5, Mean{Value: 0.2}}},
		"none": {{0, Mean{Value: 0.2}}, {0.5, Mean{Value: 0.2}}},
	} {
		if f, err := sweepPlot(points); err != nil || f == nil {
			t.Errorf("%s: %v, %v", name, f, err)
		}
	}
}
