package propose

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"fossick/internal/page"
	"fossick/models/features"
)

// term is a stem as a number below buckets: words are hashed, so that no vocabulary
// grows with the source. Of the 200 terms of a topic one shares its bucket with some
// frequent word now and then, which moves no proposal by itself.
type term uint32

const buckets = 1 << 20

func termOf(stem string) term { return term(page.Key(stem) & (buckets - 1)) }

// weighed is a term with its weight in a vector.
type weighed struct {
	term   term
	weight float32
}

// vector is a sparse vector, its terms rising.
type vector []weighed

// dot is the inner product: the cosine of two unit vectors.
func (v vector) dot(u vector) (sum float64) {
	for i, j := 0, 0; i < len(v) && j < len(u); {
		switch {
		case v[i].term < u[j].term:
			i++
		case v[i].term > u[j].term:
			j++
		default:
			sum += float64(v[i].weight) * float64(u[j].weight)
			i, j = i+1, j+1
		}
	}
	return sum
}

// unit makes v's length 1; a vector without terms stays as it is.
func (v vector) unit() {
	var squares float64
	for _, w := range v {
		squares += float64(w.weight) * float64(w.weight)
	}
	if squares == 0 {
		return
	}
	by := float32(1 / math.Sqrt(squares))
	for i := range v {
		v[i].weight *= by
	}
}

// top returns the n heaviest terms of v, of equal ones the lower, in a slice of its
// own.
func (v vector) top(n int) vector {
	own := slices.Clone(v)
	slices.SortFunc(own, func(a, b weighed) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.term, b.term))
	})
	own = slices.Clip(own[:min(n, len(own))])
	slices.SortFunc(own, func(a, b weighed) int { return cmp.Compare(a.term, b.term) })
	return own
}

// frequencies count on how many texts each term occurs: what idf is made of.
type frequencies struct {
	texts int
	df    []uint32 // by term
}

func newFrequencies() *frequencies { return &frequencies{df: make([]uint32, buckets)} }

func (f *frequencies) add(v vector) {
	f.texts++
	for _, w := range v {
		f.df[w.term]++
	}
}

// idf is ln((n + 1) / (df + ½)), at least 0: a term of most texts says nothing.
func (f *frequencies) idf(t term) float64 {
	return max(0, math.Log((float64(f.texts)+1)/(float64(f.df[t])+0.5)))
}

// weigh turns counts into a unit vector of (1 + ln tf) · idf.
func (f *frequencies) weigh(v vector) {
	for i, w := range v {
		v[i].weight = float32((1 + math.Log(float64(w.weight))) * f.idf(w.term))
	}
	v.unit()
}

// titleTimes is how often a word of a title counts: as in package features, a title
// says more of a page than a sentence.
const titleTimes = 3

// textBytes is how much of a text counts: what a page is about it says in the
// beginning, and most of the time goes into words.
const textBytes = 8 << 10

// head is a text's beginning, to the end of a word.
func head(text string) string {
	if len(text) <= textBytes {
		return text
	}
	if i := strings.LastIndexAny(text[:textBytes], " \n"); i > 0 {
		return text[:i]
	}
	return strings.ToValidUTF8(text[:textBytes], "")
}

// counter counts the terms of texts. It is not safe for concurrent use.
type counter struct {
	tokens *features.Tokens[term]
	buf    []term
}

func newCounter() *counter {
	return &counter{tokens: features.NewTokens(features.AnalyzerOptions{}, termOf)}
}

// doc appends the counts of a text's terms to dst: those of its fields, and of a URL
// alone those of its path.
func (c *counter) doc(dst vector, d features.Doc, words string) vector {
	c.buf = c.tokens.Append(c.buf[:0], head(d.Text), d.Lang)
	c.buf = c.tokens.Append(c.buf, d.Description, d.Lang)
	from := len(c.buf)
	c.buf = c.tokens.Append(c.buf, d.Title, d.Lang)
	c.buf = c.tokens.Append(c.buf, words, d.Lang)
	title := c.buf[from:len(c.buf):len(c.buf)]
	for range titleTimes - 1 {
		c.buf = append(c.buf, title...)
	}
	c.buf = c.tokens.Append(c.buf, urlWords(d.URL), d.Lang)
	return counts(dst, c.buf)
}

// text appends the counts of a short text's terms to dst.
func (c *counter) text(dst vector, text, lang string) vector {
	c.buf = c.tokens.Append(c.buf[:0], text, lang)
	return counts(dst, c.buf)
}

// counts appends how often each term occurs, the terms rising; it sorts terms.
func counts(dst vector, terms []term) vector {
	slices.Sort(terms)
	for i := 0; i < len(terms); {
		n := i + 1
		for n < len(terms) && terms[n] == terms[i] {
			n++
		}
		dst = append(dst, weighed{terms[i], float32(n - i)})
		i = n
	}
	return dst
}
