package search

import (
	"slices"
	"strings"
)

type match struct {
	all   string   // FTS5's expression; "" where the query has no words
	near  string   // likewise, and one of the words in a title or heading; "" likewise
	where []string // conditions on the table pages
	args  []any

	titles [][]string // of each term that may stand in a title, its stems by language
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
			continue // signs, and stop words beside others
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

// join makes expressions of what must be there, what may, and what must not.
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
	if of == ofHost { // name:port, or the name
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

// variants are the stems of a term, by language, each once.
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

// plain leaves of stems what FTS5's tokenizer takes for words, so that none is empty.
func plain(stems string) string {
	return strings.Join(strings.FieldsFunc(stems, func(r rune) bool {
		return r < 0x80 && !('0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z')
	}), " ")
}
