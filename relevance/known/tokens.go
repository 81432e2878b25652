package known

import (
	"strings"
	"unicode"

	"fossick/internal/page"
)

// token is a word of a link or a page, as a number: of 2^32, so that among 100,000
// words one or two share one.
type token = uint32

// The fields of a link that its words come from; the same word says something else
// in each.
const (
	fieldText byte = iota
	fieldAnchor
	fieldContext
	fieldURL
)

// tokens appends the words of a text, in lower case, numbers and words of one
// letter left out.
func tokens(dst []token, field byte, text string) []token {
	for word := range strings.FieldsFuncSeq(text, notLetter) {
		if len(word) > 1 {
			dst = append(dst, token(page.Key(string(field)+strings.ToLower(word))))
		}
	}
	return dst
}

func notLetter(r rune) bool { return !unicode.IsLetter(r) }

// linkTokens appends the words of a link: of its anchor, of the text around it and
// of its URL.
func linkTokens(dst []token, link *page.Link) []token {
	dst = tokens(dst, fieldAnchor, link.Anchor)
	dst = tokens(dst, fieldContext, link.Context)
	_, rest, _ := strings.Cut(link.URL, "://")
	return tokens(dst, fieldURL, rest)
}
