package page

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

// Limits of the protocol. A deeper element or longer token ends the reading.
const (
	MaxSitemapBytes = 50 << 20 // decompressed
	maxSitemapURLs  = 50_000
	maxURL          = 2048
	maxDepth        = 64
	maxToken        = 1 << 20
)

// Announced is a page named by a sitemap or feed.
type Announced struct {
	URL      string    // as written
	Modified time.Time // zero if missing or unreadable
}

// SitemapEntry is a page or, in an index, a further sitemap.
type SitemapEntry struct {
	Announced
	Map bool
}

// sitemapError is a syntax error in a sitemap.
type sitemapError struct {
	Line    int // from 1, decompressed
	Entries int // entries before the error, which count
	Err     error
}

func (e *sitemapError) Error() string {
	return fmt.Sprintf("sitemap: line %d: %v; the %d entries before it are used", e.Line, e.Err, e.Entries)
}

func (e *sitemapError) Unwrap() error { return e.Err }

// ReadSitemap reads a sitemap or feed and calls take for each entry, in order, until take returns
// false. It resolves relative URLs of XML against xml:base and base, the URL of the file; with base
// "" it skips them. It reads at most 50,000 entries and MaxSitemapBytes decompressed, in about 3
// MiB of memory. Entries before an error count; the error is a *sitemapError.
func ReadSitemap(r io.Reader, base string, take func(SitemapEntry) bool) error {
	in := bufio.NewReaderSize(r, peekBytes)
	if magic, _ := in.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(in)
		if err != nil {
			return &sitemapError{1, 0, fmt.Errorf("not readable gzip: %w", err)}
		}
		in = bufio.NewReaderSize(z, peekBytes)
	}
	out := &output{take: take}
	in = bufio.NewReaderSize(io.LimitReader(in, MaxSitemapBytes), peekBytes)
	in = bufio.NewReaderSize(toUTF8(in), peekBytes)
	if first := firstByte(in); first != '<' {
		return readText(in, out)
	}
	return readXML(in, base, out)
}

// firstByte skips blanks and returns the next byte without consuming it, 0 at the end.
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

type output struct {
	take func(SitemapEntry) bool
	n    int
	full bool
}

func (o *output) put(e SitemapEntry) {
	if !usable(e.URL) || o.full {
		return
	}
	o.n++
	o.full = !o.take(e) || o.n >= maxSitemapURLs
}

func readText(in io.Reader, out *output) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 64<<10)
	n := 1
	for ; !out.full && lines.Scan(); n++ {
		out.put(SitemapEntry{Announced: Announced{URL: strings.TrimSpace(lines.Text())}})
	}
	if err := lines.Err(); err != nil {
		return &sitemapError{n, out.n, fmt.Errorf("%w; want one URL a line", err)}
	}
	return nil
}

// usable reports an absolute URL that is not too long.
func usable(loc string) bool {
	return len(loc) <= maxURL && (strings.HasPrefix(loc, "http://") || strings.HasPrefix(loc, "https://"))
}

const peekBytes = 4096

var declaredEncoding = regexp.MustCompile(`^\s*<\?xml[^>]*?\sencoding\s*=\s*["']?([A-Za-z0-9._:-]+)`)

// toUTF8 decodes the file: by a byte order mark, as UTF-16 if zero bytes suggest it, by the XML
// declaration unless the first bytes refute it, else as UTF-8.
func toUTF8(in *bufio.Reader) io.Reader {
	head, _ := in.Peek(peekBytes)
	if e := encodingOf(head); e != nil {
		return transform.NewReader(in, unicode.BOMOverride(e.NewDecoder()))
	}
	return transform.NewReader(in, unicode.BOMOverride(mendUTF8{}))
}

// encodingOf returns nil for UTF-8, and if a byte order mark decides.
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
		return nil // the declaration was readable, so it is not UTF-16
	}
	return e
}

// isUTF8 reports a text, perhaps cut within a character, that is valid UTF-8 beyond ASCII.
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

// mendUTF8 passes UTF-8 through and decodes other bytes as windows-1252, which they mostly are.
type mendUTF8 struct{ transform.NopResetter }

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

// layouts are date formats of W3C and, without the day of the week, of RFC 822 and successors.
var layouts = []string{
	time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05", "2006-01-02 15:04:05",
	time.DateOnly, "2006-01", "2006", "2 Jan 2006 15:04:05 -0700", "2 Jan 2006 15:04 -0700", "2 Jan 2006 15:04:05",
	"2 Jan 06 15:04:05 -0700", "2 Jan 06 15:04 -0700",
}

// zones are RFC 822's names of time zones.
var zones = strings.NewReplacer(" GMT", " +0000", " UTC", " +0000", " UT", " +0000", " Z", " +0000",
	" EST", " -0500", " EDT", " -0400", " CST", " -0600", " CDT", " -0500",
	" MST", " -0700", " MDT", " -0600", " PST", " -0800", " PDT", " -0700")

// parseTime parses a W3C or feed date, by default in UTC; zero if it cannot.
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
