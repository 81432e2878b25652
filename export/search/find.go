package search

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strings"
)

// Filter says which pages are wanted; the zero value wants all.
type Filter struct {
	Labels   []string // one of these
	Hosts    []string // on one of these: names, or name:port
	MinScore *float64 // the least score of the crawl
}

// Hit is a page that answers a query.
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
	// candidates are how many pages that FTS5 has for the best are ordered anew.
	candidates = 100
	// common is how many pages a query may find and all be ranked, at two to four µs each.
	common = 2000
	// titleWeight is what a title that is the query counts, where the best match counts 1.
	titleWeight = 1.0
)

// Find returns the best pages, and how many answer the query at all.
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

// listed returns pages of a query without words, the best of the crawl first.
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

// order puts first pages whose titles say little else than the query. FTS5 takes a page's
// columns together for its length, so a long page with the very title would come late.
func order(hits []Hit, terms [][]string, cut *cutter) {
	best := 0.0
	for _, h := range hits {
		best = min(best, h.rank) // FTS5's is negative
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

// likeness is Dice's coefficient of a title's words and a query's terms: twice those in
// common over all of both.
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
