package fetch

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
	maxSitemapBytes = 50 << 20 // decompressed
	maxSitemapURLs  = 50_000
	maxSitemapURL   = 2048
	maxSitemapDepth = 64
	maxSitemapToken = 1 << 20
)

// SitemapPage is a page that a site's owner wants to be known (sitemaps.org, version 0.9).
type SitemapPage struct {
	URL      string    // as written
	Modified time.Time // zero when not told, or not in a form that can be read
}

// SitemapEntry is one entry of a sitemap: a page, or in an index a further sitemap.
type SitemapEntry struct {
	SitemapPage
	Map bool
}

// SitemapRequest asks for a sitemap: any type, cut at maxSitemapBytes. read gets
// the body while it comes, for ReadSitemap; none of it is kept.
func SitemapRequest(url string, read func(body io.Reader)) Request {
	return Request{URL: url, Accept: []string{"*/*"}, MaxBodyBytes: maxSitemapBytes, Truncate: true, Stream: read}
}

// ReadSitemap reads a sitemap: XML, an index of sitemaps, an RSS or Atom feed, or a
// text with a URL a line; also gzipped. It calls take for each entry, in the file's
// order, until that returns false. It hands out 50,000 entries at most, as the protocol
// has it, of maxSitemapBytes decompressed. What a broken or cut file names before the
// break counts, and the error says where it breaks. Memory is bounded whatever comes:
// about 3 MiB.
func ReadSitemap(r io.Reader, take func(SitemapEntry) bool) error {
	in := bufio.NewReaderSize(r, 4096)
	if magic, _ := in.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(in)
		if err != nil {
			return fmt.Errorf("sitemap: not gzip that can be read: %w", err)
		}
		in = bufio.NewReaderSize(z, 4096)
	}
	out := &sitemapOut{take: take}
	in = bufio.NewReaderSize(io.LimitReader(in, maxSitemapBytes), 4096)
	if first := firstByte(in); first != '<' {
		return textSitemap(in, out)
	}
	return xmlSitemap(in, out)
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

// sitemapOut hands entries out until there are enough.
type sitemapOut struct {
	take func(SitemapEntry) bool
	n    int
	full bool
}

func (o *sitemapOut) put(e SitemapEntry) {
	e.URL = strings.TrimSpace(e.URL)
	if !usable(e.URL) || o.full {
		return
	}
	o.n++
	o.full = !o.take(e) || o.n >= maxSitemapURLs
}

func textSitemap(in io.Reader, out *sitemapOut) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 64<<10)
	for !out.full && lines.Scan() {
		out.put(SitemapEntry{SitemapPage: SitemapPage{URL: lines.Text()}})
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("sitemap: line after URL %d: %w; want a URL a line", out.n, err)
	}
	return nil
}

// xmlSitemap reads element by element. Names are taken without their namespace,
// which many files get wrong.
func xmlSitemap(in io.Reader, out *sitemapOut) error {
	tokens := &tokenLimit{r: in}
	dec := xml.NewDecoder(tokens)
	dec.Strict = false
	dec.CharsetReader = charset.NewReaderLabel
	dec.Entity = xml.HTMLEntity
	r := sitemapReader{out: out}
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
		if err == nil && depth > maxSitemapDepth {
			err = errors.New("elements nested too deep")
		}
		if err != nil {
			return fmt.Errorf("sitemap: byte %d: %w; the %d entries before it count", dec.InputOffset(), err, out.n)
		}
		r.token(token)
		tokens.since = 0
	}
	return nil
}

// tokenLimit ends a file with a token of more than maxSitemapToken, which the
// decoder would gather in memory.
type tokenLimit struct {
	r     io.Reader
	since int // bytes read since the last token
}

func (t *tokenLimit) Read(p []byte) (int, error) {
	if t.since > maxSitemapToken {
		return 0, fmt.Errorf("an element or text of more than %d bytes", maxSitemapToken)
	}
	n, err := t.r.Read(p)
	t.since += n
	return n, err
}

// sitemapReader is where the reading of an XML sitemap stands.
type sitemapReader struct {
	out      *sitemapOut
	entry    string // url, sitemap, item or entry; "" between them
	field    string // the element inside it
	loc      strings.Builder
	modified strings.Builder
}

func (r *sitemapReader) token(token xml.Token) {
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

func (r *sitemapReader) start(t xml.StartElement) {
	name := strings.ToLower(t.Name.Local)
	switch name {
	case "url", "sitemap", "item", "entry":
		*r = sitemapReader{out: r.out, entry: name}
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

func (r *sitemapReader) end() {
	page := SitemapPage{r.loc.String(), sitemapTime(r.modified.String())}
	r.out.put(SitemapEntry{page, r.entry == "sitemap"})
	*r = sitemapReader{out: r.out}
}

// add appends text that may come in pieces, within bounds.
func add(b *strings.Builder, text []byte) {
	if room := maxSitemapURL + 1 - b.Len(); room > 0 {
		b.Write(text[:min(room, len(text))])
	}
}

// usable says whether a location can be a page's: absolute, as the protocol
// wants, and not too long.
func usable(loc string) bool {
	return len(loc) <= maxSitemapURL && (strings.HasPrefix(loc, "http://") || strings.HasPrefix(loc, "https://"))
}

// sitemapTime reads a W3C date, with or without a time, or a feed's.
func sitemapTime(s string) time.Time {
	s = strings.TrimSpace(s)
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00", time.DateOnly, "2006-01", "2006", time.RFC1123Z, time.RFC1123} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}
