package learned

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"fossick/internal/page"
	"fossick/models/features"
	"fossick/relevance"
)

// Marked is a person's label of a URL.
type Marked struct {
	URL     string
	Page    *page.Page // nil if not yet fetched
	OnTopic bool
	Gone    bool // the earlier label is taken back
}

// labelWeight is as how many pages a labelled page counts: a person's word outweighs the classifier's.
const labelWeight = 5

// maxAnchors bounds the sample of unlabelled pages that hold a correction in place.
const maxAnchors = 1000

// labels holds people's labels and their effects. The scorer's mutex guards all fields but fitting.
type labels struct {
	said  map[uint64]bool          // by page.Key: on topic or not
	pages map[uint64]*pastPage     // fetched ones
	links map[uint64]*labelledLink // queued ones
	names map[token]string         // text of their words
	fix   *correction              // nil without labels
	stale bool                     // fix does not include all of pages

	fitting sync.Mutex // serialises the learning of corrections; locked before the scorer's mutex
}

// Mark applies people's labels. They override and outweigh the judge's verdicts on these pages, and
// correct the judge.
func (l *Scorer) Mark(said []Marked) {
	for _, m := range said {
		if m.Gone {
			l.unmark(page.Key(m.URL))
		} else {
			l.mark(m)
		}
	}
	l.refit()
}

func (l *Scorer) mark(m Marked) {
	key := page.Key(m.URL)
	var words []token
	r, names := namingReader()
	judged := 0.0
	if m.Page != nil {
		words = r.page(m.Page)
		judged = l.texts.judge(features.Doc(m.Page.Fields()))
	} else {
		r.link(nil, "", &page.Link{URL: m.URL})
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.labels.said[key] = m.OnTopic
	if e, ok := l.links.waiting.Peek(key); ok {
		e.label = labelOf(m.OnTopic)
		if m.Page == nil && e.parents > 0 {
			maps.Copy(l.labels.names, names)
			l.labelLink(key, e, m.OnTopic)
		}
	}
	p := l.labels.pages[key]
	if p == nil {
		p = l.history.find(key) // also a page fetched since the person looked
	}
	if p == nil && m.Page == nil {
		return
	}
	maps.Copy(l.labels.names, names)
	if p == nil { // forgotten page: its words are known again, its old counts are lost
		p = &pastPage{key: key, url: m.URL, words: words, judged: judged, now: judged, own: judged, host: &record{}, folder: &record{}, source: &source{}}
	}
	l.labels.add(p)
	l.recount(p, truth(m.OnTopic), labelWeight)
}

// unmark takes a label back. refit gives the page its own probability again.
func (l *Scorer) unmark(key uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.labels.said, key)
	if e, ok := l.links.waiting.Peek(key); ok {
		e.label = unlabelled
	}
	l.unlabelLink(key)
	if p := l.labels.pages[key]; p != nil && l.history.find(key) != p {
		l.recount(p, p.now, 0) // forgotten: it counts by its label alone
	}
	delete(l.labels.pages, key)
	l.labels.stale = true
}

func (b *labels) add(p *pastPage) {
	b.pages[p.key] = p
	b.stale = true
}

func truth(onTopic bool) float64 {
	if onTopic {
		return 1
	}
	return 0
}

// Values of evidence.label.
const (
	unlabelled int8 = iota
	labelledOn
	labelledOff
)

func labelOf(onTopic bool) int8 {
	if onTopic {
		return labelledOn
	}
	return labelledOff
}

// namingReader returns a reader that also records the text of each token.
func namingReader() (*wordReader, map[token]string) {
	names := map[token]string{}
	return &wordReader{tokens: features.NewTokens(wordOptions, func(term string) token {
		t := tokenOf(term)
		names[t] = term
		return t
	}), seen: newDistinct()}, names
}

// refitStale calls refit if a label is waiting.
func (l *Scorer) refitStale() {
	l.mu.Lock()
	stale := l.labels.stale
	l.mu.Unlock()
	if stale {
		l.refit()
	}
}

