package learned

import (
	"fossick/models"
	"fossick/models/features"
)

// WarmStart is what the pages on topic that a model was trained on say of words. A linear model shares
// out what it learned among the hundred words of a page, so that it says little of a word alone. But a
// link has two or three. How many of these pages have a word says more, and says it before the crawl
// has met a page.
type WarmStart struct {
	pages    float32  // what all of them count for
	onPages  []taught // words of their text
	inTitles []taught // words of their titles, and these words' endings
}

// taught is a word, and the pages that taught it.
type taught struct {
	word  token
	pages float32
}

const (
	// maxWarmStart is how many pages it counts for at most: what the crawl itself meets must soon
	// outweigh it.
	maxWarmStart = 100
	// titleLinks is how many links that were followed a title counts for.
	titleLinks = 2
)

// NewWarmStart reads it from a model; nil where the model does not say.
func NewWarmStart(m *models.Model, class int) *WarmStart {
	trained := m.Card.PerClass[m.Classes[class]]
	if m.ClassPages == nil || trained <= 0 {
		return nil
	}
	scale := min(1, float32(maxWarmStart)/float32(trained))
	l := &WarmStart{pages: scale * float32(trained)}
	for i, n := range m.ClassPages[class] {
		if n > 0 && features.IsWord(m.Terms[i]) {
			l.onPages = append(l.onPages, taught{tokenOf(m.Terms[i]), scale * float32(min(int(n), trained))})
		}
	}
	tokens := features.NewTokens(wordOptions, tokenOf)
	for _, w := range m.Titles[m.Classes[class]] {
		pages := titleLinks * scale * float32(beyondChance(w, trained, m.Card.Pages-trained))
		if pages <= 0 {
			continue
		}
		var found [maxEndings]token
		for _, t := range append(tokens.Append(nil, w.Word, w.Lang), endings(found[:0], w.Word)...) {
			l.inTitles = append(l.inTitles, taught{t, pages})
		}
	}
	return l
}

// beyondChance is how many more of the class's pages have the word in their titles than would if it
// stood in them as often as in the others'. Of "page" and of a site's name, which stand in all of them,
// none is left.
func beyondChance(w models.TitleWord, class, others int) float64 {
	pages := float64(min(w.Pages, class))
	if others <= 0 {
		return pages
	}
	return pages - float64(w.Others)*float64(class)/float64(others)
}

// take begins a vocabulary with a warm start, as if its pages had been met.
func (v *vocabulary) take(l *WarmStart) {
	if l == nil {
		return
	}
	for _, t := range l.onPages {
		v.words.use(t.word).page.addPages(t.pages)
	}
	for _, t := range l.inTitles {
		v.words.use(t.word).link.addPages(t.pages)
	}
}

// addPages takes in so many pages that are on topic.
func (r *record) addPages(pages float32) {
	r.pages += pages
	r.onTopic += pages
}

// worth is how many pages on topic it counts for.
func (l *WarmStart) worth() float32 {
	if l == nil {
		return 0
	}
	return l.pages
}
