package features

// Lexicon numbers the terms of a vocabulary. A growing one gives every new term
// the next number; a fixed one knows its terms and no others.
//
// Terms are readable as they stand. A stem is itself ("mortgag"), a term of a field has
// its prefix ("title:mortgag").
type Lexicon struct {
	terms []string
	index map[string]int32

	free    []int32 // numbers without a term, falling
	growing bool
}

// NewLexicon returns a growing lexicon without terms.
func NewLexicon() *Lexicon {
	return &Lexicon{index: map[string]int32{}, growing: true}
}

// FixedLexicon returns a lexicon of terms, numbered in their order.
func FixedLexicon(terms []string) *Lexicon {
	l := NewLexicon()
	l.terms = terms
	for i, t := range terms {
		l.index[t] = int32(i)
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
