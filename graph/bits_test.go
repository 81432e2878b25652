package graph

import (
	"math/rand/v2"
	"testing"
)

// TestCodes checks a round trip and the computed code lengths.
func TestCodes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var xs []uint64
	for i := range 20000 {
		x := rng.Uint64() & maxCoded >> (i % 35)
		if i%50 < 35 {
			x = uint64(1)<<(i%35) - uint64(i%3)&1
		}
		xs = append(xs, min(x, maxCoded))
	}
	for k := 1; k <= maxZeta; k++ {
		var w bitWriter
		for _, x := range xs {
			at := w.pos()
			w.gamma(x)
			mid := w.pos()
			w.zeta(x, k)
			if got := int(mid - at); got != gammaLen(x) {
				t.Fatalf("γ(%d) took %d bits, gammaLen says %d", x, got, gammaLen(x))
			}
			if got := int(w.pos() - mid); got != zetaLen(x, k) {
				t.Fatalf("ζ_%d(%d) took %d bits, zetaLen says %d", k, x, got, zetaLen(x, k))
			}
		}
		end := w.pos()
		w.flush()
		r := bitReader{buf: append(w.take(), make([]byte, padBytes)...)}
		for _, want := range xs {
			if got := r.gamma(); got != want {
				t.Fatalf("γ: got %d, want %d", got, want)
			}
			if got := r.zeta(k); got != want {
				t.Fatalf("ζ_%d: got %d, want %d", k, got, want)
			}
		}
		if r.bad || r.pos != end {
			t.Fatalf("k = %d: at bit %d of %d, bad %v", k, r.pos, end, r.bad)
		}
	}
}
