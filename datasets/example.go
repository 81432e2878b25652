package datasets

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"fossick/internal/cli"
	"fossick/internal/page"
)

// Example is one row of a labelled set or one page of a corpus.
type Example struct {
	URL    string
	Label  string   // "" if the row has none
	Labels []string // all labels, Label first; possibly finer or coarser ones
	Site   string   // the page's site as the corpus names it; "" if unknown
	Split  string   // "train", "test" or ""
	Title  string   // the row's title field; Page().Title is the page's own
	HTML   string   // markup, or empty
	Text   string   // plain text if there is no markup
	File   string   // set or file that the row came from
	Line   int      // line from 1, or record number in an archive; 0 if the file has no lines

	// Charset is the encoding in which a web server sends the page; "" means UTF-8. HTML and Text
	// are UTF-8 regardless.
	Charset string

	// Fields holds the row's other string fields; --where filters on them.
	Fields map[string]string
}

// SiteOrURL returns the example's site, or else the site of its URL. It returns "" if the URL is
// missing or made up.
func (e *Example) SiteOrURL() string {
	if e.Site != "" {
		return e.Site
	}
	if site := page.Site(e.URL); !strings.HasSuffix(site, madeUpHost) {
		return site
	}
	return ""
}

// madeUpHost is the host suffix of invented URLs; the TLD is reserved, so no real host has it.
const madeUpHost = ".example"

// MaxPageBytes is how much of a body Page parses. It matches the crawler's limit.
const MaxPageBytes = 4 << 20

// Page parses the first MaxPageBytes of the example. It ignores the charset that the markup declares,
// because the row is already decoded.
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

// Matches reports whether label is one of the example's labels.
func (e *Example) Matches(label string) bool {
	return Labels{e.Label, e.Labels}.Match(label)
}

// sum hashes the body. 16 bytes of SHA-256 keep collisions out of the duplicate counts.
func (e *Example) sum() (s [16]byte) {
	h := sha256.New()
	h.Write([]byte(e.HTML))
	h.Write([]byte{0})
	h.Write([]byte(e.Text))
	copy(s[:], h.Sum(nil))
	return s
}

func (e *Example) where() string {
	if e.Line == 0 {
		return e.File
	}
	return fmt.Sprintf("%s:%d", e.File, e.Line)
}

// Labelled returns a copy of e with other labels. It copies because sets may share their rows.
func (e *Example) Labelled(label string, labels ...string) *Example {
	own := *e
	own.Label, own.Labels = label, labels
	return &own
}

