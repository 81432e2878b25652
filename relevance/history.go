package relevance

import "slices"

// history remembers the words of the pages that were fetched last, so that what
// people say of some pages can be carried over to the others. All words of a page are
// kept, since nobody knows by which a mark will go; the pages are bounded.
type history struct {
	pages []*pastPage // in the order of the crawl
	words int         // of all of them
	limit int         // of words
}

// maxPastWords bounds the words of a history: 8 MiB, the words of some 6,000
// pages of running text. maxPastPages bounds its pages, for pages of few words.
const (
	maxPastWords = 2 << 20
	maxPastPages = 1 << 14
)

// pastPage is a fetched page as a history has it.
type pastPage struct {
	key          uint64
	words        []token
	links        []token // of the links by which it was found
	judged       float64 // probability by the judge
	kin          float64 // log-odds that the likeness to the start pages adds
	now          float64 // with that and what people said: it counts for so much in vocabularies and places
	weight       float64 // and as so many pages
	host, folder *place
	source       *source
}

func (h *history) add(p *pastPage) {
	h.pages = append(h.pages, p)
	h.words += len(p.words)
	drop := 0
	for h.words > h.limit && drop < len(h.pages)-1 || len(h.pages)-drop > maxPastPages {
		h.words -= len(h.pages[drop].words)
		h.pages[drop] = nil
		drop++
	}
	h.pages = h.pages[drop:]
}

// find returns a page, nil when it is not remembered.
func (h *history) find(key uint64) *pastPage {
	i := slices.IndexFunc(h.pages, func(p *pastPage) bool { return p.key == key })
	if i < 0 {
		return nil
	}
	return h.pages[i]
}
