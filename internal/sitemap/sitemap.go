package sitemap

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
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
