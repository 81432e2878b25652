package features

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestCountAround: parts of a text are counted as if they had been cut by themselves, to the order of
// the terms, wherever they begin and end.
func TestCountAround(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	pieces := strings.Fields("The banks' (don't), 1,000 1997 c++ c++: VB.NET of, mp3 é, été 東京銀行の銀行 Банки\u00ad, 은행은 xy rock'n'roll snake_case")
	for n, opt := range []ExtractorOptions{
		{}, {Analyzer: AnalyzerOptions{KeepStop: true, Numbers: NumbersShape}, Fields: true, Lead: 3},
		{Lead: 2}, {}, {Analyzer: AnalyzerOptions{KeepStop: true}, Fields: true}, {Fields: true, Lead: 3},
	} {
		lexicon := NewLexicon()
		if n >= 4 { // words are learned with others, of which some are terms
			lexicon = FixedLexicon([]string{"bank", "mp3", "c++", "été", "title:titl", "东京", "東京", "lead:bank", "банк", "know"})
		}
		alone, kept := NewExtractor(opt, lexicon), NewExtractor(opt, lexicon)
		if n >= 4 {
			kept.Share(NewSharedWords())
		}
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
				t.Fatalf("%+v %d: %q of %q: %v, want %v", opt, i, context, text, counts(lexicon, got), counts(lexicon, want))
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
