package learned

import (
	"maps"
	"slices"
)

const (
	// toldWords is how many words Learned tells of at once: sums are packed in 110 kB then.
	toldWords = 5000
	// keptWords bounds the words that wait to be told, and those that were: 5 MB each.
	keptWords = 1 << 16
)

// Share has the scorer note what it learns from now on, for Learned.
func (l *Scorer) Share() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.model.sums, l.told = newSums(), newSums()
	l.links.share()
}

// Learned returns what was learned since the last time; nil when that is nothing. Of many
// words those with the least evidence are left for the next time.
func (l *Scorer) Learned() *Sums {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.model.sums
	if s == nil || s.all.pages == 0 && len(s.words) == 0 && len(s.turns) == 0 {
		return nil
	}
	s.turns = s.turns[max(0, len(s.turns)-maxTurns):]
	l.model.sums = newSums()
	s.shorten(keptWords, newSums())
	s.shorten(toldWords, l.model.sums)
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
	parts[0].all, parts[0].precision, parts[0].shift = l.told.all, l.told.precision, l.told.shift
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
	l.links.hear(s.turns)
	m.turn()
}
