package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"fossick/internal/cli"
	"fossick/models/features"
)

type field string

// The fields of a query; the first three match words of the text, the title or the URL.
const (
	anywhere field = ""
	inTitle  field = "title"
	inURL    field = "url"
	ofHost   field = "host"
	ofSite   field = "site"
	ofLabel  field = "label"
	ofLang   field = "lang"
)

func fieldOf(name string) (field, bool) {
	switch f := field(strings.ToLower(name)); f {
	case inTitle, inURL, ofHost, ofSite, ofLabel, ofLang:
		return f, true
	}
	return anywhere, false
}

// term is a condition of a query: a word, a phrase, or a field's value.
type term struct {
	field  field
	text   string
	phrase bool
	not    bool
}

func (t term) words() bool { return t.field == anywhere || t.field == inTitle || t.field == inURL }

// Query is a search whose terms must all match.
type Query struct{ terms []term }

const maxTerms = 64

// Parse parses a query:
//
//	query = { ["-"] [field ":"] (word | '"' words '"') }
//
// An unclosed phrase extends to the end. An unknown field name makes the whole a word, since URLs and
// times contain colons.
func Parse(text string) (Query, error) {
	var q Query
	rest := strings.TrimSpace(text)
	for rest != "" {
		var t term
		t, rest = next(rest)
		if t.text == "" {
			continue
		}
		if q.terms = append(q.terms, t); len(q.terms) > maxTerms {
			return Query{}, cli.Usagef("a query has at most %d words; leave some out", maxTerms)
		}
	}
	for _, t := range q.terms {
		if !t.not {
			return q, nil
		}
	}
	return Query{}, cli.Usagef("give a word that pages must have, or a field such as host:example.org")
}

// next splits off the first term of a query without leading space.
func next(s string) (t term, rest string) {
	if len(s) > 1 && s[0] == '-' && s[1] != ' ' {
		t.not, s = true, s[1:]
	}
	word := s[:wordEnd(s)]
	if name, _, ok := strings.Cut(word, ":"); ok {
		if f, known := fieldOf(name); known && len(s) > len(name)+1 && !spaceAt(s, len(name)+1) {
			t.field, s = f, s[len(name)+1:]
		}
	}
	if s[0] == '"' {
		t.phrase = true
		t.text, rest, _ = strings.Cut(s[1:], `"`)
	} else {
		end := wordEnd(s)
		t.text, rest = s[:end], s[end:]
	}
	t.text = strings.TrimSpace(t.text)
	return t, strings.TrimSpace(rest)
}

func wordEnd(s string) int {
	if i := strings.IndexFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == '"' }); i >= 0 {
		return i
	}
	return len(s)
}

func spaceAt(s string, i int) bool {
	r, _ := utf8.DecodeRuneInString(s[i:])
	return unicode.IsSpace(r)
}

// String returns the query as it was parsed.
func (q Query) String() string {
	var b strings.Builder
	for i, t := range q.terms {
		if i > 0 {
			b.WriteByte(' ')
		}
		if t.not {
			b.WriteByte('-')
		}
		if t.field != anywhere {
			b.WriteString(string(t.field) + ":")
		}
		if t.phrase {
			b.WriteString(`"` + t.text + `"`)
		} else {
			b.WriteString(t.text)
		}
	}
	return b.String()
}

// cutter splits text into stems. Not safe for concurrent use.
type cutter struct {
	all  *features.Analyzer // keeps stop words, which phrases need
	some *features.Analyzer
	buf  []string
}

func newCutter() *cutter {
	opt := features.AnalyzerOptions{KeepStop: true, MinLength: 1, Numbers: features.NumbersKeep}
	c := &cutter{all: features.NewAnalyzer(opt)}
	opt.KeepStop = false
	c.some = features.NewAnalyzer(opt)
	return c
}

func (c *cutter) stems(text, lang string) string {
	c.buf = c.all.Terms(c.buf[:0], text, lang)
	return strings.Join(c.buf, " ")
}

func (c *cutter) means(word string, langs []string) bool {
	for _, lang := range langs {
		if c.buf = c.some.Terms(c.buf[:0], word, lang); len(c.buf) > 0 {
			return true
		}
	}
	return false
}

