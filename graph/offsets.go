package graph

import (
	"encoding/binary"
	"math/bits"
)

// Where each node's code begins, by Elias and Fano. Of n growing numbers below
// u, the lowest ⌊log₂(u/n)⌋ bits of each stand side by side. Of the i-th the
// rest h is bit h+i of a bit set. So there are at most two bits for each number
// and the low ones, and a number is found by a select.
//
//	low      little-endian words of 64 bits
//	high     likewise
//	samples  the place in high of every 256th one, 64 bits each

const sampleEvery = 256

// offsetsSize says how many bytes each part takes for n numbers below u.
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

// packOffsets codes numbers that are given by their differences: the first number
// is 0, and u is the sum of all lengths.
func packOffsets(n, u uint64, lengths func(yield func(uint64) bool)) []byte {
	width, low, high, samples := offsetsSize(n, u)
	out := make([]byte, low+high+samples)
	lows, highs, marks := out[:low], out[low:low+high], out[low+high:]
	at, i := uint64(0), uint64(0)
	lengths(func(length uint64) bool {
		putBits(lows, i*uint64(width), at&(1<<width-1), width)
		h := at>>width + i
		highs[h/8] |= 1 << (h % 8) // as in a little-endian word
		if i%sampleEvery == 0 {
			binary.LittleEndian.PutUint64(marks[i/sampleEvery*8:], h)
		}
		at += length
		i++
		return i < n
	})
	return out
}

// putBits sets width bits from bit at of little-endian words that are zero.
func putBits(words []byte, at, x uint64, width int) {
	for i := range uint64(width) {
		words[(at+i)/8] |= byte(x>>i&1) << ((at + i) % 8)
	}
}

// offsets are read where they lie.
type offsets struct {
	n               uint64
	width           int
	low, high, mark []byte
}

// openOffsets cuts a section into its parts; false when it has another size.
func openOffsets(section []byte, n, u uint64) (offsets, bool) {
	width, low, high, samples := offsetsSize(n, u)
	if uint64(len(section)) != low+high+samples {
		return offsets{}, false
	}
	return offsets{n, width, section[:low], section[low : low+high], section[low+high:]}, true
}

// at returns the i-th number; false when the section is damaged.
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
