package page

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
)

// entries is what a sitemap names.
type entries struct {
	Pages []Announced
	Maps  []string // further sitemaps, when it is an index
}

// base is where the files of the tests lie.
const base = "http://a.test/maps/map.xml"

// parse is ReadSitemap of a file in memory, with all its entries.
func parse(body []byte) (*entries, error) {
	m := &entries{}
	err := ReadSitemap(bytes.NewReader(body), base, func(e SitemapEntry) bool {
		if e.Map {
			m.Maps = append(m.Maps, e.URL)
		} else {
			m.Pages = append(m.Pages, e.Announced)
		}
		return true
	})
	return m, err
}

func TestRead(t *testing.T) {
	day := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		body  string
		pages []Announced
		maps  []string
		bad   bool
	}{
		"urlset": {
			body: `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
 <url><loc> http://a.test/?a=1&amp;b=2 </loc><lastmod>2026-03-01</lastmod><changefreq>daily</changefreq></url>
 <url><loc>http://a.test/two</loc><image:image><image:loc>http://a.test/two.png</image:loc></image:image></url>
 <url><lastmod>2026-03-01</lastmod></url>
</urlset>`,
			pages: []Announced{{"http://a.test/?a=1&b=2", day}, {"http://a.test/two", time.Time{}}},
		},
		"index": {
			body: `<sitemapindex><sitemap><loc>http://a.test/1.xml.gz</loc><lastmod>2026-03-01T00:00:00+00:00</lastmod></sitemap>
<sitemap><loc>/relative.xml</loc></sitemap></sitemapindex>`,
			maps: []string{"http://a.test/1.xml.gz", "http://a.test/relative.xml"},
		},
		"rss": {
			body: `<rss version="2.0"><channel><link>http://a.test/</link><item><title>x</title><link>http://a.test/news</link>
<pubDate>Sun, 01 Mar 2026 00:00:00 +0000</pubDate></item></channel></rss>`,
			pages: []Announced{{"http://a.test/news", day}},
		},
		"atom": {
			body: `<feed xmlns="http://www.w3.org/2005/Atom"><link href="http://a.test/"/><entry><link rel="self" href="http://a.test/e.atom"/>
<link rel="alternate" href="http://a.test/e"/><updated>2026-03-01T00:00:00Z</updated></entry></feed>`,
			pages: []Announced{{"http://a.test/e", day}},
		},
		"text":    {body: "\xef\xbb\xbfhttp://a.test/1\r\n\r\nno url\nhttps://a.test/2\n", pages: []Announced{{URL: "http://a.test/1"}, {URL: "https://a.test/2"}}},
		"latin-1": {body: "<?xml version='1.0' encoding='ISO-8859-1'?><urlset><url><loc>http://a.test/caf\xe9</loc></url></urlset>", pages: []Announced{{URL: "http://a.test/café"}}},
		"cut":     {body: "<urlset><url><loc>http://a.test/1</loc></url><url><loc>http://a.te", pages: []Announced{{URL: "http://a.test/1"}}, bad: true},

		"html":       {body: "<!DOCTYPE html><html><head><link rel=stylesheet href=x></head><p>Not found</html>"},
		"empty":      {body: ""},
		"long":       {body: "<urlset><url><loc>http://a.test/" + strings.Repeat("l", 3000) + "</loc></url></urlset>"},
		"javascript": {body: "<urlset><url><loc>javascript:alert(1)</loc></url></urlset>"},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := parse([]byte(c.body))
			if (err != nil) != c.bad {
				t.Errorf("error %v", err)
			}
			if !slices.Equal(m.Pages, c.pages) || !slices.Equal(m.Maps, c.maps) {
				t.Errorf("got %+v\nwant %+v %v", m, c.pages, c.maps)
			}
		})
	}
}

// TestErrorPlace: an error tells the line at which a file breaks, and what counts of it.
func TestErrorPlace(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want SitemapError
	}{
		"xml":  {"<urlset>\n<url><loc>http://a.test/</loc></url>\n<url", SitemapError{Line: 3, Entries: 1}},
		"text": {"http://a.test/\n" + strings.Repeat("x", 70<<10), SitemapError{Line: 2, Entries: 1}},
		"gzip": {"\x1f\x8bno gzip", SitemapError{Line: 1}},
	} {
		_, err := parse([]byte(c.body))
		var at *SitemapError
		if !errors.As(err, &at) || at.Line != c.want.Line || at.Entries != c.want.Entries || at.Err == nil {
			t.Errorf("%s: %v; want line %d after %d entries", name, err, c.want.Line, c.want.Entries)
		}
	}
}

