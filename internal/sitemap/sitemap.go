// Package sitemap reads what a site's owner wants to be known: sitemaps
// (sitemaps.org, version 0.9), indexes of them, RSS and Atom feeds, lists of URLs.
//
// In: a file, gzipped or not, from the network or a disk; anybody may have written it. Out:
// its entries one by one, within bounds whatever comes. Which of them are pages that
// anybody wants, and on which hosts, its callers decide.
//
// Start with Read; all is in sitemap.go.
package sitemap

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Limits of a sitemap: the protocol's for entries, length of a URL and size of
// a file. Elements that are nested deeper than this, or are longer, make us
// give it up.
const (
	MaxBytes = 50 << 20 // decompressed
	MaxURLs  = 50_000
	maxURL   = 2048
	maxDepth = 64
	maxToken = 1 << 20
)

// Page is a page that a site's owner wants to be known (sitemaps.org, version 0.9).
type Page struct {
	URL      string    // as written
	Modified time.Time // zero when not told, or not in a form that can be read
}

// Entry is one entry of a sitemap: a page, or in an index a further sitemap.
type Entry struct {
	Page
	Map bool
}

// Error is where a sitemap breaks.
type Error struct {
	Line    int // from 1, once decompressed
	Entries int // those before it, which count
	Err     error
}

func (e *Error) Error() string {
	return fmt.Sprintf("sitemap: line %d: %v; the %d entries before it are used", e.Line, e.Err, e.Entries)
}

func (e *Error) Unwrap() error { return e.Err }

// Read reads a sitemap: XML, an index of sitemaps, an RSS or Atom feed, or a text with a
// URL a line; also gzipped. It calls take for each entry, in the file's order, until that
// returns false. Relative URLs of XML are resolved against xml:base and base, the URL of the
// file; where base is "", they are passed over. Read hands out 50,000 entries at most, as the
// protocol has it, of MaxBytes decompressed. All entries before a break count, and the error,
// an *Error, says where it is. Memory is bounded: about 3 MiB.
func Read(r io.Reader, base string, take func(Entry) bool) error {
	in := bufio.NewReaderSize(r, peekBytes)
	if magic, _ := in.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(in)
		if err != nil {
			return &Error{1, 0, fmt.Errorf("not readable gzip: %w", err)}
		}
		in = bufio.NewReaderSize(z, peekBytes)
	}
	out := &output{take: take}
	in = bufio.NewReaderSize(io.LimitReader(in, MaxBytes), peekBytes)
	in = bufio.NewReaderSize(toUTF8(in), peekBytes)
	if first := firstByte(in); first != '<' {
		return readText(in, out)
	}
	return readXML(in, base, out)
}

// firstByte passes over blanks, and returns the next byte without reading it. At the end it
// returns 0.
func firstByte(in *bufio.Reader) byte {
	for {
		b, err := in.Peek(1)
		if err != nil {
			return 0
		}
		if !bytes.Contains([]byte(" \t\r\n"), b) {
			return b[0]
		}
		_, _ = in.Discard(1)
	}
}

// output hands entries out until there are enough.
type output struct {
	take func(Entry) bool
	n    int
	full bool
}

func (o *output) put(e Entry) {
	if !usable(e.URL) || o.full {
		return
	}
	o.n++
	o.full = !o.take(e) || o.n >= MaxURLs
}

func readText(in io.Reader, out *output) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 64<<10)
	n := 1
	for ; !out.full && lines.Scan(); n++ {
		out.put(Entry{Page: Page{URL: strings.TrimSpace(lines.Text())}})
	}
	if err := lines.Err(); err != nil {
		return &Error{n, out.n, fmt.Errorf("%w; want one URL a line", err)}
	}
	return nil
}

// usable says whether a location can be a page's: absolute, as the protocol
// wants, and not too long.
func usable(loc string) bool {
	return len(loc) <= maxURL && (strings.HasPrefix(loc, "http://") || strings.HasPrefix(loc, "https://"))
}

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

// layouts are the forms of times: W3C's, then those of RFC 822 and its successors without
// the day of the week. Go reads a fraction of a second behind any of them.
var layouts = []string{
	time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05", "2006-01-02 15:04:05",
	time.DateOnly, "2006-01", "2006", "2 Jan 2006 15:04:05 -0700", "2 Jan 2006 15:04 -0700", "2 Jan 2006 15:04:05",
	"2 Jan 06 15:04:05 -0700", "2 Jan 06 15:04 -0700",
}

// zones are the names that RFC 822 gives to offsets from UTC.
var zones = strings.NewReplacer(" GMT", " +0000", " UTC", " +0000", " UT", " +0000", " Z", " +0000",
	" EST", " -0500", " EDT", " -0400", " CST", " -0600", " CDT", " -0500",
	" MST", " -0700", " MDT", " -0600", " PST", " -0800", " PDT", " -0700")

// parseTime reads a W3C date, with or without a time, or a feed's. It returns the zero time
// where s is neither. A time without a zone is taken for UTC.
func parseTime(s string) time.Time {
	s = strings.TrimSpace(s)
	if _, behind, ok := strings.Cut(s, ","); ok {
		s = strings.TrimSpace(behind)
	}
	s = zones.Replace(s)
	for _, layout := range layouts {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}
