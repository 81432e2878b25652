package learned

import "slices"

// labelledLink is a target that a person labelled before it was fetched. Until it is, its
// links stand for it: what they say teaches as a page of the label would.
type labelledLink struct {
	words, endings []token
	expected       float64 // probability before the label
	host, folder   *record
	named          []naming
	counts         float64 // 1 or 0, as which it counts now
}

// labelLink takes in a label of a target that waits.
func (l *Scorer) labelLink(key uint64, e *evidence, onTopic bool) {
	old := l.labels.links[key]
	if old != nil {
		l.count(old, -labelWeight)
	}
	was := &labelledLink{
		words: slices.Clone(e.words[:e.count]), endings: slices.Clone(e.endings[:e.ended]),
		host: e.host, folder: e.folder, counts: truth(onTopic),
	}
	for i, s := range e.named() {
		was.named = append(was.named, naming{s, e.at[i]})
	}
	if was.expected = l.model.promise(e, l.labels.fix); old != nil {
		was.expected = old.expected
	}
	l.model.words.meet(was.words)
	l.model.words.meet(was.endings)
	l.count(was, labelWeight)
	l.labels.links[key] = was
	l.labels.stale = true
}

// unlabelLink takes back what a labelled link taught, as its page has come.
func (l *Scorer) unlabelLink(key uint64) {
	if was := l.labels.links[key]; was != nil {
		l.count(was, -labelWeight)
		delete(l.labels.links, key)
	}
}

// count lets a labelled link count as so many links that were followed.
func (l *Scorer) count(v *labelledLink, links float64) {
	onTopic := links * v.counts
	l.model.words.recountLinks(v.words, links, onTopic)
	l.model.words.recountLinks(v.endings, links, onTopic)
	v.host.recount(links, onTopic)
	v.folder.recount(links, onTopic)
	for _, n := range v.named {
		n.by.recount(n.at, links, onTopic, v.counts)
	}
}

// meet enters words of which nothing is known yet.
func (v *vocabulary) meet(words []token) {
	for _, w := range words {
		v.words.use(w)
	}
}
