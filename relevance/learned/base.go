package learned

// moment counts the pages that a scorer has learned from: between two of them no
// record changes, and so no lift does. A queue that is rescored asks for the same
// few thousand lifts again and again; most of a rescoring's time was their logarithms.
type moment uint32

// base is the crawl's base rate now: what lifts are above.
type base struct {
	all        record // pages of the crawl; the rest is of what it was when it was moved to last
	now        moment
	mean, odds float64     // mean probability of the crawl's pages, and its log-odds
	taught     float32     // pages on topic that the vocabulary began with, see WarmStart
	background *Background // nil: not known
	atLarge    float64     // what all words' share is compared with, see Background
	unmet      float64     // what a word is worth, see Background, that no page of the crawl has had
}

func newBase(background *Background, start *WarmStart) base {
	b := base{background: background, taught: start.worth()}
	b.move()
	return b
}

// move goes on to the next moment, after all records have taken in a page.
func (b *base) move() {
	b.now++
	b.mean = b.all.mean()
	b.odds = logit(b.mean)
	b.atLarge = atLarge(b.all.onTopic + b.taught)
	b.unmet = b.background.unmet(b.all.onTopic + b.taught)
}

// place is a record whose lift is worked out once a moment: of a host, of a folder,
// or of the links of a page that were followed. A new one has no pages, and its
// lift is 0.
type place struct {
	record
	at    moment  // of known
	over  float64 // of a folder: mean of its host then
	known float64
}

// above is the place's lift above the crawl.
func (p *place) above(b *base) float64 {
	if p.at != b.now {
		p.at, p.known = b.now, p.lift(b.mean, b.odds)
	}
	return p.known
}

// aboveHost is the lift of a folder above its host.
func (p *place) aboveHost(host *place, b *base) float64 {
	if mean := host.mean(); p.at != b.now || p.over != mean {
		p.at, p.over, p.known = b.now, mean, p.lift(mean, logit(mean))
	}
	return p.known
}

// lifts works out a word's lifts above the crawl, where that is not done.
func (w word) lifts(b *base) {
	if w.at != b.now {
		w.at, w.pageLift, w.linkLift = b.now, float32(w.page.lift(b.mean, b.odds)), float32(w.link.lift(b.mean, b.odds))
		w.over = float32(w.above(b))
	}
}

// above is by how much more often a word stands on the crawl's pages on topic than on
// pages at large, see Background.
func (w *wordSlot) above(b *base) float64 {
	if b.background == nil {
		return 0
	}
	if w.share == 0 {
		w.share = b.background.of(w.token)
	}
	return onTopic(w.page.onTopic, w.share) - b.atLarge
}
