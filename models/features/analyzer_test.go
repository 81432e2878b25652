package features

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTerms(t *testing.T) {
	words := AnalyzerOptions{NoStem: true}
	for _, c := range []struct {
		name, lang, text, want string
		opt                    AnalyzerOptions
	}{
		{"stems and stop words", "en", "The banks were lending; the bank's loans", "bank lend bank loan", AnalyzerOptions{}},
		{"English is the default", "", "running runs", "run run", AnalyzerOptions{}},
		{"a genitive", "en", "mp3 bank's", "mp3 bank", AnalyzerOptions{}},
		{"region", "en-GB", "mortgages", "mortgag", AnalyzerOptions{}},
		{"programming languages", "en", "C++, c# and VB.NET on .NET; node.js, x++ c++x", "c++ c# vb.net .net node.js", words},
		{"apostrophes", "en", "don't o'clock rock'n'roll 'quoted' it’s l’eau", "o'clock rock'n'roll quoted l'eau", words},
		{"joined words", "en", "snake_case end.Begin www.example.com key:value", "snake case end begin www example com key value", words},
		{"numbers left out", "en", "in 1998 3.14 mp3 1,000 2nd", "mp3 2nd", words},
		{"numbers kept", "en", "in 1998 3.14 mp3 1,000.", "1998 3.14 mp3 1,000", AnalyzerOptions{NoStem: true, Numbers: NumbersKeep}},
		{"shapes of numbers", "en", "in 1998 3.14", "0000 0.00", AnalyzerOptions{Numbers: NumbersShape}},
		{"lengths", "en", "a bb ccc dddd", "ccc", AnalyzerOptions{NoStem: true, MinLength: 3, MaxLength: 3}},
		{"accents, one form", "fr", "L'hiver, les cafe\u0301s", "hiver cafés", words},
		{"German", "de", "Die Straßen und Häuser", "strass haus", AnalyzerOptions{}},
		{"no stems for this language", "eu", "Bankuak eta etxeak", "bankuak eta etxeak", AnalyzerOptions{}},
		{"Russian", "ru", "Банки и кредиты", "банк кредит", AnalyzerOptions{}},
		{"Korean particles", "ko", "은행은 대출을 합니다. 금융에서", "은행 대출 금융", AnalyzerOptions{}},
		{"Korean nouns of one syllable", "ko", "별을 팀은 물에서, 그러나 마을 속도 나이", "별 팀 물 마을 속도 나이", AnalyzerOptions{}},
		{"Korean verbs made of nouns", "ko", "신고해야 계산하기 변화되는", "신고 계산 변화", AnalyzerOptions{}},
		{"Chinese grammar parts words", "zh", "存款的利率下降了", "存款 利率 率下 下降", AnalyzerOptions{}},
		{"Chinese grammar kept", "zh", "存款的利率", "存款 的 利率", AnalyzerOptions{KeepStop: true}},
		{"Japanese keeps 的", "ja", "科学的", "科学 学的", AnalyzerOptions{}},
		{"Arabic article", "ar", "البنك بنك والبنك للبنك إلى", "بنك بنك بنك بنك إلى", AnalyzerOptions{}},
		{"Japanese", "ja", "東京銀行のローンです", "東京 京銀 銀行 ローン", AnalyzerOptions{}},
		{"one ideograph", "zh", "我 bank", "我 bank", AnalyzerOptions{}},
		{"soft hyphen", "en", "mort\u00adgage", "mortgage", words},
		{"full width", "ja", "Ｃ＋＋ ＢＡＮＫ", "c++ bank", AnalyzerOptions{}},
		{"nothing", "en", " \t\n -- ...", "", AnalyzerOptions{}},
	} {
		got := strings.Join(NewAnalyzer(c.opt).Terms(nil, c.text, c.lang), " ")
		if got != c.want {
			t.Errorf("%s: Terms(%q, %q) = %q, want %q", c.name, c.text, c.lang, got, c.want)
		}
	}
}

