package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"fossick/internal/usage"
)

type field string

// The fields of a query; the first three are columns of words.
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

// term is one condition of a query: a word, a phrase, or the value of a field.
type term struct {
	field  field
	text   string
	phrase bool
	not    bool
}

func (t term) words() bool { return t.field == anywhere || t.field == inTitle || t.field == inURL }

// Query is what is looked for. All its terms must hold.
type Query struct{ terms []term }

const maxTerms = 64

// Parse reads a query:
//
//	query = { ["-"] [field ":"] (word | '"' words '"') }
//
// A phrase that does not end goes to the end of the query. What looks like an unknown
// field is a word, as addresses and times have colons.
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
			return Query{}, usage.Errorf("a query has at most %d words; leave some out", maxTerms)
		}
	}
	for _, t := range q.terms {
		if !t.not {
			return q, nil
		}
	}
	return Query{}, usage.Errorf("give a word that pages must have, or a field such as host:example.org")
}

// next cuts the first term off a query that begins with none of its spaces.
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

// wordEnd is where the first word of a text ends: at a space, or at a quotation mark.
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

// String is the query as it was understood.
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
