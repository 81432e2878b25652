package page

import (
	"math/rand/v2"
	"testing"
	"unicode/utf8"
)

// naiveFold is what write does, character by character.
func naiveFold(f *folder, s []byte) {
	for len(s) > 0 && len(f.out) < f.limit {
		r, size := utf8.DecodeRune(s)
		class := int(foldClass[s[0]])
		if class == foldLead {
			class = foldRune(r)
		}
		switch class {
		case foldPlain:
			f.out = f.add(f.out, s[:size])
		case foldSpace:
			f.space = true
		}
		s = s[size:]
	}
}

// TestFold holds the folding of runs to that of single characters.
func TestFold(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	odd := []rune(" \t\n!\"~\x7f\x00\x1f\u00a0\u00adé日\u2003\u200b\ufeffz")
	for n := range 50000 {
		limit := 1 << 20
		if n%4 == 0 {
			limit = rng.IntN(40)
		}
		fast, slow := folder{limit: limit}, folder{limit: limit}
		for range 1 + rng.IntN(3) {
			var s []byte
			for range rng.IntN(40) {
				switch rng.IntN(8) {
				case 0:
					s = utf8.AppendRune(s, odd[rng.IntN(len(odd))])
				case 1:
					s = append(s, ' ')
				default:
					s = append(s, 'a'+byte(rng.IntN(26)))
				}
			}
			fast.write(s)
			naiveFold(&slow, s)
			if limit < 40 { // what is cut may leave room for what comes behind
				if len(fast.out) > limit || !utf8.Valid(fast.out) {
					t.Fatalf("%q, limit %d: %q", s, limit, fast.out)
				}
				continue
			}
			if string(fast.out) != string(slow.out) || fast.space != slow.space {
				t.Fatalf("%q: %q, want %q", s, fast.out, slow.out)
			}
			if rng.IntN(3) == 0 {
				fast.breakBlock()
				slow.breakBlock()
			}
		}
	}
}