// parseRow reads one line of JSONL: url, html, text, label, labels (strings, numbers or booleans),
// title, site and split. Other strings go into Fields; other values are ignored.
func parseRow(line []byte) (*Example, error) {
	e := &Example{}
	var html, body bool // whether "html" and "text" are present as strings
	err := eachMember(line, func(name string, value jsontext.Value) error {
		if value.Kind() != '"' {
			return e.other(name, value)
		}
		html, body = html || name == "html", body || name == "text"
		if name == "labels" {
			return errors.New(`field "labels" is a string; want an array of strings`)
		}
		v := text(value)
		if dst := e.known(name); dst != nil {
			*dst = v
			return nil
		}
		if e.Fields == nil {
			e.Fields = map[string]string{}
		}
		e.Fields[name] = v
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case e.URL == "":
		return nil, errors.New(`no "url"; each line needs one, as the page's name`)
	case !html && !body:
		return nil, fmt.Errorf(`page %s has neither "html" nor "text"`, e.URL)
	}
	e.tidyLabels()
	return e, nil
}

// other reads a member that is not a string. Null counts as absent.
func (e *Example) other(name string, v jsontext.Value) error {
	switch {
	case v.Kind() == 'n':
		return nil
	case name == "labels":
		var all []json.RawMessage
		if json.Unmarshal(v, &all) != nil {
			return fmt.Errorf("field \"labels\" is %s; want an array of strings", kind(v))
		}
		e.Labels = nil
		for _, one := range all {
			label, ok := labelOf(one)
			if !ok {
				return fmt.Errorf("field \"labels\" has %s in it; want an array of strings", kind(one))
			}
			e.Labels = append(e.Labels, label)
		}
	case name == "label":
		label, ok := labelOf(v)
		if !ok {
			return fmt.Errorf("field %q is %s; want a string, a number or a boolean", name, kind(v))
		}
		e.Label = label
	case e.known(name) != nil:
		return fmt.Errorf("field %q is %s; want a string", name, kind(v))
	}
	return nil
}

// labelOf converts a JSON value to a label; whole numbers lose their fraction, so 1.0 becomes "1".
func labelOf(v []byte) (label string, ok bool) {
	switch kind(v) {
	case "a string":
		return label, json.Unmarshal(v, &label) == nil
	case "null":
		return "", true
	case "a boolean":
		return string(v), true
	case "a number":
		const exact = 1 << 53 // float64 represents every smaller integer exactly
		if x, err := strconv.ParseFloat(string(v), 64); err == nil && math.Abs(x) < exact && x == math.Trunc(x) {
			return strconv.FormatInt(int64(x), 10), true
		}
		return string(v), true
	}
	return "", false
}

// known returns the struct field for a JSONL name, or nil if the name belongs in Fields.
func (e *Example) known(name string) *string {
	switch name {
	case "url":
		return &e.URL
	case "label":
		return &e.Label
	case "title":
		return &e.Title
	case "site":
		return &e.Site
	case "split":
		return &e.Split
	case "html":
		return &e.HTML
	case "text":
		return &e.Text
	}
	return nil
}

func (e *Example) tidyLabels() {
	e.Labels = slices.DeleteFunc(e.Labels, func(l string) bool { return l == "" })
	switch {
	case e.Label == "" && len(e.Labels) > 0:
		e.Label = e.Labels[0]
	case e.Label != "" && (len(e.Labels) == 0 || e.Labels[0] != e.Label):
		others := slices.DeleteFunc(e.Labels, func(l string) bool { return l == e.Label })
		e.Labels = append([]string{e.Label}, others...)
	}
}

func kind(v []byte) string {
	switch v[0] {
	case '"':
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "an array"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// condition keeps the rows whose field equals a value.
type condition struct {
	Field string // url, label, labels, site, split, title, file, or a key of Fields
	Value string // compared exactly; for labels, any one may match
}

// ParseWhere parses "field=value". The value may be empty and may contain "=".
func ParseWhere(s string) (condition, error) {
	field, value, ok := strings.Cut(s, "=")
	if !ok || field == "" {
		return condition{}, fmt.Errorf("filter %q: want field=value, as in site=cornell", s)
	}
	return condition{field, value}, nil
}

// match reports whether e passes, and whether it has the field.
func (w condition) match(e *Example) (pass, has bool) {
	if w.Field == "labels" {
		return e.Matches(w.Value), len(e.Labels) > 0
	}
	v, ok := e.field(w.Field)
	return ok && v == w.Value, ok
}

func (e *Example) field(name string) (string, bool) {
	if known := e.known(name); known != nil && name != "html" && name != "text" {
		return *known, true
	}
	v, ok := e.Fields[name]
	if !ok && name == "file" {
		return e.File, true
	}
	return v, ok
}

// filter applies options to the rows of one pass. It records whether the requested fields and labels
// occur, because a misspelt one would otherwise look like an empty set.
type filter struct {
	opt    Options
	labels map[string]bool // requested labels; true once a row has it
	others map[string]bool // labels seen but not requested
	missed []bool          // per condition: no row has had the field yet
	fields map[string]bool // keys of Fields seen
}

func newFilter(opt Options) *filter {
	f := &filter{opt: opt, missed: make([]bool, len(opt.Where)), fields: map[string]bool{}}
	for i := range f.missed {
		f.missed[i] = true
	}
	if len(opt.Labels) > 0 {
		f.labels, f.others = map[string]bool{}, map[string]bool{}
		for _, l := range opt.Labels {
			f.labels[l] = false
		}
	}
	return f
}

func (f *filter) keep(e *Example) bool {
	pass := true
	if f.labels != nil {
		if _, pass = f.labels[e.Label]; pass {
			f.labels[e.Label] = true
		} else if e.Label != "" {
			f.others[e.Label] = true
		}
	}
	for i, w := range f.opt.Where {
		ok, has := w.match(e)
		pass = pass && ok
		if has {
			f.missed[i] = false
		} else if f.missed[i] {
			for name := range e.Fields {
				f.fields[name] = true
			}
		}
	}
	return pass
}

func (f *filter) err(name string, rows int) error {
	for _, l := range f.opt.Labels {
		if rows > 0 && !f.labels[l] {
			return fmt.Errorf("set %s: no row has the label %q; the other labels are %s", name, l, cli.SomeNames(l, cli.SortedKeys(f.others)))
		}
	}
	for i, w := range f.opt.Where {
		if rows > 0 && f.missed[i] {
			known := append([]string{"url", "label", "labels", "site", "split", "title", "file"},
				cli.SortedKeys(f.fields)...)
			return fmt.Errorf("set %s: no row has a field %q; filter by one of %s", name, w.Field, cli.SomeNames(w.Field, known))
		}
	}
	return nil
}

// Key returns the normal form of an http or https URL under which a corpus page is looked up. It keeps
// all query parameters, because pages may differ only in one that a crawler drops.
func Key(raw string) (string, error) {
	var n page.Normalizer // zero value: drops no parameter
	return n.Normalize(raw)
}

// URLKey returns the form in which truth and crawl URLs are compared: the normal form, or the raw URL
// where there is none, since real corpora contain ftp:, file: and malformed URLs.
func URLKey(raw string) string {
	if n, err := page.Normalize(raw); err == nil {
		return n
	}
	return raw
}

// Labels are the true labels of one page.
type Labels struct {
	Label string
	All   []string // finer, coarser or additional labels; may repeat Label or be empty
}

// Match reports whether label is one of the page's labels.
func (l Labels) Match(label string) bool {
	return label != "" && (l.Label == label || slices.Contains(l.All, label))
}

// Truth maps a corpus's URLs to labels. It compares URLs in normal form, so spelling differences in a
// crawl do not matter.
type Truth struct {
	byURL map[string]Labels

	// Repeated counts rows whose URL occurred before. Such a page keeps its first label, and later
	// labels are added to All.
	Repeated int
}

// Len returns the number of labelled pages.
func (t *Truth) Len() int { return len(t.byURL) }

// Of returns the labels of a page, or false if the page is unknown.
func (t *Truth) Of(url string) (Labels, bool) {
	l, ok := t.byURL[URLKey(url)]
	return l, ok
}

// Targets returns the normal forms of the pages that match label, sorted.
func (t *Truth) Targets(label string) []string {
	var urls []string
	for u, l := range t.byURL {
		if l.Match(label) {
			urls = append(urls, u)
		}
	}
	slices.Sort(urls)
	return urls
}

func (t *Truth) names() map[string]int {
	n := map[string]int{}
	for _, l := range t.byURL {
		seen := map[string]bool{}
		for _, name := range append([]string{l.Label}, l.All...) {
			if name != "" && !seen[name] {
				seen[name] = true
				n[name]++
			}
		}
	}
	return n
}

// Known returns an error listing the available labels if label matches no page. A misspelt target
// must not look like a crawl that found nothing.
func (t *Truth) Known(label string) error {
	names := t.names()
	if names[label] > 0 {
		return nil
	}
	return fmt.Errorf("label %q matches no page of the truth; it has %s", label, cli.SomeNames(label, cli.SortedKeys(names)))
}

func (t *Truth) add(url string, l Labels) {
	key := URLKey(url)
	old, again := t.byURL[key]
	if !again {
		t.byURL[key] = l
		return
	}
	t.Repeated++
	for _, name := range append([]string{l.Label}, l.All...) {
		if !old.Match(name) {
			old.All = append(old.All, name)
		}
	}
	t.byURL[key] = old
}

// ReadTruth reads lines of url TAB label TAB label|label…; the third column is optional. It
// decompresses .gz and .zst, and skips empty lines and # comments.
func ReadTruth(path string) (*Truth, error) {
	if info, err := os.Stat(path); err != nil || info.IsDir() {
		return nil, fmt.Errorf("truth %s: no such file; give a file with url TAB label a line", path)
	}
	t := &Truth{byURL: map[string]Labels{}}
	var first error
	eachLine(path, func(n int, line []byte, err error) bool {
		if err != nil {
			first = broken(path, n, err)
			return false
		}
		if skipLine(line) {
			return true
		}
		url, l, err := parseTruth(string(line))
		if err != nil {
			first = &RowError{path, n, err}
			return false
		}
		t.add(url, l)
		return true
	})
	if first != nil {
		return nil, fmt.Errorf("truth: %w", first)
	}
	if t.Len() == 0 {
		return nil, fmt.Errorf("truth %s: no rows; want url TAB label a line", path)
	}
	return t, nil
}

func parseTruth(line string) (url string, l Labels, err error) {
	cols := strings.Split(line, "\t")
	if len(cols) < 2 || len(cols) > 3 {
		return "", l, fmt.Errorf("%d columns; want url TAB label, or url TAB label TAB label|label", len(cols))
	}
	url, l.Label = strings.TrimSpace(cols[0]), strings.TrimSpace(cols[1])
	if url == "" {
		return "", l, errors.New("no URL before the first tab; want url TAB label")
	}
	if l.Label == "" {
		return "", l, fmt.Errorf("no label for %s; write one, say other", url)
	}
	if len(cols) == 3 {
		for name := range strings.SplitSeq(cols[2], "|") {
			if name = strings.TrimSpace(name); name != "" {
				l.All = append(l.All, name)
			}
		}
	}
	return url, l, nil
}

// skipLine reports whether a line of a TSV file is blank or a comment.
func skipLine(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) == 0 || line[0] == '#'
}
