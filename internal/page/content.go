package page

import (
	"bytes"
	"crypto/sha256"
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"
)

// checksumOf is SHA-256, cut to 16 bytes, so that nobody can craft a page that displaces another.
func checksumOf(body []byte) Checksum {
	sum := sha256.Sum256(body)
	return Checksum(sum[:])
}

// checksum hashes title, text and link targets in order. Targets on the page's own host are hashed
// without scheme and host, so that a mirror has the same checksum.
func (p *Page) checksum() Checksum {
	if p.URL == "" {
		return p.AbsoluteChecksum()
	}
	return p.hash(origin(p.URL) + "/")
}

// AbsoluteChecksum is the Checksum of earlier builds, with complete link targets.
func (p *Page) AbsoluteChecksum() Checksum { return p.hash("\x00") }

// Is reports whether p has a stored page's content. Without raw, checksum is an AbsoluteChecksum.
func (p *Page) Is(checksum, raw []byte) bool {
	if len(raw) > 0 {
		return bytes.Equal(checksum, p.Checksum[:])
	}
	sum := p.AbsoluteChecksum()
	return bytes.Equal(checksum, sum[:])
}

// hash computes the checksum. Links that begin with own count only from its last slash on.
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

// Distance returns the number of differing bits of two sketches: 0 for equal texts, up to about 3
// for near-duplicates, about 32 for unrelated texts (Manku, Jain, Das Sarma 2007).
func Distance(a, b uint64) int { return bits.OnesCount64(a ^ b) }

