package search

import (
	"strings"

	"fossick/models/features"
)

// cutter cuts text into stems. Not safe for concurrent use.
type cutter struct {
	all  *features.Analyzer // stop words too, as phrases have them
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

// urlWords have no language: title:x and url:x need not agree on stems.
func (c *cutter) urlWords(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	return c.stems(strings.Map(func(r rune) rune {
		if strings.ContainsRune("/.-_?&=:+%#~,;", r) {
			return ' '
		}
		return r
	}, rest), noLanguage)
}

// noLanguage is a language without stems.
const noLanguage = "und"
