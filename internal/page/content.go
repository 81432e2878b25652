package page

import (
	"bytes"
	"crypto/sha256"
	"math/bits"
	"strings"
	"unicode/utf8"
)

// checksumOf is SHA-256, cut to 16 bytes: a cryptographic hash, so that no page can be
// made to look like another and push it out of a collection.
func checksumOf(body []byte) Checksum {
	sum := sha256.Sum256(body)
	return Checksum(sum[:])
}

// checksum hashes title, text and link targets in their order. Targets on the page's own
// host count without scheme and host, so that a mirror on another host has the same checksum.
func (p *Page) checksum() Checksum {
	if p.URL == "" {
		return p.AbsoluteChecksum()
	}
	return p.hash(origin(p.URL) + "/")
}

// AbsoluteChecksum is what Checksum was in earlier builds: link targets count as they are.
func (p *Page) AbsoluteChecksum() Checksum { return p.hash("\x00") }

// Is says whether p has the content of a stored page, by the checksums of its record. One
// without raw is of an earlier build, with an AbsoluteChecksum.
func (p *Page) Is(checksum, raw []byte) bool {
	if len(raw) > 0 {
		return bytes.Equal(checksum, p.Checksum[:])
	}
	sum := p.AbsoluteChecksum()
	return bytes.Equal(checksum, sum[:])
}

// hash is the checksum in which a link target that begins with own, a scheme and a host up to
// the slash, counts from that slash on.
func (p *Page) hash(own string) Checksum {
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
		url := p.Links[i].URL
		if strings.HasPrefix(url, own) {
			url = url[len(own)-1:]
		}
		put(url)
	}
	h.Write(buf)
	var sum [sha256.Size]byte
	return Checksum(h.Sum(sum[:0])[:16])
}

// Distance returns in how many of 64 bits two sketches differ: 0 for equal
// texts, about 32 for unrelated ones. Near-duplicates are within 3 or so of each
// other (Manku, Jain, Das Sarma 2007); one word of 400 changed moves up to 7.
func Distance(a, b uint64) int { return bits.OnesCount64(a ^ b) }

// sketches returns in one pass what a text is compared by: its simhash, and the
// signature of what is left of it without the lines gone. Of the simhash (Charikar
// 2002) each bit is the majority's among the hashes of all runs of three words. A
// Chinese or Japanese character is a word. The sketch of an empty text is 0.
func sketches(text string, gone []lineOf) (uint64, Signature) {
	var votes counter
	var least minima
	var w1, w2, w3 uint64
	words, kept, run := 0, 0, 0 // words; those not gone; of these, those in a row
	for i := 0; i < len(text); {
		if text[i] == ' ' || text[i] == '\n' {
			i++
			continue
		}
		for len(gone) > 0 && i >= gone[0].end {
			gone = gone[1:]
		}
		if len(gone) == 0 || i < gone[0].start {
			kept++
			run++
		} else {
			run = 0
		}
		w1, w2 = w2, w3
		w3, i = hashWord(text, i)
		if words++; words < 3 {
			continue
		}
		h := mix(w1, w2, w3)
		votes.add(h)
		if run >= 3 {
			least.add(h)
		}
	}
	if words == 1 || words == 2 {
		votes.add(mix(0, w2, w3))
	}
	if kept < minWords {
		return votes.majority(), Signature{}
	}
	return votes.majority(), least.signature()
}

// hashWord returns the hash of the word at i and where it ends. It takes eight bytes at
// a time, so most words cost one step. Words with Chinese or Japanese characters, and
// the last of a text, go the slow way.
func hashWord(text string, i int) (uint64, int) {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	h, from := uint64(0), i
	for i+8 <= len(text) {
		x := load64(text[i:])
		if x&highs != 0 {
			break
		}
		space, line := x^(' '*ones), x^('\n'*ones)
		if ends := ((space-ones)&^space | (line-ones)&^line) & highs; ends != 0 {
			n := bits.TrailingZeros64(ends) / 8
			return mix(h, x&(1<<(8*n)-1), uint64(i-from+n)), i + n
		}
		h = mix(h, x, 8)
		i += 8
	}
	end := wordEnd(text, from)
	h = 0
	for i = from; i+8 <= end; i += 8 {
		h = mix(h, load64(text[i:]), 8)
	}
	last := uint64(0)
	for k := end - 1; k >= i; k-- {
		last = last<<8 | uint64(text[k])
	}
	return mix(h, last, uint64(end-from)), end
}

// load64 reads eight bytes, the first one lowest.
func load64(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
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
