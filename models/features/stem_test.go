package features

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
)

// stemOf returns the stem of a single word.
func stemOf(word, lang string) string {
	l := languageOf(lang)
	return l.stem(l.bare(strings.ToLower(word)))
}

// TestStemsOfLanguages: forms of a word have one stem, in every language that Snowball knows.
func TestStemsOfLanguages(t *testing.T) {
	for _, c := range []struct{ lang, forms, want string }{
		{"da", "bank banken bankerne", "bank"},
		{"da", "hus huset husene", "hus"},
		{"de", "haus hause häuser Häusern", "haus"},
		{"de", "straße straßen strasse", "strass"},
		{"de-CH", "kredit kredite krediten", "kredit"},
		{"en", "loan loans loaned", "loan"},
		{"es", "banco bancos banca", "banc"},
		{"fi", "talo talot talossa", "talo"},
		{"fr", "banque banques", "banqu"},
		{"fr", "l'emprunt emprunts", "emprunt"},
		{"ga", "bainc", "bainc"},
		{"hu", "ház házak házban", "ház"},
		{"it", "banca banche dell'banca", "banc"},
		{"it", "bancario bancaria bancari", "bancar"},
		{"nb", "hus huset husene", "hus"},
		{"nl", "bank banken", "bank"},
		{"nl", "lening leningen", "lening"},
		{"no", "bank banken bankene", "bank"},
		{"pt", "banco bancos", "banc"},
		{"pt_BR", "casa casas", "cas"},
		{"ro", "informație informații informaţii informaţie", "inform"},
		{"ro", "împrumut împrumutului", "împrum"},
		{"ru", "банк банки банков", "банк"},
		{"sv", "bank banken bankerna", "bank"},
		{"ta", "வங்கி வங்கிகள்", "வங்கி"},
		{"tr", "ev evler evlerde", "ev"},
		{"tr", "banka bankalar bankanın", "banka"},
	} {
		for word := range strings.FieldsSeq(c.forms) {
			if got := stemOf(word, c.lang); got != c.want {
				t.Errorf("%s: the stem of %q is %q, want %q", c.lang, word, got, c.want)
			}
		}
	}
}

var endings = map[string]string{
	"ar": "وال بال ال لل ون ات",
	"da": "erne ernes hed heden lig igst en et er es else gd dt kt",
	"de": "ern em er en es e lich heit keit ung isch ig bar st erst",
	"en": `ational fulness iveness ization ousness biliti lessli tional alism aliti ation entli fulli
		iviti ousli anci abli alli ator enci izer bli ogi li icate ative alize iciti ical ful ness al ance ence er ic able ible
		ant ement ment ent ism ate iti ous ive ize sion tion eed eedly ed edly ing ingly ies ied s us ss y e l 's o' yy skis
		skies dying lying tying idly gently ugly early only singly sky news howe atlas cosmos bias andes inning outing canning
		herring earring proceed exceed succeed gener commun arsen past univers later emerg organ`,
	"es": "amente mente idad ivas osos ando iendo aba ían gar gue qu ís selas os as",
	"fi": "issa ssä lla llä lta ksi n en iden tten kaan mme nsa t",
	"fr": "ements ement ités ives euse ence logie usion iste issant eraient amment ait èrent e és",
	"ga": "acht achta íocht amháil eanna bhí d' ímid",
	"hu": "ban ben ból nak nek val vel ok ek ak ák é éi aként",
	"it": "azione azioni mente anza ico ità abile iva ando erebbe arono ata gliela",
	"ko": "은 는 에서 으로 입니다",
	"nl": "heden heid en enen lijk ing baar ig end tje s dd kk",
	"no": "ene ende heter ers ede ande eleg hetslov dt vt",
	"pt": "amente idades ivas osos ando ência logia ução ia ira ões ar eu",
	"ro": "ului elor aţie ație ilor ist ează iune ică abilă eşte ește ul",
	"ru": "ами ого ему ость ейше ывши ться ении ей ь нн",
	"sv": "heterna andet ornas else fullt löst lig ig gd tt",
	"ta": "கள் இல் ஆக உம் க்கு",
	"tr": "lar ler ın nin da den ca ki m siniz yor sınız ken casına",
}

// madeUp returns words that give a stemmer work: letters, then endings.
func madeUp(lang string, n int) []string {
	ends := strings.Fields(endings[lang])
	letters := []rune("abcdefghijklmnopqrstuvwxyzeeaaiioouuyyll" + endings[lang])
	rng := rand.New(rand.NewPCG(1, 2))
	a := NewAnalyzer(AnalyzerOptions{NoStem: true, KeepStop: true})
	var words []string
	for len(words) < n {
		var b strings.Builder
		for range rng.IntN(7) {
			b.WriteRune(letters[rng.IntN(len(letters))])
		}
		for range rng.IntN(3) {
			b.WriteString(ends[rng.IntN(len(ends))])
		}
		words = a.Terms(words, b.String(), lang)
	}
	return words[:n]
}

// TestStemsArePinned: a changed stem needs a higher StemVersion and new sums here.
func TestStemsArePinned(t *testing.T) {
	if StemVersion != 2 {
		t.Error("these are the sums of version 2")
	}
	want := map[string]uint32{
		"ar": 0xb82c3fe7, "da": 0x4aee291, "de": 0x15c677c2, "en": 0x69169987, "es": 0x829ac95f,
		"fi": 0x739449b9, "fr": 0x5f09801b, "ga": 0x170ca760, "hu": 0xcbae8bb2, "it": 0xda5a693a,
		"ko": 0x746398a6, "nl": 0x5f34b0a, "no": 0x3f64693a, "pt": 0xdc0189cb, "ro": 0xf9b96a1b,
		"ru": 0x627cf53a, "sv": 0xb2d18338, "ta": 0x980f84fd, "tr": 0x85d5d592,
	}
	for lang := range endings {
		sum, l := fnv.New32a(), languageOf(lang)
		for _, word := range madeUp(lang, 2000) {
			fmt.Fprintln(sum, l.stem(l.bare(word)))
		}
		if got := sum.Sum32(); got != want[lang] {
			t.Errorf("%q: %#x, where %#x is pinned", lang, got, want[lang])
		}
	}
}

func TestEnglishStemsThemselves(t *testing.T) {
	itself := 0
	for _, word := range madeUp("en", 50_000) {
		if !isLetters(word) || !isEnglishStem(word) {
			continue
		}
		itself++
		env := snowballstem.NewEnv(word)
		if english.Stem(env); env.Current() != word {
			t.Errorf("%q is taken for its own stem, which is %q", word, env.Current())
		}
	}
	if itself < 5000 {
		t.Errorf("%d words are taken for their own stems by their endings, want a tenth of 50,000 at least", itself)
	}
}

func FuzzStem(f *testing.F) {
	for lang := range endings {
		for _, word := range madeUp(lang, 3) {
			f.Add(word, lang)
		}
	}
	f.Add("\xff\xfe'", "tr")
	f.Add("ı̇̇İ", "tr")
	f.Add("y", "nl")
	f.Fuzz(func(t *testing.T, word, lang string) {
		got := stemOf(word, lang)
		if got == "" && strings.Trim(strings.ToLower(word), "'s") != "" || utf8.ValidString(word) && !utf8.ValidString(got) {
			t.Errorf("%s: the stem of %q is %q", lang, word, got)
		}
		if again := stemOf(word, lang); again != got {
			t.Errorf("%s: the stem of %q is %q, then %q", lang, word, got, again)
		}
	})
}
