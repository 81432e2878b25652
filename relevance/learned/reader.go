package learned

import (
	"net/url"
	"slices"
	"strings"

	"fossick/internal/page"
	"fossick/models/features"
)

// Reader is a Judge that gives the words of a text as well, both from one cut.
// It appends to words what Words has of the text's title, description and text.
type Reader func(d features.Doc, words []uint32) (probability float64, read []uint32)

// Words says how a scorer that learns words reads them, for who cuts texts for both.
func Words() features.Also {
	return features.Also{Analyzer: wordOptions, Number: tokenOf, TextBytes: maxPageText}
}

var wordOptions = features.AnalyzerOptions{Numbers: features.NumbersKeep}

func tokenOf(term string) token { return token(page.Key(term)) }

const (
	// maxPageText is how many bytes of a page's text are read: it says first what it
	// is about, and more words of long pages cost more than they tell.
	maxPageText = 16 << 10
	maxAnchor   = 256 // bytes of a link's text, and of the last part of its URL
)

// wordReader cuts texts into words where nobody did for it. It serves one goroutine.
type wordReader struct {
	tokens *features.Tokens[token]
	found  []token
	seen   distinct
}

func newWordReader() *wordReader {
	return &wordReader{tokens: features.NewTokens(wordOptions, tokenOf), seen: newDistinct()}
}

// page returns the words of p, each once; they are valid until the next call.
func (r *wordReader) page(p *page.Page) []token {
	r.found = r.found[:0]
	for _, text := range []string{p.Title, p.Description, features.Head(p.Text, maxPageText)} {
		r.found = r.tokens.Append(r.found, text, p.Lang)
	}
	return r.seen.of(r.found)
}

// link fills dst with words of a link, first those of its text, which r found, then of
// the last part of its URL, and returns their number.
func (r *wordReader) link(dst []token, lang string, l *page.Link) int {
	n := 0
	r.found = r.tokens.Append(r.found, lastPart(l.URL), lang)
	for _, w := range r.found {
		if n < len(dst) && !slices.Contains(dst[:n], w) {
			dst[n] = w
			n++
		}
	}
	return n
}

// anchor has r find the words of a link's text.
func (r *wordReader) anchor(text, lang string) {
	r.found = r.tokens.Append(r.found[:0], features.Head(text, maxAnchor), lang)
}

// lastPart returns the last part of a URL's path that isn't empty, else its host,
// with spaces between words.
func lastPart(address string) string {
	path, _, _ := strings.Cut(address, "?")
	path = strings.TrimRight(path, "/")
	part := path[strings.LastIndexByte(path, '/')+1:]
	if plain, err := url.PathUnescape(part); err == nil {
		part = plain // else it isn't escaped, or wrongly: read it as it stands
	}
	return betweenWords.Replace(features.Head(part, maxAnchor))
}

var betweenWords = strings.NewReplacer("_", " ", "-", " ", ".", " ", "+", " ")