// urlWords splits a URL into unstemmed words, since a URL has no language.
func (c *cutter) urlWords(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	return c.stems(strings.Map(func(r rune) rune {
		if strings.ContainsRune("/.-_?&=:+%#~,;", r) {
			return ' '
		}
		return r
	}, rest), noLanguage)
}

// noLanguage is the language code without stemming.
const noLanguage = "und"

type match struct {
	all   string   // FTS5 expression; "" for a query without words
	near  string   // all, with a word in title or headings; "" for none
	where []string // conditions on the table pages
	args  []any

	titles [][]string // stems by language, for each term that may match a title
}

func compile(q Query, f Filter, langs []string, c *cutter) match {
	var m match
	if own := q.langs(); len(own) > 0 {
		langs = own
	}
	meant := slices.ContainsFunc(q.terms, func(t term) bool { return !t.not && t.words() && (t.phrase || c.means(t.text, langs)) })
	var all, not, any []string
	for _, t := range q.terms {
		if !t.words() {
			m.filter(t.field, t.not, []string{t.text})
			continue
		}
		stems := c.variants(t, langs)
		one := expression(stems)
		switch {
		case one == "", !t.not && meant && !t.phrase && t.field == anywhere && !c.means(t.text, langs):
			continue // no word, or a stop word beside others
		case t.field != anywhere:
			one = "{" + string(t.field) + "} : " + one
		}
		if t.not {
			not = append(not, one)
			continue
		}
		all = append(all, one)
		if t.field == anywhere {
			any, m.titles = append(any, one), append(m.titles, stems)
		}
	}
	m.join(all, any, not)
	m.limit(f)
	return m
}

// join builds the expressions from required, optional and excluded terms.
func (m *match) join(all, any, not []string) {
	if len(all) == 0 {
		for _, n := range not {
			m.where, m.args = append(m.where, "number NOT IN (SELECT rowid FROM words WHERE words MATCH ?)"), append(m.args, n)
		}
		return
	}
	without := ""
	for _, n := range not {
		without += " NOT (" + n + ")"
	}
	m.all = "(" + strings.Join(all, " AND ") + ")" + without
	if len(any) > 0 {
		m.near = "({title headings} : (" + strings.Join(any, " OR ") + ") AND " + strings.Join(all, " AND ") + ")" + without
	}
}

func (m *match) limit(f Filter) {
	m.filter(ofLabel, false, f.Labels)
	m.filter(ofHost, false, f.Hosts)
	if f.MinScore != nil {
		m.where, m.args = append(m.where, "score >= ?"), append(m.args, *f.MinScore)
	}
}

func (m *match) filter(of field, not bool, values []string) {
	if len(values) == 0 {
		return
	}
	in := "(?" + strings.Repeat(",?", len(values)-1) + ")"
	cond := string(of) + " IN " + in
	times := 1
	if of == ofHost { // name:port, or the name alone
		cond, times = "(host IN "+in+" OR name IN "+in+")", 2
	}
	if not {
		cond = "NOT " + cond
	}
	m.where = append(m.where, cond)
	for range times {
		for _, v := range values {
			if of != ofLabel {
				v = strings.ToLower(v)
			}
			m.args = append(m.args, v)
		}
	}
}

func (q Query) langs() (langs []string) {
	for _, t := range q.terms {
		if t.field == ofLang && !t.not {
			langs = append(langs, strings.ToLower(t.text))
		}
	}
	return langs
}

// variants returns the distinct stems of a term over the languages.
func (c *cutter) variants(t term, langs []string) (stems []string) {
	if t.field == inURL {
		langs = []string{noLanguage}
	}
	for _, lang := range langs {
		if s := plain(c.stems(t.text, lang)); s != "" && !slices.Contains(stems, s) {
			stems = append(stems, s)
		}
	}
	return stems
}

func expression(phrases []string) string {
	if len(phrases) == 0 {
		return ""
	}
	return `("` + strings.Join(phrases, `" OR "`) + `")`
}

// plain keeps the characters that FTS5's tokenizer takes as words.
func plain(stems string) string {
	return strings.Join(strings.FieldsFunc(stems, func(r rune) bool {
		return r < 0x80 && !('0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z')
	}), " ")
}
