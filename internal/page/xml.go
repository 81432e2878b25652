package page

import (
	"bufio"
	"bytes"
	"errors"
	"html"
	"io"
	"net/url"
	"regexp"
	"strings"

	nethtml "golang.org/x/net/html"
)

type vocabulary uint8

const (
	ofSitemap vocabulary = 1 << iota
	ofRSS
	ofAtom
	foreign vocabulary = 0
)

// vocabularies maps known namespaces. RSS 2.0 has none.
var vocabularies = map[string]vocabulary{
	"http://www.sitemaps.org/schemas/sitemap/0.9":  ofSitemap,
	"https://www.sitemaps.org/schemas/sitemap/0.9": ofSitemap,
	"http://www.google.com/schemas/sitemap/0.84":   ofSitemap,
	"http://www.google.com/schemas/sitemap/0.9":    ofSitemap,
	"http://purl.org/rss/1.0/":                     ofRSS,
	"http://my.netscape.com/rdf/simple/0.9/":       ofRSS,
	"http://channel.netscape.com/rdf/simple/0.9/":  ofRSS,
	"http://backend.userland.com/rss2":             ofRSS,
	"http://www.w3.org/2005/Atom":                  ofAtom,
	"http://purl.org/atom/ns#":                     ofAtom,
}

// rootNames contain the entries; entryNames are one entry.
var (
	rootNames  = map[string]vocabulary{"urlset": ofSitemap, "sitemapindex": ofSitemap, "rss": ofRSS, "rdf": ofRSS, "feed": ofAtom}
	entryNames = map[string]vocabulary{"url": ofSitemap, "sitemap": ofSitemap, "item": ofRSS, "entry": ofAtom}
)

// leaves are childless elements of an entry; one inside another means that this was not closed.
var leaves = map[string]vocabulary{
	"loc": ofSitemap, "lastmod": ofSitemap, "changefreq": ofSitemap, "priority": ofSitemap,
	"link": ofRSS | ofAtom, "title": ofRSS | ofAtom, "guid": ofRSS, "pubdate": ofRSS, "description": ofRSS, "comments": ofRSS,
	"id": ofAtom, "updated": ofAtom, "published": ofAtom, "modified": ofAtom, "issued": ofAtom, "summary": ofAtom,
}

const (
	dublinCore   = "http://purl.org/dc/elements/1.1/"
	maxSpaces    = 32  // namespaces that one element may declare
	maxAttribute = 128 // attributes read per element
)

type element struct {
	name, space string // without prefix; URI of its namespace
	vocabulary  vocabulary
	spaces      map[string]string // prefixes declared by it and its ancestors
	base        *url.URL          // nil if unknown
}

type xmlReader struct {
	out  *output
	line int

	open       []element
	vocabulary vocabulary // of the file; foreign until known
	space      string     // namespace of the file's root
	plain      string     // namespace of names without a prefix at the root

	at    int // index of the entry in open; -1 between entries
	entry found
	field string // element of the entry whose text is being collected, such as "loc"
	text  strings.Builder
	inLoc int // ignored elements inside loc that are named like entries
}

// found is the entry read so far. The first value of each kind counts.
type found struct {
	link, other, guid, modified string // other: an alternate link that is not HTML, or of another vocabulary
	about                       string
	text                        string // of the entry element itself: the URL if loc is missing
}

// readXML reads tolerantly, like browsers, so that an error costs only its own element.
func readXML(in *bufio.Reader, base string, out *output) error {
	r := &xmlReader{out: out, line: 1, at: -1}
	if u, err := url.Parse(base); err == nil && u.IsAbs() {
		r.open = append(r.open, element{base: u}) // the file itself
	} else {
		r.open = append(r.open, element{})
	}
	z := nethtml.NewTokenizer(in)
	z.SetMaxBuf(maxToken)
	z.AllowCDATA(true)
	for !out.full {
		kind := z.Next()
		if kind == nethtml.ErrorToken {
			return r.end(z.Err(), bytes.HasPrefix(z.Raw(), []byte("<")))
		}
		raw := z.Raw()
		lines := bytes.Count(raw, []byte("\n"))
		switch kind {
		case nethtml.TextToken:
			r.add(raw)
		case nethtml.StartTagToken, nethtml.SelfClosingTagToken:
			r.start(z)
			z.NextIsNotRawText() // here a title is an ordinary element
			if kind == nethtml.SelfClosingTagToken {
				r.close(len(r.open) - 1)
			}
		case nethtml.EndTagToken:
			name, _ := z.TagName()
			r.endTag(local(string(name)))
		}
		r.line += lines
		if len(r.open) > maxDepth {
			return &sitemapError{r.line, out.n, errors.New("elements nested too deep")}
		}
	}
	return nil
}

