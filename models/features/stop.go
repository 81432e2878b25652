package features

import (
	"embed"
	"strings"
)

// stopFiles holds a file a language: words that carry grammar, not topic. The lists are
// our own and short on purpose. A word left in costs a weight near zero; a word left
// out can never be a feature.
//
//go:embed stopwords/*.txt
var stopFiles embed.FS

// stopWords returns the stop words of a language (ISO 639-1), none of one that
// has no list.
func stopWords(lang string) map[string]bool {
	stop := map[string]bool{}
	switch lang {
	case "no", "nb", "nn":
		lang = "da" // one list for the languages of Norway and Denmark
	}
	text, err := stopFiles.ReadFile("stopwords/" + lang + ".txt")
	if err != nil {
		return stop // the files are in the program: the only error is that there is none
	}
	for w := range strings.FieldsSeq(string(text)) {
		stop[w] = true
	}
	return stop
}
