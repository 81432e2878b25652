package page

import (
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/abadojack/whatlanggo"
	"golang.org/x/text/language"
)

// sampleBytes of text determine the language; the slow trigrams use only trigramBytes.
const (
	sampleBytes  = 4 << 10
	trigramBytes = 600
)

const minLetters = 40

// languageOf returns the code of a page's language, or "". The declaration holds unless script or
// function words clearly contradict it, since templates often declare English for any language.
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
				other++ // one such character says as much as two letters
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

// LangCode returns the code of a language tag: of ISO 639-1 ("en-US" gives en; "ger", "DE_at" give
// de), else of ISO 639-3 ("haw"), else "" ("x-default", "mul", "zz").
func LangCode(tag string) string {
	tag = strings.TrimSpace(tag)
	if i := strings.IndexAny(tag, "-_,; "); i >= 0 {
		tag = tag[:i]
	}
	if len(tag) != 2 && len(tag) != 3 {
		return ""
	}
	code := baseOf(tag, language.DeprecatedBase)
	if len(code) == 3 { // older codes, and languages covered by one of ISO 639-1: ger, cmn
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

// declaredOr returns the declared language of Latin script, or another one with four times as many
// function words in the text. It believes a language without a list: Afrikaans looks like Dutch.
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

type wordVotes struct {
	words int                                // number of words examined
	count [len(functionWordLanguages)]int    // how many of them are on each list
	seen  [len(functionWordLanguages)]uint64 // which words of each list occurred
}

const maxVoters = 400

// countFunctionWords counts the function words of the languages of Latin script. It takes
// microseconds; trigrams take half a millisecond and misjudge lists of names and program text.
// Words are runs of ASCII letters and non-ASCII bytes.
func countFunctionWords(s string) (v wordVotes) {
	var word [maxFunctionWord]byte // in lower case
	for i := 0; i < len(s) && v.words < maxVoters; i++ {
		n := 0
		for ; i < len(s) && inWord(s[i]); i++ {
			if n < maxFunctionWord {
				if word[n] = s[i]; s[i] < utf8.RuneSelf {
					word[n] |= 0x20
				}
			}
			n++
		}
		if n == 0 {
			continue
		}
		if v.words++; n > 1 && n <= maxFunctionWord { // single letters mean nothing
			v.add(functionWords[string(word[:n])])
		}
	}
	return v
}

func (v *wordVotes) add(f functionWord) {
	for i := 0; f.languages != 0; i, f.languages = i+1, f.languages>>1 {
		if f.languages&1 != 0 {
			v.count[i]++
			v.seen[i] |= 1 << f.number
		}
	}
}

// winner returns the language with most votes, or "" if they are few or close.
func (v *wordVotes) winner() string {
	votes := &v.count
	best, second := 0, -1
	for i := 1; i < len(votes); i++ {
		switch {
		case votes[i] > votes[best]:
			best, second = i, best
		case second < 0 || votes[i] > votes[second]:
			second = i
		}
	}
	if bits.OnesCount64(v.seen[best]) < 4 || votes[best]*30 < v.words || votes[best]*2 < votes[second]*3 {
		return ""
	}
	return functionWordLanguages[best]
}

func inWord(c byte) bool { return c >= utf8.RuneSelf || isLetter(c) }

const maxFunctionWord = 12

// functionWord has a bit for each language with a word, and the word's number modulo 64.
type functionWord struct {
	languages uint32
	number    uint8
}

var functionWordLanguages = [...]string{"en", "de", "fr", "es", "it", "pt", "nl", "sv", "da", "no", "fi", "pl", "cs", "tr", "id", "ro", "hu",
	"ca", "hr", "sk", "sl", "lt", "lv", "et", "vi"}

var functionWordLists = [len(functionWordLanguages)]string{
	"the of and to in is that for it was on with as be at by this are from or an have not which you we can will",
	"der die das und ist nicht ein eine zu den von mit auf für im dem sich des auch als wird sind werden oder bei nach über",
	"le la les des et est une un dans que qui pour pas sur au avec ce il sont par plus ne du aux cette nous vous ou",
	"el la los las de y que en un una es por con para del se no su al lo como más o pero sus está",
	"il la di che è un una per non del con sono della le gli dei da al si nel alla come più anche questo ha o",
	"o a os as de e que do da em um uma para com não por no na dos é se mais ao das como ou",
	"de het een van en is dat niet op te zijn voor met die aan er om bij ook naar wordt door maar of uit",
	"och att det är en som på för av med inte till den ett har om vi kan de från eller",
	"og at det er en som på for af med ikke til den et har de kan fra eller vi blev",
	"og det er en som på for av med ikke til den et har de kan fra eller vi ble å etter",
	"ja on ei se että oli ovat kun mutta hän tai myös joka sekä voi ole kuin jos niin",
	"i w na z się nie do to jest że o jak po od za przez są dla oraz lub który",
	"a v se na je že s z do to o jako pro ve by za ale jsou od nebo který",
	"ve bir bu için ile de da çok olan olarak daha gibi en ne ama kadar sonra veya değil",
	"yang dan di itu dengan untuk tidak ini dari dalam pada adalah akan ke juga atau oleh karena bisa",
	"și de în la cu pe un o că nu este din care pentru mai sau prin ca au fost după",
	"a az és hogy nem is egy ez van meg volt de ha csak már mint vagy el lehet",
	"el la els les de i que en un una és per amb del no al més com però va ser són seva",
	"i je u na se da su za od s kao koji koja što iz bio nije ili ali te",
	"a v na sa je že s z do to o ako pre aj po za by sú od alebo ktorý",
	"in je v na se da so za z ki kot ne po pa tudi bil ali iz pri lahko",
	"ir yra kad į su iš buvo kaip bet ar už per nuo jo taip tai po apie dėl arba",
	"un ir ar no uz kas ka tas par pie bija kā bet vai arī līdz pēc tika gan savu",
	"ja on ei et ka see oli kui mis aga või ning ta selle ka oma kes siis pärast üle",
	"và của là có được trong cho các một không người với những này khi đã từ để như về",
}

var functionWords = func() map[string]functionWord {
	m := map[string]functionWord{}
	for i, list := range functionWordLists {
		for w := range strings.FieldsSeq(list) {
			f, ok := m[w]
			if !ok {
				f.number = uint8(len(m) % 64)
			}
			f.languages |= 1 << i
			m[w] = f
		}
	}
	return m
}()

// cyrillic distinguishes languages of Cyrillic script by letters that only some have. It returns ""
// without such letters, or if the text is not mostly Cyrillic. Trigrams failed on a third of short
// Russian pages.
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

type cyrillicLetters struct {
	letters, others int // of Cyrillic script, and of other non-Latin scripts

	russian    int // ы э ё: also Belarusian
	ukrainian  int // і ї є ґ: і is also Belarusian
	short      int // ў: Belarusian
	serbian    int // ј љ њ ђ ћ џ: all but ђ ћ also Macedonian
	macedonian int // ѓ ќ ѕ
	bulgarian  int // ъ: rarely also Russian
	soft       int // ь: not Serbian or Macedonian, hardly Bulgarian
	turkic     int // Kazakh, Tatar, Kyrgyz, Mongolian: left to the trigrams
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