// end handles the end of the file. Text followed by a truncated tag is complete.
func (r *xmlReader) end(err error, inTag bool) error {
	if errors.Is(err, io.EOF) {
		if r.vocabulary == foreign || len(r.open) == 1 {
			return nil
		}
		if !inTag {
			r.field = "" // its text may be truncated
		}
		r.endEntry()
		err = io.ErrUnexpectedEOF
	}
	if errors.Is(err, nethtml.ErrBufferExceeded) {
		err = errors.New("an element or text of more than 1 MiB")
	}
	return &sitemapError{r.line, r.out.n, err}
}

func local(name string) string {
	if _, behind, ok := strings.Cut(name, ":"); ok {
		return behind
	}
	return name
}

type attribute struct{ name, value string }

func (r *xmlReader) start(z *nethtml.Tokenizer) {
	tag, more := z.TagName()
	name := string(tag)
	var attributes []attribute
	for more && len(attributes) < maxAttribute {
		var k, v []byte
		k, v, more = z.TagAttr()
		attributes = append(attributes, attribute{string(k), string(v)})
	}
	around := &r.open[len(r.open)-1]
	e := element{name: local(name), spaces: around.spaces, base: around.base}
	e.declare(attributes)
	prefix, _, prefixed := strings.Cut(name, ":")
	if !prefixed {
		prefix = ""
	}
	e.space = e.spaces[prefix]
	known := e.space != "" || prefix == "" // an undeclared prefix belongs to another vocabulary
	if r.vocabulary == foreign && known {
		r.begin(&e)
	}
	e.vocabulary = r.vocabularyOf(e.space, known)
	if e.vocabulary == ofSitemap && entryNames[e.name] == ofSitemap && r.field == "loc" && strings.TrimSpace(r.text.String()) == "" {
		r.inLoc++
		return
	}
	r.closeLeaf(&e)
	if entryNames[e.name] == e.vocabulary && e.vocabulary != foreign {
		r.endEntry()
		r.at = len(r.open)
		r.entry = found{about: valueOf(attributes, "rdf:about")}
	}
	r.open = append(r.open, e)
	if r.at >= 0 && r.at == len(r.open)-2 {
		r.startField(&e, attributes)
	}
}

// declare applies the namespaces and the base that an element declares.
func (e *element) declare(attributes []attribute) {
	own := false
	for _, a := range attributes {
		switch prefix, is := strings.CutPrefix(a.name, "xmlns"); {
		case is && (prefix == "" || prefix[0] == ':') && len(a.value) < 256:
			if !own { // the map is shared: copy it
				spaces := make(map[string]string, len(e.spaces)+1)
				for k, v := range e.spaces {
					spaces[k] = v
				}
				e.spaces, own = spaces, true
			}
			if len(e.spaces) < maxSpaces {
				e.spaces[strings.TrimPrefix(prefix, ":")] = strings.TrimSpace(a.value)
			}
		case a.name == "xml:base" && len(a.value) <= maxURL:
			if u := resolve(e.base, a.value); u != nil {
				e.base = u
			}
		}
	}
}

// begin determines the kind of the file by the first telling element.
func (r *xmlReader) begin(e *element) {
	v := rootNames[e.name]
	if v == foreign {
		v = entryNames[e.name] // there is no root
	}
	r.vocabulary, r.space, r.plain = v, e.space, e.spaces[""]
}

// vocabularyOf returns a namespace's vocabulary. An unknown namespace of the root is the file's.
func (r *xmlReader) vocabularyOf(space string, known bool) vocabulary {
	if v, ok := vocabularies[space]; ok {
		return v
	}
	if known && (space == "" || space == r.space || space == r.plain) {
		return r.vocabulary
	}
	return foreign
}

func (e *element) isLeaf() bool { return e.vocabulary != foreign && leaves[e.name]&e.vocabulary != 0 }

// closeLeaf closes an open leaf in which another leaf or an entry begins.
func (r *xmlReader) closeLeaf(e *element) {
	last := len(r.open) - 1
	if r.open[last].isLeaf() && (e.isLeaf() || entryNames[e.name] == e.vocabulary && e.vocabulary != foreign) {
		r.close(last)
	}
}

