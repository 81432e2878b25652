package lab

import (
	"slices"
	"testing"
)

func TestRhoRange(t *testing.T) {
	for text, want := range map[string][]float64{
		"0:0.9:0.3":     {0, 0.3, 0.6, 0.9},
		"0.1:0.3:0.1":   {0.1, 0.2, 0.3},
		"0.5:0.5:0.1":   {0.5},
		"0.95:0.99:0.5": {0.95},
	} {
		var r RhoRange
		if err := r.UnmarshalText([]byte(text)); err != nil || !slices.Equal(r.Values, want) {
			t.Errorf("%s: %v, %v; want %v", text, r.Values, err, want)
		}
	}
	for _, text := range []string{"", "0:0.9", "0:0.9:0", "0.5:0.1:0.1", "0:1:0.1", "-0.1:0.5:0.1", "a:b:c", "0:NaN:0.1", "0:0.9:0.001", "0:0.9:0.1:1"} {
		if err := new(RhoRange).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}
