package document

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"golang.org/x/net/html"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/ianaindex"
)

// maxMarks bounds the marks of quotes and lists at the beginning of a line of Markdown.
const maxMarks = 200

// readMarkdown reads Markdown with tables and links as GitHub has them. Raw HTML is left out.
func readMarkdown(_ context.Context, body []byte, w *writer) error {
	if len(body) > maxHTML {
		return fmt.Errorf("%w: Markdown of over %d MiB", ErrTooBig, maxHTML>>20)
	}
	for line := range bytes.Lines(body) { // quotes within quotes cost the square of their number
		if marks := len(line) - len(bytes.TrimLeft(line, "> \t*+-")); marks > maxMarks {
			return fmt.Errorf("%w: a line of Markdown with over %d marks", ErrTooBig, maxMarks)
		}
	}
	body = bytes.ToValidUTF8(body, []byte("\uFFFD"))
	var made bytes.Buffer
	if err := goldmark.New(goldmark.WithExtensions(extension.GFM)).Convert(bytes.TrimPrefix(body, []byte("\xEF\xBB\xBF")), &made); err != nil {
		return err
	}
	w.markup(bytes.NewReader(made.Bytes()), true)
	return nil
}

// kept are the elements of HTML that documents may bring, beside links.
var kept = map[string]bool{
	"h1": true, "h2": true, "h3": true, "h4": true, "h5": true, "h6": true, "p": true, "ul": true, "ol": true, "li": true, "br": true,
	"table": true, "tr": true, "td": true, "th": true, "thead": true, "tbody": true, "blockquote": true, "pre": true, "code": true,
	"em": true, "strong": true, "b": true, "i": true, "dl": true, "dt": true, "dd": true, "div": true, "section": true, "hr": true,
}

// markup adds the HTML of a part: text, the elements of kept, and links to other hosts, or all
// links if relative. The first heading is the document's title if it has none.
func (w *writer) markup(r io.Reader, relative bool) {
	w.end()
	z := html.NewTokenizer(io.LimitReader(r, maxHTML))
	z.SetMaxBuf(maxHTML)
	var title strings.Builder
	inTitle := false
	for skipped := ""; ; {
		if w.full = w.full || w.body.Len() > maxHTML; w.full {
			return
		}
		kind := z.Next()
		if kind == html.ErrorToken {
			return
		}
		t := z.Token()
		switch {
		case skipped != "":
			if kind == html.EndTagToken && t.Data == skipped {
				skipped = ""
			}
		case kind == html.TextToken:
			w.body.WriteString(html.EscapeString(t.Data))
			w.hasText = w.hasText || strings.TrimSpace(t.Data) != ""
			if inTitle {
				title.WriteString(t.Data)
			}
		case kind == html.StartTagToken && (t.Data == "script" || t.Data == "style" || t.Data == "title" || t.Data == "svg"):
			skipped = t.Data
		case t.Data == "a" && kind == html.StartTagToken:
			to := ""
			for _, a := range t.Attr {
				if a.Key == "href" && (absolute(a.Val) || relative && relativeLink(a.Val)) {
					to = a.Val
				}
			}
			if w.linkClose(); to != "" {
				w.body.WriteString(`<a href="` + html.EscapeString(to) + `">`)
				w.linked = true
			}
		case t.Data == "a":
			w.linkClose()
		case kept[t.Data] && kind == html.EndTagToken:
			w.body.WriteString("</" + t.Data + ">\n")
			if inTitle = false; w.title == "" {
				w.title = strings.TrimSpace(title.String())
			}
		case kept[t.Data]:
			w.body.WriteString("<" + t.Data + ">")
			inTitle = w.title == "" && (t.Data == "h1" || t.Data == "h2")
		}
	}
}

func relativeLink(link string) bool {
	u, err := url.Parse(link)
	return err == nil && u.Scheme == ""
}

// readBook reads the chapters of an EPUB in the order of its spine. Links between chapters are
// left out, because they lead nowhere on the web.
func readBook(ctx context.Context, body []byte, w *writer) error {
	a, err := openArchive(body)
	if err != nil {
		return err
	}
	if a.has("META-INF/encryption.xml") && a.has("META-INF/rights.xml") {
		return ErrLocked
	}
	main := ""
	if err := a.walk(ctx, "META-INF/container.xml", func(e *element) error {
		if e.name == "rootfile" && main == "" {
			main = e.attr("full-path")
		}
		return nil
	}); err != nil {
		return err
	}
	parts, order, core := map[string]string{}, []string(nil), w.dublinCore()
	if err := a.walk(ctx, main, func(e *element) error {
		switch {
		case e.end || e.text != "":
		case e.name == "item" && (e.attr("media-type") == "application/xhtml+xml" || e.attr("media-type") == "text/html"):
			href, err := url.PathUnescape(e.attr("href"))
			if err == nil && e.attr("properties") != "nav" {
				parts[e.attr("id")] = path.Join(path.Dir(main), href)
			}
		case e.name == "itemref" && len(order) < maxPages:
			order = append(order, e.attr("idref"))
		}
		return core(e)
	}); err != nil {
		return err
	}
	for _, id := range order {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !a.has(parts[id]) {
			continue
		}
		r, err := a.open(parts[id])
		if err != nil {
			return err
		}
		text, err := io.ReadAll(r)
		_ = r.Close() // only read from
		if errors.Is(err, ErrTooBig) {
			return err
		}
		if err != nil {
			return fmt.Errorf("%w: %v", ErrDamaged, err)
		}
		w.markup(bytes.NewReader(text), false)
	}
	return nil
}