func (r *xmlReader) startField(e *element, attributes []attribute) {
	r.text.Reset()
	r.field = ""
	switch {
	case e.vocabulary == ofAtom && e.name == "link":
		r.atomLink(e, attributes)
	case e.name == "date" && e.space == dublinCore:
		r.field = "lastmod"
	case e.vocabulary != r.open[r.at].vocabulary:
	case e.name == "loc":
		if r.entry.link != "" { // the previous entry was not closed
			at := r.at
			r.endEntry()
			r.at = at
		}
		r.field = "loc"
	case e.name == "link" && e.vocabulary == ofRSS:
		r.field = "loc"
	case e.name == "guid" && !strings.EqualFold(valueOf(attributes, "ispermalink"), "false"):
		r.field = "guid"
	case e.name == "lastmod" || e.name == "updated" || e.name == "modified" || e.name == "pubdate" || e.name == "published":
		r.field = "lastmod"
	}
}

// atomLink reads an Atom link, of an entry or in RSS.
func (r *xmlReader) atomLink(e *element, attributes []attribute) {
	rel := strings.ToLower(strings.TrimPrefix(valueOf(attributes, "rel"), "http://www.iana.org/assignments/relation/"))
	if rel != "" && rel != "alternate" {
		return
	}
	u := absolute(e.base, valueOf(attributes, "href"))
	kind := valueOf(attributes, "type")
	if r.vocabulary == ofAtom && (kind == "" || strings.Contains(strings.ToLower(kind), "html")) {
		first(&r.entry.link, u)
	}
	first(&r.entry.other, u)
}

func valueOf(attributes []attribute, name string) string {
	for _, a := range attributes {
		if a.name == name {
			return a.value
		}
	}
	return ""
}

func (r *xmlReader) endTag(name string) {
	if r.inLoc > 0 && entryNames[name] == ofSitemap {
		r.inLoc--
		return
	}
	for i := len(r.open) - 1; i > 0; i-- {
		if r.open[i].name == name {
			r.close(i)
			return
		}
	}
}

func (r *xmlReader) close(i int) {
	if r.at >= 0 && i <= r.at+1 && len(r.open) > r.at+1 {
		r.endField()
	}
	if i <= r.at {
		r.endEntry()
	}
	r.open = r.open[:i]
}

func (r *xmlReader) endField() {
	text, base := strings.TrimSpace(r.text.String()), r.open[min(r.at+1, len(r.open)-1)].base
	switch r.field {
	case "loc":
		first(&r.entry.link, absolute(base, text))
	case "guid":
		first(&r.entry.guid, absolute(base, text))
	case "lastmod":
		first(&r.entry.modified, text)
	}
	r.field, r.inLoc = "", 0
	r.text.Reset()
}

func (r *xmlReader) endEntry() {
	if r.at < 0 {
		return
	}
	r.endField()
	e := r.entry
	first(&e.link, e.guid)
	first(&e.link, e.other)
	first(&e.link, absolute(r.open[r.at].base, e.about))
	if r.open[r.at].vocabulary == ofSitemap && usable(e.text) {
		first(&e.link, e.text)
	}
	r.out.put(SitemapEntry{Announced{e.link, parseTime(e.modified)}, r.open[r.at].name == "sitemap"})
	r.entry, r.at = found{}, -1
}

func first(to *string, value string) {
	if *to == "" {
		*to = value
	}
}

// add collects text, which may come in pieces, up to a limit.
func (r *xmlReader) add(raw []byte) {
	if r.at >= 0 && len(r.open) == r.at+1 && len(raw) <= maxURL {
		first(&r.entry.text, strings.TrimSpace(string(unescape(raw))))
	}
	if r.field == "" || len(r.open) != r.at+2 {
		return
	}
	room := maxURL + 1 - r.text.Len()
	if room <= 0 {
		return
	}
	text, verbatim := bytes.CutPrefix(raw, []byte("<![CDATA["))
	if verbatim {
		text = bytes.TrimSuffix(text, []byte("]]>"))
	} else {
		text = unescape(text)
	}
	r.text.Write(text[:min(room, len(text))])
}

var reference = regexp.MustCompile(`&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});`)

// unescape replaces only references with a semicolon; HTML would find © in ?a=1&copy=2.
func unescape(text []byte) []byte {
	if !bytes.ContainsRune(text, '&') {
		return text
	}
	return reference.ReplaceAllFunc(text, func(m []byte) []byte { return []byte(html.UnescapeString(string(m))) })
}

func resolve(base *url.URL, ref string) *url.URL {
	u, err := url.Parse(strings.TrimSpace(ref))
	if err != nil {
		return nil
	}
	if base != nil {
		u = base.ResolveReference(u)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil
	}
	return u
}

// absolute returns a URL as written or resolved, or "". A leading & is an undefined entity.
func absolute(base *url.URL, ref string) string {
	ref = strings.TrimSpace(ref)
	if ref == "" || ref[0] == '&' || len(ref) > maxURL {
		return ""
	}
	if usable(ref) {
		return ref
	}
	if u := resolve(base, ref); u != nil {
		return u.String()
	}
	return ""
}
