package search

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Filter restricts the pages; the zero value accepts all.
type Filter struct {
	Labels   []string // any of these
	Hosts    []string // any of these names or name:port
	MinScore *float64 // least score of the crawl
}

// Hit is a page that matches a query.
type Hit struct {
	Number uint64 // in its store
	URL    string
	Title  string
	Label  string
	Lang   string
	Score  float64 // of the crawl

	rank float64
}

const (
	// candidates is the number of FTS5's best pages that are ranked again.
	candidates = 100
	// common is the most matches that are all ranked, at 2 to 4 µs each.
	common = 2000
	// titleWeight is the bonus of a title equal to the query; the best match counts 1.
	titleWeight = 1.0
)

// Find returns the best pages, and the number of all matches.
func (x *Index) Find(ctx context.Context, q Query, f Filter, limit int) (hits []Hit, total int, err error) {
	cut := newCutter()
	m := compile(q, f, x.langs, cut)
	if m.all == "" {
		hits, total, err = x.listed(ctx, m, limit)
		return hits, total, x.wrap(err)
	}
	where, args := m.conditions()
	err = x.db.QueryRowContext(ctx, "SELECT count(*) FROM words WHERE words MATCH ?"+where, append([]any{m.all}, args...)...).Scan(&total)
	if err != nil || total == 0 {
		return nil, total, x.wrap(err)
	}
	if total > common && m.near != "" {
		if hits, err = x.ranked(ctx, m.near, where, args, max(candidates, limit)); err != nil {
			return nil, 0, x.wrap(err)
		}
	}
	if len(hits) < limit {
		if hits, err = x.ranked(ctx, m.all, where, args, max(candidates, limit)); err != nil {
			return nil, 0, x.wrap(err)
		}
	}
	order(hits, m.titles, cut)
	return hits[:min(limit, len(hits))], total, nil
}

func (m *match) conditions() (where string, args []any) {
	if len(m.where) == 0 {
		return "", nil
	}
	return " AND EXISTS (SELECT 1 FROM pages WHERE number = words.rowid AND " + strings.Join(m.where, " AND ") + ")", m.args
}

const columns = "number, url, title, label, lang, score"

func (x *Index) ranked(ctx context.Context, expression, where string, args []any, limit int) ([]Hit, error) {
	query := "SELECT " + columns + ", rank FROM (SELECT rowid AS id, rank FROM words WHERE words MATCH ?" + where +
		" ORDER BY rank LIMIT ?) JOIN pages ON number = id"
	rows, err := x.db.QueryContext(ctx, query, slices.Concat([]any{expression}, args, []any{limit})...)
	if err != nil {
		return nil, err
	}
	return scan(rows)
}

// listed answers a query without words, by falling crawl score.
func (x *Index) listed(ctx context.Context, m match, limit int) (hits []Hit, total int, err error) {
	where := ""
	if len(m.where) > 0 {
		where = " WHERE " + strings.Join(m.where, " AND ")
	}
	if err := x.db.QueryRowContext(ctx, "SELECT count(*) FROM pages"+where, m.args...).Scan(&total); err != nil {
		return nil, 0, err
	}
	rows, err := x.db.QueryContext(ctx, "SELECT "+columns+", 0.0 FROM pages"+where+" ORDER BY score DESC, number LIMIT ?", append(m.args, limit)...)
	if err != nil {
		return nil, 0, err
	}
	hits, err = scan(rows)
	return hits, total, err
}

func scan(rows *sql.Rows) (hits []Hit, err error) {
	defer rows.Close()
	for rows.Next() {
		var h Hit
		var n int64
		if err := rows.Scan(&n, &h.URL, &h.Title, &h.Label, &h.Lang, &h.Score, &h.rank); err != nil {
			return nil, err
		}
		h.Number = uint64(n)
		hits = append(hits, h)
	}
	return hits, rows.Err()
}

// order moves up pages whose title resembles the query; FTS5 ranks them low when their text is long.
func order(hits []Hit, terms [][]string, cut *cutter) {
	best := 0.0
	for _, h := range hits {
		best = min(best, h.rank) // FTS5's ranks are negative
	}
	for i := range hits {
		h := &hits[i]
		if best < 0 {
			h.rank /= best
		}
		h.rank += titleWeight * likeness(" "+plain(cut.stems(h.Title, h.Lang))+" ", terms)
	}
	slices.SortStableFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(a.Number, b.Number))
	})
}

// likeness returns Dice's coefficient of title words and query terms: 2·common / (words + terms).
func likeness(title string, terms [][]string) float64 {
	both := 0
	for _, variants := range terms {
		if slices.ContainsFunc(variants, func(v string) bool { return strings.Contains(title, " "+v+" ") }) {
			both++
		}
	}
	if both == 0 {
		return 0
	}
	return 2 * float64(both) / float64(len(terms)+len(strings.Fields(title)))
}

