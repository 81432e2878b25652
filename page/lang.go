package page

import (
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/abadojack/whatlanggo"
)

// sampleBytes is how much text the language is told from; trigramBytes is for
// trigrams, which are slow.
const (
	sampleBytes  = 4 << 10
	trigramBytes = 600
)

// minLetters is how many letters a guess needs.
const minLetters = 40

// language returns the ISO 639-1 code of a page, or "". What the page declares
// holds unless its script or its function words clearly say otherwise: templates
// often declare English for pages in any language.
func language(declared, text string) string {
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
	return info.Lang.Iso6391()
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

// LangCode makes the two-letter ISO 639-1 code of a language tag ("en-US", "eng",
// "DE_at"), or "" of what is none ("x-default").
func LangCode(tag string) string {
	tag = strings.ToLower(strings.TrimSpace(tag))
	if i := strings.IndexAny(tag, "-_,; "); i >= 0 {
		tag = tag[:i]
	}
	for i := range len(tag) {
		if !isLetter(tag[i]) {
			return ""
		}
	}
	switch len(tag) {
	case 2:
		return strings.Clone(tag)
	case 3:
		if l := whatlanggo.CodeToLang(tag); l >= 0 {
			return l.Iso6391()
		}
	}
	return ""
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

// wordVotes is what the function words of a text say.
type wordVotes struct {
	words int                                // of the text that were looked at
	count [len(functionWordLanguages)]int    // of these, words of each list
	seen  [len(functionWordLanguages)]uint64 // which words of each list
}

// maxVoters is how many words of a text vote.
const maxVoters = 400

// countFunctionWords counts the function words of the languages of Latin script.
// It takes microseconds where trigrams take half a millisecond, and it doesn't
// guess: on lists of names, directories and program text, of which the web has
// many, trigrams were sure of Czech, Malagasy or Haitian.
func countFunctionWords(s string) (v wordVotes) {
	for w := range strings.FieldsFuncSeq(s, notLetter) {
		if v.words == maxVoters {
			break
		}
		v.words++
		if len(w) == 1 || len(w) > 12 { // a letter stands for anything
			continue
		}
		var arr [16]byte
		f := functionWords[string(appendLower(arr[:0], []byte(w)))]
		for i := 0; f.languages != 0; i, f.languages = i+1, f.languages>>1 {
			if f.languages&1 != 0 {
				v.count[i]++
				v.seen[i] |= 1 << f.number
			}
		}
	}
	return v
}

// winner returns the language with most votes, "" when there are few or two
// languages are close.
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

func notLetter(r rune) bool { return r < 0x80 && !isLetter(byte(r)) }

var functionWordLanguages = [...]string{"en", "de", "fr", "es", "it", "pt", "nl", "sv", "da", "no", "fi", "pl", "cs", "tr", "id", "ro", "hu",
	"ca", "hr", "sk", "sl", "lt", "lv", "et", "vi"}

// functionWord is the set of languages that have a word, a bit each, and the
// word's number, below 64; few words share one.
type functionWord struct {
	languages uint32
	number    uint8
}

var functionWords = func() map[string]functionWord {
	lists := [len(functionWordLanguages)]string{
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
	m := map[string]functionWord{}
	for i, list := range lists {
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
