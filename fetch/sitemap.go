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

// Limits of a sitemap: the protocol's for entries and length of a URL; a file
// may be 50 MB by the protocol, and is read to MaxSitemapBytes.
const (
	MaxSitemapBytes = 16 << 20
	maxSitemapURLs  = 50_000
	maxSitemapURL   = 2048
)

// Sitemap is what a sitemap names (sitemaps.org, version 0.9).
type Sitemap struct {
	Pages []SitemapPage
	Maps  []string // further sitemaps, when it is an index
}

// SitemapPage is a page that a site's owner wants to be known.
type SitemapPage struct {
	URL      string    // as written
	Modified time.Time // zero when not told, or not in a form that can be read
}

// SitemapRequest asks for a sitemap: any type, cut at MaxSitemapBytes.
func SitemapRequest(url string) Request {
	return Request{URL: url, Accept: []string{"*/*"}, MaxBodyBytes: MaxSitemapBytes, Truncate: true}
}

// ParseSitemap reads a sitemap: XML, an index of sitemaps, an RSS or Atom feed,
// or a text with a URL a line; also gzipped. What a broken or cut file names
// before the break counts, and the error says where it breaks. It takes 50,000
// entries at most, as the protocol has it.
func ParseSitemap(body []byte) (*Sitemap, error) {
	if bytes.HasPrefix(body, []byte{0x1f, 0x8b}) {
		plain, err := gunzip(body)
		if len(plain) == 0 {
			return &Sitemap{}, fmt.Errorf("sitemap: not gzip that can be read: %w", err)
		}
		body = plain // of a file cut short, what there is
	}
	start := bytes.TrimLeft(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")), " \t\r\n")
	if !bytes.HasPrefix(start, []byte("<")) {
		return textSitemap(start)
	}
	return xmlSitemap(start)
}

func gunzip(body []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(z, MaxSitemapBytes))
}

func textSitemap(body []byte) (*Sitemap, error) {
	m := &Sitemap{}
	lines := bufio.NewScanner(bytes.NewReader(body))
	lines.Buffer(nil, 64<<10)
	for lines.Scan() {
		m.page(lines.Text(), time.Time{})
	}
	if err := lines.Err(); err != nil {
		return m, fmt.Errorf("sitemap: line after URL %d: %w; want a URL a line", len(m.Pages), err)
	}
	return m, nil
}

// xmlSitemap reads element by element. Names are taken without their namespace,
// which many files get wrong.
func xmlSitemap(body []byte) (*Sitemap, error) {
	dec := xml.NewDecoder(bytes.NewReader(body))
	dec.Strict = false
	dec.CharsetReader = charset.NewReaderLabel
	dec.Entity = xml.HTMLEntity
	m := &Sitemap{}
	var r sitemapReader
	for !m.full() {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return m, nil
		}
		if err != nil {
			return m, fmt.Errorf("sitemap: byte %d: %w; the %d entries before it count", dec.InputOffset(), err, len(m.Pages)+len(m.Maps))
		}
		r.token(m, token)
	}
	return m, nil
}

// sitemapReader is where the reading of an XML sitemap stands.
type sitemapReader struct {
	entry    string // url, sitemap, item or entry; "" between them
	field    string // the element inside it
	loc      strings.Builder
	modified strings.Builder
}

func (r *sitemapReader) token(m *Sitemap, token xml.Token) {
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
			r.end(m)
		} else if name == r.field {
			r.field = ""
		}
	}
}

func (r *sitemapReader) start(t xml.StartElement) {
	name := strings.ToLower(t.Name.Local)
	switch name {
	case "url", "sitemap", "item", "entry":
		*r = sitemapReader{entry: name}
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

func (r *sitemapReader) end(m *Sitemap) {
	loc := strings.TrimSpace(r.loc.String())
	if r.entry == "sitemap" {
		if usable(loc) && !m.full() {
			m.Maps = append(m.Maps, loc)
		}
	} else {
		m.page(loc, sitemapTime(r.modified.String()))
	}
	*r = sitemapReader{}
}

// add appends text that may come in pieces, within bounds.
func add(b *strings.Builder, text []byte) {
	if room := maxSitemapURL + 1 - b.Len(); room > 0 {
		b.Write(text[:min(room, len(text))])
	}
}

func (m *Sitemap) full() bool { return len(m.Pages)+len(m.Maps) >= maxSitemapURLs }

func (m *Sitemap) page(loc string, modified time.Time) {
	if loc = strings.TrimSpace(loc); usable(loc) && !m.full() {
		m.Pages = append(m.Pages, SitemapPage{loc, modified})
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
