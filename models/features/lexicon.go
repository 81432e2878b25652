package features

import "strings"

// Lexicon numbers the terms of a vocabulary. A growing one gives every new term
// the next number; a fixed one knows its terms and no others.
//
// Terms are readable as they stand. A stem is itself ("mortgag"), a term of a field has
// its prefix ("title:mortgag"), and a pair has a space ("home page").
type Lexicon struct {
	terms []string
	index map[string]int32

	// A pair is found by the numbers of its words, so that looking one up builds
	// no string. parts numbers the words that occur in pairs.
	parts map[string]int32
	words []string // by number of the part
	pairs map[uint64]int32

	free    []int32 // numbers without a term, falling
	growing bool
}

// NewLexicon returns a growing lexicon without terms.
func NewLexicon() *Lexicon {
	return &Lexicon{
		index: map[string]int32{}, parts: map[string]int32{}, pairs: map[uint64]int32{}, growing: true,
	}
}

// FixedLexicon returns a lexicon of terms, numbered in their order.
func FixedLexicon(terms []string) *Lexicon {
	l := NewLexicon()
	l.terms = terms
	for i, t := range terms {
		l.index[t] = int32(i)
		if a, b, ok := strings.Cut(t, " "); ok {
			l.pairs[pairKey(l.part(a), l.part(b))] = int32(i)
		}
	}
	l.growing = false
	return l
}

// Len returns the number of terms, and of numbers whose term was dropped.
func (l *Lexicon) Len() int { return len(l.terms) }

// Live returns the number of terms.
func (l *Lexicon) Live() int { return len(l.terms) - len(l.free) }

// Terms returns the terms by number, "" where the term was dropped. The caller
// must not change them.
func (l *Lexicon) Terms() []string { return l.terms }

// Drop takes from a growing lexicon the terms that keep refuses. New terms get
// their numbers, the lowest first. An Extractor of the lexicon must Forget.
func (l *Lexicon) Drop(keep func(term int32) bool) {
	l.free = l.free[:0]
	for i := int32(len(l.terms)) - 1; i >= 0; i-- {
		if l.terms[i] == "" || !keep(i) {
			delete(l.index, l.terms[i])
			l.terms[i] = ""
			l.free = append(l.free, i)
		}
	}
	// The words of pairs are numbered anew: most are in dropped pairs only.
	l.parts, l.words, l.pairs = map[string]int32{}, nil, map[uint64]int32{}
	for i, t := range l.terms {
		if a, b, ok := strings.Cut(t, " "); ok {
			l.pairs[pairKey(l.part(a), l.part(b))] = int32(i)
		}
	}
}

// Index returns the number of term; -1 when a fixed lexicon does not have it.
func (l *Lexicon) Index(term string) int32 {
	if i, ok := l.index[term]; ok {
		return i
	}
	if !l.growing {
		return -1
	}
	return l.add(term)
}

func (l *Lexicon) add(term string) int32 {
	i := int32(len(l.terms))
	if n := len(l.free); n > 0 {
		i, l.free = l.free[n-1], l.free[:n-1]
		l.terms[i] = term
	} else {
		l.terms = append(l.terms, term)
	}
	l.index[term] = i
	return i
}

// part returns the number of a word as part of pairs, -1 when it is in none.
func (l *Lexicon) part(word string) int32 {
	if p, ok := l.parts[word]; ok {
		return p
	}
	if !l.growing {
		return -1
	}
	p := int32(len(l.words))
	l.words = append(l.words, word)
	l.parts[word] = p
	return p
}

// pair returns the number of the pair of two parts, or -1.
func (l *Lexicon) pair(a, b int32) int32 {
	if a < 0 || b < 0 {
		return -1
	}
	key := pairKey(a, b)
	if i, ok := l.pairs[key]; ok {
		return i
	}
	if !l.growing {
		return -1
	}
	i := l.add(l.words[a] + " " + l.words[b])
	l.pairs[key] = i
	return i
}

func pairKey(a, b int32) uint64 { return uint64(uint32(a))<<32 | uint64(uint32(b)) }
