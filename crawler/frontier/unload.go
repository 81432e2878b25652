package frontier

import (
	"cmp"
	"slices"
)

// unload writes what the back queues hold to disk until half of the room is
// free. The largest ones go first, and of each all but its best URLs. In the
// worst case, with as many as there is room, each keeps one URL. hold says that
// runs are not to be merged now.
func (t *hosts) unload(current func(*entry) bool, hold bool) error {
	r := &t.room
	if !hold && r.files.crowded(r.onDisk) {
		if err := t.repack(current, current); err != nil {
			return err
		}
	}
	queues := t.holders()
	slices.SortStableFunc(queues, func(a, b *backQueue) int { return cmp.Compare(len(b.queue), len(a.queue)) })
	_, err := r.files.write(func(w *runWriter) error {
		for _, keep := range []int{parkBest, 1} {
			for _, q := range queues {
				if r.inMemory <= r.limit/2 || len(q.queue) < 2*keep {
					continue
				}
				t.leave(q)
				if err := r.unload(w, q, keep, current); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, q := range queues {
		t.settle(q)
	}
	// Where every queue has but one there is nothing to gain from asking again soon.
	r.unloadAt = max(r.limit, r.inMemory+r.limit/2)
	return t.err
}

// repack asks keep about every parked entry, queue by queue in order of rank, and makes
// one run of what a queue has on disk. Of a host that moved, all current ones stay: there
// may be a better copy elsewhere.
func (t *hosts) repack(keep, current func(*entry) bool) error {
	queues := t.holders()
	for _, q := range queues {
		t.leave(q)
	}
	pack := func(w *runWriter) error {
		for _, q := range queues {
			wanted := func(e *entry) bool {
				if t.home(e.host) != q {
					return current(e)
				}
				return keep(e)
			}
			if err := t.room.repack(w, q, wanted); err != nil {
				return err
			}
		}
		return nil
	}
	var err error
	if t.room.onDisk == 0 {
		err = pack(nil)
	} else {
		_, err = t.room.files.write(pack)
	}
	if err != nil {
		return err
	}
	for _, q := range queues {
		t.settle(q)
	}
	return t.err
}
