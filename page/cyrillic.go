package page

import (
	"strings"
	"unicode"
)

// cyrillic tells languages of Cyrillic script by the letters that only some of them
// have, or returns "" when it sees none of these, or the text is not mostly
// Cyrillic. Trigrams, which need a page of text to be sure, gave nothing for a third
// of short Russian pages, and stems then differ from page to page.
func cyrillic(s string) string {
	var letters, others, russian, ukrainian, serbian, macedonian, bulgarian, short, soft, turkic int
	for _, r := range s {
		switch {
		case r < 0x370 || !unicode.IsLetter(r):
			continue
		case !unicode.Is(unicode.Cyrillic, r):
			others++
			continue
		}
		letters++
		switch unicode.ToLower(r) {
		case 'ы', 'э', 'ё':
			russian++ // and Belarusian
		case 'і', 'ї', 'є', 'ґ':
			ukrainian++ // and і Belarusian
		case 'ў':
			short++
		case 'ѓ', 'ќ', 'ѕ':
			macedonian++
		case 'ј', 'љ', 'њ', 'ђ', 'ћ', 'џ':
			serbian++ // and ј, љ, њ, џ Macedonian
		case 'ь':
			soft++ // not Serbian or Macedonian, hardly Bulgarian
		case 'ъ':
			bulgarian++ // and, rarely, Russian
		case 'ә', 'ғ', 'қ', 'ң', 'ұ', 'һ', 'ө', 'ү':
			turkic++ // Kazakh, Tatar, Kyrgyz, Mongolian: for the trigrams
		}
	}
	south := serbian + macedonian
	switch {
	case letters <= others || turkic*100 > letters:
		return ""
	case short > 0 && ukrainian > 0 && russian > 0:
		return "be"
	case russian > max(ukrainian, south):
		return "ru"
	case ukrainian > max(russian, south):
		return "uk"
	case south > 0 && macedonian > 0:
		return "mk"
	case south > 0 && strings.ContainsAny(s, "ђћЂЋ"):
		return "sr"
	case south == 0 && bulgarian*100 > letters:
		return "bg"
	case soft > 0 && ukrainian+south == 0:
		return "ru"
	}
	return ""
}