// readFeed reads a feed (RSS, Atom), or any XML, as a list of what it says: the title of each
// item with its link, and its text. XML that has no text is ErrNoText.
func readFeed(ctx context.Context, body []byte, w *writer) error {
	r := feedReader{w: w}
	return walkXML(ctx, bytes.NewReader(body), r.element)
}

// feedReader keeps the state of one pass over a feed.
type feedReader struct {
	w           *writer
	path        []string // open elements
	text        strings.Builder
	title, link string // of the entry
	entries     int
	markup      int // depth of an element of XHTML, whose text is gathered
}

func (r *feedReader) element(e *element) error {
	switch {
	case e.text != "":
		if r.text.Len() < maxHTML {
			r.text.WriteString(e.text)
		}
		return nil
	case !e.end:
		return r.start(e)
	}
	if len(r.path) > 0 {
		defer func() { r.path = r.path[:len(r.path)-1] }()
	}
	if r.markup > 0 && len(r.path) > r.markup {
		r.text.WriteString(" ")
		return nil
	}
	said := strings.TrimSpace(r.text.String())
	if r.text.Reset(); r.markup > 0 {
		r.markup, said = 0, html.EscapeString(said)
	}
	r.end(e.name, said)
	return nil
}

func (r *feedReader) start(e *element) error {
	if r.path = append(r.path, e.name); len(r.path) > 1000 {
		return ErrTooBig
	}
	if r.markup > 0 {
		r.text.WriteString(" ")
		return nil
	}
	r.text.Reset()
	if e.attr("type") == "xhtml" {
		r.markup = len(r.path)
	}
	switch e.name {
	case "item", "entry":
		r.entries, r.title, r.link = r.entries+1, "", ""
	case "link":
		if rel := e.attr("rel"); e.attr("href") != "" && (rel == "" || rel == "alternate") {
			r.link = e.attr("href")
		}
	}
	return nil
}

// end takes what an element said.
func (r *feedReader) end(name, said string) {
	w := r.w
	switch {
	case name == "title" && r.entries == 0 && w.title == "":
		w.title = said
	case name == "title":
		r.title = said
		w.heading(2)
		w.text(plain(said))
	case name == "language" && w.lang == "":
		w.lang = said
	case name == "link" && said != "":
		r.link = said
	case name == "description", name == "summary", name == "content", name == "encoded", name == "subtitle":
		w.markup(strings.NewReader(said), false)
	case name == "item", name == "entry":
		if r.link != "" {
			w.block("p")
			w.link(r.link, plain(r.title))
			w.end()
		}
	case r.entries == 0 && len(said) > 0 && !machineRead[name]:
		w.block("p")
		w.text(said)
		w.end()
	}
}

// machineRead are elements of feeds that hold no text for readers.
var machineRead = map[string]bool{"id": true, "guid": true, "pubDate": true, "updated": true, "published": true, "lastBuildDate": true, "generator": true, "docs": true, "url": true, "ttl": true, "loc": true, "lastmod": true, "changefreq": true, "priority": true}

// plain returns a text without the HTML that feeds put into titles.
func plain(s string) string {
	if !strings.ContainsAny(s, "<&") {
		return s
	}
	var b strings.Builder
	for z := html.NewTokenizer(strings.NewReader(s)); ; {
		switch z.Next() {
		case html.ErrorToken:
			return b.String()
		case html.TextToken:
			b.Write(z.Text())
		}
	}
}

// readRichText reads RTF 1.9: paragraphs, characters in the code page of the document, metadata,
// and links of fields. Groups that are no text (fonts, colours, pictures) are left out.
func readRichText(ctx context.Context, body []byte, w *writer) error {
	if !bytes.HasPrefix(body, []byte(`{\rtf`)) {
		return ErrDamaged
	}
	r := richText{b: body, w: w, page: charmap.Windows1252, state: richState{skip: 1}}
	return r.read(ctx)
}

type richText struct {
	b     []byte
	at    int
	w     *writer
	page  *charmap.Charmap
	state richState
	stack []richState
	left  int // characters to leave out after \u
}

// richState is what a group inherits and gives back.
type richState struct {
	skip    int              // characters that stand for one \u
	ignored bool             // no text
	into    *strings.Builder // metadata or a field's instruction; nil for the text
	close   func(string)
}

