package frontier

// Reprioritise gives every queued URL a new priority, from its key and the one that
// it has; one for which ok is false keeps it. It costs O(queue), and reads and writes what
// is on disk.
func (f *Frontier) Reprioritise(priority func(key uint64, was float64) (p float64, ok bool)) {
	if f.Err() != nil {
		return
	}
	f.pass = nil
	f.tail.hold = true // with all read anew, the files would seem to hold nothing else: merged at each spill
	defer func() { f.tail.hold = false }()
	var renewed, copied bits
	change := func(e *entry) bool {
		if !f.urls.current(e) {
			return false
		}
		p, ok := priority(e.key, e.priority)
		several := f.urls.copied.has(e.id)
		if !ok {
			if several {
				copied.add(e.id)
			}
			return true
		}
		*e = Item{ID: e.id, Host: e.host, Priority: p, Key: e.key}.entry()
		return !several || renewed.add(e.id) // its entries are all alike now
	}
	f.err = f.renew(change)
	f.urls.copied = copied
	clear(f.urls.set)
}

// renew asks change about every entry; what back queues have on disk goes back to the
// tail, for it must be sorted again.
func (f *Frontier) renew(change func(*entry) bool) error {
	queues := f.hosts.holders()
	var runs []*run
	for _, q := range queues {
		f.hosts.leave(q)
		f.hosts.room.filter(q, change)
		runs = append(runs, q.runs...)
		q.runs = nil
	}
	f.hosts.room.onDisk = 0
	if err := f.tail.renew(change); err != nil {
		return err
	}
	for _, r := range runs {
		if err := f.tail.takeIn(r, change); err != nil {
			return err
		}
	}
	for _, q := range queues {
		f.hosts.settle(q)
	}
	return nil
}

// tidy sweeps when entries that are not current make up three quarters of all, or
// the map of set priorities is full. As a sweep leaves at most two entries a URL,
// one in the tail and one parked, it pays for itself.
func (f *Frontier) tidy() {
	entries := f.tail.len() + f.hosts.room.len()
	if f.Err() == nil && (entries > 4*f.urls.n+f.slack || f.urls.full()) {
		f.err = f.sweep()
	}
}

// sweep drops the entries that are not current. Of several current ones of a URL
// the first in order of rank stays, as it is the one that would be taken.
func (f *Frontier) sweep() error {
	if err := f.tail.rewrite(f.urls.firsts()); err != nil {
		return err
	}
	if err := f.hosts.repack(f.urls.firsts(), f.urls.current); err != nil {
		return err
	}
	clear(f.urls.set) // what is left agrees with it
	return nil
}
