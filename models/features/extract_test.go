package features

import (
	"math"
	"slices"
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
	x := NewExtractor(ExtractorOptions{Fields: true, TitleWeight: 3}, lex)
	v := x.Count(Vector{}, sample)
	if !slices.IsSorted(v.Index) {
		t.Errorf("indexes %v are not sorted", v.Index)
	}
	got := names(lex, v)
	want := map[string]float32{
		"home": 4, "smith": 3, "title:home": 1, "title:smith": 1, "heading:teach": 1,
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

// TestFixedLexicon: a model sees the page that training saw, less unknown terms.
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
