package learned

import (
	"fmt"
	"sync"

	"fossick/internal/page"
	"fossick/models/features"
	"fossick/relevance"
)

// degrees computes the degree of relevance R of pages (paper A eq. 1; see relevance.Degree):
//
//	R_i = (1 − ρ) · λ_i / |K| + ρ · R_j,  R in [0,1]
//
// A target has the best R of the pages that link to it, as paper A's queue keeps a URL's best place. R_j is
// 1 for a start page, 0 for a page without known links to it. λ counts the words of K in the title, the
// description and the first maxPageText bytes. Without K the model's probability replaces λ/|K|. Safe for
// concurrent use.
type degrees struct {
	keywords *relevance.Keywords // K; nil: unknown
	rho      float64

	mu     sync.Mutex // guards byLang
	byLang map[string]*topicWords
}

// topicWords is K in one language, as tokens.
type topicWords struct {
	alone map[token]int       // how many words of K equal this token
	parts map[token]int       // index, in the has array of lambda, of tokens that are parts of other words
	rest  *relevance.Keywords // phrases, and words without a token; nil: none
	needs [][]int             // indexes of the parts of each of these
}

// maxDegreeLanguages bounds byLang, as pages can declare any language.
const maxDegreeLanguages = 32

// lambda is how many words of K a page has, given its distinct tokens.
func (d *degrees) lambda(p *page.Page, words []token) int {
	if d.keywords == nil {
		return 0
	}
	k := d.in(p.Lang)
	has := make([]bool, len(k.parts))
	n := 0
	for _, w := range words {
		n += k.alone[w]
		if i, part := k.parts[w]; part {
			has[i] = true
		}
	}
	for _, parts := range k.needs {
		all := true
		for _, i := range parts {
			all = all && has[i]
		}
		if all { // rare: search the text itself
			return n + len(k.rest.FoundIn(p.Lang, p.Title, p.Description, features.Head(p.Text, maxPageText)))
		}
	}
	return n
}

func (d *degrees) in(lang string) *topicWords {
	d.mu.Lock()
	defer d.mu.Unlock()
	if k := d.byLang[lang]; k != nil {
		return k
	}
	if len(d.byLang) >= maxDegreeLanguages {
		clear(d.byLang)
	}
	k := newTopicWords(d.keywords, lang)
	d.byLang[lang] = k
	return k
}

func newTopicWords(keywords *relevance.Keywords, lang string) *topicWords {
	k := &topicWords{alone: map[token]int{}, parts: map[token]int{}}
	tokens := features.NewTokens(wordOptions, tokenOf)
	var rest []string
	for i, stems := range keywords.Stems(lang) {
		word := keywords.Words()[i]
		read := tokens.Append(nil, word, lang)
		if len(stems) == 1 && len(read) == 1 {
			k.alone[read[0]]++
			continue
		}
		var needs []int
		for _, w := range read {
			if _, known := k.parts[w]; !known {
				k.parts[w] = len(k.parts)
			}
			needs = append(needs, k.parts[w])
		}
		rest, k.needs = append(rest, word), append(k.needs, needs)
	}
	if len(rest) > 0 {
		k.rest, _ = relevance.NewKeywords(rest) // cannot fail: these words already formed a K
	}
	return k
}

// degreeOf returns R of a page from λ and the R of what led to it, with the term that explains it.
// probability is the model's.
func (d *degrees) degreeOf(lambda int, probability, parent float64, start bool) (r float64, term relevance.Term) {
	led := "the page that led here"
	if start {
		led = "the link to a start page"
	}
	if d.keywords == nil {
		r = (1-d.rho)*probability + d.rho*parent
		return r, relevance.Term{Name: "R", Value: r, Note: fmt.Sprintf("degree of relevance: %.3g · the probability (there are no keywords) + %.3g · R %.3g of %s", 1-d.rho, d.rho, parent, led)}
	}
	k := d.keywords.Len()
	r = relevance.Degree(lambda, k, d.rho, parent)
	return r, relevance.Term{Name: "R", Value: r, Note: fmt.Sprintf("degree of relevance: %.3g · %d/%d of the keywords + %.3g · R %.3g of %s", 1-d.rho, lambda, k, d.rho, parent, led)}
}

// Led returns the best R of the links to a URL, given its page.Key; 0 if unknown.
func (l *Scorer) Led(url uint64) float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return float64(l.links.ledBy(url))
}

// Lead records that a URL for which Led returned r redirects to this one, which inherits r. It ignores an
// r outside [0,1].
func (l *Scorer) Lead(url uint64, r float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r > float64(l.links.ledBy(url)) && r <= 1 {
		l.links.redirected.Put(url, float32(r))
	}
}

func (g *linkGraph) ledBy(key uint64) float32 {
	r, _ := g.redirected.Peek(key)
	if e, ok := g.waiting.Peek(key); ok {
		r = max(r, e.degree)
	}
	return r
}

// step is the smallest possible difference between the R of two start pages.
func (d *degrees) step() float64 {
	if d.keywords == nil {
		return leastStep
	}
	return (1 - d.rho) / float64(d.keywords.Len())
}

// leastStep is below the precision of evidence.degree, a float32.
const leastStep = 1e-8

// byDegree is the priority before the first lesson: by R, with ties broken by promise. step is the smallest
// difference between two R.
func byDegree(r, promise, step float64) float64 {
	tie := step / 2
	return highest * (r + tie*promise) / (1 + tie)
}
