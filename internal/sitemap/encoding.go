package sitemap

import (
	"bufio"
	"bytes"
	"io"
	"regexp"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// peekBytes is how much of a file is looked at to find its encoding.
const peekBytes = 4096

var declaredEncoding = regexp.MustCompile(`^\s*<\?xml[^>]*?\sencoding\s*=\s*["']?([A-Za-z0-9._:-]+)`)

// toUTF8 returns the file as UTF-8. A byte order mark decides its encoding, then bytes of
// zero as UTF-16 has them, then the XML declaration, and UTF-8 otherwise. A declaration that
// the first bytes refute does not count.
func toUTF8(in *bufio.Reader) io.Reader {
	head, _ := in.Peek(peekBytes)
	if e := encodingOf(head); e != nil {
		return transform.NewReader(in, unicode.BOMOverride(e.NewDecoder()))
	}
	return transform.NewReader(in, unicode.BOMOverride(mendUTF8{}))
}

// encodingOf returns nil for UTF-8, and where a byte order mark decides.
func encodingOf(head []byte) encoding.Encoding {
	switch {
	case len(head) >= 2 && head[0] != 0 && head[0] < utf8.RuneSelf && head[1] == 0:
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	case len(head) >= 2 && head[0] == 0 && head[1] != 0:
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	}
	m := declaredEncoding.FindSubmatch(head)
	if m == nil || isUTF8(head) {
		return nil
	}
	e, err := htmlindex.Get(string(m[1]))
	if err != nil || e == unicode.UTF8 {
		return nil
	}
	if name, _ := htmlindex.Name(e); name == "utf-16le" || name == "utf-16be" {
		return nil // the declaration itself could be read, so it is not UTF-16
	}
	return e
}

// isUTF8 says whether the text, which may be cut within a character, has characters that
// are not ASCII and all of them are UTF-8.
func isUTF8(text []byte) bool {
	ascii := !bytes.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf })
	if ascii {
		return false
	}
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		if r == utf8.RuneError && n == 1 && utf8.FullRune(text) {
			return false
		}
		text = text[n:]
	}
	return true
}

// mendUTF8 passes UTF-8 on. It takes each byte that is no UTF-8 for windows-1252, the
// encoding that such bytes have most often.
type mendUTF8 struct{ transform.NopResetter }

// Transform implements transform.Transformer.
func (mendUTF8) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	for nSrc < len(src) {
		rest := src[nSrc:]
		if !atEOF && !utf8.FullRune(rest) {
			return nDst, nSrc, transform.ErrShortSrc
		}
		r, n := utf8.DecodeRune(rest)
		if r == utf8.RuneError && n == 1 {
			r = charmap.Windows1252.DecodeByte(rest[0])
		}
		if nDst+utf8.RuneLen(r) > len(dst) {
			return nDst, nSrc, transform.ErrShortDst
		}
		nDst += utf8.EncodeRune(dst[nDst:], r)
		nSrc += n
	}
	return nDst, nSrc, nil
}
