package learned

import "fossick/internal/page"

// Around is what one cut of a page says of the words around each of its links; of none
// where they are of no use.
type Around struct {
	Wanted []bool    // of each link, see Scorer.Wanted
	Judged []float64 // how far they are on topic, by the judge
	Words  []uint32  // what Words has of them, one link's after the other's
	Ends   []int     // where each link's words end
}

// surroundings are the words around one link as a scorer has them. A name says
// what a target is called; they say what is said of it, and there are more of
// them.
type surroundings struct {
	wanted bool    // else nothing was read
	judged float64 // probability, by the judge
	over   float64 // how much more often they stand on pages on topic than at large: the mean, see Background
}

// around returns the surroundings of p's links: those that came with the page, which
// are given once, since its source may live for long, or else read now.
func (l *Scorer) around(w *linkWork, p *page.Page) []surroundings {
	known, wanted := l.aroundKnown(w, p)
	if len(known) == len(p.Links) {
		return known
	}
	read := l.texts.around(p, wanted)
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.model.weighAround(&read)
}

// aroundKnown returns the surroundings that came with the page, else which links' are of use.
func (l *Scorer) aroundKnown(w *linkWork, p *page.Page) (known []surroundings, wanted []bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s, ok := l.links.sources.Peek(page.Key(p.URL)); ok {
		known, s.around = s.around, nil
	}
	if len(known) != len(p.Links) {
		wanted = l.links.wanted(nil, w.keys)
	}
	return known, wanted
}

// Wanted appends to dst, for each link of p, whether the scorer has a use for
// its words and those around it. It has while the target waits and fewer than
// maxTexts pages have named it. On the web most links of a page lead where the
// crawl has been, or what it knows of often.
func (l *Scorer) Wanted(dst []bool, p *page.Page) []bool {
	w := l.works.Get()
	defer l.works.Put(w)
	w.name(p)
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.links.wanted(dst, w.keys)
}
