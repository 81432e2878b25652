package learned

// A target's score looks at some thirty places in memory, most of which a queue's other
// targets have driven out of the processor's caches: its evidence, what its words are
// worth, its parents, their links. One after the other that is most of the time that a
// score takes. So targets are announced some at a time, and what they need is asked for
// stage by stage, each stage of all of them before the next: the processor waits for a
// stage of all targets about as long as for that of one.

// Expect says which targets Rescore is likely to be asked about next.
func (l *Scorer) Expect(keys []uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expected = l.expected[:0]
	for _, key := range keys {
		if e, ok := l.evidence.Peek(key); ok {
			l.expected = append(l.expected, e)
		}
	}
	l.touched += touchAll(l.expected)
	l.fetch(l.expected)
}

// touchAll asks for pieces of evidence, nil ones left out, and returns a number that
// depends on all of them, so that asking is not left out.
func touchAll(all []*evidence) (sum uint32) {
	for _, e := range all {
		if e != nil {
			sum += e.turn + uint32(e.parents) + e.words[0]
		}
	}
	return sum
}

// fetch asks for what the scores of some targets look at, nil ones left out, whose
// evidence was asked for.
func (l *Scorer) fetch(all []*evidence) {
	var sum float32
	for _, e := range all {
		if e == nil {
			continue
		}
		l.vocabulary.words.fetchAll(e.words[:e.count])
		l.vocabulary.words.fetchAll(e.endings[:e.ended])
		sum += e.host.pages + e.folder.pages
		for _, s := range e.named() {
			sum += s.followed.pages
		}
	}
	for _, e := range all {
		if e == nil {
			continue
		}
		for i, s := range e.named() {
			if at := int(e.at[i]); at < len(s.turns) {
				sum += float32(s.turns[at])
			}
		}
	}
	l.touched += uint32(sum)
}