// sketches returns in one pass a text's simhash, and its signature without the lines gone. Each bit
// of the simhash (Charikar 2002) is the majority among the hashes of all runs of three words; a
// Chinese or Japanese character is a word. An empty text has the simhash 0.
func sketches(text string, gone []lineOf) (uint64, Signature) {
	var votes counter
	var least minima
	var w1, w2, w3 uint64
	words, kept, run := 0, 0, 0 // words; words not gone; consecutive ones of these
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

// hashWord returns the hash and end of the word at i. A word of ASCII is read eight bytes at a time.
func hashWord(text string, i int) (uint64, int) {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	from, h := i, uint64(0)
	for ; i+8 <= len(text); i += 8 {
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

func load64(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

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

// mix combines three hashes; their order matters.
func mix(a, b, c uint64) uint64 {
	hi, lo := bits.Mul64(a^0x9E3779B97F4A7C15, bits.RotateLeft64(b, 21)^0xD6E8FEB86659FD93)
	hi, lo = bits.Mul64(hi^lo^bits.RotateLeft64(c, 42), 0xA0761D6478BD642F)
	return hi ^ lo
}

// counter counts for each of 64 bits how often it was set. Plane k holds bit k of all 64 counts, so
// that one addition with carries counts them in parallel.
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

// Signature is a MinHash of a text's shingles, its runs of three words: the share of equal bytes in
// two signatures estimates the resemblance of the texts. A text of fewer than minWords words has
// the zero Signature.
//
// One hash per shingle fills all places (one-permutation hashing, Li, Owen, Zhang 2012): its upper
// bits choose the place, and the least lower bits win. An empty place copies another one, found by
// a walk that depends only on the place (optimal densification, Shrivastava 2017). One byte of each
// winner is kept (b-bit minwise hashing, Li, König 2010).
type Signature [SignatureSize]byte

const (
	// SignatureSize is the number of places. Estimate's error is √(J(1−J)/128), 2.7 % at J = 0.9.
	SignatureSize = 128

	// minWords: in a shorter text, a changed date cannot be told from another page.
	minWords = 50
)

// IsZero reports whether the text was too short for a signature.
func (s *Signature) IsZero() bool { return *s == Signature{} }

func (s *Signature) Bytes() []byte {
	if s.IsZero() {
		return nil
	}
	return s[:]
}

// Estimate returns the estimated resemblance in [0,1], corrected for chance agreement (1/256).
func Estimate(a, b *Signature) float64 {
	same := 0
	for i := range a {
		if a[i] == b[i] {
			same++
		}
	}
	return max(0, (float64(same)/SignatureSize-1.0/256)/(1-1.0/256))
}

type minima struct {
	least [SignatureSize]uint64
	some  bool
}

func (m *minima) add(h uint64) {
	place := h >> 57
	if v := h<<7 | 1; m.least[place] == 0 || v < m.least[place] { // 0 marks an empty place
		m.least[place] = v
		m.some = true
	}
}

func (m *minima) signature() (s Signature) {
	if !m.some {
		return s
	}
	for i := range s {
		v := m.least[i]
		for k := uint64(1); v == 0; k++ {
			v = m.least[mix(uint64(i), k, 0)%SignatureSize]
		}
		s[i] = byte(mix(v, 0, 0) >> 56)
	}
	return s
}

// shingles appends the hashes of runs of three words, with repeats, not across empty lines.
func shingles(all []uint64, text string) []uint64 {
	var w1, w2, w3 uint64
	run := 0
	for i := 0; i < len(text); {
		if text[i] == ' ' || text[i] == '\n' {
			if strings.HasPrefix(text[i:], "\n\n") {
				run = 0
			}
			i++
			continue
		}
		w1, w2 = w2, w3
		w3, i = hashWord(text, i)
		if run++; run >= 3 {
			all = append(all, mix(w1, w2, w3))
		}
	}
	return all
}

// resemblance returns |A ∩ B| / |A ∪ B| of two texts' shingles (Broder 1997), 1 if both are empty.
func resemblance(a, b string) float64 {
	inA := map[uint64]bool{}
	for _, h := range shingles(nil, a) {
		inA[h] = true
	}
	both, either := 0, len(inA)
	seen := map[uint64]bool{}
	for _, h := range shingles(nil, b) {
		switch {
		case seen[h]:
			continue
		case inA[h]:
			both++
		default:
			either++
		}
		seen[h] = true
	}
	if either == 0 {
		return 1
	}
	return float64(both) / float64(either)
}

// linkLines returns the lines of a text that consist almost only of links, such as menus, which all
// pages of a site share. marks are the page's links, in order.
func linkLines(text string, marks []mark) (lines []lineOf) {
	for start := 0; start < len(text) && len(marks) > 0; {
		end := start + strings.IndexByte(text[start:], '\n')
		if end < start {
			end = len(text)
		}
		for len(marks) > 0 && marks[0].end <= start {
			marks = marks[1:]
		}
		if len(marks) > 0 && marks[0].start < end && isLinkLine(text, lineOf{start, end}, marks) {
			lines = append(lines, lineOf{start, end})
		}
		start = end + 1
	}
	return lines
}

// isLinkLine reports whether at most one letter in menuRest of a line is outside links, the first
// of which ends in the line or after it.
func isLinkLine(text string, line lineOf, marks []mark) bool {
	n := 0
	for n < len(marks) && marks[n].start < line.end {
		n++
	}
	outside, inside, _ := lettersOf(text, line, marks[:n])
	return outside*menuRest <= inside+outside
}

// prose returns a text without its link lines; each run of them leaves an empty line.
func prose(text string, gone []lineOf) string {
	if len(gone) == 0 {
		return text
	}
	var kept strings.Builder
	from := 0
	for _, line := range gone {
		if line.start > from || from == 0 {
			kept.WriteString(text[from:line.start])
			kept.WriteByte('\n')
		}
		from = min(line.end+1, len(text))
	}
	kept.WriteString(text[from:])
	return kept.String()
}

// Resemblance required of near-duplicates, chosen on debdocs; see docs/duplicates.md.
const (
	nearShare     = 0.90 // share of shingles: on two hosts, or with one title
	untitledShare = 0.95 // on one host, without titles
	renamedShare  = 0.99 // on one host, with different titles…
	renamedWhole  = 0.95 // …and of the whole texts, menus included
)

// Near returns the resemblance of two pages' prose in [0,1], and whether they are near-duplicates:
// the same content except for a date, an advertisement, some comments, or the site's frame.
//
// Prose decides, because menus are equal across a site but differ on its mirror. Only pages of one
// host share the rest of a template, so there titles count too. Pages with little prose are never
// near-duplicates.
func Near(p, q *Page) (alike float64, near bool) {
	if p.Signature.IsZero() || q.Signature.IsZero() {
		return 0, false
	}
	alike = resemblance(p.prose(), q.prose())
	need := NearShare(p.URL, p.Title, q.URL, q.Title)
	if alike < need {
		return alike, false
	}
	return alike, need < renamedShare || resemblance(p.Text, q.Text) >= renamedWhole
}

// NearShare returns the resemblance that near-duplicates need; it does not suffice, see Near.
func NearShare(url1, title1, url2, title2 string) float64 {
	switch {
	case !sameFrame(url1, url2):
		return nearShare
	case title1 == "" && title2 == "":
		return untitledShare
	case sameTitle(title1, title2):
		return nearShare
	}
	return renamedShare
}

// sameFrame reports whether two URLs have one host, ignoring www, and so may share a template.
func sameFrame(url1, url2 string) bool {
	name := func(url string) string {
		host := Host(url)
		return strings.TrimPrefix(host[:max(0, strings.LastIndexByte(host, ':'))], "www.")
	}
	return name(url1) == name(url2)
}

// sameTitle reports titles with equal words, or that differ only by a part such as the site's name.
func sameTitle(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if a == "" {
		return b == ""
	}
	if sameWords(a, b) {
		return true
	}
	for _, apart := range []string{" | ", " - ", " – ", " — ", " :: ", " · ", " » ", " « ", " ("} {
		for at := 0; ; {
			n := strings.Index(b[at:], apart)
			if n < 0 {
				break
			}
			if at += n; sameWords(a, b[:at]) || sameWords(a, b[at+len(apart):]) {
				return true
			}
			at += len(apart)
		}
	}
	return false
}

func sameWords(a, b string) bool {
	split := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	x, y := strings.FieldsFunc(a, split), strings.FieldsFunc(b, split)
	if len(x) != len(y) || len(x) == 0 {
		return false
	}
	for i := range x {
		if !strings.EqualFold(x[i], y[i]) {
			return false
		}
	}
	return true
}
