package features

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
	"golang.org/x/text/unicode/norm"
)

// Words are found by Unicode's rules (UAX #29), then split further where these keep two words together: only
// an apostrophe joins letters ("o'clock"), only a point or a comma joins digits ("1,000").

// compounds are names that change their meaning when split.
var compounds = [...]string{
	"c++", "g++", "c#", "f#", "j#", "vb.net", "asp.net", "ado.net", "node.js", "next.js", "vue.js",
}

const (
	other = iota
	letter
	digit
	space
)

// class has the class of every ASCII byte; bytes of longer runes are other.
var class = func() (t [256]byte) {
	for c := range 128 {
		switch r := rune(c); {
		case unicode.IsLetter(r):
			t[c] = letter
		case unicode.IsDigit(r):
			t[c] = digit
		case unicode.IsSpace(r):
			t[c] = space
		}
	}
	return t
}()

// folded has ASCII letters in lower case, digits, and 0 for all else.
var folded = func() (t [256]byte) {
	for c := range t {
		switch b := byte(c); {
		case 'A' <= b && b <= 'Z':
			t[c] = b + 'a' - 'A'
		case isWord(b):
			t[c] = b
		}
	}
	return t
}()

func isDigit(c byte) bool { return class[c] == digit }
func isWord(c byte) bool  { return class[c] == letter || class[c] == digit }

// piece calls put with the words from text[i] to the next white space, and returns where that is.
func (a *Analyzer) piece(text string, i int, put func(token []byte)) (end int) {
	start, ascii := i, true
	for i < len(text) && class[text[i]] != space {
		ascii = ascii && text[i] < utf8.RuneSelf
		i++
	}
	if piece := text[start:i]; ascii {
		a.scan(piece, 0, len(piece), put)
	} else {
		a.segmentUnicode(piece, put)
	}
	return i
}

// scan finds the words of piece[i:end], which is ASCII; compounds may reach beyond end.
func (a *Analyzer) scan(piece string, i, end int, put func([]byte)) {
	for i < end {
		if !isWord(piece[i]) {
			i++
			continue
		}
		if name := compoundAt(piece, i); name != "" {
			a.buf = append(a.buf[:0], name...)
			put(a.buf)
			i += len(name)
			continue
		}
		buf := a.buf[:0] // a local copy, because a.buf would be stored at every byte
		if i > 0 && piece[i-1] == '.' && isDotNet(piece, i) {
			buf = append(buf, '.')
		}
		for i < end {
			if c := folded[piece[i]]; c != 0 {
				buf = append(buf, c)
			} else if joins(piece, i, end) {
				buf = append(buf, piece[i])
			} else {
				break
			}
			i++
		}
		a.buf = buf
		put(buf)
	}
}

// joins reports whether the mark at piece[i] joins the word around it.
func joins(piece string, i, end int) bool {
	if i == 0 || i+1 >= end {
		return false
	}
	before, after := class[piece[i-1]], class[piece[i+1]]
	switch piece[i] {
	case '\'':
		return before == letter && after == letter
	case '.', ',':
		return before == digit && after == digit
	}
	return false
}

// compoundAt returns the compound at piece[i], or "". The first byte after its letters nearly always decides.
func compoundAt(piece string, i int) string {
	if i > 0 && isWord(piece[i-1]) {
		return ""
	}
	for j := i + 1; j < len(piece) && j <= i+4; j++ {
		if class[piece[j]] == letter {
			continue
		}
		if c := piece[j]; c == '+' || c == '#' || c == '.' {
			return findCompound(piece[i:])
		}
		break
	}
	return ""
}

func findCompound(s string) string {
	for _, name := range compounds {
		if len(s) < len(name) || !strings.EqualFold(s[:len(name)], name) {
			continue
		}
		if len(s) == len(name) || class[s[len(name)]] == other && s[len(name)] < utf8.RuneSelf {
			return name
		}
	}
	return ""
}

// isDotNet reports whether piece[i:] is the NET of ".NET".
func isDotNet(piece string, i int) bool {
	return (i < 2 || !isWord(piece[i-2]) && piece[i-2] < utf8.RuneSelf) &&
		len(piece) >= i+3 && strings.EqualFold(piece[i:i+3], "net") &&
		(len(piece) == i+3 || !isWord(piece[i+3]) && piece[i+3] < utf8.RuneSelf)
}

func (a *Analyzer) segmentUnicode(piece string, put func([]byte)) {
	piece = strings.ToValidUTF8(piece, " ")
	if !norm.NFKC.IsNormalString(piece) {
		piece = norm.NFKC.String(piece)
	}
	a.run = a.run[:0]
	for it := words.FromString(piece); it.Next(); {
		word := it.Value()
		if unbroken(word) {
			if strings.Contains(a.words.breaks, word) {
				a.putRun(put)     // a word of grammar separates the words around it,
				put([]byte(word)) // and is a word itself
				continue
			}
			a.run = append(a.run, word...)
			continue
		}
		a.putRun(put)
		if isASCII(word) {
			a.scan(piece, it.Start(), it.End(), put)
		} else {
			a.scanUnicode(word, put)
		}
	}
	a.putRun(put)
}

// unbroken reports whether word is a character of a script without spaces, which UAX #29 splits.
func unbroken(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// putRun emits a run of such characters as overlapping pairs, the usual substitute for a dictionary; a
// single one is a word.
func (a *Analyzer) putRun(put func([]byte)) {
	run := a.run
	a.run = a.run[:0]
	if len(run) == 0 {
		return
	}
	_, first := utf8.DecodeRune(run)
	if first == len(run) {
		put(run)
		return
	}
	for i := 0; i+first < len(run); {
		_, second := utf8.DecodeRune(run[i+first:])
		put(run[i : i+first+second])
		i, first = i+first, second
	}
}

// scanUnicode is scan for Unicode. It leaves out Hiragana, which alone is nearly always grammar.
func (a *Analyzer) scanUnicode(word string, put func([]byte)) {
	flush := func() {
		if len(a.buf) > 0 {
			put(a.buf)
		}
		a.buf = a.buf[:0]
	}
	a.buf = a.buf[:0]
	var before rune
	for i, r := range word {
		size := utf8.RuneLen(r)
		switch {
		case r == utf8.RuneError || unicode.Is(unicode.Hiragana, r):
			flush()
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) && len(a.buf) > 0:
			a.buf = utf8.AppendRune(a.buf, unicode.ToLower(r))
		case unicode.Is(unicode.Cf, r): // soft hyphens and joiners are invisible
			continue
		default:
			after, _ := utf8.DecodeRuneInString(word[i+size:])
			if mark := joiner(before, r, after); mark != 0 && len(a.buf) > 0 {
				a.buf = append(a.buf, mark)
			} else {
				flush()
			}
		}
		before = r
	}
	flush()
}

// joiner returns the mark for r if it joins two runes into a word, or 0.
func joiner(before, r, after rune) byte {
	switch r {
	case '\'', '’':
		if unicode.IsLetter(before) && unicode.IsLetter(after) {
			return '\''
		}
	case '.', ',':
		if unicode.IsDigit(before) && unicode.IsDigit(after) {
			return byte(r)
		}
	}
	return 0
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
