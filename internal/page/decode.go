package page

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/saintfish/chardet"
	"golang.org/x/text/encoding"
)

// detectBytes is how much of a page the statistical detection looks at.
const detectBytes = 16 << 10

// Decode returns a body in UTF-8, and whether it is plain text and no HTML. It does not copy
// what is UTF-8 already. Errors: ErrType.
func Decode(body []byte, contentType string) (text []byte, plain bool, err error) {
	if plain, err = isPlain(contentType); err != nil {
		return nil, false, fmt.Errorf("%w: %q", err, abbreviate(contentType))
	}
	text, _ = decode(body, contentType)
	return text, plain, nil
}

// decode returns body in valid UTF-8 and the name of the encoding it was in. It
// does not copy what is UTF-8 already.
//
// The order is that of the HTML standard (byte order mark, header, meta,
// detection) with two corrections that real pages need. Bytes that are valid
// UTF-8 with characters beyond ASCII are UTF-8 whatever a page says of itself,
// for other text hardly ever is by chance. What is declared UTF-8 but is mostly
// not decoded by it goes to detection.
func decode(body []byte, contentType string) ([]byte, string) {
	if rest, ok := bytes.CutPrefix(body, []byte("\xEF\xBB\xBF")); ok {
		return bytes.ToValidUTF8(rest, []byte("\uFFFD")), "utf-8"
	}
	valid := utf8.Valid(body)
	escapes := bytes.IndexByte(body, 0x1B) >= 0 || bytes.IndexByte(body, 0) >= 0 // ISO-2022, UTF-16
	if valid && !escapes {
		if isASCII(body) || !declaredEastAsian(body, contentType) {
			return body, "utf-8"
		}
	}
	enc, name := declared(body, contentType)
	switch {
	case name == "utf-8" && valid, name == "replacement":
		return bytes.ToValidUTF8(body, []byte("\uFFFD")), "utf-8"
	case name == "utf-8" && mostlyUTF8(body):
		return bytes.ToValidUTF8(body, []byte("\uFFFD")), "utf-8"
	case name == "utf-8" || enc == nil:
		if enc, name = detect(body); enc == nil {
			return bytes.ToValidUTF8(body, []byte("\uFFFD")), "utf-8"
		}
	}
	out, err := enc.NewDecoder().Bytes(body)
	if err != nil {
		return bytes.ToValidUTF8(body, []byte("\uFFFD")), "utf-8"
	}
	return bytes.ToValidUTF8(bytes.TrimPrefix(out, []byte("\uFEFF")), []byte("\uFFFD")), name
}

func isASCII(s []byte) bool {
	for _, c := range s {
		if c >= 0x80 {
			return false
		}
	}
	return true
}

// declaredEastAsian says whether a page that is valid UTF-8 by its bytes
// declares a multi-byte encoding and is so short that this may be chance.
func declaredEastAsian(body []byte, contentType string) bool {
	wide := 0
	for _, c := range body {
		if c >= 0xC0 {
			if wide++; wide >= 10 {
				return false
			}
		}
	}
	_, name := declared(body, contentType)
	switch name {
	case "gbk", "gb18030", "big5", "euc-kr", "euc-jp", "shift_jis", "iso-2022-jp":
		return true
	}
	return false
}

// mostlyUTF8 says whether more characters than not are well-formed among those beyond ASCII.
func mostlyUTF8(body []byte) bool {
	good, bad := 0, 0
	for i := 0; i < len(body); {
		if body[i] < 0x80 {
			i++
			continue
		}
		r, size := utf8.DecodeRune(body[i:])
		if r == utf8.RuneError && size == 1 {
			bad++
		} else {
			good++
		}
		i += size
	}
	return good > bad
}

// detect guesses the encoding of a page that declares none and isn't UTF-8. A
// guess within Latin script is windows-1252: the detector tells its variants
// apart badly, and browsers take that too.
func detect(body []byte) (encoding.Encoding, string) {
	if mostlyUTF8(body[:min(len(body), detectBytes)]) {
		return nil, ""
	}
	name := "windows-1252"
	best := 29 // a guess below 30 of 100 is none
	guesses, _ := chardet.NewHtmlDetector().DetectAll(body[:min(len(body), detectBytes)])
	slices.SortFunc(guesses, func(a, b chardet.Result) int { return cmp.Compare(a.Charset, b.Charset) })
	for _, g := range guesses { // by name, as the detector breaks ties by chance
		if g.Confidence > best {
			best, name = g.Confidence, g.Charset
		}
	}
	switch {
	case name == "GB-18030":
		name = "gb18030"
	case strings.HasPrefix(name, "ISO-8859-1"), strings.HasPrefix(name, "UTF-"):
		name = "windows-1252"
	}
	enc, name := lookup(name)
	if enc == nil {
		return lookup("windows-1252")
	}
	return enc, name
}
