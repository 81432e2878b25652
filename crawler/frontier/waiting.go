package frontier

// waiting says which URLs wait, and which of their entries count. No entry is sought in a
// heap or a file: a changed priority is one more entry, and the stale one is passed over
// when it comes up (lazy deletion).
type waiting struct {
	n        int            // URLs that wait
	queued   bits           // these
	copied   bits           // URLs that may have more than one entry
	set      map[ID]float64 // priorities of copied URLs that were set by Push
	setLimit int            // of set, see full
}

// push takes in a URL with a new priority; false when it has this one already.
func (w *waiting) push(e *entry) bool {
	known := !w.queued.add(e.id)
	if !known {
		w.n++
	}
	if known || w.copied.has(e.id) { // there may be other entries, of any priority
		if p, ok := w.set[e.id]; ok && p == e.priority && known {
			return false
		}
		w.copied.add(e.id)
		w.set[e.id] = e.priority
	}
	return true
}

// raise takes in another entry of a URL that waits; false when it is known to be no better.
// It needs to know nothing of the entry that there is: the higher of the two comes first.
func (w *waiting) raise(e *entry) bool {
	if p, ok := w.set[e.id]; ok {
		if e.priority <= p {
			return false
		}
		w.set[e.id] = e.priority
	}
	w.copied.add(e.id)
	return true
}

// take takes note that a URL waits no more.
func (w *waiting) take(id ID) {
	w.queued.remove(id)
	w.n--
}

// current says whether an entry is one that counts for its URL. Of a URL whose priority
// was only raised all are, and the best comes first.
func (w *waiting) current(e *entry) bool {
	if !w.queued.has(e.id) {
		return false
	}
	if !w.copied.has(e.id) {
		return true
	}
	p, ok := w.set[e.id]
	return !ok || p == e.priority
}

// changed takes note that a current entry has another priority.
func (w *waiting) changed(e *entry) {
	if _, set := w.set[e.id]; set { // else it would not be current any more
		w.set[e.id] = e.priority
	}
}

// firsts returns a test for current entries, each URL's first alone.
func (w *waiting) firsts() func(*entry) bool {
	var seen bits
	return func(e *entry) bool {
		return w.current(e) && (!w.copied.has(e.id) || seen.add(e.id))
	}
}

// full says whether set is as large as it may be.
func (w *waiting) full() bool { return len(w.set) > w.setLimit }
