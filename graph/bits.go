package graph

import (
	"encoding/binary"
	"math/bits"
)

// Codes of natural numbers, most significant bit first (Boldi & Vigna 2004):
//
//	unary(x)  x zeros and a one
//	γ(x)      unary of the length of x+1, less one; then x+1 without its first bit
//	ζ_k(x)    unary of h = ⌊log₂(x+1)/k⌋; then x+1 in a minimal binary code of
//	          [2^hk, 2^(h+1)k): hk+k−1 bits for the first 2^hk numbers, hk+k for others
//
// The code lengths below are in bits.

// maxCoded is the largest number that is ever coded: a sign folded into the
// difference of two node numbers.
const maxCoded = 1<<34 - 1

func gammaLen(x uint64) int { return 2*bits.Len64(x+1) - 1 }

func zetaLen(x uint64, k int) int {
	x++
	h := (bits.Len64(x) - 1) / k
	left := uint64(1) << (h * k)
	if x-left < left {
		return h + 1 + h*k + k - 1
	}
	return h + 1 + h*k + k
}

// fold maps integers to natural numbers: 0, -1, 1, -2, 2 … → 0, 1, 2, 3, 4 …
func fold(x int64) uint64 { return uint64(x<<1) ^ uint64(x>>63) }

func unfold(x uint64) int64 { return int64(x>>1) ^ -int64(x&1) }

// bitWriter collects bits in bytes.
type bitWriter struct {
	buf  []byte
	acc  uint64 // the last n bits, n < 8 between calls
	n    int
	base uint64 // bits in bytes that were taken out of buf
}

// pos is how many bits were written.
func (w *bitWriter) pos() uint64 { return w.base + uint64(len(w.buf))*8 + uint64(w.n) }

// bits writes the n lowest bits of x, n ≤ 48.
func (w *bitWriter) bits(x uint64, n int) {
	w.acc = w.acc<<n | x&(1<<n-1)
	w.n += n
	for w.n >= 8 {
		w.n -= 8
		w.buf = append(w.buf, byte(w.acc>>w.n))
	}
}

func (w *bitWriter) unary(x int) {
	for ; x >= 32; x -= 32 {
		w.bits(0, 32)
	}
	w.bits(1, x+1)
}

func (w *bitWriter) gamma(x uint64) {
	x++
	n := bits.Len64(x) - 1
	w.unary(n)
	w.bits(x, n)
}

func (w *bitWriter) zeta(x uint64, k int) {
	x++
	h := (bits.Len64(x) - 1) / k
	w.unary(h)
	left := uint64(1) << (h * k)
	if x-left < left {
		w.bits(x-left, h*k+k-1)
	} else {
		w.bits(x, h*k+k)
	}
}

// take moves the whole bytes out; what it returns is good until the next write.
func (w *bitWriter) take() []byte {
	b := w.buf
	w.base += uint64(len(b)) * 8
	w.buf = w.buf[:0]
	return b
}

// flush fills the last byte up with zeros.
func (w *bitWriter) flush() {
	if w.n > 0 {
		w.bits(0, 8-w.n)
	}
}

// bitReader reads what bitWriter wrote. It never reads beyond its bytes: after
// the end, or a code that nobody writes, bad is set and all numbers are 0.
type bitReader struct {
	buf []byte // ends with 8 bytes that hold no code
	pos uint64 // in bits
	bad bool
}

// peek returns the next 57 bits or more, at the top.
func (r *bitReader) peek() uint64 {
	i := r.pos >> 3
	if i+8 > uint64(len(r.buf)) {
		r.bad = true
		return 0
	}
	return binary.BigEndian.Uint64(r.buf[i:]) << (r.pos & 7)
}

// bits reads n bits, n ≤ 48.
func (r *bitReader) bits(n int) uint64 {
	x := r.peek() >> (64 - n) // a shift by 64 gives 0
	r.pos += uint64(n)
	return x
}

// unary reads at most 63 zeros and a one; longer is bad.
func (r *bitReader) unary() int {
	n := bits.LeadingZeros64(r.peek())
	if n > 48 { // nothing longer is written
		r.bad = true
		return 0
	}
	r.pos += uint64(n) + 1
	return n
}

func (r *bitReader) gamma() uint64 {
	w := r.peek()
	n := bits.LeadingZeros64(w)
	if n < 28 { // the whole code is in w
		r.pos += uint64(2*n + 1)
		return w>>(63-2*n) - 1
	}
	n = r.unary()
	return (1<<n | r.bits(n)) - 1
}

func (r *bitReader) zeta(k int) uint64 {
	w := r.peek()
	h := bits.LeadingZeros64(w)
	n := h*k + k - 1
	if h+1+n+1 > 57 {
		return r.longZeta(k)
	}
	left := uint64(1) << (h * k)
	w <<= h + 1
	m := w >> (64 - n)
	if m < left {
		r.pos += uint64(h + 1 + n)
		return m + left - 1
	}
	r.pos += uint64(h + 1 + n + 1)
	return w>>(63-n) - 1
}

// longZeta reads a code of ζ that one word does not hold.
func (r *bitReader) longZeta(k int) uint64 {
	h := r.unary()
	n := h*k + k - 1
	if n > 47 {
		r.bad = true
		return 0
	}
	left := uint64(1) << (h * k)
	m := r.bits(n)
	if m < left {
		return m + left - 1
	}
	return (m<<1 | r.bits(1)) - 1
}