// ignoredGroups are destinations that hold no text of the document.
var ignoredGroups = map[string]bool{"fonttbl": true, "colortbl": true, "stylesheet": true, "pict": true, "object": true, "header": true, "footer": true, "headerl": true, "headerr": true, "headerf": true, "footerl": true, "footerr": true, "footerf": true, "listtable": true, "listoverridetable": true, "rsidtbl": true, "generator": true, "themedata": true, "datastore": true, "latentstyles": true, "xmlnstbl": true, "filetbl": true, "revtbl": true}

func (r *richText) read(ctx context.Context) error {
	for n := 0; r.at < len(r.b); n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		switch c := r.b[r.at]; c {
		case '{':
			if r.at++; len(r.stack) > 10_000 {
				return ErrTooBig
			}
			r.stack = append(r.stack, r.state)
			r.state.close = nil
		case '}':
			r.at++
			if r.state.close != nil {
				said := ""
				if r.state.into != nil {
					said = strings.TrimSpace(r.state.into.String())
				}
				r.state.close(said)
			}
			if len(r.stack) == 0 {
				return nil
			}
			r.state, r.stack = r.stack[len(r.stack)-1], r.stack[:len(r.stack)-1]
		case '\\':
			r.control()
		case '\r', '\n':
			r.at++
		default:
			r.at++
			r.write(r.decode(c))
		}
	}
	return nil
}

func (r *richText) decode(c byte) string { return string(r.page.DecodeByte(c)) }

func (r *richText) write(s string) {
	switch {
	case r.left > 0:
		r.left--
	case r.state.ignored:
	case r.state.into != nil:
		if r.state.into.Len() < 1<<16 {
			r.state.into.WriteString(s)
		}
	default:
		r.w.text(s)
	}
}

// control reads a control word or symbol.
func (r *richText) control() {
	if r.at++; r.at >= len(r.b) {
		return
	}
	c := r.b[r.at]
	if c < 'a' || c > 'z' {
		r.at++
		r.symbol(c)
		return
	}
	from := r.at
	for r.at < len(r.b) && (r.b[r.at] >= 'a' && r.b[r.at] <= 'z' || r.b[r.at] >= 'A' && r.b[r.at] <= 'Z') {
		r.at++
	}
	word, digits := string(r.b[from:r.at]), r.at
	for r.at < len(r.b) && (r.b[r.at] >= '0' && r.b[r.at] <= '9' || r.b[r.at] == '-' && r.at == digits) {
		r.at++
	}
	n, err := strconv.Atoi(string(r.b[digits:r.at]))
	if r.at < len(r.b) && r.b[r.at] == ' ' {
		r.at++
	}
	r.word(word, n, err == nil)
}

func (r *richText) symbol(c byte) {
	switch c {
	case '\'':
		if r.at+2 <= len(r.b) {
			var b [1]byte
			if _, err := hex.Decode(b[:], r.b[r.at:r.at+2]); err == nil {
				r.at += 2
				r.write(r.decode(b[0]))
			}
		}
	case '*': // a destination that a reader may leave out
		if !bytes.HasPrefix(r.b[r.at:], []byte(`\fldinst`)) {
			r.state.ignored = true
		}
	case '~':
		r.write("\u00A0")
	case '_':
		r.write("-")
	case '\\', '{', '}':
		r.write(string(rune(c)))
	}
}

func (r *richText) word(word string, n int, has bool) {
	switch word {
	case "par", "sect", "page", "row":
		if !r.state.ignored && r.state.into == nil {
			r.w.end()
		}
	case "line", "tab", "cell":
		r.write(" ")
	case "emdash":
		r.write("—")
	case "endash":
		r.write("–")
	case "lquote", "rquote":
		r.write("'")
	case "ldblquote", "rdblquote":
		r.write(`"`)
	case "bullet":
		r.write("•")
	case "u":
		if has {
			r.left = 0
			r.write(string(rune(uint16(n))))
			r.left = r.state.skip
		}
	case "uc":
		r.state.skip = min(max(n, 0), 8)
	case "ansicpg":
		if e, err := ianaindex.IANA.Encoding("windows-" + strconv.Itoa(n)); err == nil {
			if page, ok := e.(*charmap.Charmap); ok {
				r.page = page
			}
		}
	case "bin":
		r.at += min(max(n, 0), len(r.b)-r.at)
	case "title":
		r.collect(func(s string) { r.w.title = s })
	case "author":
		r.collect(func(s string) { r.w.author = s })
	case "fldinst":
		r.collect(func(s string) {
			if m := fieldLink.FindStringSubmatch(s); m != nil {
				r.w.linkOpen(m[1])
			}
		})
	case "fldrslt":
		r.state.close, r.state.into = func(string) { r.w.linkClose() }, nil
	case "info", "field":
		if word == "info" {
			r.state.ignored = true
		}
	default:
		if ignoredGroups[word] {
			r.state.ignored = true
		}
	}
}

// collect gathers the text of this group for a function instead of the document.
func (r *richText) collect(to func(string)) {
	r.state.ignored, r.state.into, r.state.close = false, &strings.Builder{}, to
}
