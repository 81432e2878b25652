package learned

import (
	"maps"
	"slices"
)

const (
	// toldWords is how many words Learned tells of at once: sums are packed in 110 kB then.
	toldWords = 5000
	// toldStarts is how many of these may be start pages' words, and maxStartWords what is
	// told of one of them.
	toldStarts    = 2500
	maxStartWords = 2000
	// keptWords bounds the words that wait to be told, and those that were: 5 MB each.
	keptWords = 1 << 16
)

// Share has the scorer note what it learns from now on, for Learned. ours says which targets
// may be fetched here: only these are explored.
func (l *Scorer) Share(ours func(url string) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.model.sums, l.told = newSums(), newSums()
	l.explorer.ours = ours
	l.links.share()
}

// Learned returns what was learned since the last time; nil when that is nothing. Of many
// words those with the least evidence are left for the next time.
func (l *Scorer) Learned() *Sums {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.model.sums
	if s == nil || s.all.pages == 0 && len(s.words) == 0 && len(s.turns) == 0 && len(s.starts) == 0 {
		return nil
	}
	s.turns = s.turns[max(0, len(s.turns)-maxTurns):]
	l.model.sums = newSums()
	s.shorten(keptWords, newSums())
	s.shortenStarts(toldStarts, l.model.sums)
	s.shorten(toldWords-s.startWords(), l.model.sums)
	if l.told.plus(s); len(l.told.words) > keptWords+keptWords/4 { // not each time, as that sorts them
		l.told.shorten(keptWords, newSums())
	}
	return s
}

// Told returns all that Learned ever has, in parts, for who has heard nothing yet. Of very
// many words those with the least evidence are left out.
func (l *Scorer) Told() (parts []*Sums) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.told == nil || len(l.told.words) == 0 && l.told.all.pages == 0 {
		return nil
	}
	for starts := l.told.starts; len(starts) > 0; {
		part, rest := newSums(), newSums()
		part.starts = starts
		part.shortenStarts(toldStarts, rest)
		parts, starts = append(parts, part), rest.starts
	}
	for words := range slices.Chunk(l.told.byEvidence(), toldWords) {
		part := newSums()
		for _, t := range words {
			part.words[t] = l.told.words[t]
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		parts = []*Sums{newSums()}
	}
	last := parts[len(parts)-1] // as the start pages are known by then
	last.all, last.begun, last.precision, last.shift = l.told.all, l.told.begun, l.told.precision, l.told.shift
	last.alike, last.local = l.told.alike, l.told.local
	return parts
}

// Hear takes in what another scorer of the same crawl has learned. Each of its Sums must be
// heard once.
func (l *Scorer) Hear(s *Sums) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := &l.model
	m.base.all.plus(s.all)
	for _, t := range slices.Sorted(maps.Keys(s.words)) { // in one order, as words forget each other
		w, heard := m.words.words.use(t), s.words[t]
		w.page.plus(heard.page)
		w.link.plus(heard.link)
	}
	if s.all.pages > 0 {
		m.weights.hear(s)
	}
	m.begun = m.begun || s.begun
	m.local.hear(s.local, float64(s.all.pages))
	l.links.hear(s.turns)
	if l.starts.hear(s) {
		l.setBelief(newBelief(&l.starts, m.base.background, l.share, l.doubt))
	}
	m.turn()
}

// hear takes in others' start pages, and how near their pages were to these. It says whether
// there were new ones.
func (s *startPages) hear(told *Sums) (more bool) {
	for _, p := range told.starts {
		s.add(p)
	}
	if s.heard.plus(&told.alike); s.heard.starts == len(s.pages) {
		s.on.plus(s.heard.on)
		s.off.plus(s.heard.off)
		s.heard.on, s.heard.off = moments{}, moments{}
	}
	return len(told.starts) > 0
}

// startWords is how many words its start pages have.
func (s *Sums) startWords() (n int) {
	for _, p := range s.starts {
		n += len(p.words)
	}
	return n
}