// Snippet is a part of a page's text; its odd elements are matches.
type Snippet []string

// Marked returns the snippet with sign on both sides of each match.
func (s Snippet) Marked(sign string) string { return strings.Join(s, sign) }

// Marker finds the words of a query in pages. Not safe for concurrent use.
type Marker struct {
	cut   *cutter
	terms []term
	seen  map[string]map[string]bool // by language: matching stems
}

func NewMarker(q Query) *Marker {
	m := &Marker{cut: newCutter(), seen: map[string]map[string]bool{}}
	for _, t := range q.terms {
		if t.words() && t.field != inURL && !t.not {
			m.terms = append(m.terms, t)
		}
	}
	return m
}

const snippetRunes = 240

type span struct{ from, to int }

// Snippet returns the part of a text with most matches, or its beginning.
func (m *Marker) Snippet(text, lang string) Snippet {
	text = strings.Join(strings.Fields(text), " ")
	hits := m.hits(text, lang)
	from := begin(text, best(hits))
	to := from
	for n := 0; n < snippetRunes && to < len(text); n++ {
		_, size := utf8.DecodeRuneInString(text[to:])
		to += size
	}
	if to < len(text) {
		if space := strings.LastIndexByte(text[from:to], ' '); space > (to-from)/2 {
			to = from + space
		}
	}
	return pieces(text, from, to, hits)
}

func (m *Marker) hits(text, lang string) (hits []span) {
	wanted := m.wanted(lang)
	for at := 0; at < len(text); {
		start := strings.IndexFunc(text[at:], isWordRune)
		if start < 0 {
			break
		}
		start += at
		end := len(text)
		if n := strings.IndexFunc(text[start:], func(r rune) bool { return !isWordRune(r) && r != '\'' }); n >= 0 {
			end = start + n
		}
		hits = append(hits, m.inWord(text, start, end, lang, wanted)...)
		at = end
	}
	return hits
}

// inWord returns the matches within a word, or within a run of text without spaces.
func (m *Marker) inWord(text string, start, end int, lang string, wanted map[string]bool) (hits []span) {
	word := text[start:end]
	stem := m.cut.stems(word, lang)
	if wanted[stem] {
		return []span{{start, end}}
	}
	if !strings.Contains(stem, " ") || word[0] < 0x80 {
		return nil
	}
	for at := 0; at < len(word); {
		first, size := -1, 0
		for _, t := range m.terms {
			if i := strings.Index(word[at:], t.text); i >= 0 && (first < 0 || i < first) {
				first, size = i, len(t.text)
			}
		}
		if first < 0 || size == 0 {
			break
		}
		hits = append(hits, span{start + at + first, start + at + first + size})
		at += first + size
	}
	return hits
}

func (m *Marker) wanted(lang string) map[string]bool {
	if wanted := m.seen[lang]; wanted != nil {
		return wanted
	}
	wanted := map[string]bool{}
	for _, t := range m.terms {
		for word := range strings.FieldsFuncSeq(t.text, func(r rune) bool { return !isWordRune(r) && r != '\'' }) {
			if !t.phrase && len(m.terms) > 1 && !m.cut.means(word, []string{lang}) {
				continue // a stop word beside others
			}
			wanted[m.cut.stems(word, lang)] = true
		}
	}
	delete(wanted, "")
	m.seen[lang] = wanted
	return wanted
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

func best(hits []span) int {
	at, most := 0, 0
	for i, h := range hits {
		n, _ := slices.BinarySearchFunc(hits[i:], h.from+snippetRunes*3/4, func(o span, to int) int { return o.to - to })
		if n > most {
			at, most = h.from, n
		}
	}
	return at
}

// begin moves back from a match by a few words of context.
func begin(text string, at int) int {
	const before = 40 // bytes
	if at <= before {
		return 0
	}
	from := at - before
	if space := strings.IndexByte(text[from:at], ' '); space >= 0 {
		return from + space + 1
	}
	for !utf8.RuneStart(text[from]) {
		from++
	}
	return from
}

func pieces(text string, from, to int, hits []span) Snippet {
	s := Snippet{}
	last := from
	for _, h := range hits {
		if h.from >= last && h.to <= to {
			s = append(s, text[last:h.from], text[h.from:h.to])
			last = h.to
		}
	}
	s = append(s, text[last:to])
	if from > 0 {
		s[0] = "… " + s[0]
	}
	if to < len(text) {
		s[len(s)-1] += " …"
	}
	return s
}
