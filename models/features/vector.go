package features

import (
	"math"
	"net/url"
	"strings"
)

// Vector is a sparse vector: Value[k] at Index[k], indexes rising, other places 0.
type Vector struct {
	Index []int32
	Value []float32
}

// Weighting turns counts into tf-idf weights:
//
//	w(i,j) = (1 + ln TF(i,j)) · IDF(i),   IDF(i) = 1 + ln((1 + n) / (1 + DF(i)))
//
// The logarithm damps a word that a page repeats; the ones keep words of every page, and a set of one page,
// from vanishing. Then each block of terms (words, each field's terms) is scaled to its own Euclidean
// length, and all to length 1. So a thousand words of text do not drown the title. The zero value
// leaves counts as they are.
type Weighting struct {
	IDF       []float32 // by term; nil: 1 for all
	Sublinear bool      // 1 + ln TF instead of TF
	Norm      bool      // scale to length 1

	// Blocks are the lengths of the blocks, all 0 for none; see DefaultBlocks.
	Blocks [blocks]float32

	block []uint8 // by term
}

// blocks is the number of blocks in a model file: body, title, heading, URL, unused, lead, unused.
const blocks = int(fields) + 2

const leadBlock = uint8(fields)

// DefaultBlocks are the lengths of the words of text, title, headings and URL, and of the lead.
// docs/classifiers.md says why they differ.
var DefaultBlocks = [blocks]float32{1, 0.4, 0.4, 0.2, 0.5, 0.4, 0.5}

// Bind gives w the terms that it will weigh, as Blocks requires.
func (w *Weighting) Bind(terms []string) {
	w.block = make([]uint8, len(terms))
	for i, t := range terms {
		w.block[i] = blockOf(t)
	}
}

// blockOf returns the block of a term, by its prefix.
func blockOf(term string) uint8 {
	for f := title; f < lead; f++ {
		if strings.HasPrefix(term, prefix[f]) {
			return uint8(f)
		}
	}
	if IsLead(term) {
		return leadBlock
	}
	return uint8(body)
}

// IsWord reports whether a term is a word of the text, not of a field or the lead.
func IsWord(term string) bool { return blockOf(term) == uint8(body) }

// IsLead reports whether a term is one of the lead's, "lead:professor".
func IsLead(term string) bool { return strings.HasPrefix(term, prefix[lead]) }

// IDF returns the inverse document frequencies of terms that occur on df[i] of n pages.
func IDF(df []int32, n int) []float32 {
	idf := make([]float32, len(df))
	for i, d := range df {
		idf[i] = float32(1 + math.Log(float64(1+n)/float64(1+d)))
	}
	return idf
}

// Apply weighs v in place.
func (w *Weighting) Apply(v Vector) {
	var sums [blocks]float64
	for k, i := range v.Index {
		x := w.term(i, v.Value[k])
		v.Value[k] = x
		sums[w.blockAt(i)] += float64(x) * float64(x)
	}
	if !w.Norm {
		return
	}
	scale := w.scales(&sums)
	for k, i := range v.Index {
		v.Value[k] *= scale[w.blockAt(i)]
	}
}

func (w *Weighting) blocked() bool { return w.Blocks != [blocks]float32{} && w.block != nil }

func (w *Weighting) blockAt(i int32) uint8 {
	if !w.blocked() {
		return 0
	}
	return w.block[i]
}

func (w *Weighting) scales(sums *[blocks]float64) (scale [blocks]float32) {
	if !w.blocked() {
		if sums[0] > 0 {
			scale[0] = float32(1 / math.Sqrt(sums[0]))
		}
		return scale
	}
	var all float64
	for b, s := range sums {
		if s > 0 {
			all += float64(w.Blocks[b]) * float64(w.Blocks[b])
		}
	}
	for b, s := range sums {
		if s > 0 && all > 0 {
			scale[b] = float32(float64(w.Blocks[b]) / math.Sqrt(s*all))
		}
	}
	return scale
}

// term returns the weight of a term that occurs n times, before scaling.
func (w *Weighting) term(i int32, n float32) float32 {
	if w.Sublinear && n > 0 {
		n = logs.of(n)
	}
	if w.IDF != nil {
		n *= w.IDF[i]
	}
	return n
}

// logs has 1 + ln n for small n, as nearly all counts are.
var logs = func() (t logTable) {
	for i := range t {
		t[i] = float32(1 + math.Log(float64(max(i, 1))))
	}
	return t
}()

type logTable [256]float32

func (t *logTable) of(n float32) float32 {
	if i := int(n); i < len(t) && float32(i) == n {
		return t[i]
	}
	return float32(1 + math.Log(float64(n)))
}

// Lexicon numbers the terms of a vocabulary. A growing one numbers new terms as they come; a fixed one has
// only its own. A term is readable: a stem is itself ("mortgag"), a field's term has a prefix
// ("title:mortgag").
type Lexicon struct {
	terms []string
	index map[string]int32

	free    []int32 // numbers of dropped terms, falling
	growing bool
}

// NewLexicon returns an empty growing lexicon.
func NewLexicon() *Lexicon {
	return &Lexicon{index: map[string]int32{}, growing: true}
}

// FixedLexicon returns a lexicon of these terms, numbered in their order.
func FixedLexicon(terms []string) *Lexicon {
	l := NewLexicon()
	l.terms = terms
	for i, t := range terms {
		l.index[t] = int32(i)
	}
	l.growing = false
	return l
}

// Len returns the number of terms, including dropped ones.
func (l *Lexicon) Len() int { return len(l.terms) }

// Live returns the number of terms, without dropped ones.
func (l *Lexicon) Live() int { return len(l.terms) - len(l.free) }

// Terms returns the terms by number, "" for dropped ones. The caller must not change them.
func (l *Lexicon) Terms() []string { return l.terms }

// Drop removes the terms that keep rejects from a growing lexicon. New terms reuse their numbers.
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

// Index returns the number of a term, −1 if a fixed lexicon lacks it; a growing one adds it.
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

// Doc is a text to classify, by field. It has the fields of page.Fields, so that features.Doc(p.Fields())
// converts without an import.
type Doc struct {
	URL, Title, Description, Headings, Text, Lang string
}

// path returns the unescaped path of a URL, "" for what is no URL.
func path(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Path
}