// refit learns the correction if labels are new, and applies it to the remembered pages. It works in
// batches, so that it does not block the scorer for long.
func (l *Scorer) refit() {
	l.labels.fitting.Lock()
	defer l.labels.fitting.Unlock()
	l.mu.Lock()
	if !l.labels.stale {
		l.mu.Unlock()
		return
	}
	l.labels.stale = false
	labelled, anchors := l.labels.examples(&l.history)
	l.mu.Unlock()
	var fix *correction
	if len(labelled) > 0 {
		fix = learnCorrection(labelled, anchors)
	}
	l.mu.Lock()
	switch {
	case l.labels.fix == nil && fix != nil:
		l.model.weights.scale(steadied)
	case l.labels.fix != nil && fix == nil: // the last label was taken back
		l.model.weights.scale(1 / steadied)
	}
	l.labels.fix = fix
	past := slices.Clone(l.history.pages)
	l.mu.Unlock()
	const batch = 64 // pages per batch: some milliseconds
	for some := range slices.Chunk(past, batch) {
		l.mu.Lock()
		for _, p := range some {
			switch {
			case l.labels.pages[p.key] == p: // labelled, perhaps since the last batch
			case fix == nil:
				l.recount(p, p.own, 1)
			default:
				l.recount(p, corrected(p.judged, fix.shift(p.words)+p.similar), 1)
			}
		}
		l.mu.Unlock()
	}
}

// examples returns the labelled pages in key order, and a sample of the others, which should keep their
// probability.
func (b *labels) examples(h *history) (labelled, anchors []example) {
	for _, key := range slices.Sorted(maps.Keys(b.pages)) {
		p := b.pages[key]
		labelled = append(labelled, example{p.words, bound(logit(inside(p.judged))), truth(b.said[key]), 1, false})
	}
	for _, key := range slices.Sorted(maps.Keys(b.links)) {
		if v := b.links[key]; b.pages[key] == nil {
			labelled = append(labelled, example{v.words, bound(logit(inside(v.expected))), v.counts, 1, true})
		}
	}
	var others []*pastPage
	for _, p := range h.pages {
		if b.pages[p.key] == nil {
			others = append(others, p)
		}
	}
	n := min(len(others), maxAnchors)
	for i := range n {
		p := others[i*len(others)/n]
		offset := bound(logit(inside(p.judged)))
		anchors = append(anchors, example{p.words, offset, sigmoid(offset), anchorWeight * float64(len(labelled)) / float64(n), false})
	}
	return labelled, anchors
}

// inside keeps a probability away from 0 and 1, so that its log-odds are finite.
func inside(p float64) float64 { return max(1e-9, min(1-1e-9, p)) }

// remember adds a fetched page to the history and applies an earlier label of its URL.
func (l *Scorer) remember(past *pastPage, p *page.Page) {
	l.history.add(past)
	onTopic, labelled := l.labels.said[past.key]
	if !labelled {
		return
	}
	r, names := namingReader()
	r.page(p)
	maps.Copy(l.labels.names, names)
	l.labels.add(past)
	l.recount(past, truth(onTopic), labelWeight)
}

// opinion applies people's labels to a page's probability and returns terms that say so.
func (b *labels) opinion(key uint64, words []token, judged float64) (float64, []relevance.Term) {
	if onTopic, labelled := b.said[key]; labelled {
		return truth(onTopic), []relevance.Term{{Name: "marked", Value: truth(onTopic), Note: "a person labelled it; it counts as a page of this probability"}}
	}
	shift := b.fix.shift(words)
	if shift == 0 {
		return judged, nil
	}
	p := corrected(judged, shift)
	return p, []relevance.Term{{Name: "marks", Value: shift, Note: fmt.Sprintf("%s added to the log-odds%s: it counts as a page of probability %.3g",
		b.count(), b.because(words), p)}}
}

func (b *labels) count() string {
	var said []string
	for _, of := range []struct {
		what string
		n    int
	}{{"page", b.fix.labels}, {"link", b.fix.links}} {
		switch {
		case of.n == 1:
			said = append(said, "1 "+of.what)
		case of.n > 1:
			said = append(said, fmt.Sprintf("%d %ss", of.n, of.what))
		}
	}
	by := "people"
	if b.fix.labels+b.fix.links == 1 {
		by = "a person"
	}
	return strings.Join(said, " and ") + " marked by " + by
}

