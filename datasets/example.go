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

	"fossick/internal/page"
	"fossick/internal/printable"
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

	// Charset is the encoding in which a web server sends the page, "" for UTF-8. HTML and Text are
	// UTF-8 here, whatever it says.
	Charset string

	// Fields holds the row's other string fields, for --where.
	Fields map[string]string
}

// SiteOrURL returns the example's site, or else that of its URL; "" where the URL is made up or there
// is none.
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

// MaxPageBytes is how much of a body Page reads: as much as a crawl, and so a model, sees of a page.
const MaxPageBytes = 4 << 20

// Page parses the example, the first MaxPageBytes of it. The charset that its markup declares is not
// believed: the row was decoded before.
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

// sum identifies the body, to the byte. 16 bytes of SHA-256 keep chance collisions out of the counts of
// duplicates.
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

// Labelled returns a copy of a row under another label: the set may hand out its own memory.
func (e *Example) Labelled(label string, labels ...string) *Example {
	own := *e
	own.Label, own.Labels = label, labels
	return &own
}

// parseRow reads one line of JSONL. Known fields are url, html, text, label, labels (strings, numbers
// or booleans), title, site and split; other strings go into Fields, and what is neither string nor
// labels is passed over.
func parseRow(line []byte) (*Example, error) {
	e := &Example{}
	var html, body bool // "html" and "text" are there, as strings
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

// other reads a member that is no string: labels; null, which is as good as none; or what is passed
// over.
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

// labelOf returns a label: a string as it is, a number or a boolean as people write it: 1.0 is "1".
func labelOf(v []byte) (label string, ok bool) {
	switch kind(v) {
	case "a string":
		return label, json.Unmarshal(v, &label) == nil
	case "null":
		return "", true
	case "a boolean":
		return string(v), true
	case "a number":
		const exact = 1 << 53 // a float64 has every integer below
		if x, err := strconv.ParseFloat(string(v), 64); err == nil && math.Abs(x) < exact && x == math.Trunc(x) {
			return strconv.FormatInt(int64(x), 10), true
		}
		return string(v), true
	}
	return "", false
}

// known returns where a field of this name belongs, nil for the row's own.
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

// tidyLabels makes Label the first of Labels, and Labels non-empty if there is a label at all.
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

// kind names what a JSON value is, for messages.
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

// Where keeps the rows whose field has a value.
type Where struct {
	Field string // url, label, labels, site, split, title, file, or a field of the row's own
	Value string // compared as it stands; with labels, one of them
}

// ParseWhere reads "field=value". The value may be empty and may hold "=".
func ParseWhere(s string) (Where, error) {
	field, value, ok := strings.Cut(s, "=")
	if !ok || field == "" {
		return Where{}, fmt.Errorf("filter %q: want field=value, as in site=cornell", s)
	}
	return Where{field, value}, nil
}

// match reports whether e passes, and whether it has the field at all.
func (w Where) match(e *Example) (pass, has bool) {
	if w.Field == "labels" {
		return e.Matches(w.Value), len(e.Labels) > 0
	}
	v, ok := e.field(w.Field)
	return ok && v == w.Value, ok
}

// field returns a string field of the row by its name in JSONL.
func (e *Example) field(name string) (string, bool) {
	switch name {
	case "url":
		return e.URL, true
	case "label":
		return e.Label, true
	case "site":
		return e.Site, true
	case "split":
		return e.Split, true
	case "title":
		return e.Title, true
	case "file":
		if v, ok := e.Fields["file"]; ok {
			return v, true
		}
		return e.File, true
	}
	v, ok := e.Fields[name]
	return v, ok
}

// filter applies options to the rows of one pass, and remembers whether the fields it was asked about
// exist. A filter on a misspelt field keeps nothing, and that must not look like an empty set.
type filter struct {
	opt    Options
	labels map[string]bool // asked for; true once a row had it
	others map[string]bool // labels that rows had and nobody asked for
	missed []bool          // by condition: no row has had the field yet
	fields map[string]bool // own fields that rows had
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

// err names a label or field that was asked for and that none of the rows had.
func (f *filter) err(name string, rows int) error {
	for _, l := range f.opt.Labels {
		if rows > 0 && !f.labels[l] {
			return fmt.Errorf("set %s: no row has the label %q; the other labels are %s", name, l, printable.SomeNames(l, printable.SortedKeys(f.others)))
		}
	}
	for i, w := range f.opt.Where {
		if rows > 0 && f.missed[i] {
			known := append([]string{"url", "label", "labels", "site", "split", "title", "file"},
				printable.SortedKeys(f.fields)...)
			return fmt.Errorf("set %s: no row has a field %q; filter by one of %s", name, w.Field, printable.SomeNames(w.Field, known))
		}
	}
	return nil
}

// Key returns the form of an http or https URL by which a page of a corpus is looked up. It is the
// normal form, but with all parameters, as pages may differ only in one that a crawler drops.
func Key(raw string) (string, error) {
	var n page.Normalizer // drops nothing
	return n.Normalize(raw)
}

// URLKey returns the form in which a truth's and a crawl's URLs are compared. It is the normal form or,
// for what has none, the URL as it stands: real corpora have ftp:, file: and worse.
func URLKey(raw string) string {
	if n, err := page.Normalize(raw); err == nil {
		return n
	}
	return raw
}

// Labels is what the truth says of one page.
type Labels struct {
	Label string
	All   []string // finer, coarser or further labels; may repeat Label or be empty
}

// Match reports whether label is the page's label or one of its others.
func (l Labels) Match(label string) bool {
	return label != "" && (l.Label == label || slices.Contains(l.All, label))
}

// Truth is the labels of a corpus's pages by URL. Its URLs are compared in their normal form, so that a
// crawl's URLs are found whatever their spelling.
type Truth struct {
	byURL map[string]Labels

	// Repeated counts rows whose URL had come before; such a page keeps its first label and has the
	// later ones among its others.
	Repeated int
}

// Len returns the number of pages.
func (t *Truth) Len() int { return len(t.byURL) }

// Of returns the labels of a page, false when the truth does not know it.
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

// names returns every label that matches a page, with the number of its pages.
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

// Known says whether label matches any page, and if not, which labels do: a misspelt target must not
// look like a crawl without success.
func (t *Truth) Known(label string) error {
	names := t.names()
	if names[label] > 0 {
		return nil
	}
	return fmt.Errorf("label %q matches no page of the truth; it has %s", label, printable.SomeNames(label, printable.SortedKeys(names)))
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

// ReadTruth reads a file of url TAB label TAB label|label…; the third column may be missing. .gz and
// .zst are decompressed; empty lines and lines that begin with # are passed over.
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

// Truth reads the labels of a set's own rows; rows without one are left out.
func (s *Set) Truth() (*Truth, error) {
	t := &Truth{byURL: map[string]Labels{}}
	for e, err := range s.Examples() {
		if err != nil {
			return nil, err
		}
		if e.Label != "" {
			t.add(e.URL, Labels{e.Label, e.Labels})
		}
	}
	if t.Len() == 0 {
		return nil, fmt.Errorf("set %s: no row has a label; give a truth file, or put labels.tsv beside the pages", s.name)
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

// skipLine reports whether a line of a TSV file holds nothing.
func skipLine(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) == 0 || line[0] == '#'
}
