package relevance

import "fossick/page"

// Waiting appends to dst, for each link of p, whether its target waits to be fetched.
// What the others say of theirs changes nothing, so that the words around them need not
// be read: on the web most links of a page lead where the crawl has been.
func (l *Learned) Waiting(dst []bool, p *page.Page) []bool {
	w := l.works.Get()
	defer l.works.Put(w)
	w.name(p)
	return l.waiting(dst, w.keys)
}

func (l *Learned) waiting(dst []bool, keys []uint64) []bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, key := range keys {
		_, done := l.fetched.peek(key)
		dst = append(dst, !done)
	}
	return dst
}
