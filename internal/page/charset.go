package page

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/saintfish/chardet"
	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/simplifiedchinese"
)

const detectBytes = 16 << 10

// Decode returns a body in UTF-8 and whether it is plain text; a document as HTML. The error is
// ErrType, or that of a document.
func Decode(body []byte, contentType string) (text []byte, plain bool, err error) {
	if body, contentType, err = asHTML(body, contentType); err != nil {
		return nil, false, err
	}
	if plain, err = isPlain(contentType); err != nil {
		return nil, false, fmt.Errorf("%w: %q", err, abbreviate(contentType))
	}
	text, _ = decode(body, contentType)
	return text, plain, nil
}

// decode returns body in valid UTF-8, uncopied if it already is, and the name of its encoding. It
// follows the order of the HTML standard (byte order mark, header, meta, detection) with two
// corrections. Bytes that are valid UTF-8 beyond ASCII are UTF-8, whatever the page declares. A
// page declared UTF-8 that mostly is not goes to detection.
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

// declaredEastAsian reports a declared multi-byte page short enough to be UTF-8 by chance.
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

// detect guesses an undeclared encoding; for Latin script windows-1252, as browsers do.
func detect(body []byte) (encoding.Encoding, string) {
	if mostlyUTF8(body[:min(len(body), detectBytes)]) {
		return nil, ""
	}
	name := "windows-1252"
	best := 29 // a confidence below 30 of 100 does not count
	guesses, _ := chardet.NewHtmlDetector().DetectAll(body[:min(len(body), detectBytes)])
	slices.SortFunc(guesses, func(a, b chardet.Result) int { return cmp.Compare(a.Charset, b.Charset) })
	for _, g := range guesses { // sorted by name, since the detector breaks ties randomly
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

// prescanBytes is how much of a page the HTML standard searches for a declaration before parsing.
const prescanBytes = 1024

// declared returns a page's declared encoding and its WHATWG name, or nil and "": by byte order
// mark, header, <meta> or XML declaration (HTML standard, "determining the character encoding").
func declared(body []byte, contentType string) (encoding.Encoding, string) {
	switch {
	case bytes.HasPrefix(body, []byte("\xEF\xBB\xBF")):
		return lookup("utf-8")
	case bytes.HasPrefix(body, []byte("\xFF\xFE")):
		return lookup("utf-16le")
	case bytes.HasPrefix(body, []byte("\xFE\xFF")):
		return lookup("utf-16be")
	}
	if enc, name := lookup(charsetOf(contentType)); enc != nil {
		return enc, name
	}
	if enc, name := prescan(body[:min(len(body), prescanBytes)]); enc != nil {
		return enc, name
	}
	return inMeta(body, false) // browsers obey it when they reach it
}

// lookup returns the encoding with a label. By the standard GBK is decoded as GB 18030.
func lookup(label string) (encoding.Encoding, string) {
	enc, name := charset.Lookup(label)
	if name == "gbk" {
		return simplifiedchinese.GB18030, name
	}
	return enc, name
}

// lookupInPage is lookup for a label in the page itself, which thus cannot be in UTF-16.
func lookupInPage(label string) (encoding.Encoding, string) {
	enc, name := lookup(label)
	switch name {
	case "utf-16le", "utf-16be":
		return lookup("utf-8")
	case "x-user-defined":
		return lookup("windows-1252")
	}
	return enc, name
}

func charsetOf(contentType string) string {
	_, rest, _ := strings.Cut(contentType, ";")
	for rest != "" {
		var name, value string
		name, rest = cutAny(rest, ";=")
		if !strings.HasPrefix(rest, "=") {
			rest = strings.TrimPrefix(rest, ";")
			continue
		}
		value = rest[1:]
		if quoted, ok := strings.CutPrefix(value, `"`); ok {
			value, rest, _ = strings.Cut(quoted, `"`)
			_, rest = cutAny(rest, ";")
		} else {
			value, rest = cutAny(value, ";")
		}
		rest = strings.TrimPrefix(rest, ";")
		if strings.EqualFold(strings.TrimSpace(name), "charset") {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func cutAny(s, chars string) (before, rest string) {
	if i := strings.IndexAny(s, chars); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// prescan searches for a declaration (HTML standard, "prescan a byte stream…").
func prescan(head []byte) (encoding.Encoding, string) {
	switch {
	case bytes.HasPrefix(head, []byte("<\x00?\x00x\x00")):
		return lookup("utf-16le")
	case bytes.HasPrefix(head, []byte("\x00<\x00?\x00x")):
		return lookup("utf-16be")
	}
	if enc, name := inMeta(head, true); enc != nil {
		return enc, name
	}
	return xmlEncoding(head)
}

// inMeta returns the encoding of the first <meta> that declares one; everywhere, also within
// scripts and <noscript>, as the standard's prescan does.
func inMeta(page []byte, everywhere bool) (encoding.Encoding, string) {
	if !bytes.Contains(page, []byte("charset")) && !bytes.Contains(bytes.ToLower(page), []byte("charset")) {
		return nil, ""
	}
	z := html.NewTokenizer(bytes.NewReader(page))
	for {
		if everywhere {
			z.NextIsNotRawText()
		}
		switch z.Next() {
		case html.ErrorToken:
			return nil, ""
		case html.StartTagToken, html.SelfClosingTagToken:
			if enc, name := inTag(z); enc != nil {
				return enc, name
			}
		}
	}
}

// inTag returns the encoding that a tag declares, if it is a <meta>.
func inTag(z *html.Tokenizer) (encoding.Encoding, string) {
	tag, more := z.TagName()
	if string(tag) != "meta" {
		return nil, ""
	}
	values := map[string]string{} // the first attribute of each name counts
	for more {
		var k, v []byte
		k, v, more = z.TagAttr()
		if _, again := values[string(k)]; !again {
			values[string(k)] = string(v)
		}
	}
	if label, ok := values["charset"]; ok {
		return lookupInPage(label)
	}
	if strings.EqualFold(values["http-equiv"], "content-type") {
		return lookupInPage(charsetInContent(values["content"]))
	}
	return nil, ""
}

// charsetInContent returns a <meta>'s label (HTML standard, "extracting a character encoding…").
func charsetInContent(content string) string {
	for {
		i := strings.Index(strings.ToLower(content), "charset")
		if i < 0 {
			return ""
		}
		content = strings.TrimLeft(content[i+len("charset"):], "\t\n\f\r ")
		label, ok := strings.CutPrefix(content, "=")
		if !ok {
			continue
		}
		label = strings.TrimLeft(label, "\t\n\f\r ")
		if label != "" && (label[0] == '"' || label[0] == '\'') {
			inside, _, ended := strings.Cut(label[1:], label[:1])
			if !ended {
				return ""
			}
			return inside
		}
		label, _ = cutAny(label, "\t\n\f\r ;")
		return label
	}
}

// xmlEncoding returns the encoding of an XML declaration (HTML standard, "get an XML encoding").
func xmlEncoding(head []byte) (encoding.Encoding, string) {
	declaration, ok := bytes.CutPrefix(head, []byte("<?xml"))
	declaration, _, ended := bytes.Cut(declaration, []byte(">"))
	_, value, named := bytes.Cut(declaration, []byte("encoding"))
	value = bytes.TrimLeft(value, "\t\n\f\r ")
	value, assigned := bytes.CutPrefix(value, []byte("="))
	value = bytes.TrimLeft(value, "\t\n\f\r ")
	if !ok || !ended || !named || !assigned || len(value) == 0 || value[0] != '"' && value[0] != '\'' {
		return nil, ""
	}
	label, _, ended := bytes.Cut(value[1:], value[:1])
	if !ended {
		return nil, ""
	}
	return lookupInPage(string(label))
}
