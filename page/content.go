package page

import (
	"crypto/sha256"
	"math/bits"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"
)

// checksum computes a page's Checksum: SHA-256, cut to 16 bytes, of title, text
// and link targets in their order. A cryptographic hash, so that no page can be
// made to look like another and push it out of a collection.
func (p *Page) checksum() Checksum {
	h := sha256.New()
	buf := make([]byte, 0, 4096)
	put := func(s string) {
		for len(s) > 0 {
			n := min(len(s), cap(buf)-len(buf))
			if n == 0 {
				h.Write(buf)
				buf = buf[:0]
				continue
			}
			buf, s = append(buf, s[:n]...), s[n:]
		}
	}
	put(p.Title)
	put("\x00")
	put(p.Text)
	for i := range p.Links {
		put("\x00")
		put(p.Links[i].URL)
	}
	h.Write(buf)
	var sum [sha256.Size]byte
	return Checksum(h.Sum(sum[:0])[:16])
}

// Distance returns in how many of 64 bits two sketches differ: 0 for equal
// texts, about 32 for unrelated ones. Near-duplicates are within 3 or so (Manku,
// Jain, Das Sarma 2007).
func Distance(a, b uint64) int { return bits.OnesCount64(a ^ b) }

// simhash sketches a text (Charikar 2002): each bit is the majority's among the
// hashes of all runs of three words. A Chinese or Japanese character is a word. The
// sketch of an empty text is 0.
func simhash(text string) uint64 {
	var votes counter
	var w1, w2 uint64
	words := 0
	for i := 0; i < len(text); {
		if text[i] == ' ' || text[i] == '\n' {
			i++
			continue
		}
		end := wordEnd(text, i)
		w3 := xxhash.Sum64String(text[i:end])
		if words++; words >= 3 {
			votes.add(mix(w1, w2, w3))
		}
		w1, w2, i = w2, w3, end
	}
	if words == 1 || words == 2 {
		votes.add(mix(0, w1, w2))
	}
	return votes.majority()
}

// wordEnd returns where the word that starts at i ends.
func wordEnd(text string, i int) int {
	for j := i; j < len(text); j++ {
		c := text[j]
		if c == ' ' || c == '\n' {
			return j
		}
		if c >= 0xE3 && c <= 0xE9 { // U+3000 to U+9FFF: kana and Han
			if j > i {
				return j
			}
			_, size := utf8.DecodeRuneInString(text[j:])
			return j + size
		}
	}
	return len(text)
}

// mix hashes three hashes in their order.
func mix(a, b, c uint64) uint64 {
	hi, lo := bits.Mul64(a^0x9E3779B97F4A7C15, bits.RotateLeft64(b, 21)^0xD6E8FEB86659FD93)
	hi, lo = bits.Mul64(hi^lo^bits.RotateLeft64(c, 42), 0xA0761D6478BD642F)
	return hi ^ lo
}

// counter counts for each of 64 bits how often it was set. Plane k holds bit k
// of all 64 counts, so that adding a hash is a few operations on words.
type counter struct {
	planes [21]uint64 // a text has fewer than 2^21 words
	n      int
}

func (v *counter) add(h uint64) {
	v.n++
	for k := 0; h != 0 && k < len(v.planes); k++ {
		h, v.planes[k] = h&v.planes[k], h^v.planes[k]
	}
}

// majority returns the bits set in more than half of the hashes.
func (v *counter) majority() uint64 {
	var out uint64
	for bit := range 64 {
		count := 0
		for k, p := range v.planes {
			count |= int(p>>bit&1) << k
		}
		if 2*count > v.n {
			out |= 1 << bit
		}
	}
	return out
}