func zipped(t testing.TB, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestBounds(t *testing.T) {
	var many strings.Builder
	many.WriteString("<urlset>")
	for i := range maxSitemapURLs + 10 {
		fmt.Fprintf(&many, "<url><loc>http://a.test/%d</loc></url>", i)
	}
	file := zipped(t, many.String())
	m, err := parse(file)
	if err != nil || len(m.Pages) != maxSitemapURLs {
		t.Errorf("%d pages, %v; want %d", len(m.Pages), err, maxSitemapURLs)
	}
	if m, _ := parse(file[:len(file)/2]); len(m.Pages) < maxSitemapURLs/3 {
		t.Errorf("%d pages of a file cut in half", len(m.Pages))
	}
	bomb := zipped(t, "<urlset>"+strings.Repeat(" ", MaxSitemapBytes)+"<url><loc>http://a.test/</loc></url>")
	if m, _ := parse(bomb); len(m.Pages) != 0 {
		t.Errorf("%d pages of a bomb", len(m.Pages))
	}
	for name, hostile := range map[string]string{
		"a long comment": "<urlset><!--" + strings.Repeat("x", 4*maxToken) + "--><url><loc>http://a.test/</loc></url>",
		"a long text":    "<urlset>" + strings.Repeat("x", 4*maxToken) + "<url><loc>http://a.test/</loc></url>",
		"a deep file":    strings.Repeat("<a>", 2*maxDepth) + "<url><loc>http://a.test/</loc></url>",
	} {
		if m, err := parse([]byte(hostile)); err == nil || len(m.Pages) != 0 {
			t.Errorf("%s: %d pages, %v; want an error", name, len(m.Pages), err)
		}
	}
	deep := strings.Repeat("<url>", 1_000_000)
	if m, _ := parse([]byte(deep)); len(m.Pages) != 0 {
		t.Errorf("%d pages of nested elements", len(m.Pages))
	}
}

// TestReadStops: whoever has enough is not given more, and no more is read.
func TestReadStops(t *testing.T) {
	for name, endless := range map[string]string{"xml": "<url><loc>http://a.test/</loc></url>", "text": "http://a.test/\n"} {
		in := &endlessReader{text: endless}
		n := 0
		if err := ReadSitemap(in, "", func(SitemapEntry) bool { n++; return n < 10 }); err != nil || n != 10 {
			t.Errorf("%s: %d entries, %v; want 10", name, n, err)
		}
		if in.read > 64<<10 {
			t.Errorf("%s: %d bytes were read for 10 entries", name, in.read)
		}
		n, in = 0, &endlessReader{text: endless}
		if err := ReadSitemap(in, "", func(SitemapEntry) bool { n++; return true }); err != nil || n != maxSitemapURLs {
			t.Errorf("%s: %d entries, %v; want %d", name, n, err, maxSitemapURLs)
		}
	}
}

type endlessReader struct {
	text string
	read int
}

func (r *endlessReader) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = r.text[(r.read+i)%len(r.text)]
	}
	r.read += len(p)
	return len(p), nil
}

func FuzzSitemap(f *testing.F) {
	f.Add([]byte("<urlset><url><loc>http://a.test/1</loc><lastmod>2026</lastmod></url></urlset>"))
	f.Add([]byte("<sitemapindex><sitemap><loc>http://a.test/1.xml</loc></sitemap></sitemapindex>"))
	f.Add([]byte("<feed><entry><link href='http://a.test/'/></entry></feed>"))
	f.Add([]byte("http://a.test/1\nhttp://a.test/2"))
	f.Add(zipped(f, "http://a.test/1"))
	f.Fuzz(func(t *testing.T, body []byte) {
		m, _ := parse(body) // an error may come with entries
		if m == nil || len(m.Pages)+len(m.Maps) > maxSitemapURLs {
			t.Fatalf("%+v", m)
		}
		for _, p := range m.Pages {
			if !usable(p.URL) {
				t.Errorf("page %q", p.URL)
			}
		}
		for _, u := range m.Maps {
			if !usable(u) {
				t.Errorf("sitemap %q", u)
			}
		}
	})
}
