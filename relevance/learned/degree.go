package learned

import (
	"fmt"
	"sync"

	"fossick/internal/page"
	"fossick/models/features"
	"fossick/relevance"
)

// degrees works out the degree of relevance R of pages (paper A eq. 1; see relevance.Degree):
//
//	R_i = (1 − ρ) · λ_i / |K| + ρ · R_j,  R in [0,1]
//
// A link has the R of its page; of several pages the best, as paper A's queue keeps a URL's best place.
// R_j is what the page's own links had: 1 of a start page, 0 of a page that no known page links to. λ
// counts the words of K among the words that the scorer reads, so of a long text those of the first
// maxPageText bytes. Without K the model's probability stands for λ/|K|. Safe for concurrent use.
type degrees struct {
	keywords *relevance.Keywords // K; nil: not known
	rho      float64

	mu     sync.Mutex // guards byLang
	byLang map[string]*topicWords
}

// topicWords is K in one language, in the numbers of the words that pages are read as.
type topicWords struct {
	alone map[token]int       // how many words of K are this word
	parts map[token]int       // places in has of what the others are made of
	rest  *relevance.Keywords // the others: phrases, and words that are not read; nil: none
	needs [][]int             // of each of these the parts, by place
}

// maxDegreeLanguages bounds byLang: the languages' codes come from pages.
const maxDegreeLanguages = 32

// lambda is how many words of K a page has, whose words are given, each once.
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
		if all { // few pages: only here the text is looked at again
			return n + len(k.rest.FoundIn(p.Lang, p.Title, p.Description, features.Head(p.Text, maxPageText)))
		}
	}
	return n
}

// in returns K in a language.
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
		k.rest, _ = relevance.NewKeywords(rest) // words of a K that was made of them once
	}
	return k
}

// degreeOf returns R of a page with λ, by the R of what led to it, and the term that says so.
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

// Led returns the best R of what led to a URL, named by its page.Key; 0 where nothing is known of it.
func (l *Scorer) Led(url uint64) float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return float64(l.links.ledBy(url))
}

// Lead says that a URL, of which Led returned r, redirects to this one: the page here has the R of what
// led there. An r outside [0,1] is left out.
func (l *Scorer) Lead(url uint64, r float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r > float64(l.links.ledBy(url)) && r <= 1 {
		l.links.redirected.Put(url, float32(r))
	}
}

// ledBy is the best R of what leads to a target, 0 where nothing is known of it.
func (g *linkGraph) ledBy(key uint64) float32 {
	r, _ := g.redirected.Peek(key)
	if e, ok := g.waiting.Peek(key); ok {
		r = max(r, e.degree)
	}
	return r
}

// step is the least by which the R of two start pages differ, if they do.
func (d *degrees) step() float64 {
	if d.keywords == nil {
		return leastStep
	}
	return (1 - d.rho) / float64(d.keywords.Len())
}

// leastStep is below what evidence tells apart, which has R as a float32.
const leastStep = 1e-8

// byDegree is the priority of a target before the first lesson: R's order, and among equals that of
// what their links promise. step is the least difference of two R.
func byDegree(r, promise, step float64) float64 {
	tie := step / 2
	return highest * (r + tie*promise) / (1 + tie)
}
