package features

import (
	"strings"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/irish"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/tamil"
	"github.com/blevesearch/snowballstem/turkish"
)

// StemVersion numbers the ways in which words have been stemmed. It rises whenever
// any word of any language gets another stem: a model works only with the stems that
// it was trained with. A test pins them. 1 is that of the first builds, which left
// German and others as they were written.
const StemVersion = 2

// snowballOf returns the stemmer of an ISO 639-1 code, or nil.
func snowballOf(code string) func(*snowballstem.Env) bool {
	switch code {
	case "da":
		return danish.Stem
	case "de":
		return german.Stem
	case "en":
		return english.Stem
	case "es":
		return spanish.Stem
	case "fi":
		return finnish.Stem
	case "fr":
		return french.Stem
	case "ga":
		return irish.Stem
	case "hu":
		return hungarian.Stem
	case "it":
		return italian.Stem
	case "nb", "nn", "no":
		return norwegian.Stem
	case "nl":
		return dutch.Stem
	case "pt":
		return portuguese.Stem
	case "ro":
		return stemRomanian
	case "ru":
		return russian.Stem
	case "sv":
		return swedish.Stem
	case "ta":
		return tamil.Stem
	case "tr":
		return turkish.Stem
	}
	return nil
}

// safely guards against a stemmer that trips over a strange word, or leaves nothing
// of it: the word is then its own stem.
func safely(snowball func(*snowballstem.Env) bool, word string) (stem string) {
	defer func() {
		if recover() != nil || stem == "" {
			stem = word
		}
	}()
	env := snowballstem.NewEnv(word)
	snowball(env)
	return env.Current()
}

// stemRomanian lets Snowball see ş and ţ for ș and ț, the only ones that it knows. In
// the stem all are ș and ț: pages have both spellings.
func stemRomanian(env *snowballstem.Env) bool {
	env.SetCurrent(strings.NewReplacer("ș", "ş", "ț", "ţ").Replace(env.Current()))
	romanian.Stem(env)
	env.SetCurrent(strings.NewReplacer("ş", "ș", "ţ", "ț").Replace(env.Current()))
	return true
}
