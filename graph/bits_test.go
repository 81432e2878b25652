package graph

import (
	"math/rand/v2"
	"testing"
)

// TestCodes writes numbers of all lengths and reads them back; the lengths are
// those that the encoder counts with.
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

func TestFold(t *testing.T) {
	for x, want := range map[int64]uint64{0: 0, -1: 1, 1: 2, -2: 3, 1 << 32: 1 << 33} {
		if got := fold(x); got != want || unfold(got) != x {
			t.Errorf("fold(%d) = %d, want %d; back %d", x, got, want, unfold(got))
		}
	}
}

func TestReaderEnds(t *testing.T) {
	r := bitReader{buf: make([]byte, 9)}
	for range 100 {
		if x := r.gamma() + r.zeta(3) + uint64(r.unary()) + r.bits(40); x != 0 {
			t.Fatalf("read %d of zeros", x)
		}
	}
	if !r.bad {
		t.Error("100 numbers of 9 bytes, and not bad")
	}
}
