package features

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
	"unsafe"

	"fossick/internal/testkit"
)

func TestTerms(t *testing.T) {
	words := AnalyzerOptions{NoStem: true}
	for _, c := range []struct {
		name, lang, text, want string
		opt                    AnalyzerOptions
	}{
		{"stems and stop words", "en", "The banks were lending; the bank's loans", "bank lend bank loan", AnalyzerOptions{}},
		{"English is the default", "", "running runs", "run run", AnalyzerOptions{}},
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

func TestStem(t *testing.T) {
	for _, c := range [][3]string{
		{"Mortgages", "en", "mortgag"}, {"banking", "", "bank"}, {"c++", "en", "c++"},
		{"mp3", "en", "mp3"}, {"bank's", "en", "bank"}, {"наука", "ru", "наук"}, {"Häuser", "de", "haus"},
	} {
		if got := stemOf(c[0], c[1]); got != c[2] {
			t.Errorf("stemOf(%q, %q) = %q, want %q", c[0], c[1], got, c[2])
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
		a.segment(string(b), func(w []byte) { fast = append(fast, string(w)) })
		for piece := range strings.FieldsSeq(string(b)) {
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
		if n := v.words.n; n > cacheWords {
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

// segment calls put with every word of text, in lower case. The slice is only valid during the call.
func (a *Analyzer) segment(text string, put func(token []byte)) {
	for i := 0; i < len(text); {
		if class[text[i]] == space {
			i++
			continue
		}
		a.at = i
		i = a.piece(text, i, put)
	}
}

func TestWordTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	table, want := newWordTable(newSeed()), map[string]*entry{}
	for range 20000 {
		word := make([]byte, rng.IntN(30))
		for i := range word {
			word[i] = 'a' + byte(rng.IntN(3))
		}
		hash := hashWord(table.seed, word)
		var e *entry
		if _, at := table.find(hash); at != nil {
			e = *at
		}
		if e != want[string(word)] {
			t.Fatalf("%q: %v, want %v", word, e, want[string(word)])
		}
		if e == nil {
			e = &entry{surface: string(word)}
			want[e.surface] = e
			table.add(hash, e)
		}
	}
	if table.n != len(want) || 2*table.n > len(table.young.slots) {
		t.Errorf("%d words in %d slots, want %d words in twice as many slots at least", table.n, len(table.young.slots), len(want))
	}
}

// TestWordTableForgets: recurring words stay, others go, and there are never more than cacheWords.
func TestWordTableForgets(t *testing.T) {
	table, common := newWordTable(newSeed()), map[string]*entry{}
	meet := func(word string) *entry {
		hash := hashWord(table.seed, []byte(word))
		_, at := table.find(hash)
		if at == nil {
			_, at = table.add(hash, &entry{surface: word})
		}
		return *at
	}
	for i := range 1000 {
		word := fmt.Sprintf("common%d", i)
		common[word] = meet(word)
	}
	first := meet("rare0")
	for i := range 3 * cacheWords {
		meet(fmt.Sprintf("rare%d", i+1))
		if i%1000 == 0 {
			for word, e := range common {
				if meet(word) != e {
					t.Fatalf("%s was forgotten after %d others", word, i)
				}
			}
		}
	}
	if meet("rare0") == first {
		t.Error("a word met once is still known")
	}
	words := map[*entry]bool{}
	for _, half := range []wordHalf{table.young, table.old} {
		for _, e := range half.entries {
			if e != nil {
				words[e] = true
			}
		}
	}
	if len(words) > cacheWords {
		t.Errorf("%d words are kept, want at most %d", len(words), cacheWords)
	}
}

func TestWordSlotSize(t *testing.T) {
	if n := unsafe.Sizeof(wordSlot{}); n != 16 {
		t.Errorf("a slot has %d bytes, want 16", n)
	}
}

func TestWordHash(t *testing.T) {
	table := newWordTable(newSeed())
	for i := range 30000 {
		word := []byte(fmt.Sprintf("word%d", i))
		table.add(hashWord(table.seed, word), &entry{surface: string(word)})
	}
	steps := 0
	for i, s := range table.young.slots {
		if s.hash != 0 {
			steps += (i - int(s.hash)) & (len(table.young.slots) - 1)
		}
	}
	if mean := float64(steps) / float64(table.n); mean > 2 {
		t.Errorf("words stand %.2f slots behind their place, want at most 2", mean)
	}
}

// TestTokens: each of the analyzer's terms has its number, in order, even if that is noTerm's or leftOut's.
func TestTokens(t *testing.T) {
	asked := map[string]int{}
	token := func(term string) uint32 {
		asked[term]++
		switch term {
		case "bank":
			return 1<<32 - 2 // leftOut
		case "loan":
			return 1<<32 - 1 // noTerm
		}
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
			n := token(term)
			if term == "bank" {
				n++
			}
			want = append(want, n)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", lang, got, want)
		}
	}
}

func (t *wordNumbers) lookUp(hash uint64) (known, bool) {
	return bucketOf(*t.table.Load(), hash).find(hash)
}

func (t *wordNumbers) inUse() (n int) {
	for i := range *t.table.Load() {
		for j := range bucketSlots {
			s := &(*t.table.Load())[i][j]
			if s.check.Load()|s.numbers.Load() != 0 {
				n++
			}
		}
	}
	return n
}

// TestWordNumbers: added words are found, and nearly all of them while there is room.
func TestWordNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	table, want := newWordNumbers(), map[uint64]known{}
	for range 100000 {
		hash := rng.Uint64() | 1<<63
		w := known{body: int32(rng.IntN(5) - 2), also: rng.Uint32() * uint32(rng.IntN(2))}
		if _, ok := table.lookUp(hash); ok {
			t.Fatalf("%x is known before it came", hash)
		}
		table.add(hash, w)
		table.add(hash, known{body: 7}) // ignored: the word is known
		want[hash] = w
		if got, ok := table.lookUp(hash); !ok || got != w {
			t.Fatalf("%x: %v, %v, want %v", hash, got, ok, w)
		}
	}
	lost := 0
	for hash, w := range want {
		got, ok := table.lookUp(hash)
		if !ok {
			lost++
		} else if got != w {
			t.Fatalf("%x: %v, want %v", hash, got, w)
		}
	}
	if lost > len(want)/10 {
		t.Errorf("%d of %d words are lost, want at most a tenth", lost, len(want))
	}
	if n := table.inUse(); n != table.n {
		t.Errorf("%d slots are in use, counted %d", n, table.n)
	}
}

// TestWordNumbersBound: the table keeps its limit however many words come, and finds recent ones.
func TestWordNumbersBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	table := newWordNumbers()
	var hash uint64
	for range 3 * maxBuckets * bucketSlots {
		hash = rng.Uint64() | 1<<63
		table.add(hash, known{also: 1})
		if _, ok := table.lookUp(hash); !ok {
			t.Fatal("a word is not found right after it came")
		}
	}
	if n := len(*table.table.Load()); n != maxBuckets {
		t.Errorf("%d buckets, want %d", n, maxBuckets)
	}
	if n := table.inUse(); n != table.n || n < maxBuckets*bucketSlots*99/100 {
		t.Errorf("%d slots are in use, counted %d, want nearly all", n, table.n)
	}
}

// TestWordNumbersAtOnce: while others write to the same buckets, a reader finds a word's own numbers or none.
func TestWordNumbersAtOnce(t *testing.T) {
	const words = 5000 // in few buckets, so that they replace each other
	table := newWordNumbers()
	hash := func(i int) uint64 { return uint64(i)*0x9E3779B97F4A7C15&^0xFF | 1<<63 }
	numbers := func(i int) known { return known{body: int32(i - words/2), also: uint32(i) * 0x85EBCA6B} }
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(7, uint64(worker)))
			for range 100000 {
				i := rng.IntN(words)
				if got, ok := table.lookUp(hash(i)); !ok {
					table.add(hash(i), numbers(i))
				} else if got != numbers(i) {
					t.Errorf("word %d: %v, want %v", i, got, numbers(i))
					return
				}
			}
		})
	}
	all.Wait()
}

