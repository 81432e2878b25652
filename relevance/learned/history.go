package learned

// history remembers the words of the pages that were fetched last, so that what
// people say of some pages can be carried over to the others. All words of a page are
// kept, since nobody knows by which a label will go; the pages are bounded.
type history struct {
	pages []*pastPage // in the order of the crawl
	byKey map[uint64]*pastPage
	words int // of all of them
	limit int // of words
}

// maxPastWords bounds the words of a history: 8 MiB, the words of some 6,000
// pages of running text. maxPastPages bounds its pages, for pages of few words.
const (
	maxPastWords = 2 << 20
	maxPastPages = 1 << 14
)

// pastPage is a fetched page as a history has it. It brought its probability, but for what
// of it was an echo.
type pastPage struct {
	key          uint64
	url          string
	words        []token
	links        []token // of the links by which it was found
	judged       float64 // probability by the judge
	similar      float64 // log-odds that the similarity to the start pages adds
	now          float64 // with that, the crawl's prior and what people said: it counts for so much in vocabularies and places
	weight       float64 // and as so many pages,
	counted      float64 // its words as those of so many
	echo         float64 // how far it said what was known, in [0,1], see yields.echo
	host, folder *record
	source       *source
	named        []naming // by whom, some of them
}

// worth is what the page brings that is new, were it of a probability.
func (p *pastPage) worth(probability float64) float64 { return probability * (1 - p.echo) }

// naming is a link to a page that was fetched: which page's, and at what place there.
type naming struct {
	by *source
	at uint8
}

// maxNamings bounds the links to a page that are remembered.
const maxNamings = 4

// namedBy remembers a link to the page.
func (p *pastPage) namedBy(s *source, at uint8) {
	if len(p.named) < maxNamings {
		p.named = append(p.named, naming{s, at})
	}
}

func newHistory(limit int) history { return history{byKey: map[uint64]*pastPage{}, limit: limit} }

func (h *history) add(p *pastPage) {
	h.pages = append(h.pages, p)
	h.byKey[p.key] = p
	h.words += len(p.words)
	drop := 0
	for h.words > h.limit && drop < len(h.pages)-1 || len(h.pages)-drop > maxPastPages {
		h.words -= len(h.pages[drop].words)
		if old := h.pages[drop]; h.byKey[old.key] == old { // not one that came again since
			delete(h.byKey, old.key)
		}
		h.pages[drop] = nil
		drop++
	}
	h.pages = h.pages[drop:]
}

// find returns a page, nil when it is not remembered.
func (h *history) find(key uint64) *pastPage { return h.byKey[key] }

// name remembers a link to a page, and returns how many are remembered; of a page that
// is not, maxNamings, as no other need be told.
func (h *history) name(key uint64, by *source, at uint8) int {
	p := h.find(key)
	if p == nil {
		return maxNamings
	}
	p.namedBy(by, at)
	return len(p.named)
}
