package graph

import (
	"encoding/binary"
	"math/bits"
)

// Codes of natural numbers, most significant bit first (Boldi & Vigna 2004). All lengths are in bits.
//
//	unary(x)  x zeros and a one
//	γ(x)      unary of the length of x+1, less one; then x+1 without its first bit
//	ζ_k(x)    unary of h = ⌊log₂(x+1)/k⌋; then x+1 in a minimal binary code of
//	          [2^hk, 2^(h+1)k): hk+k−1 bits for the first 2^hk numbers, hk+k for others

// maxCoded is the largest coded number: a folded difference of two node numbers.
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

// fold maps 0, -1, 1, -2, 2 … to 0, 1, 2, 3, 4 …
func fold(x int64) uint64 { return uint64(x<<1) ^ uint64(x>>63) }

func unfold(x uint64) int64 { return int64(x>>1) ^ -int64(x&1) }

type bitWriter struct {
	buf  []byte
	acc  uint64 // pending bits; n < 8 between calls
	n    int
	base uint64 // bits already taken out of buf
}

func (w *bitWriter) pos() uint64 { return w.base + uint64(len(w.buf))*8 + uint64(w.n) }

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

// take returns the whole bytes and removes them; they are valid until the next write.
func (w *bitWriter) take() []byte {
	b := w.buf
	w.base += uint64(len(b)) * 8
	w.buf = w.buf[:0]
	return b
}

func (w *bitWriter) flush() {
	if w.n > 0 {
		w.bits(0, 8-w.n)
	}
}

// bitReader reads the codes of bitWriter. At the end of input or at an impossible code it sets bad and
// returns 0.
type bitReader struct {
	buf []byte // ends with 8 bytes of padding
	pos uint64 // in bits
	bad bool
}

// peek returns at least the next 57 bits, in the high bits.
func (r *bitReader) peek() uint64 {
	i := r.pos >> 3
	if i+8 > uint64(len(r.buf)) {
		r.bad = true
		return 0
	}
	return binary.BigEndian.Uint64(r.buf[i:]) << (r.pos & 7)
}

func (r *bitReader) bits(n int) uint64 {
	x := r.peek() >> (64 - n) // a shift by 64 gives 0
	r.pos += uint64(n)
	return x
}

// unary accepts at most 48 zeros; the writer never writes more.
func (r *bitReader) unary() int {
	n := bits.LeadingZeros64(r.peek())
	if n > 48 { // damaged
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

// Elias–Fano code of the offsets of the nodes' codes. Of n increasing numbers below u, the low
// ⌊log₂(u/n)⌋ bits are stored side by side. The remaining high part h of number i is bit h+i of a bit set, so
// it takes at most two bits per number, and lookup is a select.
//
//	low      little-endian words of 64 bits
//	high     likewise
//	samples  position in high of every 256th number, 64 bits each

const sampleEvery = 256

// offsetsSize returns the size in bytes of each part for n numbers below u.
func offsetsSize(n, u uint64) (width int, low, high, samples uint64) {
	if n == 0 {
		return 0, 0, 0, 0
	}
	if u/n > 1 {
		width = bits.Len64(u/n) - 1
	}
	words := func(bits uint64) uint64 { return (bits + 63) / 64 * 8 }
	return width, words(n * uint64(width)), words(n + u>>width + 1), (n + sampleEvery - 1) / sampleEvery * 8
}

// packOffsets codes n numbers, the first 0, from their differences.
func packOffsets(n, u uint64, lengths func(yield func(uint64) bool)) []byte {
	width, low, high, samples := offsetsSize(n, u)
	out := make([]byte, low+high+samples)
	lows, highs, marks := out[:low], out[low:low+high], out[low+high:]
	at, i := uint64(0), uint64(0)
	lengths(func(length uint64) bool {
		putBits(lows, i*uint64(width), at&(1<<width-1), width)
		h := at>>width + i
		highs[h/8] |= 1 << (h % 8) // bit order of a little-endian word
		if i%sampleEvery == 0 {
			binary.LittleEndian.PutUint64(marks[i/sampleEvery*8:], h)
		}
		at += length
		i++
		return i < n
	})
	return out
}

// putBits sets width bits at bit position at; they must be zero.
func putBits(words []byte, at, x uint64, width int) {
	for i := range uint64(width) {
		words[(at+i)/8] |= byte(x>>i&1) << ((at + i) % 8)
	}
}

type offsets struct {
	width           int
	low, high, mark []byte
}

func openOffsets(section []byte, n, u uint64) (offsets, bool) {
	width, low, high, samples := offsetsSize(n, u)
	if uint64(len(section)) != low+high+samples {
		return offsets{}, false
	}
	return offsets{width, section[:low], section[low : low+high], section[low+high:]}, true
}

// at returns number i, or false if the section is damaged.
func (o *offsets) at(i uint64) (uint64, bool) {
	from := binary.LittleEndian.Uint64(o.mark[i/sampleEvery*8:])
	left := int(i % sampleEvery)
	word := from / 64 * 8
	if word >= uint64(len(o.high)) {
		return 0, false
	}
	w := binary.LittleEndian.Uint64(o.high[word:]) &^ (1<<(from%64) - 1)
	for {
		ones := bits.OnesCount64(w)
		if ones > left {
			break
		}
		left -= ones
		if word += 8; word >= uint64(len(o.high)) {
			return 0, false
		}
		w = binary.LittleEndian.Uint64(o.high[word:])
	}
	for ; left > 0; left-- {
		w &= w - 1
	}
	high := word*8 + uint64(bits.TrailingZeros64(w))
	if high < i {
		return 0, false
	}
	return (high-i)<<o.width | o.lowBits(i), true
}

func (o *offsets) lowBits(i uint64) uint64 {
	if o.width == 0 {
		return 0
	}
	at := i * uint64(o.width)
	word, shift := at/64*8, at%64
	x := binary.LittleEndian.Uint64(o.low[word:]) >> shift
	if shift+uint64(o.width) > 64 {
		x |= binary.LittleEndian.Uint64(o.low[word+8:]) << (64 - shift)
	}
	return x & (1<<o.width - 1)
}
