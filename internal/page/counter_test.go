package page

import (
	"math/rand/v2"
	"testing"
)

// TestCounter counts bits of any number of hashes, and one by one.
func TestCounter(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		var v counter
		var count [64]int
		for range n {
			h := rng.Uint64() | rng.Uint64()&rng.Uint64()
			v.add(h)
			for bit := range count {
				count[bit] += int(h >> bit & 1)
			}
		}
		want := uint64(0)
		for bit, c := range count {
			if 2*c > n {
				want |= 1 << bit
			}
		}
		if got := v.majority(); got != want {
			t.Fatalf("%d hashes: %x, want %x", n, got, want)
		}
	}
}

func BenchmarkSketches(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, 20_000)
	for i := range text {
		text[i] = "etaoin shrdlu "[rng.IntN(14)]
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		sketches(string(text), nil)
	}
}
