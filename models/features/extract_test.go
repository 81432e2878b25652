package features

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
)

var sample = Doc{
	URL: "http://uni.example/people/smith.html", Title: "Home of Smith", Headings: "Teaching",
	Text: "Teaching\nI teach two courses.\nThe course home page",
}

func names(l *Lexicon, v Vector) map[string]float32 {
	m := map[string]float32{}
	for k, i := range v.Index {
		m[l.Terms()[i]] = v.Value[k]
	}
	return m
}

func TestCount(t *testing.T) {
	lex := NewLexicon()
	x := NewExtractor(ExtractorOptions{Fields: true}, lex)
	v := x.Count(Vector{}, sample)
	if !slices.IsSorted(v.Index) {
		t.Errorf("indexes %v are not sorted", v.Index)
	}
	got := names(lex, v)
	want := map[string]float32{
		"home": 2, "smith": 1, "title:home": 1, "title:smith": 1, "heading:teach": 1,
		"url:peopl": 1, "url:smith": 1, "url:html": 1,
		"teach": 2, "two": 1, "cours": 2, "page": 1,
	}
	for term, n := range want {
		if got[term] != n {
			t.Errorf("%q occurs %v times, want %v", term, got[term], n)
		}
	}
	if len(got) != len(want) {
		t.Errorf("terms %v, want %v", got, want)
	}
}

// TestLead: the first words of the text, not of title or description, count twice.
func TestLead(t *testing.T) {
	lex := NewLexicon()
	opt := ExtractorOptions{Lead: 3}
	d := Doc{Title: "Home", Description: "Some page", Text: "Teaching\nI teach two courses. I teach"}
	got := names(lex, NewExtractor(opt, lex).Count(Vector{}, d))
	for term, n := range map[string]float32{"lead:teach": 2, "lead:two": 1, "lead:cours": 0, "lead:home": 0, "teach": 3} {
		if got[term] != n {
			t.Errorf("%q occurs %v times, want %v; all: %v", term, got[term], n, got)
		}
	}
	fixed := FixedLexicon([]string{"lead:two", "teach"})
	x := NewExtractor(opt, fixed)
	for range 2 { // the second time from the cache
		if got := names(fixed, x.Count(Vector{}, d)); got["lead:two"] != 1 || got["teach"] != 3 || len(got) != 2 {
			t.Errorf("by a fixed vocabulary %v", got)
		}
	}
	for term, want := range map[string]uint8{"lead:two": leadBlock, "url:x": uint8(address), "x": uint8(body)} {
		if got := blockOf(term); got != want {
			t.Errorf("%q is of block %d, want %d", term, got, want)
		}
	}
}

// TestFixedLexicon: a model sees a page as training did, less unknown terms.
func TestFixedLexicon(t *testing.T) {
	opt := ExtractorOptions{Fields: true}
	lex := NewLexicon()
	all := names(lex, NewExtractor(opt, lex).Count(Vector{}, sample))
	fixed := FixedLexicon([]string{"title:home", "cours", "two", "elsewher", "url:peopl"})
	x := NewExtractor(opt, fixed)
	for range 2 { // the second time from the cache
		v := x.CountUnsorted(Vector{}, sample)
		got := names(fixed, v)
		if len(got) != 4 {
			t.Errorf("terms %v, want the four that the page has", got)
		}
		for term, n := range got {
			if all[term] != n {
				t.Errorf("%q occurs %v times, in training %v", term, n, all[term])
			}
		}
	}
	if fixed.Len() != 5 {
		t.Errorf("a fixed lexicon grew to %v", fixed.Terms())
	}
}

func TestWeighting(t *testing.T) {
	w := Weighting{IDF: IDF([]int32{1, 3, 1, 0}, 3), Sublinear: true, Norm: true, Blocks: [blocks]float32{1, 0.5}}
	w.Bind([]string{"a", "b", "title:a", "url:c"})
	v := Vector{Index: []int32{0, 1, 2}, Value: []float32{2, 1, 300}}
	w.Apply(v)
	a, b := (1+math.Ln2)*(1+math.Ln2), 1.0 // idf 1 + ln(4/2), 1 + ln(4/4)
	length := math.Sqrt(a*a+b*b) * math.Sqrt(1.25)
	for k, want := range []float64{a / length, b / length, 0.5 / math.Sqrt(1.25)} {
		if math.Abs(float64(v.Value[k])-want) > 1e-6 {
			t.Errorf("weight %d is %v, want %v", k, v.Value[k], want)
		}
	}
	empty := Vector{}
	w.Apply(empty)
	plain := Vector{Index: []int32{0}, Value: []float32{7}}
	(&Weighting{}).Apply(plain)
	if plain.Value[0] != 7 {
		t.Errorf("the zero weighting makes 7 %v", plain.Value[0])
	}
}

