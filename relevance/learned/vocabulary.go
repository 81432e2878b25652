package learned

import "math"

// vocabulary says what words are worth in this crawl. A word occurs in pages,
// or in links that were followed; it keeps how many pages there were and how
// far they were on topic. It keeps the words that were used last. Two words in
// 2^32 may share a token; the analyzer makes one term of a word's forms, and
// words of scripts that do not space them.
type vocabulary struct{ words wordTable }

func newVocabulary() vocabulary { return vocabulary{newWordTable(maxVocabulary)} }

// learnPage takes in that these words, each given once, were on a page.
func (v *vocabulary) learnPage(words []token, probability, weight float64) {
	pages, onTopic := float32(weight), float32(weight*probability)
	for _, w := range words {
		r := &v.words.use(w).page
		r.pages += pages
		r.onTopic += onTopic
	}
}

// learnLink takes in that these words, each given once, were in links to a page.
func (v *vocabulary) learnLink(words []token, probability float64) {
	for _, w := range words {
		v.words.use(w).link.add(probability)
	}
}

// worth is what the words of a target say of it: lifts are 0 for a new word.
type worth struct {
	mean, most float64 // lift on pages
	inLinks    float64 // mean lift in links
	over       float64 // mean, see Background
}

// ended is the mean lift of some endings in links; 0 for a new one.
func (v *vocabulary) ended(endings []token, b *base) float64 {
	if len(endings) == 0 {
		return 0
	}
	links := newLogSum()
	for _, t := range endings {
		links.add(v.words.find(t).link.odds(b.mean))
	}
	return links.value()/float64(len(endings)) - b.odds
}

// worth says what some words are worth.
func (v *vocabulary) worth(words []token, b *base) worth {
	if len(words) == 0 {
		return worth{}
	}
	pages, links, over, most := newLogSum(), newLogSum(), newLogSum(), 0.0
	for _, t := range words {
		w := v.words.find(t)
		odds := w.page.odds(b.mean)
		pages.add(odds)
		links.add(w.link.odds(b.mean))
		over.add(w.onTopic(b))
		most = max(most, odds)
	}
	n := float64(len(words))
	return worth{
		mean: pages.value()/n - b.odds, most: math.Log(most) - b.odds,
		inLinks: links.value()/n - b.odds, over: b.over(over.value() / n),
	}
}

// over is by how much more often some words stand on the crawl's pages on topic than
// on pages at large, in the mean; 0 without words.
func (v *vocabulary) over(words []token, b *base) float64 {
	if len(words) == 0 {
		return 0
	}
	over := newLogSum()
	for _, t := range words {
		over.add(v.words.find(t).onTopic(b))
	}
	return b.over(over.value() / float64(len(words)))
}