// TestScanIsUnicode compares the scanner for ASCII with the rules of UAX #29.
func TestScanIsUnicode(t *testing.T) {
	const alphabet = "abcCNnet19.',:;_+#-/ vbjs"
	rng := rand.New(rand.NewPCG(1, 2))
	a := NewAnalyzer(AnalyzerOptions{})
	for range 20000 {
		b := make([]byte, 1+rng.IntN(12))
		for i := range b {
			b[i] = alphabet[rng.IntN(len(alphabet))]
		}
		var fast, slow []string
		for piece := range strings.FieldsSeq(string(b)) {
			a.piece(piece, 0, func(w []byte) { fast = append(fast, string(w)) })
			a.segmentUnicode(piece, func(w []byte) { slow = append(slow, string(w)) })
		}
		if !slices.Equal(fast, slow) {
			t.Fatalf("%q: scanner %q, UAX #29 %q", b, fast, slow)
		}
	}
}

func TestAnalyzerCacheIsBounded(t *testing.T) {
	a := NewAnalyzer(AnalyzerOptions{})
	var text strings.Builder
	for i := range cacheWords + 100 {
		text.WriteString(" w")
		for n := i; n > 0; n /= 26 {
			text.WriteByte(byte('a' + n%26))
		}
	}
	a.Terms(nil, text.String(), "en")
	for i := range 3 * cacheLanguages {
		a.Terms(nil, "word", string([]byte{'a' + byte(i%26), 'a' + byte(i/26)}))
	}
	if n := len(a.langs); n > cacheLanguages {
		t.Errorf("%d languages in the cache, want at most %d", n, cacheLanguages)
	}
	for _, v := range a.langs {
		if n := len(v.recent) + len(v.older); n > cacheWords {
			t.Errorf("%d words in the cache, want at most %d", n, cacheWords)
		}
	}
}

func FuzzAnalyzer(f *testing.F) {
	for _, s := range []string{"The c++ bank's .NET", "l’été 東京 ภาษาไทย", "\xff\u0301a\u00ad'b", "1,000.5 ＡＢＣ ﷺ"} {
		f.Add(s, "en")
	}
	f.Add("хорошо ли", "ru")
	f.Add("鹾\xdb", "zh")
	a := NewAnalyzer(AnalyzerOptions{Numbers: NumbersKeep})
	f.Fuzz(func(t *testing.T, text, lang string) {
		first := a.Terms(nil, text, lang)
		if again := NewAnalyzer(a.opt).Terms(nil, text, lang); !slices.Equal(first, again) {
			t.Fatalf("%q: with cache %q, without %q", text, first, again)
		}
		for _, term := range first {
			if term == "" || !utf8.ValidString(term) {
				t.Fatalf("%q: bad term %q", text, term)
			}
		}
	})
}

func BenchmarkAnalyzer(b *testing.B) {
	text := strings.Repeat("The Bank of England raised its lending rate in 1997, and mortgages became dearer for borrowers. ", 200)
	a := NewAnalyzer(AnalyzerOptions{})
	var dst []string
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		dst = a.Terms(dst[:0], text, "en")
	}
}

// TestTokens: each of the analyzer's terms has its number, in order.
func TestTokens(t *testing.T) {
	asked := map[string]int{}
	token := func(term string) uint32 {
		asked[term]++
		h := fnv.New32a()
		_, _ = h.Write([]byte(term)) // never fails
		return h.Sum32()
	}
	opt := AnalyzerOptions{Numbers: NumbersKeep}
	tokens := NewTokens(opt, token)
	const text = "The banks of 1997 were lending; the bank's loans, and 1997 loans. Été, 東京銀行"
	for _, lang := range []string{"en", "", "fr", "ja"} {
		clear(asked)
		got := tokens.Append([]uint32{7}, text, lang)
		got = tokens.Append(got, text, lang) // from the cache
		for term, n := range asked {
			if n > 2 { // banks, bank
				t.Errorf("%s: %q was asked for %d times", lang, term, n)
			}
		}
		want := []uint32{7}
		for _, term := range NewAnalyzer(opt).Terms(nil, text+" "+text, lang) {
			want = append(want, token(term))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", lang, got, want)
		}
	}
}
