package datasets

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"fossick/internal/page"
)

// Example is one row of a labelled set or one page of a corpus.
type Example struct {
	URL    string
	Label  string   // "" when the row has none
	Labels []string // all labels, Label first; may be finer or coarser ones
	Site   string   // what the corpus calls the page's site; "" when it says nothing
	Split  string   // "train", "test" or ""
	Title  string   // as the row says; a page's own title is in Page().Title
	HTML   string   // markup, or
	Text   string   // plain text when there is no markup
	File   string   // set or file that the row came from
	Line   int      // line in it, from 1, or record of an archive; 0 when it has no lines

	// Charset is the encoding in which a web server sends the page, "" for
	// UTF-8. HTML and Text are UTF-8 here, whatever it says.
	Charset string

	// Fields holds the row's other string fields, for --where.
	Fields map[string]string
}

// SiteOrURL returns the example's site, or else that of its URL; "" where the URL is
// made up or there is none.
func (e *Example) SiteOrURL() string {
	if e.Site != "" {
		return e.Site
	}
	if site := page.Site(e.URL); !strings.HasSuffix(site, madeUpHost) {
		return site
	}
	return ""
}

// madeUpHost ends the hosts of pages whose set gives them no URL; no real one ends so.
const madeUpHost = ".example"

// MaxPageBytes is how much of a body Page reads: as much as a crawl, and so a model,
// sees of a page.
const MaxPageBytes = 4 << 20

// Page parses the example, the first MaxPageBytes of it. The charset that its markup declares is not believed:
// the row was decoded before. A text row's title is the row's. Sets hold pages
// that came by ftp: and file: too; such a page keeps its URL and has only the
// links that are absolute.
func (e *Example) Page() (*page.Page, error) {
	body, contentType := e.HTML, "text/html; charset=utf-8"
	if body == "" {
		body, contentType = e.Text, "text/plain; charset=utf-8"
	}
	if n := MaxPageBytes; len(body) > n {
		for n > 0 && !utf8.RuneStart(body[n]) {
			n--
		}
		body = body[:n]
	}
	p, err := page.Parse([]byte(body), page.ParseOptions{URL: e.URL, ContentType: contentType})
	if errors.Is(err, page.ErrScheme) || errors.Is(err, page.ErrURL) || errors.Is(err, page.ErrTooLong) {
		if p, err = page.Parse([]byte(body), page.ParseOptions{ContentType: contentType}); err == nil {
			p.URL = e.URL
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: page %s: %w", e.where(), e.URL, err)
	}
	if p.Title == "" {
		p.Title = e.Title
	}
	return p, nil
}

// Matches reports whether label is the example's label or one of its others.
func (e *Example) Matches(label string) bool {
	return Labels{e.Label, e.Labels}.Match(label)
}

// sum identifies the body, to the byte. 16 bytes of SHA-256 keep chance
// collisions out of the counts of duplicates.
func (e *Example) sum() (s [16]byte) {
	h := sha256.New()
	h.Write([]byte(e.HTML))
	h.Write([]byte{0})
	h.Write([]byte(e.Text))
	copy(s[:], h.Sum(nil))
	return s
}

// where names the example's place for messages.
func (e *Example) where() string {
	if e.Line == 0 {
		return e.File
	}
	return fmt.Sprintf("%s:%d", e.File, e.Line)
}

// Labelled returns a copy of a row under another label: the set may hand out its own
// memory.
func (e *Example) Labelled(label string, labels ...string) *Example {
	own := *e
	own.Label, own.Labels = label, labels
	return &own
}
