package graph

import (
	"math/rand/v2"
	"slices"
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

// randomList draws successors with runs and gaps of all sizes, some of them ref's.
func randomList(rng *rand.Rand, ref []uint32) []uint32 {
	var list []uint32
	for range 1 + rng.IntN(20) {
		switch rng.IntN(4) {
		case 0:
			s := rng.Uint32() >> (4 + rng.IntN(28))
			for i := range uint32(1 + rng.IntN(8)) {
				list = append(list, s+i)
			}
		case 1:
			list = append(list, rng.Uint32N(maxNodes))
		default:
			if len(ref) > 0 {
				i := rng.IntN(len(ref))
				list = append(list, ref[i:i+rng.IntN(len(ref)-i)]...)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(append(list, maxNodes-1))
}

// TestCostOfLists compares what a list is said to take with the bits that it is written
// in, for references of all kinds and windows of all sizes.
func TestCostOfLists(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for i := range 5000 {
		p := params{window: rng.IntN(9), chain: 3, zeta: 1 + rng.IntN(5)}
		e := newEncoder(p)
		v := rng.Uint32N(maxNodes)
		r := 0
		var ref []uint32
		if p.window > 0 && rng.IntN(4) > 0 {
			r, ref = 1+rng.IntN(p.window), randomList(rng, nil)
		}
		list := randomList(rng, ref)
		if len(ref) > 0 && rng.IntN(5) == 0 {
			list = ref
		}
		e.plan.make(r, ref, list)
		e.write(v, &e.plan)
		want := int(e.w.pos())
		const far = 1 << 40
		got := e.cost(v, r, ref, list, far)
		apart := r > 0 && (ref[0] > list[len(list)-1] || ref[len(ref)-1] < list[0])
		if got != want && !(apart && got == far) {
			t.Fatalf("list %d: %d bits, written in %d: %d, %v, %v, %+v", i, got, want, v, ref, list, p)
		}
		if limit := 1 + rng.IntN(want+10); r > 0 {
			if got := e.cost(v, r, ref, list, limit); got != want && (got < limit || want < limit && !apart) {
				t.Fatalf("list %d: %d bits with the limit %d, written in %d", i, got, limit, want)
			}
		}
		if apart && want <= e.cost(v, 0, nil, list, 0) {
			t.Fatalf("list %d: a reference without a successor in common gains something", i)
		}
	}
}
