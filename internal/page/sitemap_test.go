package page

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"

	"fossick/internal/testkit"
)

// entries is the content of a sitemap.
type entries struct {
	Pages []Announced
	Maps  []string // further sitemaps, if it is an index
}

const base = "http://a.test/maps/map.xml"

// parse reads all entries of a file in memory.
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

// TestErrorPlace: an error gives the line at which a file breaks, and the number of usable entries.
func TestErrorPlace(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want sitemapError
	}{
		"xml":  {"<urlset>\n<url><loc>http://a.test/</loc></url>\n<url", sitemapError{Line: 3, Entries: 1}},
		"text": {"http://a.test/\n" + strings.Repeat("x", 70<<10), sitemapError{Line: 2, Entries: 1}},
		"gzip": {"\x1f\x8bno gzip", sitemapError{Line: 1}},
	} {
		_, err := parse([]byte(c.body))
		var at *sitemapError
		if !errors.As(err, &at) || at.Line != c.want.Line || at.Entries != c.want.Entries || at.Err == nil {
			t.Errorf("%s: %v; want line %d after %d entries", name, err, c.want.Line, c.want.Entries)
		}
	}
}

func zipped(t testing.TB, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	testkit.Call(z.Write([]byte(text))).Must(t)
	testkit.Must(t, z.Close())
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

// TestReadStops: once take returns false, it is not called again and nothing more is read.
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

const (
	ns   = ` xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"`
	atom = ` xmlns="http://www.w3.org/2005/Atom"`
)

// TestOddXML: files as sites write them, and the URLs in them, separated by blanks.
func TestOddXML(t *testing.T) {
	urlset := func(text string) string { return "<urlset" + ns + ">" + text + "</urlset>" }
	rss := func(item string) string {
		return `<rss version="2.0"><channel><link>http://a.test/</link><item>` + item + `</item></channel></rss>`
	}
	feed := func(entry string) string { return "<feed" + atom + "><entry>" + entry + "</entry></feed>" }
	for name, c := range map[string]struct{ body, want string }{
		// Namespaces and nesting.
		"another language before the location": {`<urlset` + ns + ` xmlns:xhtml="http://www.w3.org/1999/xhtml"><url><xhtml:link rel="alternate" hreflang="de" href="http://a.test/de/"/><loc>http://a.test/en</loc></url></urlset>`, "http://a.test/en"},
		"a URL without loc":                    {urlset(`<url> http://a.test/?a=1&amp;b=2 </url><url><lastmod>2026-01-02</lastmod></url><url>a note</url>`), "http://a.test/?a=1&b=2"},
		"a url in a loc":                       {urlset(`<url><loc><url><![CDATA[http://a.test/1]]></url></loc></url><url><loc>http://a.test/2</loc></url>`), "http://a.test/1 http://a.test/2"},
		"an image before the location":         {`<urlset` + ns + ` xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"><url><image:image><image:loc>http://a.test/i.png</image:loc></image:image><loc>http://a.test/1</loc></url></urlset>`, "http://a.test/1"},
		"an image of an undeclared prefix":     {urlset(`<url><image:image><image:loc>http://a.test/i.png</image:loc></image:image><loc>http://a.test/1</loc></url>`), "http://a.test/1"},
		"an image by a default namespace":      {urlset(`<url><image xmlns="http://www.google.com/schemas/sitemap-image/1.1"><loc>http://a.test/i.png</loc></image><loc>http://a.test/1</loc></url>`), "http://a.test/1"},
		"a video's player":                     {urlset(`<url><loc>http://a.test/1</loc><video:video xmlns:video="http://www.google.com/schemas/sitemap-video/1.1"><video:url>http://a.test/v</video:url></video:video></url>`), "http://a.test/1"},
		"a prefix for the sitemap's own":       {`<s:urlset xmlns:s="http://www.sitemaps.org/schemas/sitemap/0.9"><s:url><s:loc>http://a.test/1</s:loc></s:url></s:urlset>`, "http://a.test/1"},
		"a wrong namespace":                    {`<urlset xmlns="http://a.test/wrong/"><url><loc>http://a.test/1</loc></url></urlset>`, "http://a.test/1"},
		"a wrong namespace by prefix":          {`<s:urlset xmlns:s="http://a.test/wrong/"><s:url><s:loc>http://a.test/1</s:loc></s:url></s:urlset>`, "http://a.test/1"},
		"no root":                              {`<url><loc>http://a.test/1</loc></url><url><loc>http://a.test/2</loc></url>`, "http://a.test/1 http://a.test/2"},
		"a root around the root":               {`<xml>` + urlset(`<url><loc>http://a.test/1</loc></url>`) + `</xml>`, "http://a.test/1"},
		"upper case":                           {`<URLSET><URL><LOC>http://a.test/1</LOC></URL></URLSET>`, "http://a.test/1"},
		"an item's picture":                    {rss(`<image><url>http://a.test/i.png</url><link>http://a.test/i</link></image><link>http://a.test/1</link>`), "http://a.test/1"},
		"an item's author":                     {rss(`<author><name>A</name><url>http://b.test/</url></author><link>http://a.test/1</link>`), "http://a.test/1"},
		"a second link":                        {rss(`<link>http://a.test/1</link><link>http://a.test/2</link>`), "http://a.test/1"},
		"an empty link and another":            {rss(`<link/><link>http://a.test/1</link>`), "http://a.test/1"},
		"a guid alone":                         {rss(`<guid>http://a.test/1</guid>`), "http://a.test/1"},
		"a guid that is a permalink":           {rss(`<guid isPermaLink="true">http://a.test/1</guid>`), "http://a.test/1"},
		"a guid that is none":                  {rss(`<guid isPermaLink="false">http://a.test/1</guid>`), ""},
		"a guid before a link":                 {rss(`<guid>http://a.test/g</guid><link>http://a.test/1</link>`), "http://a.test/1"},
		"a link of Atom in RSS":                {strings.Replace(rss(`<atom:link href="http://a.test/1"/>`), "<rss", `<rss xmlns:atom="http://www.w3.org/2005/Atom"`, 1), "http://a.test/1"},
		"a link of Atom beside one of RSS":     {strings.Replace(rss(`<atom:link href="http://a.test/x"/><link>http://a.test/1</link>`), "<rss", `<rss xmlns:atom="http://www.w3.org/2005/Atom"`, 1), "http://a.test/1"},
		"the feed itself in RSS":               {strings.Replace(rss(`<atom:link rel="self" href="http://a.test/x"/><link>http://a.test/1</link>`), "<rss", `<rss xmlns:atom="http://www.w3.org/2005/Atom"`, 1), "http://a.test/1"},
		"HTML in a description":                {rss(`<description><p>see <link>http://b.test/</link></p></description><link>http://a.test/1</link>`), "http://a.test/1"},
		"RSS 1.0":                              {`<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel><link>http://a.test/</link></channel><item rdf:about="http://a.test/x"><link>http://a.test/1</link></item><item rdf:about="http://a.test/2"/></rdf:RDF>`, "http://a.test/1 http://a.test/2"},
		"an entry's source":                    {feed(`<source><link href="http://b.test/"/><updated>2001-01-01T00:00:00Z</updated></source><link href="http://a.test/1"/>`), "http://a.test/1"},
		"an entry's content":                   {feed(`<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><link href="http://b.test/"/></div></content><link href="http://a.test/1"/>`), "http://a.test/1"},
		"links of an entry":                    {feed(`<link rel="self" href="http://a.test/s"/><link rel="enclosure" href="http://a.test/e"/><link rel="alternate" type="application/json" href="http://a.test/j"/><link rel="alternate" type="text/html" href="http://a.test/1"/>`), "http://a.test/1"},
		"a relation by its IRI":                {feed(`<link rel="http://www.iana.org/assignments/relation/alternate" href="http://a.test/1"/>`), "http://a.test/1"},
		"a prefix for Atom":                    {`<a:feed xmlns:a="http://www.w3.org/2005/Atom"><a:entry><a:link href="http://a.test/1"/></a:entry></a:feed>`, "http://a.test/1"},
		"Atom 0.3":                             {`<feed xmlns="http://purl.org/atom/ns#"><entry><link rel="alternate" type="text/html" href="http://a.test/1"/></entry></feed>`, "http://a.test/1"},

		// Relative URLs (RFC 3986, 4287, xml:base).
		"a path":                     {urlset(`<url><loc>/1</loc></url>`), "http://a.test/1"},
		"a name":                     {urlset(`<url><loc>1.html</loc></url>`), "http://a.test/maps/1.html"},
		"no scheme":                  {rss(`<link>//b.test/1</link>`), "http://b.test/1"},
		"a query":                    {feed(`<link href="?p=1"/>`), "http://a.test/maps/map.xml?p=1"},
		"xml:base of a feed":         {`<feed` + atom + ` xml:base="http://b.test/x/"><entry><link href="1"/></entry></feed>`, "http://b.test/x/1"},
		"xml:base of an entry":       {`<feed` + atom + ` xml:base="http://b.test/x/"><entry xml:base="y/"><link href="1"/></entry><entry><link href="2"/></entry></feed>`, "http://b.test/x/y/1 http://b.test/x/2"},
		"xml:base of a link":         {feed(`<link xml:base="http://b.test/x/" href="1"/>`), "http://b.test/x/1"},
		"xml:base in RSS":            {`<rss><channel xml:base="http://b.test/x/"><item><link>1</link></item></channel></rss>`, "http://b.test/x/1"},
		"xml:base that is no URL":    {feed(`<link xml:base="javascript:x" href="/1"/>`), "http://a.test/1"},
		"a scheme in upper case":     {urlset(`<url><loc>HTTP://a.test/1</loc></url>`), "http://a.test/1"},
		"an entity that nobody made": {`<!DOCTYPE urlset [<!ENTITY x SYSTEM "file:///etc/passwd">]>` + urlset(`<url><loc>&x;</loc></url><url><loc>http://a.test/1</loc></url>`), "http://a.test/1"},
		"an included file":           {urlset(`<url><loc><xi:include href="file:///etc/passwd"/></loc></url><url><loc>http://a.test/1</loc></url>`), "http://a.test/1"},

		// Text.
		"CDATA":                         {urlset(`<url><loc><![CDATA[http://a.test/?a=1&b=2]]></loc></url>`), "http://a.test/?a=1&b=2"},
		"CDATA behind text":             {urlset(`<url><loc>http://a.test/<![CDATA[?a=1&b=2]]></loc></url>`), "http://a.test/?a=1&b=2"},
		"a reference within CDATA":      {urlset(`<url><loc><![CDATA[http://a.test/?a=1&amp;b=2]]></loc></url>`), "http://a.test/?a=1&amp;b=2"},
		"a bare ampersand":              {urlset(`<url><loc>http://a.test/?a=1&copy=2&b</loc></url>`), "http://a.test/?a=1&copy=2&b"},
		"references":                    {urlset(`<url><loc>http://a.test/?a=1&#38;b=2&#x26;c=&eacute;</loc></url>`), "http://a.test/?a=1&b=2&c=é"},
		"a comment":                     {urlset(`<url><!-- <loc>http://a.test/x</loc> --><loc>http://a.test/1<!-- 2 --></loc></url>`), "http://a.test/1"},
		"blanks of Unicode":             {urlset("<url><loc>\u00a0http://a.test/1 \u2000</loc></url>"), "http://a.test/1"},
		"a title with a tag of its own": {rss(`<title/><link>http://a.test/1</link>`), "http://a.test/1"},
		"a script and a style":          {rss(`<script/><style/><link>http://a.test/1</link>`), "http://a.test/1"},

		// Unclosed and repeated elements.
		"two locations":           {urlset(`<url><loc>http://a.test/1</loc><loc>http://a.test/2</loc></url>`), "http://a.test/1 http://a.test/2"},
		"an entry not closed":     {urlset(`<url><loc>http://a.test/1</loc><url><loc>http://a.test/2</loc></url>`), "http://a.test/1 http://a.test/2"},
		"an entry twice":          {urlset(`<url><url><loc>http://a.test/1</loc></url></url>`), "http://a.test/1"},
		"a location not closed":   {urlset(`<url><loc>http://a.test/1</url><url><loc>http://a.test/2<lastmod>2026-03-01</lastmod></url>`), "http://a.test/1 http://a.test/2"},
		"a location opened twice": {urlset(`<url><loc>http://a.test/1<loc></url><url><loc><loc>http://a.test/2</loc></loc></url>`), "http://a.test/1 http://a.test/2"},
		"a title not closed":      {rss(`<title>news<link>http://a.test/1</link>`), "http://a.test/1"},
		"an end without a start":  {urlset(`</loc></url><url></lastmod><loc>http://a.test/1</loc></url>`), "http://a.test/1"},
		"an item not closed":      {`<rss><channel><item><link>http://a.test/1</link><item><link>http://a.test/2</link></item></channel></rss>`, "http://a.test/1 http://a.test/2"},
		"an attribute not quoted": {feed(`<link href=http://a.test/1></link>`), "http://a.test/1"},

		// Characters.
		"a byte that is no UTF-8":         {urlset("<url><loc>http://a.test/caf\xe9</loc></url><url><loc>http://a.test/ü</loc></url>"), "http://a.test/café http://a.test/ü"},
		"a control character":             {urlset("<url><title>\x01\x0b</title><loc>http://a.test/1</loc></url>"), "http://a.test/1"},
		"XML 1.1":                         {`<?xml version="1.1"?>` + urlset(`<url><loc>http://a.test/1</loc></url>`), "http://a.test/1"},
		"an instruction":                  {`<?xml-stylesheet href="x.xsl"?>` + urlset(`<url><loc>http://a.test/1</loc></url>`), "http://a.test/1"},
		"a blank before the declaration":  {"\n <?xml version='1.0'?>" + urlset(`<url><loc>http://a.test/1</loc></url>`), "http://a.test/1"},
		"a mark and a blank":              {"\ufeff\n" + urlset(`<url><loc>http://a.test/1</loc></url>`), "http://a.test/1"},
		"an encoding nobody knows":        {`<?xml version="1.0" encoding="x-none"?>` + urlset(`<url><loc>http://a.test/ü</loc></url>`), "http://a.test/ü"},
		"declared as UTF-16, but is not":  {`<?xml version="1.0" encoding="UTF-16"?>` + urlset(`<url><loc>http://a.test/ü</loc></url>`), "http://a.test/ü"},
		"declared as Latin-1, but is not": {`<?xml version="1.0" encoding="ISO-8859-1"?>` + urlset(`<url><loc>http://a.test/ü</loc></url>`), "http://a.test/ü"},
		"declared as UTF-8, but is not":   {`<?xml version="1.0" encoding="UTF-8"?>` + urlset("<url><loc>http://a.test/\xfc</loc></url>"), "http://a.test/ü"},
		"windows-1251":                    {`<?xml version="1.0" encoding="windows-1251"?>` + urlset("<url><loc>http://a.test/\xff</loc></url>"), "http://a.test/я"},
		"UTF-16, little end first":        {encoded(t, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), urlset(`<url><loc>http://a.test/ü</loc></url>`)), "http://a.test/ü"},
		"UTF-16, big end first":           {encoded(t, unicode.UTF16(unicode.BigEndian, unicode.UseBOM), urlset(`<url><loc>http://a.test/ü</loc></url>`)), "http://a.test/ü"},
		"UTF-16 without a mark":           {encoded(t, unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), urlset(`<url><loc>http://a.test/ü</loc></url>`)), "http://a.test/ü"},
		"UTF-16, big, without a mark":     {encoded(t, unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), urlset(`<url><loc>http://a.test/ü</loc></url>`)), "http://a.test/ü"},
		"UTF-16 that is declared":         {encoded(t, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), `<?xml version="1.0" encoding="UTF-16"?>`+urlset(`<url><loc>http://a.test/ü</loc></url>`)), "http://a.test/ü"},
		"a list in UTF-16":                {encoded(t, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), "http://a.test/1\r\nhttp://a.test/ü\r\n"), "http://a.test/1 http://a.test/ü"},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := parse([]byte(c.body))
			var got []string
			for _, p := range m.Pages {
				got = append(got, p.URL)
			}
			if strings.Join(got, " ") != c.want || err != nil {
				t.Errorf("%s\ngot  %s, %v\nwant %s", c.body, got, err, c.want)
			}
		})
	}
}

