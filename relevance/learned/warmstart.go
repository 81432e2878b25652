package learned

import (
	"fossick/models"
	"fossick/models/features"
)

// WarmStart holds word counts from the model's training pages on topic. A linear model spreads its
// knowledge over the many words of a page, so it says little about the two or three words of a link.
// Page counts per word say more, and are available before the first fetch.
type WarmStart struct {
	pages    float32  // weight of all of them, in pages
	onPages  []taught // words of their texts
	inTitles []taught // words of their titles, and these words' endings
}

// taught is a word and the number of pages with it.
type taught struct {
	word  token
	pages float32
}

const (
	// maxWarmStart bounds the weight of all training pages, so that the crawl's own pages soon
	// outweigh them.
	maxWarmStart = 100
	// titleLinks is how many followed links one title counts for.
	titleLinks = 2
)

// NewWarmStart reads the counts from a model; nil if the model has none.
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

// beyondChance is how many more of the class's titles have the word than the other classes' rate
// predicts. It removes words that all titles have, such as a site's name.
func beyondChance(w models.TitleWord, class, others int) float64 {
	pages := float64(min(w.Pages, class))
	if others <= 0 {
		return pages
	}
	return pages - float64(w.Others)*float64(class)/float64(others)
}

// take adds a warm start to an empty vocabulary.
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

// addPages counts pages on topic.
func (r *record) addPages(pages float32) {
	r.pages += pages
	r.onTopic += pages
}

// worth is the weight of a warm start in pages on topic.
func (l *WarmStart) worth() float32 {
	if l == nil {
		return 0
	}
	return l.pages
}
