package train

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"fossick/models"
	"fossick/models/features"
)

// titles counts the words that stand in the titles of each class's pages. A link says
// what the title of its target says, so that they tell a crawl how links to pages on
// topic are worded, see learned.WarmStart.
type titles struct {
	words map[titleWord]map[string]int // pages, by class
}

type titleWord struct{ lang, word string }

const (
	// maxTitleWords bounds the words of a set's titles that are counted; of more, the
	// first count. Few sets have as many: half of a title's words stood in others.
	maxTitleWords = 1 << 17
	// maxClassTitles is how many words of a class's titles a model keeps, those of most
	// pages: 50 KB.
	maxClassTitles = 4096
	// maxTitle bounds what is read of a title, in bytes.
	maxTitle = 256
)

func newTitles() titles { return titles{map[titleWord]map[string]int{}} }

// titleWords returns the words of a page's title, each once.
func (g *gatherer) titleWords(doc features.Doc) (words []string) {
	if g.plain {
		return nil
	}
	g.titleCut.Each(features.Head(doc.Title, maxTitle), doc.Lang, func(word, _ string) {
		if !slices.Contains(words, word) {
			words = append(words, word)
		}
	})
	return words
}

// add takes in the words of a page's title, each given once.
func (t *titles) add(class string, words []string, lang string) {
	for _, w := range words {
		key := titleWord{lang, w}
		pages, known := t.words[key]
		if !known {
			if len(t.words) >= maxTitleWords {
				continue
			}
			pages = map[string]int{}
			t.words[titleWord{strings.Clone(lang), strings.Clone(w)}] = pages // not a part of the row's text
		}
		pages[class]++
	}
}

// list returns the words of each class but Other, by language and word.
func (t *titles) list() map[string][]models.TitleWord {
	all := map[string][]models.TitleWord{}
	for key, pages := range t.words {
		sum := 0
		for _, n := range pages {
			sum += n
		}
		for class, n := range pages {
			if class != Other {
				all[class] = append(all[class], models.TitleWord{Word: key.word, Lang: key.lang, Pages: n, Others: sum - n})
			}
		}
	}
	byWord := func(a, b models.TitleWord) int {
		return cmp.Or(cmp.Compare(a.Lang, b.Lang), cmp.Compare(a.Word, b.Word))
	}
	for _, class := range slices.Sorted(maps.Keys(all)) {
		words := all[class]
		slices.SortFunc(words, func(a, b models.TitleWord) int { return cmp.Or(cmp.Compare(b.Pages, a.Pages), byWord(a, b)) })
		words = words[:min(len(words), maxClassTitles)]
		slices.SortFunc(words, byWord)
		all[class] = slices.Clip(words)
	}
	return all
}
