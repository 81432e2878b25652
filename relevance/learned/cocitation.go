package learned

// source is a page as a giver of links. What some of them turned out to be says
// what the others may be. A page is a hub of the topic or is not (co-citation,
// Small 1973). Links that stand together in a list or a sentence are of a kind
// (Davison 2000, "Topical locality in the Web").
type source struct {
	key         uint64  // page.Key
	followed    record  // its links whose pages are known, fetched before or since
	turns       []uint8 // what they turned out to be, by place: 0 unknown, else 1 + 254 · probability
	probability float32 // its probability, when its links were taken in, see startPages
	moved       float32 // by so much it has changed since, by what people said
	degree      float32 // R of the page; 0: not known
	scored      bool    // probability is known
	depth       uint8   // links from a start page, 254 at most
	hops        uint8   // links since a page on topic, 255 at most; 0 is one itself

	around []surroundings // until its links are scored: of each, nil when not known
}

const (
	// maxPlace is the last place that counts; all links behind share it.
	maxPlace = 255
	// nearBy is how many places away a link still stands near another.
	nearBy = 5
)

// placeOf returns the place of a page's link with number i.
func placeOf(i int) uint8 { return uint8(min(i, maxPlace)) }

// hold makes room for what so many links turn out to be.
func (s *source) hold(links int) {
	if n := min(links, maxPlace+1); n > len(s.turns) {
		s.turns = append(s.turns, make([]uint8, n-len(s.turns))...)
	}
}

// turned takes in what the page of a link turned out to be.
func (s *source) turned(at uint8, probability float64) {
	s.followed.add(probability)
	if int(at) < len(s.turns) {
		s.turns[at] = turnOf(probability)
	}
}

// turnOf is a probability as turns has it.
func turnOf(probability float64) uint8 { return 1 + uint8(254*probability) }

// nearWeight is what a link so many places away counts: 1 over its distance.
var nearWeight = [nearBy + 1]float32{1: 1, 2: 1. / 2, 3: 1. / 3, 4: 1. / 4, 5: 1. / 5}

// near returns what the links that stand near the target's turned out to be, on
// the first pages that name it: nearer ones weigh more. It is nothing as long as no
// link of the pages was followed.
func (e *evidence) near() (r record) {
	for i, s := range e.named() {
		if s.followed.pages == 0 {
			continue
		}
		at := int(e.at[i])
		from, to := max(0, at-nearBy), min(len(s.turns), at+nearBy+1)
		for k := from; k < to; k++ {
			if t := s.turns[k]; t > 0 && k != at {
				w := nearWeight[max(k-at, at-k)]
				r.pages += w
				r.onTopic += w * float32(t-1) * (1. / 254)
			}
		}
	}
	return r
}

// hubs is the mean lift of the links of some pages, as far as their pages are known.
func (b *base) hubs(pages []*source) float64 {
	if len(pages) == 0 {
		return 0
	}
	followed := newLogSum()
	for _, s := range pages {
		followed.add(s.followed.odds(b.mean))
	}
	return followed.value()/float64(len(pages)) - b.odds
}
