package relevance

import (
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"fossick/features"
	"fossick/page"
)

// vocabulary says what words are worth in this crawl: of what a word occurred in, a
// page or a link that was followed, how many pages there were and how far they were
// on topic. It keeps the words that were used last. Two words in 2^32 may share a
// token; the analyzer makes one term of a word's forms, and words of scripts that do
// not space them.
type vocabulary struct{ words wordTable }

func newVocabulary() vocabulary { return vocabulary{newWordTable(maxVocabulary)} }

// learnPage takes in that these words, each given once, were on a page.
func (v *vocabulary) learnPage(words []token, probability float64) {
	for _, w := range words {
		v.words.use(w).page.add(probability)
	}
}

// learnLink takes in that these words, each given once, were in links to a page.
func (v *vocabulary) learnLink(words []token, probability float64) {
	for _, w := range words {
		v.words.use(w).link.add(probability)
	}
}

// worth returns the mean and the largest lift of some words on pages, and their mean
// lift in links; those of a new word are 0.
func (v *vocabulary) worth(words []token, b *base) (mean, most, inLinks float64) {
	for i, t := range words {
		lift := 0.0
		if w := v.words.find(t); w != nil {
			w.lifts(b)
			lift = w.pageLift
			inLinks += w.linkLift
		}
		mean += lift
		if i == 0 || lift > most {
			most = lift
		}
	}
	n := float64(max(1, len(words)))
	return mean / n, most, inLinks / n
}

// wordReader cuts texts into words. It serves one goroutine.
type wordReader struct {
	tokens *features.Tokens[token]
	found  []token
}

func newWordReader() *wordReader {
	return &wordReader{tokens: features.NewTokens(features.AnalyzerOptions{Numbers: features.NumbersKeep}, tokenOf)}
}

func tokenOf(term string) token { return token(page.Key(term)) }

// maxPageText is how many bytes of a page's text are read: it says first what it
// is about, and more words of long pages cost more than they tell.
const maxPageText = 16 << 10

// page returns the words of p, each once; they are valid until the next call.
func (r *wordReader) page(p *page.Page) []token {
	r.found = r.found[:0]
	for _, text := range []string{p.Title, p.Description, head(p.Text, maxPageText)} {
		r.found = r.tokens.Append(r.found, text, p.Lang)
	}
	slices.Sort(r.found)
	r.found = slices.Compact(r.found)
	return r.found
}

// head returns the first n bytes of text, and no part of a character.
func head(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// link fills dst with words of a link, first of its text, then of the last part of
// its URL, and returns their number.
func (r *wordReader) link(dst []token, lang string, l *page.Link) int {
	n := 0
	r.found = r.tokens.Append(r.found[:0], head(l.Anchor, 256), lang)
	r.found = r.tokens.Append(r.found, lastPart(l.URL), lang)
	for _, w := range r.found {
		if n < len(dst) && !slices.Contains(dst[:n], w) {
			dst[n] = w
			n++
		}
	}
	return n
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
	return betweenWords.Replace(head(part, 256))
}

var betweenWords = strings.NewReplacer("_", " ", "-", " ", ".", " ", "+", " ")
