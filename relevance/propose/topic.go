package propose

import (
	"cmp"
	"errors"
	"log/slog"
	"maps"
	"math"
	"slices"
	"strings"

	"fossick/datasets"
	"fossick/internal/page"
	"fossick/models/features"
)

// Topic describes the wanted start pages. At least one field must be set; all that are set count.
type Topic struct {
	Examples []features.Doc // texts on topic
	Keywords []string       // words and phrases of the topic
	// Judge returns how far a text is on topic, in [0,1]. It multiplies the likeness to examples and
	// keywords, so either can reject a page. nil: likeness alone. Safe for concurrent use.
	Judge func(features.Doc) float64
}

// maxExamples bounds the examples whose words are kept.
const maxExamples = 1000

// Learn adds the pages of rows to the examples and returns their URLs. It logs rows that are not pages.
func (t *Topic) Learn(rows datasets.Stream, log *slog.Logger) (given map[string]bool, err error) {
	given = map[string]bool{}
	for e, err := range rows {
		if err != nil && datasets.IsRow(err) {
			log.Warn("example left out", "err", err)
			continue
		}
		if err != nil {
			return nil, err
		}
		p, err := e.Page()
		if err != nil {
			log.Warn("example left out", "url", e.URL, "err", err)
			continue
		}
		given[p.URL] = true
		t.Examples = append(t.Examples, features.Doc(p.Fields()))
		if len(t.Examples) == maxExamples {
			break
		}
	}
	return given, nil
}

// errNoTopic reports a Topic without examples, keywords or judge.
var errNoTopic = errors.New("the topic is missing; give keywords, examples or a judge of pages")

// topicTerms is how many terms of a topic count: enough for its vocabulary, too few for the names in one
// example.
const topicTerms = 200

// manyExamples is the number of examples from which a term must occur in two of them; terms of only one
// are mostly names.
const manyExamples = 4

type profile struct {
	words vector    // unit length
	dense []float32 // the same, indexed by term
	names map[term]string
}

// newProfile adds the mean of the examples' unit vectors and the keywords' vector, with equal weight.
func newProfile(t *Topic, examples []vector, f *frequencies) *profile {
	p := &profile{dense: make([]float32, buckets), names: map[term]string{}}
	sum, on := map[term]float64{}, map[term]int{}
	add := func(v vector, by float64) {
		for _, w := range v {
			sum[w.term] += by * float64(w.weight)
			on[w.term]++
		}
	}
	for _, v := range examples {
		add(v, 1/float64(len(examples)))
	}
	if len(examples) >= manyExamples {
		maps.DeleteFunc(sum, func(t term, _ float64) bool { return on[t] < 2 })
	}
	if len(t.Keywords) > 0 {
		var words vector
		words = newCounter().text(words, strings.Join(t.Keywords, " "), "")
		f.weigh(words)
		add(words, 1)
	}
	for _, t := range slices.Sorted(maps.Keys(sum)) {
		p.words = append(p.words, weighed{t, float32(sum[t])})
	}
	p.words = p.words.top(topicTerms)
	p.words.unit()
	for _, w := range p.words {
		p.dense[w.term] = w.weight
	}
	return p
}

func (p *profile) name(an *features.Analyzer, text, lang string) {
	an.Each(text, lang, func(word, stem string) {
		if t := termOf(stem); p.dense[t] > 0 && p.names[t] == "" {
			p.names[t] = strings.Clone(word)
		}
	})
}

// likeness is the cosine of a unit vector and the topic.
func (p *profile) likeness(v vector) (cos float64) {
	for _, w := range v {
		cos += float64(w.weight) * float64(p.dense[w.term])
	}
	return cos
}

// term is the hash of a stem, below buckets, so that memory does not grow with the vocabulary. Rare
// collisions with the topic's 200 terms are harmless.
type term uint32

const buckets = 1 << 20

func termOf(stem string) term { return term(page.Key(stem) & (buckets - 1)) }

type weighed struct {
	term   term
	weight float32
}

type vector []weighed

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

// top returns a copy with the n heaviest terms; ties go to the lower term.
func (v vector) top(n int) vector {
	own := slices.Clone(v)
	slices.SortFunc(own, func(a, b weighed) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.term, b.term))
	})
	own = slices.Clip(own[:min(n, len(own))])
	slices.SortFunc(own, func(a, b weighed) int { return cmp.Compare(a.term, b.term) })
	return own
}

// frequencies counts the texts with each term, for idf.
type frequencies struct {
	texts int
	df    []uint32 // by term
}

func (f *frequencies) add(v vector) {
	f.texts++
	for _, w := range v {
		f.df[w.term]++
	}
}

// idf is ln((n + 1) / (df + ½)), at least 0.
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

// titleTimes is how often a title word counts.
const titleTimes = 3

// textBytes is how much of a text counts: its beginning says what it is about, and tokenising is the main
// cost.
const textBytes = 8 << 10

// head returns the first textBytes of a text, cut at a word.
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

// doc appends the term counts of a text's fields, or of a bare URL's path.
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

func (c *counter) text(dst vector, text, lang string) vector {
	c.buf = c.tokens.Append(c.buf[:0], text, lang)
	return counts(dst, c.buf)
}

// counts appends the frequency of each term, sorted by term; it sorts terms.
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

// standIns is the number of pages with most keywords that stand in for missing examples (blind relevance
// feedback: Croft and Harper 1979; Rocchio 1971).
const standIns = 10

// phrase is a keyword as its stems.
type phrase []term

func phrases(keywords []string) (all []phrase) {
	tokens := features.NewTokens(features.AnalyzerOptions{}, termOf)
	for _, k := range keywords {
		if p := tokens.Append(nil, k, ""); len(p) > 0 {
			all = append(all, p)
		}
	}
	return all
}

// BM25's usual constants (Robertson and Zaragoza 2009). The mean length is unknown in the first pass, so
// usualWords replaces it.
const (
	bm25K1     = 1.2
	bm25B      = 0.75
	usualWords = 400
)

// holds sums BM25's saturated frequency, in [0,1), over the keywords, so a page with all of them outranks
// one with many occurrences of one. terms are in text order.
func holds(phrases []phrase, terms []term) (score float64) {
	norm := bm25K1 * (1 - bm25B + bm25B*float64(len(terms))/usualWords)
	for _, p := range phrases {
		n := 0.0
		for i := range terms {
			if len(terms)-i >= len(p) && slices.Equal(terms[i:i+len(p)], p) {
				n++
			}
		}
		score += n / (n + norm)
	}
	return score
}

// standIn is a page that may stand in for an example.
type standIn struct {
	score  float64
	counts vector
	doc    features.Doc // for the spelling of its words
}

// ranking keeps the pages that hold the keywords best.
type ranking struct{ best []standIn }

// add inserts a page if it is among the best, and then copies counts and doc.
func (r *ranking) add(score float64, counts vector, d features.Doc) {
	if score <= 0 || len(r.best) == standIns && score <= r.best[len(r.best)-1].score {
		return
	}
	d.Title, d.Text, d.URL = strings.Clone(d.Title), strings.Clone(head(d.Text)), ""
	if len(r.best) == standIns {
		r.best = r.best[:standIns-1]
	}
	r.best = append(r.best, standIn{score, slices.Clone(counts), d})
	slices.SortStableFunc(r.best, func(a, b standIn) int { return cmp.Compare(b.score, a.score) })
}