// TestCountBoth: an Extractor and its second reader get what each gets alone, on random texts in several
// scripts, wherever the second reader's part ends.
func TestCountBoth(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	pieces := strings.Fields("The banks' don't 1,000 1997 c++ c++: VB.NET of, mp3 é été, 東京銀行の銀行 Банки\u00ad, 은행은 x\xffy rock'n'roll snake_case")
	some := func(n int) string {
		var b strings.Builder
		for range rng.IntN(n + 1) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
			b.WriteByte(" \n\t "[rng.IntN(4)])
		}
		return b.String()
	}
	number := func(term string) uint32 {
		h := fnv.New32a()
		_, _ = h.Write([]byte(term)) // never fails
		return h.Sum32()
	}
	other := AnalyzerOptions{Numbers: NumbersKeep}
	for _, opt := range []ExtractorOptions{
		{}, {Analyzer: AnalyzerOptions{KeepStop: true, Numbers: NumbersShape}, Fields: true, Lead: 5},
		{Lead: 2, Analyzer: AnalyzerOptions{NoStem: true, MinLength: 3}},
	} {
		lexicon, plain := NewLexicon(), NewLexicon()
		alone, tokens := NewExtractor(opt, plain), NewTokens(other, number)
		for i := range 300 {
			bytes := rng.IntN(80)
			both := NewExtractor(opt, lexicon)
			both.ReadAlong(Also{Analyzer: other, Number: number, TextBytes: bytes})
			d := Doc{URL: "http://a.test/banks/of", Title: some(3), Description: some(3), Headings: some(2), Text: some(20),
				Lang: []string{"en", "", "fr", "ja", "ko"}[rng.IntN(5)]}
			v, words := both.CountBoth(Vector{}, []uint32{7}, d)
			w := alone.Count(Vector{}, d)
			if got, want := names(lexicon, v), names(plain, w); !maps.Equal(got, want) {
				t.Fatalf("%+v %d: terms %v, want %v", opt, i, got, want)
			}
			text := d.Text
			if bytes > 0 {
				text = Head(text, bytes)
			}
			want := []uint32{7}
			for _, s := range []string{d.Title, d.Description, text} {
				want = tokens.Append(want, s, d.Lang)
			}
			if !slices.Equal(words, want) {
				t.Fatalf("%+v %d: words of %q up to %d: %v, want %v", opt, i, d, bytes, words, want)
			}
			if again := both.CountUnsorted(Vector{}, d); !maps.Equal(names(lexicon, again), names(plain, w)) {
				t.Fatalf("%+v %d: without the second reader %v, want %v", opt, i, names(lexicon, again), names(plain, w))
			}
		}
	}
}

// TestWordsThatCameLately: CountAndKeep leaves out most repeats of the second reader's words, nothing else.
func TestWordsThatCameLately(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	numbers := map[string]uint32{}
	number := func(term string) uint32 {
		if numbers[term] == 0 {
			numbers[term] = 1 + uint32(rng.IntN(5))<<12 + uint32(rng.IntN(400))
		}
		return numbers[term]
	}
	x := NewExtractor(ExtractorOptions{}, NewLexicon())
	x.ReadAlong(Also{Number: number})
	for i := range 100 {
		var text strings.Builder
		for range rng.IntN(2000) {
			fmt.Fprintf(&text, "word%c%c ", 'a'+rng.IntN(20), 'a'+rng.IntN(20))
		}
		d := Doc{Title: "wordaa wordbb", Text: text.String()}
		_, all := x.CountBoth(Vector{}, nil, d)
		_, some := x.CountAndKeep(Vector{}, nil, d)
		once := func(words []uint32) (first []uint32) {
			for _, w := range words {
				if !slices.Contains(first, w) {
					first = append(first, w)
				}
			}
			return first
		}
		if got, want := once(some), once(all); !slices.Equal(got, want) {
			t.Fatalf("text %d: words %v, want %v", i, got, want)
		}
		if slices.Contains(some, 0) {
			t.Fatalf("text %d: a word that is left out was handed over", i)
		}
		if repeats := len(all) - len(once(all)); len(some)-len(once(all)) > repeats/2 {
			t.Fatalf("text %d: of %d repeats %d are left", i, repeats, len(some)-len(once(all)))
		}
	}
}

