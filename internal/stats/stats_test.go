package stats

import (
	"fmt"
	"math"
	"testing"
)

func TestMeanOf(t *testing.T) {
	m := MeanOf([]float64{1, 2, 3, 4, 5})
	// t(0.975, 4) = 2.7764, s² = 2.5
	if m.Value != 3 || m.CI == nil || math.Abs(m.CI[1]-3-2.7764*math.Sqrt(2.5/5)) > 1e-3 {
		t.Errorf("got %+v", m)
	}
	for _, x := range [][]float64{{5}, {5, 5}, {5, 5, 5, 5, 5}, {3, 4, 6, 7}} {
		if m := MeanOf(x); m.Value != 5 || m.CI != nil {
			t.Errorf("%v: got %+v", x, m)
		}
	}
	if m := MeanOf(nil); !math.IsNaN(m.Value) || m.CI != nil {
		t.Errorf("got %+v", m)
	}
}

// TestWithin: the interval of a share is clipped to [0,1].
func TestWithin(t *testing.T) {
	if m := MeanOf([]float64{0, 0, 0, 0.1, 0.5}).Within(0, 1); m.CI == nil || m.CI[0] != 0 || m.CI[1] <= m.Value || m.CI[1] > 1 {
		t.Errorf("got %+v", m)
	}
	if m := MeanOf([]float64{0.2, 0.2}).Within(0, 1); m.CI != nil {
		t.Errorf("equal draws have an interval %v", m.CI)
	}
}

func Example() {
	m := MeanOf([]float64{0.4, 0.5, 0.6, 0.7, 0.8})
	fmt.Printf("%.2f, %.2f to %.2f\n", m.Value, m.CI[0], m.CI[1])
	// Output: 0.60, 0.40 to 0.80
}