func TestNumberBucketSize(t *testing.T) {
	if n := unsafe.Sizeof(numberBucket{}); n != 64 {
		t.Errorf("a bucket has %d bytes, want 64", n)
	}
}

func BenchmarkWordNumbers(b *testing.B) {
	table := newWordNumbers()
	seed := newSeed()
	var hashes []uint64
	for i := range 100000 {
		hash := hashWord(seed, fmt.Appendf(nil, "word%d", i))
		table.add(hash, known{body: 1})
		hashes = append(hashes, hash)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		table.lookUp(hashes[i%len(hashes)])
	}
}

// wordsOf returns the words that each finds, and where their pieces begin.
func wordsOf(a *Analyzer, text string) (words []string, at []int) {
	a.each(text, "en", func(row []known) {
		for i, w := range row {
			words, at = append(words, (*a.row.entries[i]).surface), append(at, int(w.at))
		}
	})
	return words, at
}

// segments returns the words that segment finds, which knows no plain words.
func segments(a *Analyzer, text string) (words []string, at []int) {
	a.segment(text, func(token []byte) { words, at = append(words, string(token)), append(at, a.at) })
	return words, at
}

func all() *Analyzer {
	return NewAnalyzer(AnalyzerOptions{NoStem: true, KeepStop: true, MinLength: 1, MaxLength: 1 << 20, Numbers: NumbersKeep})
}

