package page

import (
	"strings"
	"unicode"
)

// cyrillic tells languages of Cyrillic script by the letters that only some of them
// have. It returns "" without these, or of a text that is not mostly Cyrillic.
// Trigrams, which need a page of text to be sure, gave nothing for a third of short
// Russian pages, and stems then differ from page to page.
func cyrillic(s string) string {
	n := countCyrillic(s)
	south := n.serbian + n.macedonian
	switch {
	case n.letters <= n.others || n.turkic*100 > n.letters:
		return ""
	case n.short > 0 && n.ukrainian > 0 && n.russian > 0:
		return "be"
	case n.russian > max(n.ukrainian, south):
		return "ru"
	case n.ukrainian > max(n.russian, south):
		return "uk"
	case south > 0 && n.macedonian > 0:
		return "mk"
	case south > 0 && strings.ContainsAny(s, "ђћЂЋ"):
		return "sr"
	case south == 0 && n.bulgarian*100 > n.letters:
		return "bg"
	case n.soft > 0 && n.ukrainian+south == 0:
		return "ru"
	}
	return ""
}

// cyrillicLetters counts the letters that tell languages apart.
type cyrillicLetters struct {
	letters, others int // Cyrillic, and of other scripts beyond Latin

	russian    int // ы э ё: and Belarusian
	ukrainian  int // і ї є ґ: and і Belarusian
	short      int // ў: Belarusian
	serbian    int // ј љ њ ђ ћ џ: and all but ђ ћ Macedonian
	macedonian int // ѓ ќ ѕ
	bulgarian  int // ъ: and, rarely, Russian
	soft       int // ь: not Serbian or Macedonian, hardly Bulgarian
	turkic     int // Kazakh, Tatar, Kyrgyz, Mongolian: for the trigrams
}

func countCyrillic(s string) (n cyrillicLetters) {
	for _, r := range s {
		switch {
		case r < 0x370 || !unicode.IsLetter(r):
			continue
		case !unicode.Is(unicode.Cyrillic, r):
			n.others++
			continue
		}
		n.letters++
		switch unicode.ToLower(r) {
		case 'ы', 'э', 'ё':
			n.russian++
		case 'і', 'ї', 'є', 'ґ':
			n.ukrainian++
		case 'ў':
			n.short++
		case 'ѓ', 'ќ', 'ѕ':
			n.macedonian++
		case 'ј', 'љ', 'њ', 'ђ', 'ћ', 'џ':
			n.serbian++
		case 'ь':
			n.soft++
		case 'ъ':
			n.bulgarian++
		case 'ә', 'ғ', 'қ', 'ң', 'ұ', 'һ', 'ө', 'ү':
			n.turkic++
		}
	}
	return n
}
