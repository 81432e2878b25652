package hosts

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"

	"fossick/internal/page"
)

// A Fingerprint is what a page is compared by.
type Fingerprint struct {
	letters uint64 // of title and text: what a counter or a date changes does not show
	sketch  uint64
}

// A Fingerprinter takes fingerprints. Only those of one Fingerprinter can be compared.
// Safe for concurrent use.
type Fingerprinter struct{ seed maphash.Seed }

// NewFingerprinter returns a Fingerprinter.
func NewFingerprinter() Fingerprinter { return Fingerprinter{maphash.MakeSeed()} }

// Of returns a page's fingerprint. Letters are ASCII's, case told apart, and what
// Unicode says of the rest.
func (f Fingerprinter) Of(p *page.Page) Fingerprint {
	s := skeleton{}
	s.hash.SetSeed(f.seed)
	s.add(p.Title)
	s.add(p.Text)
	_, _ = s.hash.Write(s.buf[:s.n]) // never fails
	return Fingerprint{s.hash.Sum64(), p.Sketch}
}

// AcrossHosts returns a page's fingerprint beside those of its site's other
// hosts. It is of its words without the names of hosts, its own and those that
// it links to, and without what has a digit. These are what a farm makes up.
func (f Fingerprinter) AcrossHosts(p *page.Page) Fingerprint {
	names := map[string]struct{}{}
	site := page.Site(p.URL)
	name := func(url string) {
		host := page.Host(url)
		host = host[:max(0, strings.LastIndexByte(host, ':'))]
		if before, of := strings.CutSuffix(host, site); of {
			for _, label := range strings.FieldsFunc(before, notInWord) {
				names[label] = struct{}{}
			}
		}
	}
	name(p.URL)
	for i := range p.Links {
		name(p.Links[i].URL)
	}
	var h maphash.Hash
	h.SetSeed(f.seed)
	for _, text := range [2]string{p.Title, p.Text} {
		for word := range strings.FieldsFuncSeq(text, notInWord) {
			word = strings.ToLower(word)
			if _, made := names[word]; made || strings.ContainsAny(word, "0123456789") {
				continue
			}
			_, _ = h.WriteString(word) // never fails
			_ = h.WriteByte(' ')
		}
	}
	return Fingerprint{h.Sum64(), p.Sketch}
}

func notInWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// skeleton hashes the letters of a text, and nothing between them.
type skeleton struct {
	hash maphash.Hash
	buf  [512]byte // letters on their way
	n    int
}

// add takes eight bytes at a time, of which English has one or two runs of
// letters. Nobody can guess where letters begin and end, and a byte at a time
// that would be asked at each.
func (s *skeleton) add(text string) {
	for i := 0; i < len(text); {
		if s.n > len(s.buf)-16 {
			_, _ = s.hash.Write(s.buf[:s.n])
			s.n = 0
		}
		if i+8 <= len(text) {
			if eight := load64(text[i:]); eight&highs == 0 {
				s.addEight(eight)
				i += 8
				continue
			}
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if unicode.IsLetter(r) {
			s.n += copy(s.buf[s.n:], text[i:i+size])
		}
		i += size
	}
}

// addEight puts down the letters of eight bytes of ASCII. What
// stands behind a run is put down with it, and the next one over that: up to 15 bytes.
func (s *skeleton) addEight(eight uint64) {
	for m := letterBytes(eight); m != 0; {
		skip := bits.TrailingZeros64(m) &^ 7
		eight, m = eight>>skip, m>>skip
		run := bits.TrailingZeros64(^m&highs) &^ 7
		binary.LittleEndian.PutUint64(s.buf[s.n:], eight)
		s.n += run / 8
		eight, m = eight>>run, m>>run
	}
}

// highs has the highest bit of each of eight bytes.
const highs = 0x8080808080808080

// letterBytes has the highest bit of each of eight bytes of ASCII that is a letter, and no
// other. What is added to a byte brings those from a bound on over 128; no sum reaches
// the next byte.
func letterBytes(eight uint64) uint64 {
	const each = 0x0101010101010101
	lower := eight | 0x20*each
	return (lower + (0x80-'a')*each) &^ (lower + (0x80-'z'-1)*each) & highs
}

// load64 reads eight bytes, the first one lowest.
func load64(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}