// because names the words with the largest effect.
func (b *labels) because(words []token) string {
	const most = 4
	var names []string
	for _, w := range b.fix.strongest(words, most) {
		if name := b.names[w]; name != "" { // words of anchors have no stored text
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return ", most for " + strings.Join(names, ", ")
}

// labelledLink is a queued target with a label. Until it is fetched, its links teach as a page with that
// label would.
type labelledLink struct {
	words, endings []token
	expected       float64 // probability before the label
	host, folder   *record
	named          []naming
	counts         float64 // 1 or 0, its label
}

// labelLink applies the label of a queued target.
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

// unlabelLink undoes labelLink when the page arrives, or the label is taken back.
func (l *Scorer) unlabelLink(key uint64) {
	if was := l.labels.links[key]; was != nil {
		l.count(was, -labelWeight)
		for _, n := range was.named {
			n.by.forget(n.at)
		}
		delete(l.labels.links, key)
	}
}

// count makes a labelled link count as that many followed links; negative undoes it.
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

// meet enters words into the table.
func (v *vocabulary) meet(words []token) {
	for _, w := range words {
		v.words.use(w)
	}
}

// recount changes the probability and weight with which a page counts.
func (l *Scorer) recount(p *pastPage, probability, weight float64) {
	worth := p.worth(probability)
	pages, onTopic := weight-p.weight, weight*worth-p.weight*p.worth(p.now)
	if pages == 0 && onTopic < 1e-3 && onTopic > -1e-3 {
		return
	}
	l.model.words.recountLinks(p.links, pages, onTopic)
	counted := weight * (1 - p.echo)
	l.model.words.recountPage(p.words, counted-p.counted, counted*probability-p.counted*p.now)
	for _, r := range []*record{&l.model.base.all, p.host, p.folder} {
		r.recount(pages, onTopic)
	}
	for _, n := range p.named {
		n.by.recount(n.at, pages, onTopic, worth)
	}
	if was, done := l.links.fetched.Peek(p.key); done {
		l.links.fetched.Change(p.key, known{float32(worth), was.seen})
	}
	l.model.base.move()
	p.source.moved += float32(probability - p.now)
	p.now, p.weight, p.counted = probability, weight, counted
}

func (r *record) recount(pages, onTopic float64) {
	r.pages = max(0, r.pages+float32(pages))
	r.onTopic = max(0, min(r.pages, r.onTopic+float32(onTopic)))
}

// recountPage changes the counts of a page's words; forgotten words are skipped.
func (v *vocabulary) recountPage(words []token, pages, onTopic float64) {
	for _, t := range words {
		if w := v.words.find(t); w.token != 0 {
			w.page.recount(pages, onTopic)
		}
	}
}

// recountLinks changes the counts of words of links to a page.
func (v *vocabulary) recountLinks(inLinks []token, pages, onTopic float64) {
	for _, t := range inLinks {
		if w := v.words.find(t); w.token != 0 {
			w.link.recount(pages, onTopic)
		}
	}
}

// recount changes the outcome of a link, and the counts.
func (s *source) recount(at uint8, pages, onTopic, probability float64) {
	s.followed.recount(pages, onTopic)
	if int(at) < len(s.outcomes) {
		s.outcomes[at] = encodeOutcome(probability)
	}
}

// forget makes the outcome of a link unknown.
func (s *source) forget(at uint8) {
	if int(at) < len(s.outcomes) {
		s.outcomes[at] = 0
	}
}

// probs returns the current sum and maximum of the parents' probabilities. Beyond maxSources parents, it
// assumes that the others changed like the known ones.
func (e *evidence) probs() (sum, most float64) {
	sum, most = float64(e.prob.sum), float64(e.prob.max)
	var moved, mostThen, mostNow float32
	any := false
	for _, s := range e.named() {
		any = any || s.moved != 0
		moved += s.moved
		mostThen, mostNow = max(mostThen, s.probability), max(mostNow, s.probability+s.moved)
	}
	if !any {
		return sum, most
	}
	sum += float64(moved) * float64(e.parents) / float64(len(e.named()))
	if mostThen >= e.prob.max || mostNow > e.prob.max {
		most = max(0, float64(mostNow))
	}
	return max(sum, most), most
}
