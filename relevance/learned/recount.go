package learned

// recount lets a page count for another probability, and as another number of pages,
// than it did.
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

// recount takes in that what was counted counts for more pages, or less.
func (r *record) recount(pages, onTopic float64) {
	r.pages = max(0, r.pages+float32(pages))
	r.onTopic = max(0, min(r.pages, r.onTopic+float32(onTopic)))
}

// recountPage is for words of a page; of words that are forgotten there is nothing to
// change.
func (v *vocabulary) recountPage(words []token, pages, onTopic float64) {
	for _, t := range words {
		if w := v.words.find(t); w.token != 0 {
			w.page.recount(pages, onTopic)
		}
	}
}

// recountLinks is for words of the links that led to a page.
func (v *vocabulary) recountLinks(inLinks []token, pages, onTopic float64) {
	for _, t := range inLinks {
		if w := v.words.find(t); w.token != 0 {
			w.link.recount(pages, onTopic)
		}
	}
}

// recount takes in that the page of a link is of another probability now, and counts
// for more pages, or less.
func (s *source) recount(at uint8, pages, onTopic, probability float64) {
	s.followed.recount(pages, onTopic)
	if int(at) < len(s.turns) {
		s.turns[at] = turnOf(probability)
	}
}

// probs returns the sum and the largest of the probabilities of the pages that link
// to a target, as they are now. Of more than maxSources pages, those that are not
// known changed as those that are.
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
