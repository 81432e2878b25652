package page

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/abadojack/whatlanggo"
	"golang.org/x/text/language"
)

// sampleBytes is how much text the language is told from; trigramBytes is for
// trigrams, which are slow.
const (
	sampleBytes  = 4 << 10
	trigramBytes = 600
)

// minLetters is how many letters a guess needs.
const minLetters = 40

// languageOf returns the code of a page's language, or "". What the page declares
// holds unless its script or its function words clearly say otherwise: templates
// often declare English for pages in any language.
func languageOf(declared, text string) string {
	sample := cut(text, sampleBytes)
	latin, other := scripts(sample)
	code := LangCode(declared)
	if code != "" {
		few := latin+other < minLetters
		switch scriptOf(code) {
		case eitherScript:
			return code
		case latinScript:
			if few {
				return code
			}
			if other <= latin {
				return declaredOr(code, sample)
			}
		case otherScript:
			if few || other*10 > latin {
				return code
			}
		}
	}
	if latin+other < minLetters {
		return ""
	}
	if latin >= other {
		votes := countFunctionWords(sample)
		return votes.winner()
	}
	if code := cyrillic(sample); code != "" {
		return code
	}
	info := whatlanggo.Detect(cut(sample, trigramBytes))
	if !info.IsReliable() {
		return ""
	}
	return LangCode(info.Lang.Iso6393())
}

// scripts counts the letters in Latin script and in others.
func scripts(s string) (latin, other int) {
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if isLetter(c) {
				latin++
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r < 0x250 || r >= 0x1E00 && r < 0x1F00:
			if unicode.IsLetter(r) {
				latin++
			}
		case r >= 0x370 && unicode.IsLetter(r):
			other++
			if r >= 0x3000 {
				other++ // a character says as much as two letters
			}
		}
		i += size
	}
	return latin, other
}

const (
	latinScript = iota
	otherScript
	eitherScript
)

// scriptOf says in which script a language is written.
func scriptOf(code string) int {
	switch code {
	case "sr", "kk", "uz", "az", "mn", "ku", "tg", "tk", "pa", "sd", "ug", "bs":
		return eitherScript
	case "ru", "uk", "be", "bg", "mk", "el", "he", "yi", "ar", "fa", "ur", "ps", "hi", "mr", "ne", "bn", "as", "ta", "te",
		"ml", "kn", "gu", "or", "si", "th", "lo", "my", "km", "ka", "hy", "am", "ti", "zh", "ja", "ko", "bo", "dv", "ky":
		return otherScript
	}
	return latinScript
}

// LangCode makes the code of a language out of a tag. It is that of ISO 639-1
// ("en-US", "eng", "DE_at", "ger" for de), else that of ISO 639-3 ("haw"). What
// names no language ("x-default", "mul", "zz") gives "".
func LangCode(tag string) string {
	tag = strings.TrimSpace(tag)
	if i := strings.IndexAny(tag, "-_,; "); i >= 0 {
		tag = tag[:i]
	}
	if len(tag) != 2 && len(tag) != 3 {
		return ""
	}
	code := baseOf(tag, language.DeprecatedBase)
	if len(code) == 3 { // older codes, and languages within one of ISO 639-1: ger, cmn
		code = baseOf(tag, language.All)
	}
	switch code {
	case "und", "mul", "mis", "zxx":
		return ""
	}
	if len(code) == 3 && code >= "qaa" && code <= "qtz" { // for private use
		return ""
	}
	return code
}

func baseOf(tag string, codes language.CanonType) string {
	t, err := codes.Parse(tag)
	if err != nil {
		return ""
	}
	base, _, _ := t.Raw()
	return base.String()
}

// declaredOr returns the declared language of Latin script, or another one of
// which the text has four times as many function words. A language without a list
// of its own is believed: Afrikaans looks like Dutch to the lists.
func declaredOr(declared, sample string) string {
	i := slices.Index(functionWordLanguages[:], declared)
	if i < 0 {
		return declared
	}
	votes := countFunctionWords(sample)
	found := votes.winner()
	if found == "" || votes.count[slices.Index(functionWordLanguages[:], found)] < 4*votes.count[i] {
		return declared
	}
	return found
}
