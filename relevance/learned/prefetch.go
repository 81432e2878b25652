package learned

// prefetcher has the processor's caches ready. A target's score looks at some thirty places in memory, most of which a queue's other
// targets have driven out of the processor's caches: its evidence, what its words are
// worth, its parents, their links. One after the other that is most of the time that a
// score takes. So targets are announced some at a time, and what they need is asked for
// stage by stage, each stage of all of them before the next: the processor waits for a
// stage of all targets about as long as for that of one. Rescoring is four times as fast.
type prefetcher struct {
	room    []*evidence // for find
	touched uint32      // so that asking is not left out
}

// find returns what is known of the targets with these keys, and asks for it.
func (f *prefetcher) find(keys []uint64, links *linkGraph) []*evidence {
	f.room = f.room[:0]
	for _, key := range keys {
		if e, ok := links.waiting.Peek(key); ok {
			f.room = append(f.room, e)
		}
	}
	f.touch(f.room)
	return f.room
}

// touch asks for pieces of evidence, nil ones left out.
func (f *prefetcher) touch(all []*evidence) {
	for _, e := range all {
		if e != nil {
			f.touched += e.turn + uint32(e.parents) + e.words[0]
		}
	}
}

// fetch asks for what the scores of some targets look at, nil ones left out, whose
// evidence was asked for.
func (f *prefetcher) fetch(all []*evidence, words *wordTable) {
	var sum float32
	for _, e := range all {
		if e == nil {
			continue
		}
		words.fetchAll(e.words[:e.count])
		words.fetchAll(e.endings[:e.ended])
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
	f.touched += uint32(sum)
}