func comparePlain(t *testing.T, text string) {
	t.Helper()
	words, at := wordsOf(all(), text)
	want, wantAt := segments(all(), text)
	if !slices.Equal(words, want) || !slices.Equal(at, wantAt) {
		t.Fatalf("%q:\n got %q at %v\nwant %q at %v", text, words, at, want, wantAt)
	}
}

// TestPlainWords compares words found eight bytes at a time with those of segment.
func TestPlainWords(t *testing.T) {
	pad := strings.Repeat(" end of the text", 2)
	for _, text := range []string{
		"", "a", "Word", "The quick, brown (fox) jumps over: it's 3.14 or 1,000; 1998! \"So\" he said.",
		"C++ and c# or vb.net, .NET. node.js F# g++ c+ c. next", "don't 'tis rock'n'roll o'clock' 5' a' ' b",
		"abcdefg abcdefgh abcdefghi abcdefghijklmno abcdefghijklmnop abcdefghijklmnopq", "ABCDEFGH, IJKLMNOPQRSTUVW. XYZ[ @`{ /0:9",
		"naïve café, Ünï 日本 word\u00a0word word\u2014 word\u2019s w\u0301", "tab\tnew\nline\vfeed\fend\rx", "well-known (so-called) \"quoted\" [1] and/or x=y; a:b (.net) x-.net .net-x visual-c++, c#-like 1998-99 5:30 $1,000 x-é é-x \"é (\u0301a) a-\u0301b א\"א a\"א",
		"snake_case _x_ 'x' x-'y' -,5 x--y -- - ((x)) {x} <x> a&b mail@vb.net.org asp.net/x x/asp.net 100% x|y", "a\x00b c\x80 \xff d\x7f e",
	} {
		comparePlain(t, text)
		comparePlain(t, text+pad)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	letters := []rune("aZm09 \t.,'+#-(é日\x00@[`{zA_\"/:;\u0301\u2014א")
	for range testkit.Rounds(4000, 20_000) {
		var text strings.Builder
		for range rng.IntN(60) {
			if rng.IntN(3) > 0 {
				text.WriteByte('a' + byte(rng.IntN(26)))
			} else {
				text.WriteRune(letters[rng.IntN(len(letters))])
			}
		}
		comparePlain(t, text.String())
	}
}

func FuzzPlainWords(f *testing.F) {
	f.Add("The quick, brown fox's C++ 3.14 naïve")
	f.Fuzz(func(t *testing.T, text string) { comparePlain(t, text) })
}
