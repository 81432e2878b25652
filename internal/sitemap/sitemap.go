package sitemap

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"golang.org/x/net/html/charset"
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
	return fmt.Sprintf("sitemap: line %d: %v; the %d entries before it count", e.Line, e.Err, e.Entries)
}

func (e *Error) Unwrap() error { return e.Err }

// Read reads a sitemap: XML, an index of sitemaps, an RSS or Atom feed, or a
// text with a URL a line; also gzipped. It calls take for each entry, in the file's
// order, until that returns false. It hands out 50,000 entries at most, as the protocol
// has it, of MaxBytes decompressed. What a broken or cut file names before the
// break counts, and the error, an *Error, says where it breaks. Memory is bounded whatever comes:
// about 3 MiB.
func Read(r io.Reader, take func(Entry) bool) error {
	in := bufio.NewReaderSize(r, 4096)
	if magic, _ := in.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(in)
		if err != nil {
			return &Error{1, 0, fmt.Errorf("not gzip that can be read: %w", err)}
		}
		in = bufio.NewReaderSize(z, 4096)
	}
	out := &output{take: take}
	in = bufio.NewReaderSize(io.LimitReader(in, MaxBytes), 4096)
	if first := firstByte(in); first != '<' {
		return readText(in, out)
	}
	return readXML(in, out)
}

// firstByte passes over a byte order mark and blanks, and looks at what comes.
func firstByte(in *bufio.Reader) byte {
	if mark, _ := in.Peek(3); bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		_, _ = in.Discard(3) // they are there
	}
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
	e.URL = strings.TrimSpace(e.URL)
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
		out.put(Entry{Page: Page{URL: lines.Text()}})
	}
	if err := lines.Err(); err != nil {
		return &Error{n, out.n, fmt.Errorf("%w; want a URL a line", err)}
	}
	return nil
}

// readXML reads element by element. Names are taken without their namespace,
// which many files get wrong.
func readXML(in io.Reader, out *output) error {
	tokens := &tokenLimit{r: in}
	dec := xml.NewDecoder(tokens)
	dec.Strict = false
	dec.CharsetReader = charset.NewReaderLabel
	dec.Entity = xml.HTMLEntity
	r := xmlReader{out: out}
	for depth := 0; !out.full; {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		switch token.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		}
		if err == nil && depth > maxDepth {
			err = errors.New("elements nested too deep")
		}
		if err != nil {
			line, _ := dec.InputPos()
			return &Error{line, out.n, err}
		}
		r.token(token)
		tokens.since = 0
	}
	return nil
}

// tokenLimit ends a file with a token of more than maxToken, which the
// decoder would gather in memory.
type tokenLimit struct {
	r     io.Reader
	since int // bytes read since the last token
}

func (t *tokenLimit) Read(p []byte) (int, error) {
	if t.since > maxToken {
		return 0, fmt.Errorf("an element or text of more than %d bytes", maxToken)
	}
	n, err := t.r.Read(p)
	t.since += n
	return n, err
}

// xmlReader is where the reading of an XML sitemap stands.
type xmlReader struct {
	out      *output
	entry    string // url, sitemap, item or entry; "" between them
	field    string // the element inside it
	loc      strings.Builder
	modified strings.Builder
}

func (r *xmlReader) token(token xml.Token) {
	switch t := token.(type) {
	case xml.StartElement:
		r.start(t)
	case xml.CharData:
		switch r.field {
		case "loc", "link":
			add(&r.loc, t)
		case "lastmod", "updated", "pubdate":
			add(&r.modified, t)
		}
	case xml.EndElement:
		if name := strings.ToLower(t.Name.Local); name == r.entry {
			r.end()
		} else if name == r.field {
			r.field = ""
		}
	}
}

func (r *xmlReader) start(t xml.StartElement) {
	name := strings.ToLower(t.Name.Local)
	switch name {
	case "url", "sitemap", "item", "entry":
		*r = xmlReader{out: r.out, entry: name}
		return
	}
	// An image's or a video's <loc> within an entry has a namespace of its own.
	if r.entry == "" || name == "loc" && r.loc.Len() > 0 {
		r.field = ""
		return
	}
	r.field = name
	if name != "link" {
		return
	}
	href, rel := "", "alternate"
	for _, a := range t.Attr { // Atom's <link rel="alternate" href="…">
		switch strings.ToLower(a.Name.Local) {
		case "href":
			href = a.Value
		case "rel":
			rel = a.Value
		}
	}
	if href != "" && rel == "alternate" && r.loc.Len() == 0 {
		add(&r.loc, []byte(href))
	}
}

func (r *xmlReader) end() {
	page := Page{r.loc.String(), parseTime(r.modified.String())}
	r.out.put(Entry{page, r.entry == "sitemap"})
	*r = xmlReader{out: r.out}
}

// add appends text that may come in pieces, within bounds.
func add(b *strings.Builder, text []byte) {
	if room := maxURL + 1 - b.Len(); room > 0 {
		b.Write(text[:min(room, len(text))])
	}
}

// usable says whether a location can be a page's: absolute, as the protocol
// wants, and not too long.
func usable(loc string) bool {
	return len(loc) <= maxURL && (strings.HasPrefix(loc, "http://") || strings.HasPrefix(loc, "https://"))
}

// parseTime reads a W3C date, with or without a time, or a feed's.
func parseTime(s string) time.Time {
	s = strings.TrimSpace(s)
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00", time.DateOnly, "2006-01", "2006", time.RFC1123Z, time.RFC1123} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}
