// Package recent is a map that keeps what was used last.
package recent

import "iter"

// Map is a map from page keys that keeps what was used last. It has two halves: when
// the younger is full, the older is given up. So it holds between one and two times
// limit, and which entries it forgets depends on nothing but the order of the calls.
type Map[V any] struct {
	young, old map[uint64]V
	limit      int // of each half
}

// New makes one that holds limit entries at least, and twice as many at most.
func New[V any](limit int) Map[V] {
	return Map[V]{young: map[uint64]V{}, old: map[uint64]V{}, limit: limit}
}

// Get finds an entry and counts as its use.
func (r *Map[V]) Get(key uint64) (v V, ok bool) {
	if v, ok = r.young[key]; ok {
		return v, true
	}
	if v, ok = r.old[key]; ok {
		delete(r.old, key)
		r.Put(key, v)
	}
	return v, ok
}

// Peek finds an entry, and does not count.
func (r *Map[V]) Peek(key uint64) (v V, ok bool) {
	if v, ok = r.young[key]; ok {
		return v, true
	}
	v, ok = r.old[key]
	return v, ok
}

// Update changes what Get has just found.
func (r *Map[V]) Update(key uint64, v V) { r.young[key] = v }

// Change changes what Peek has just found, and does not count.
func (r *Map[V]) Change(key uint64, v V) {
	if _, young := r.young[key]; young {
		r.young[key] = v
	} else {
		r.old[key] = v
	}
}

// Put enters what Get did not find.
func (r *Map[V]) Put(key uint64, v V) {
	if len(r.young) >= r.limit {
		r.old, r.young = r.young, make(map[uint64]V, r.limit/4)
	}
	r.young[key] = v
}

// Set changes what Get has just found.
func (r *Map[V]) Set(key uint64, v V) { r.young[key] = v }

// Remove takes an entry away.
func (r *Map[V]) Remove(key uint64) {
	delete(r.young, key)
	delete(r.old, key)
}

// All yields the entries, in no order.
func (r *Map[V]) All() iter.Seq2[uint64, V] {
	return func(yield func(uint64, V) bool) {
		for _, half := range []map[uint64]V{r.young, r.old} {
			for key, v := range half {
				if !yield(key, v) {
					return
				}
			}
		}
	}
}

// Young is how many entries the younger half has.
func (r *Map[V]) Young() int { return len(r.young) }
