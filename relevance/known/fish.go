package known

import (
	"sync"

	"fossick/internal/page"
	"fossick/relevance"
)

// Fish is Fish-Search (De Bra, Houben, Kornatzky and Post 1994, "Information
// retrieval in distributed hypertexts"): a school that breeds where it finds
// food and dies where there is none. A page is relevant or not. Of a relevant
// page the first α · width links go to the front of the list. Of another page
// the first width links go behind those of relevant pages. All further links go
// to the end. A link of a relevant page may be followed for depth further pages
// without one that is relevant. The paper drops the links beyond that; here the
// crawl comes to them last, so that it does not end early. α = 1.5 as
// published; width and depth, which the paper leaves to the user, are 10 and 3.
// Safe for concurrent use.
type Fish struct {
	cut float64

	mu     sync.Mutex          // guards the rest
	pages  int                 // so far
	places page.Recent[placed] // by page.Key of targets
}

// placed is a target's place in the list.
type placed struct {
	depth    int
	priority float64
}

const (
	fishAlpha = 1.5
	fishWidth = 10
	fishDepth = 3
)

// The parts of the list, first to last.
const (
	fishRelevant = 3 // links of relevant pages
	fishOther    = 2 // the first links of other pages
	fishRest     = 1 // further links
	fishDead     = 0 // too deep
)

// NewFish returns the policy. cut is the similarity from which a page is relevant.
func NewFish(cut float64) *Fish {
	return &Fish{cut: cut, places: page.NewRecent[placed](maxEvidence)}
}

// ScorePage returns the similarity.
func (f *Fish) ScorePage(p *page.Page, similarity float64) relevance.Score {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pages++
	return relevance.Score{Value: similarity, Terms: []relevance.Term{
		{Name: "similarity", Value: similarity, Note: "to the topic"},
		{Name: "depth", Value: float64(f.depth(page.Key(p.URL))), Note: "pages that may follow without a relevant one"},
	}}
}

// depth returns how deep the fish at a page may still swim; a start page's may all.
func (f *Fish) depth(key uint64) int {
	if at, ok := f.places.Get(key); ok {
		return at.depth
	}
	return fishDepth
}

// ScoreLinks appends the place of each link: 0 is the end of the list, 1 its front.
func (f *Fish) ScoreLinks(dst []float64, p *page.Page, similarity float64) []float64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	part, width, depth := fishOther, fishWidth, f.depth(page.Key(p.URL))-1
	if similarity >= f.cut {
		part, width, depth = fishRelevant, int(fishAlpha*fishWidth), fishDepth
	}
	for i := range p.Links {
		own := part
		switch {
		case depth <= 0:
			own = fishDead
		case i >= width:
			own = fishRest
		}
		dst = append(dst, f.place(page.Key(p.Links[i].URL), own, depth))
	}
	return dst
}

// place enters a target and returns its priority, by the part of the list.
// Within a part what was put in last comes first, but in the end part it comes
// last.
func (f *Fish) place(key uint64, part, depth int) float64 {
	age := float64(f.pages) / float64(f.pages+1000) // in [0,1), and grows
	if part <= fishRest {
		age = 1 - age
	}
	at := placed{max(depth, 0), (float64(part) + age) / 4}
	old, ok := f.places.Get(key)
	switch {
	case !ok:
		f.places.Put(key, at)
	case at.priority > old.priority:
		at.depth = max(at.depth, old.depth)
		f.places.Set(key, at)
	default:
		return old.priority
	}
	return at.priority
}

// Rescore returns the place of a target.
func (f *Fish) Rescore(key uint64) (float64, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, ok := f.places.Peek(key)
	return at.priority, ok
}