// TestCut: in a truncated file, a location followed by a tag is complete; another may not be.
func TestCut(t *testing.T) {
	for body, want := range map[string]int{"<urlset><url><loc>http://a.test/1</lo": 1, "<urlset><url><loc>http://a.test/1": 0} {
		m, err := parse([]byte(body))
		if len(m.Pages) != want || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v, %v; want %d pages", body, m.Pages, err, want)
		}
	}
}

func encoded(t *testing.T, e encoding.Encoding, text string) string {
	t.Helper()
	s := testkit.Call(e.NewEncoder().String(text)).Must(t)
	return s
}

// TestModified: times in the formats that sites use, attached to the right entry.
func TestModified(t *testing.T) {
	want := time.Date(2026, 3, 1, 12, 4, 5, 0, time.UTC)
	for _, text := range []string{
		"2026-03-01T12:04:05Z", "2026-03-01T13:04:05+01:00", "2026-03-01T12:04:05.000Z", "2026-03-01T13:04:05+0100", "2026-03-01 12:04:05",
		"Sun, 01 Mar 2026 12:04:05 +0000", "Sun, 1 Mar 2026 12:04:05 GMT", "1 Mar 2026 12:04:05 UT", "Sun, 01 Mar 26 12:04:05 Z",
		"Sun, 01 Mar 2026 07:04:05 EST", "Sun, 01 Mar 2026 05:04:05 PDT",
	} {
		if got := parseTime(text); !got.Equal(want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	for _, text := range []string{"", "yesterday", "32 Mar 2026 12:04:05 GMT"} {
		if got := parseTime(text); !got.IsZero() {
			t.Errorf("%q: %v, want none", text, got)
		}
	}
	m, err := parse([]byte(`<urlset><url><loc>http://a.test/1</loc><lastmod>2026-03-01T12:04:05Z</lastmod><loc>http://a.test/2</loc></url></urlset>`))
	if err != nil || len(m.Pages) != 2 || !m.Pages[0].Modified.Equal(want) || !m.Pages[1].Modified.IsZero() {
		t.Errorf("%+v, %v: the first has a time, the second has none", m.Pages, err)
	}
	m, err = parse([]byte(`<rss xmlns:dc="http://purl.org/dc/elements/1.1/"><item><link>http://a.test/1</link><dc:date>2026-03-01T12:04:05Z</dc:date></item></rss>`))
	if err != nil || len(m.Pages) != 1 || !m.Pages[0].Modified.Equal(want) {
		t.Errorf("%+v, %v", m.Pages, err)
	}
}
