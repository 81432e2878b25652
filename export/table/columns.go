package table

import (
	"math"
	"strings"
	"time"

	"fossick/export/collection"
	"fossick/internal/rights"
)

// Kind is what a column holds.
type Kind byte

// The kinds of column.
const (
	Text Kind = iota
	Integer
	Real
	Truth
)

// Value is one value of a row, in the field of its column's kind.
type Value struct {
	Null  bool
	Text  string
	Int   int64
	Real  float64
	Truth bool
}

// Column is one column of the tables.
type Column struct {
	Name string
	Kind Kind
	Says string // what it holds, for people
	Of   func(p *collection.Page) Value
}

// Columns are what a page's row has, in order. The first nine have the names that sets of
// text for training language models use.
func Columns() []Column {
	return []Column{
		{"text", Text, "the page's text; empty for a page without words", func(p *collection.Page) Value { return Value{Text: p.Text, Null: p.Damaged} }},
		{"id", Text, "id of the record, the same in all formats and all exports", func(p *collection.Page) Value { return text(p.ID) }},
		{"dump", Text, "the store's name", func(p *collection.Page) Value { return text(p.Source.Name) }},
		{"url", Text, "in normal form", func(p *collection.Page) Value { return text(p.URL) }},
		{"date", Text, "when it was fetched, in UTC", func(p *collection.Page) Value { return text(p.Fetched.Format(time.RFC3339)) }},
		{"file_path", Text, "the store and the page's number in it", func(p *collection.Page) Value { return text(p.Path()) }},
		{"language", Text, "ISO 639", func(p *collection.Page) Value { return text(p.Language) }},
		{"language_score", Real, "null: language detection gives no probability", func(*collection.Page) Value { return Value{Null: true} }},
		{"token_count", Integer, "words of the text; characters, for scripts without spaces", func(p *collection.Page) Value {
			return Value{Int: int64(Words(p.Text)), Null: p.Damaged}
		}},

		{"node", Integer, "the URL's number in the networks, from 0", func(p *collection.Page) Value { return whole(int64(p.Node)) }},
		{"site", Text, "registrable domain", func(p *collection.Page) Value { return text(p.Site) }},
		{"host", Text, "name:port", func(p *collection.Page) Value { return text(p.Host) }},
		{"title", Text, "", func(p *collection.Page) Value { return text(p.Title) }},
		{"label", Text, "label by refine, else by the crawl's model, else the topic for relevant pages", func(p *collection.Page) Value { return text(p.Label) }},
		{"probability", Real, "probability that it is on topic, by refine or the crawl's model", func(p *collection.Page) Value { return maybe(p.Probability) }},
		{"kept", Truth, "by refine", func(p *collection.Page) Value {
			if p.Kept == nil {
				return Value{Null: true}
			}
			return Value{Truth: *p.Kept}
		}},
		{"relevant", Truth, "as the crawl found it", func(p *collection.Page) Value { return Value{Truth: p.Relevant} }},
		{"score", Real, "degree of relevance, by the crawl", func(p *collection.Page) Value { return maybe(&p.Score) }},
		{"crawl_order", Integer, "number in the order of the crawl, from 1", func(p *collection.Page) Value { return whole(int64(p.Number)) }},
		{"found_by", Text, "URL of the page, or the sitemap, that named it first", func(p *collection.Page) Value { return text(p.FoundBy) }},
		{"via", Text, "seed, link, redirect or sitemap", func(p *collection.Page) Value { return text(p.Via) }},
		{"depth", Integer, "links from a start page", func(p *collection.Page) Value { return whole(int64(p.Depth)) }},
		{"rank", Real, "by the last fossick rank", func(p *collection.Page) Value { return maybe(p.Rank) }},
		{"why", Text, "the reason of its label or its score", func(p *collection.Page) Value { return text(p.Why) }},
		{"rights", Text, "its owner's statements on its use, and where they stand; separated by |", func(p *collection.Page) Value { return text(joined(p.Rights)) }},
		{"licence", Text, "address of the licence that the page names", func(p *collection.Page) Value { return text(p.Licence) }},
		{"content_type", Text, "as sent", func(p *collection.Page) Value { return text(p.ContentType) }},
		{"bytes", Integer, "of the body, unpacked", func(p *collection.Page) Value { return whole(p.Bytes) }},
		{"checksum", Text, "of the content; equal for pages with the same content", func(p *collection.Page) Value { return text(p.Checksum) }},
	}
}

// joined are statements in one value.
func joined(said []rights.Statement) string {
	parts := make([]string, len(said))
	for i, s := range said {
		parts[i] = string(s)
	}
	return strings.Join(parts, " | ")
}

// text is a text of which an empty one is not known.
func text(s string) Value { return Value{Text: s, Null: s == ""} }

func whole(n int64) Value { return Value{Int: n} }

// maybe is a number that may be missing; what no format can write is missing too.
func maybe(x *float64) Value {
	if x == nil || math.IsNaN(*x) || math.IsInf(*x, 0) {
		return Value{Null: true}
	}
	return Value{Real: *x}
}
