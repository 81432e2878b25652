package train

import (
	"slices"
	"testing"
)

func TestMuRange(t *testing.T) {
	for text, want := range map[string][]float64{
		"0.01:0.05:0.01": {0.01, 0.02, 0.03, 0.04, 0.05},
		"0.1:0.35:0.1":   {0.1, 0.2, 0.3},
		"0.2:0.2:1":      {0.2},
		"1:1000:1":       nil, // 1,000 steps, not checked one by one
	} {
		var r MuRange
		if err := r.UnmarshalText([]byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got := r.values()
		if want == nil {
			if len(got) != 1000 || got[999] != 1000 {
				t.Errorf("%s: %d values to %v, want 1000 to 1000", text, len(got), got[len(got)-1])
			}
			continue
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	if got := (MuRange{0.01, 0.18, 0.01}).values(); len(got) != 18 || got[2] != 0.03 || got[17] != 0.18 {
		t.Errorf("the paper's range: %v", got)
	}
	for _, text := range []string{"", "0.1", "0.1:0.2", "0.1:0.01:0.01", "0.1:0.2:0", "0:1:0.1", "1e-12:1:0.1", "1:2:1e-12", "1:1001:1", "0.1:NaN:0.1", "0.1:Inf:0.1", "-1:1:1", "a:b:c", "1:2:3:4"} {
		var r MuRange
		if err := r.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was read as %v", text, r)
		}
	}
}

// FuzzMuRange: what is read has between 1 and 1000 values, rising, above 0, inside.
func FuzzMuRange(f *testing.F) {
	for _, s := range []string{"0.01:0.18:0.01", "1:1:1", "1e-9:1e-8:1e-9", "5:4:1", "0.1:0.2:1e9", "::"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var r MuRange
		if r.UnmarshalText([]byte(text)) != nil {
			return
		}
		mu := r.values()
		if len(mu) < 1 || len(mu) > mostSteps || mu[0] <= 0 || mu[len(mu)-1] > r.to+finest+r.step*1e-6 {
			t.Fatalf("%q: %d values, %v to %v", text, len(mu), mu[0], mu[len(mu)-1])
		}
		for i := 1; i < len(mu); i++ {
			if mu[i] <= mu[i-1] {
				t.Fatalf("%q: %v after %v", text, mu[i], mu[i-1])
			}
		}
	})
}
