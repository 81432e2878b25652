package features

// Tokens cuts text into terms as an Analyzer does, and gives for each a number
// that stands for it. Unlike the numbers of a Lexicon these need not be known
// before. A function of the caller's makes them of the term. It is asked once
// for each word that is remembered, not at each occurrence. Like an Analyzer it
// is not safe for concurrent use.
type Tokens[T ~uint32] struct{ an *Analyzer }

// NewTokens returns one whose numbers token makes. Two in 2^32 are taken for
// another's: those of leftOut and noTerm.
func NewTokens[T ~uint32](opt AnalyzerOptions, token func(term string) T) *Tokens[T] {
	an := NewAnalyzer(opt)
	an.resolve = func(e *entry) {
		if e.body = int32(token(e.term)); e.body == leftOut {
			e.body = noTerm
		}
	}
	return &Tokens[T]{an}
}

// Append appends the numbers of text's terms to dst, in their order.
func (t *Tokens[T]) Append(dst []T, text, lang string) []T {
	t.an.each(text, lang, func(row []known) {
		for _, w := range row {
			dst = append(dst, T(w.body))
		}
	})
	return dst
}