// TestCountAround: parts of a text count as if split by themselves, in the same order.
func TestCountAround(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	pieces := strings.Fields("The banks' (don't), 1,000 1997 c++ c++: VB.NET of, mp3 é, été 東京銀行の銀行 Банки\u00ad, 은행은 xy rock'n'roll snake_case")
	for n, opt := range []ExtractorOptions{
		{}, {Analyzer: AnalyzerOptions{KeepStop: true, Numbers: NumbersShape}, Fields: true, Lead: 3},
		{Lead: 2}, {}, {Analyzer: AnalyzerOptions{KeepStop: true}, Fields: true}, {Fields: true, Lead: 3},
	} {
		lexicon := NewLexicon()
		if n >= 4 {
			lexicon = FixedLexicon([]string{"bank", "mp3", "c++", "été", "title:titl", "东京", "東京", "lead:bank", "банк", "know"})
		}
		alone, kept := NewExtractor(opt, lexicon), NewExtractor(opt, lexicon)
		length := func(term string) uint32 { return uint32(len(term)) }
		also := AnalyzerOptions{Numbers: NumbersKeep} // other words than the extractor's
		kept.ReadAlong(Also{Analyzer: also, Number: length, TextBytes: 60})
		reader := NewTokens(also, length)
		for i := range 400 {
			var lines []string
			for range 1 + rng.IntN(3) {
				var line []string
				for range rng.IntN(9) {
					line = append(line, pieces[rng.IntN(len(pieces))])
				}
				lines = append(lines, strings.Join(line, " "))
			}
			text, lang := strings.Join(lines, "\n"), []string{"en", "fr", "ja"}[rng.IntN(3)]
			kept.CountAndKeep(Vector{}, nil, Doc{Title: "a title", Description: "what it is", Headings: "in it", Text: text, Lang: lang})
			around, context := randomParts(rng, text)
			got, words := kept.CountAround(Vector{}, []uint32{9}, text, lang, around)
			want := alone.CountUnsorted(Vector{}, Doc{Text: context, Lang: lang})
			if !slices.Equal(got.Index, want.Index) || !slices.Equal(got.Value, want.Value) {
				t.Fatalf("%+v %d: %q of %q: %v, want %v", opt, i, context, text, names(lexicon, got), names(lexicon, want))
			}
			if want := reader.Append([]uint32{9}, context, lang); !slices.Equal(words, want) {
				t.Fatalf("%+v %d: %q of %q: words %v, want %v", opt, i, context, text, words, want)
			}
		}
	}
}

// randomParts takes two parts of a line, which begin and end at any character, and joins them.
func randomParts(rng *rand.Rand, text string) (around [2]Span, context string) {
	from := rng.IntN(len(text) + 1)
	end := strings.IndexByte(text[from:]+"\n", '\n') + from
	var cuts []int
	for i := range text[from:end] {
		cuts = append(cuts, from+i)
	}
	cuts = append(cuts, end)
	var at []int
	for range 4 {
		at = append(at, cuts[rng.IntN(len(cuts))])
	}
	slices.Sort(at)
	around = [2]Span{{int32(at[0]), int32(at[1])}, {int32(at[2]), int32(at[3])}}
	before, after := text[at[0]:at[1]], text[at[2]:at[3]]
	if before != "" && after != "" {
		return around, before + " " + after
	}
	return around, before + after
}

func TestSpare(t *testing.T) {
	made := 0
	s := NewSpare(func() *int { made++; return new(int) })
	a := s.Get()
	*a = 7
	s.Put(a)
	runtime.GC()
	runtime.GC() // a sync.Pool would have dropped it by now
	if b := s.Get(); b != a || made != 1 {
		t.Errorf("got %v after %d made; want the one put back", b, made)
	}
	most := runtime.GOMAXPROCS(0)
	for range 3 * most {
		s.Put(new(int))
	}
	for range most {
		s.Get()
	}
	if before := made; s.Get() == nil || made != before+1 {
		t.Errorf("%d made; want %d kept and no more", made-before, most)
	}
}
