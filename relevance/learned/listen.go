package learned

import "fossick/page"

// maxVoices is how many pages' words about a target count, those of the first. By then
// it is known what the target is called, and one more would move a mean by a ninth at
// most; but in a crawl that has grown most links lead to what many pages have named. Who
// they are counts on: see evidence.
const maxVoices = 8

// Listens appends to dst, for each link of p, whether the scorer has a use for its words
// and those around it: its target waits, and fewer than maxVoices pages have named it.
// On the web most links of a page lead where the crawl has been, or what it has heard of
// often.
func (l *Scorer) Listens(dst []bool, p *page.Page) []bool {
	w := l.works.Get()
	defer l.works.Put(w)
	w.name(p)
	return l.listens(dst, w.keys)
}

func (l *Scorer) listens(dst []bool, keys []uint64) []bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, key := range keys {
		_, done := l.fetched.Peek(key)
		if !done {
			e, known := l.evidence.Peek(key)
			done = known && int(e.parents) >= maxVoices
		}
		dst = append(dst, !done)
	}
	return dst
}

// listen finds out what the links of p say, those that are listened to.
func (l *Scorer) listen(w *linkWork, p *page.Page, around []surroundings) {
	for i := range p.Links {
		if around[i].listens {
			w.hashes[i] = l.sayings.hash(&p.Links[i], p.Lang)
		}
	}
	l.sayings.find(w.said, w.hashes)
	r := l.readers.Get()
	defer l.readers.Put(r)
	for i, h := range w.hashes {
		if h != 0 {
			w.said[i] = l.read(r, &p.Links[i], p.Lang)
		}
	}
	l.sayings.put(w.said, w.hashes)
}
