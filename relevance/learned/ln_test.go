package learned

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestLn: ln is math.Log.
func TestLn(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	check := func(x float64) {
		if got, want := ln(x), math.Log(x); math.Abs(got-want) > 1e-14*max(1, math.Abs(want)) {
			t.Errorf("ln(%v) = %v, want %v", x, got, want)
		}
	}
	for _, x := range []float64{1, math.Nextafter(1, 0), math.Nextafter(1, 2), 11. / 16, math.Nextafter(11./16, 0), 11. / 8, 2, 0.5, 1e-300, math.MaxFloat64} {
		check(x)
	}
	for range 100_000 {
		check(rng.Float64() + 1e-9)
		check(math.Exp(1380*rng.Float64() - 690))
	}
}

func BenchmarkLn(b *testing.B) {
	for _, c := range []struct {
		name string
		log  func(float64) float64
	}{{"ln", ln}, {"math.Log", math.Log}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			sum, x := 0.0, 0.37
			for b.Loop() {
				sum += c.log(x)
				x += 0.001
			}
			if math.IsNaN(sum) {
				b.Fatal(sum)
			}
		})
	}
}
